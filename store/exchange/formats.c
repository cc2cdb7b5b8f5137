/* SPDX-License-Identifier: BSD-2-Clause */
/* formats.c: the table of formats.  A new format is a file of its own and a line here. */
#include "exchange/exchange.h"

static const struct tamis__format *const formats[] = {
    &tamis__format_redis_bitmap,  &tamis__format_redisbloom, &tamis__format_guava,
    &tamis__format_spark,         &tamis__format_parquet,    &tamis__format_dcso,
    &tamis__format_pybloomfilter, &tamis__format_portable,
};
#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

const struct tamis__format *tamis__format_by_name(const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES], known[192] = "";
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (name != NULL && strcmp(formats[i]->name, name) == 0) return formats[i];
        if (i > 0) strcat(known, ", ");
        strcat(known, formats[i]->name);
    }
    (void)tamis__fail(TAMIS_EINVAL, "there is no format %s; this version has %s",
                      tamis__quote(quoted, name ? name : ""), known);
    return NULL;
}

TAMIS_API const char *tamis_format_name(uint32_t index)
{
    return index < FORMAT_COUNT ? formats[index]->name : NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* kind_name.c: the names of the kinds of filters, which sentences and the command use. */
#include "base/base.h"

static const struct {
    uint32_t kind;
    const char *name;
} names[] = {
    {TAMIS_KIND_BLOCKED, "blocked"},
    {TAMIS_KIND_BLOOM, "bloom"},
    {TAMIS_KIND_COUNTING, "counting"},
    {TAMIS_KIND_FUSE, "fuse"},
};
#define NAME_COUNT (sizeof names / sizeof names[0])

TAMIS_API const char *tamis_kind_name(uint32_t kind)
{
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (names[i].kind == kind) return names[i].name;
    return NULL;
}

TAMIS_API int tamis_kind_from_name(const char *name, uint32_t *kind)
{
    char quoted[TAMIS__QUOTED_BYTES], known[128] = "";
    if (name == NULL || kind == NULL)
        return tamis__fail(TAMIS_EINVAL,
                           "tamis_kind_from_name needs a name and a place for the kind");
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (strcmp(names[i].name, name) == 0) {
            *kind = names[i].kind;
            return 0;
        }
        if (i > 0) strcat(known, ", ");
        strcat(known, names[i].name);
    }
    return tamis__fail(TAMIS_EINVAL, "there is no kind %s; this version has %s",
                       tamis__quote(quoted, name), known);
}

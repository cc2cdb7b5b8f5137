/* SPDX-License-Identifier: BSD-2-Clause */
/* formats.c: the formats by their names; see format.h. */
#include <string.h>

#include "input/format.h"

static const struct format *const FORMATS[] = {&format_lines,   &format_hosts, &format_adblock,
                                               &format_domains, &format_csv,   &format_tsv,
                                               &format_jsonl,   &format_cdx,   NULL};

const struct format *format_named(const char *name)
{
    for (size_t i = 0; FORMATS[i] != NULL; i++)
        if (strcmp(FORMATS[i]->name, name) == 0) return FORMATS[i];
    return NULL;
}

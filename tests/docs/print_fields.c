/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print_fields.c: the table of fields (tamis_fields.h) for fields.py, a line for each field of each
 * order: of, shown by, name, name of info, name of TAMIS.INFO, type, unit, why somebody lacks it,
 * sentence, with tabs between.
 */
#include <stdio.h>

#include "tamis.h"

static const char *text(const char *maybe)
{
    return maybe != NULL ? maybe : "";
}

static int print(uint32_t of, uint32_t shown_by)
{
    struct tamis_field f = TAMIS_INIT(struct tamis_field);
    int rc;
    for (uint32_t i = 0; (rc = tamis_field(of, shown_by, i, &f)) > 0; i++)
        printf("%u\t%u\t%s\t%s\t%s\t%u\t%s\t%s\t%s\n", of, shown_by, f.name, text(f.info_name),
               text(f.reply_name), f.type, f.unit, text(f.lacking), f.sentence);
    return rc;
}

int main(void)
{
    for (uint32_t of = TAMIS_FIELDS_FILTER; of <= TAMIS_FIELDS_SEGMENT; of++)
        for (uint32_t by = TAMIS_SHOWN_ANYWHERE; by <= TAMIS_SHOWN_BY_BINDINGS; by++)
            if (print(of, by) < 0) return 1;
    return 0;
}

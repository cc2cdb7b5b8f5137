/* SPDX-License-Identifier: BSD-2-Clause */
/* table.h: the figures as text. */
#ifndef TAMIS_BENCH_TABLE_H
#define TAMIS_BENCH_TABLE_H

#include <stdio.h>

#include "case.h"
#include "machine.h"
#include "requirements.h"

void table_head(FILE *out, const struct options *options, const struct machine *machine);

/* One filter, when it has been measured. */
void table_case(FILE *out, const struct bench_case *c);

/* One filter of --grow: a line, or one a team; `first` prints the heading. */
void table_growth(FILE *out, const struct bench_case *c, bool first);

/* One filter of --max-keys: a line; `first` prints the heading. */
void table_size(FILE *out, const struct bench_case *c, bool first);

void table_requirements(FILE *out, const struct requirement *list, unsigned count);

#endif

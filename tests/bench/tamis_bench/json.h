/* SPDX-License-Identifier: BSD-2-Clause */
/* json.h: all of a run for other programs. */
#ifndef TAMIS_BENCH_JSON_H
#define TAMIS_BENCH_JSON_H

#include "case.h"
#include "machine.h"
#include "requirements.h"

struct results {
    const struct options *options;
    const struct machine *machine;
    const struct bench_case *cases;
    unsigned case_count;
    const struct requirement *requirements;
    unsigned requirement_count;
};

/* Ends the program, with exit status 1, where the file cannot be written. */
void json_write_results(const struct results *results, const char *path);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* generate.h: random operations, from a seed and what the model has by now; and races. */
#pragma once

#include "model.h"

struct generator {
    uint64_t random; /* its state */
    bool faults, children;
    uint32_t theme;      /* which operations come often */
    struct op_spec last; /* of a filter that was made */
    struct op built;     /* the last build */
    struct op swept;     /* nth != 0: its calls fail in turn, in operations of its kind */
};

void generate(struct generator *generator, const struct model *model, struct op *op);

/* races.c: processes and threads that race on one store, judged by what must hold in any order.
 * One race, from a seed.  False: `complaint` says what does not hold. */
bool race(uint64_t seed, char *complaint, size_t bytes);

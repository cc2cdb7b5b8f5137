/* SPDX-License-Identifier: BSD-2-Clause */
/* generate.h: random operations, from a seed and what the model has by now. */
#pragma once

#include "model.h"

struct generator {
    uint64_t random; /* its state */
    bool faults, children;
    uint32_t theme;      /* which operations come often */
    struct op_spec last; /* of a filter that was made */
};

void generate(struct generator *generator, const struct model *model, struct op *op);

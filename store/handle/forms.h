/* SPDX-License-Identifier: BSD-2-Clause */
/* forms.h: batches of keys on their way into a filter with a key rule (key/form.h). */
#pragma once

#include "handle/view.h"
#include "key/form.h"

/* The keys of a public call, and where its answers go: one of the two, or none. */
struct tamis__batch {
    const struct tamis_key *keys;
    size_t count;
    uint8_t *answers;
    uint64_t *counts;
};

/* What a call does with keys, or with their forms.  Returns a sum over the keys, or an error. */
typedef int64_t tamis__batch_call(struct tamis_filter *filter, const struct tamis__batch *batch);

/*
 * Calls `call` for the batch if the filter has no key rule.  Otherwise calls it for the forms of
 * the keys, some at a time.  An error ends that, but TAMIS_EFULL, after which the other keys are
 * answered too.  Each key was checked, or `call` does so.
 */
int64_t tamis__batch_by_forms(struct tamis_filter *filter, const struct tamis__batch *batch,
                              tamis__batch_call *call);

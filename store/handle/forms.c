/* SPDX-License-Identifier: BSD-2-Clause */
/* forms.c: see forms.h. */
#include "handle/forms.h"

/* The part of a batch whose forms were made. */
static struct tamis__batch part_of(const struct tamis__batch *batch,
                                   const struct tamis__form_walk *walk)
{
    return (struct tamis__batch){
        .keys = walk->forms,
        .count = walk->now,
        .answers = batch->answers != NULL ? batch->answers + walk->done : NULL,
        .counts = batch->counts != NULL ? batch->counts + walk->done : NULL,
    };
}

static __attribute__((noinline)) int64_t call_by_forms(struct tamis_filter *filter,
                                                       const struct tamis__batch *batch,
                                                       tamis__batch_call *call)
{
    struct tamis__form_walk walk;
    bool full = false;
    int64_t sum = 0, rc = tamis__check_keys(batch->keys, batch->count);
    if (rc < 0) return rc;
    tamis__form_walk_begin(&walk, filter->rule, batch->keys, batch->count);
    while (rc >= 0 && (rc = tamis__form_walk_next(&walk)) > 0) {
        const struct tamis__batch part = part_of(batch, &walk);
        rc = call(filter, &part);
        full |= rc == TAMIS_EFULL;
        if (rc == TAMIS_EFULL) rc = 0;
        if (rc > 0) sum += rc;
    }
    tamis__form_walk_end(&walk);
    if (rc < 0) return rc;
    return full ? TAMIS_EFULL : sum; /* the sentence is that of the full filter */
}

int64_t tamis__batch_by_forms(struct tamis_filter *filter, const struct tamis__batch *batch,
                              tamis__batch_call *call)
{
    if (filter->rule == NULL || batch->count == 0) return call(filter, batch);
    return call_by_forms(filter, batch, call);
}

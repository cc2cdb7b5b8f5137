/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parents.c: asks for a name and for all of its parents at once, as who blocks hosts by a list
 * does: `ads.example` in the list blocks `x.ads.example` too.
 *
 * The parents are hashed and fetched together, so all of them take little longer than one.  The
 * nearest answer counts: an exception below a listed parent lets the name pass, and a listed name
 * below an exception does not.
 */
#include "exceptions/index.h"
#include "handle/chunk.h"
#include "handle/follow.h"
#include "key/form.h"
#include "key/name.h"

/* Asks for the suffixes of a form.  Returns the number of the first that decides, or `count`, which
 * means that the filter has none; *present says how it decides. */
static size_t decide(struct tamis__view *view, const struct tamis_key *suffixes, size_t count,
                     bool *present)
{
    uint8_t answers[TAMIS__LABELS_MAX];
    struct tamis__digest digests[TAMIS__LABELS_MAX];
    const struct tamis__segment *index = &view->index.segment;
    struct tamis__hashed_keys chunk = {.keys = suffixes, .digests = digests, .count = count};
    *present = false;
    if (tamis__contains_chunk(view, &chunk, answers) == 0) return count;
    for (size_t i = 0; i < count; i++) {
        if (index->header != NULL && tamis__index_has(index, suffixes[i].data, suffixes[i].bytes))
            return i;
        *present = answers[i] != 0;
        if (*present) return i;
    }
    return count;
}

static int ask_for_name(struct tamis_filter *filter, const struct tamis_key *form, size_t *offset)
{
    struct tamis_key suffixes[TAMIS__LABELS_MAX];
    uint8_t starts[TAMIS__LABELS_MAX];
    struct tamis__view *view;
    bool present = false;
    const unsigned char *bytes = form->data;
    const size_t count = tamis__name_suffixes(bytes, form->bytes, starts);
    for (size_t i = 0; i < count; i++)
        suffixes[i] = (struct tamis_key){.data = starts[i] > 0 ? bytes + starts[i] : bytes,
                                         .bytes = form->bytes - starts[i]};
    const int rc = tamis__visit(filter, &view);
    if (rc < 0) return rc;
    const size_t at = decide(view, suffixes, count, &present);
    if (present && offset != NULL) *offset = starts[at];
    return (int)tamis__leave_with(filter, view, present);
}

TAMIS_API int tamis_filter_contains_name(tamis_filter *filter, const void *name, size_t name_bytes,
                                         size_t *offset)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    if (name == NULL && name_bytes > 0) return tamis__fail_null_key(0);
    struct tamis__form_room room;
    struct tamis_key form = {.data = name, .bytes = name_bytes};
    tamis__form_room_init(&room);
    int rc =
        filter->rule != NULL ? tamis__form_key(filter->rule, name, name_bytes, &room, &form) : 0;
    if (rc == 0) rc = ask_for_name(filter, &form, offset);
    tamis__form_room_clear(&room);
    return rc;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* make.h: a key gets a filter: a new one, or one that the store has. */
#pragma once

#include "kept/making.h"
#include "value/drafts.h"
#include "value/value.h"

/* The maker of a filter that a spec describes. */
struct maker maker_of_spec(struct tamis_filter_spec *spec);

/* Where a thread makes filters: make_filter() of this thread makes one under that name, tells here
 * what came of it, and lists nothing.  NULL: no more. */
struct make_place {
    tamis_store *store;
    const char *name;
    int rc;
};
void make_in_place(struct make_place *place);

/*
 * Makes the filter of a key, and lists the value.
 *
 * Returns  0, or what the maker returned.  TAMIS_EEXIST: a filter that is not of this server has
 *          the name; while data are loaded, another name is taken then.  MAKING_IS_PUT_OFF: the
 *          command that is run ends without an answer, and frees the value (making.h).
 */
int make_filter(struct value *value, int db, const char *key, size_t key_bytes,
                const struct maker *maker);
/* The same for a filter of BF.* by a spec and what tamis_size() says of it: if it may, it is a
 * draft (drafts.h). */
int make_by_spec(struct value *value, int db, const char *key, size_t key_bytes,
                 struct tamis_filter_spec *spec, const struct tamis_sizing *sizing);
/* The same for a filter of RedisBloom by its framed head (head.h): `spec` has m and k.  Returns
 * false if it can be no draft now. */
bool make_exact_draft(struct value *value, int db, const char *key, size_t key_bytes,
                      const struct tamis_filter_spec *spec, const struct tamis_sizing *sizing,
                      const void *framed, size_t bytes);
/* The same for the stream of a small filter, whose data are freed, or without data.  `is_loaded`:
 * it comes from a dump or an AOF.  Returns false if it can be no draft now. */
bool make_content_draft(struct value *value, int db, const char *key, size_t key_bytes,
                        const struct draft_stream *stream, int64_t created_at, bool is_loaded);
/* The same for a copy of a draft, which is another draft.  Returns false if it can be none now. */
bool make_as_draft(struct value *value, int db, const char *key, size_t key_bytes,
                   const struct value *from);
/* Has another key than this one, which is empty, a filter of that name, or will one have it?  In
 * any thread. */
bool stored_is_held(const char *name, int db, const char *key, size_t key_bytes);
/* Opens a filter of the store for the value of a key, by its name.  The value, which is one of
 * BF.*, becomes one of CF.* if the filter counts and this server has made it.  TAMIS_EINVAL: a
 * filter of others that counts.  In any thread. */
int open_stored(struct value *value, const char *name);
/* Lists such a value; its key has the filter now. */
void adopt_stored(struct value *value, int db, const char *key, size_t key_bytes);

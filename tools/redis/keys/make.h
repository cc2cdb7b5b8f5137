/* SPDX-License-Identifier: BSD-2-Clause */
/* make.h: a key gets a filter: a new one, or one that the store has. */
#pragma once

#include "value/value.h"

/* Makes a filter of that name in the store, and opens it. */
typedef int maker_fn(void *context, tamis_store *store, const char *name, tamis_filter **filter);
/* The maker of a filter that a struct tamis_filter_spec describes. */
int maker_of_spec(void *spec, tamis_store *in, const char *name, tamis_filter **filter);

/*
 * Makes the filter of a key, and lists the value.
 *
 * Returns  0, or what `make` returned.  TAMIS_EEXIST: a filter that is not of this server has the
 *          name; while data are loaded, another name is taken then.
 */
int make_filter(struct value *value, int db, const char *key, size_t key_bytes, maker_fn *make,
                void *context);
/* The same for a filter of BF.* by a spec and what tamis_size() says of it: if it may, it is a
 * draft (drafts.h). */
int make_by_spec(struct value *value, int db, const char *key, size_t key_bytes,
                 struct tamis_filter_spec *spec, const struct tamis_sizing *sizing);
/* Opens a filter of the store for the value of a key, by its name.  The value, which is one of
 * BF.*, becomes one of CF.* if the filter counts and this server has made it.  TAMIS_EBUSY: a key
 * has the filter already; TAMIS_EINVAL: a filter of others that counts. */
int open_stored(struct value *value, int db, const char *key, size_t key_bytes, const char *name);
/* Lists such a value; its key has the filter now. */
void adopt_stored(struct value *value, int db, const char *key, size_t key_bytes);

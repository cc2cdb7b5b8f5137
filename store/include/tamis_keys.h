/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_keys.h: adding keys to a filter and asking for them, one at a time or many at once;
 * removing and counting them in filters of kind counting;
 * exceptions, which answer absent whatever the bits say; the shard of a key.
 */
#ifndef TAMIS_KEYS_H
#define TAMIS_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Adding and asking -------------------------------------------------------------------- */

/* One key of a batch: any bytes, not kept.  data may be NULL only if bytes is 0. */
struct tamis_key {
    const void *data;
    size_t bytes;
};

/*
 * Adds one key.  Safe beside any other call on the same filter, from any thread
 * or process; lock-free.
 *
 * key      key_bytes bytes of any content, not kept; NULL only with key_bytes == 0.
 * Returns  1 if the key was new, 0 if it was, or seemed, present.  If any number of processes and
 *          threads add one key at one time, at most one of them is told 1; and one is, unless the
 *          key was there already or a false positive says so.
 *          TAMIS_EREADONLY, TAMIS_EINVAL, TAMIS_EDROPPED.  TAMIS_EUNSUPPORTED: the filter is of
 *          kind fuse, which only a build makes.  TAMIS_EFULL: the key is not in, and the filter
 *          refuses more (enum tamis_on_full).  TAMIS_ENOSPACE and the other errors of making
 *          a file: the filter is full and cannot grow; keys that are in are still answered.
 * Counting a filter of kind counting counts every add, whatever it answers.  There
 *          TAMIS_ENOSPACE means that a counter has outgrown its bits and the disk has no room;
 *          the key was not added.
 * Durable  after tamis_filter_sync(); before it a power cut may lose the key, a killed
 *          process does not.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_add(tamis_filter *filter, const void *key,
                                                size_t key_bytes);

/*
 * Asks for one key.  Wait-free; writes nothing.
 *
 * Returns  1 present (or a false positive), 0 certainly absent.  TAMIS_EINVAL, TAMIS_EDROPPED.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_contains(tamis_filter *filter, const void *key,
                                                     size_t key_bytes);

/*
 * The same for `count` keys at once, several times as fast: memory is kept busy with many keys.
 *
 * keys     count keys; the same key may occur twice, and only the first can be new.
 * answers  NULL, or count bytes: answers[i] receives 1 or 0 as the single call would return it.
 * Returns  the number of ones, or an error.  TAMIS_EINVAL is found before anything is added.  After
 *          any error answers[i] is TAMIS_ANSWER_REFUSED for each key that was not added, and the
 *          answer for the others: nobody is told again that they were new.  After TAMIS_EFULL every
 *          key was dealt with.  After another error the keys that were not added may be added
 *          again.  The whole batch may be repeated too, except for kind counting, which would count
 *          some keys twice.
 */
#define TAMIS_ANSWER_REFUSED 2
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_add_batch(tamis_filter *filter,
                                                          const struct tamis_key *keys,
                                                          size_t count, uint8_t *answers);
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_contains_batch(tamis_filter *filter,
                                                               const struct tamis_key *keys,
                                                               size_t count, uint8_t *answers);

/*
 * Has the processor fetch what a call for this key is going to read of the newest segment, and does
 * not wait for it: a hint for a program that has something else to do for some hundred nanoseconds
 * first, such as to parse the rest of a request.  It costs the hash of the key, and pays where the
 * filter is larger than the processor's caches; for many keys at once use the batch calls, which do
 * this themselves.  It changes no answer.  Safe beside any other call; wait-free.
 *
 * Returns  0.  TAMIS_EINVAL: as for tamis_filter_contains(); no other error of the filter is told.
 */
TAMIS_API int tamis_filter_prefetch(tamis_filter *filter, const void *key, size_t key_bytes);

/* ---- Names and their parents; several filters ----------------------------------------------- */

/*
 * Is this name in the filter, or one of its parents?  Asks for `a.b.example`, `b.example` and
 * `example` in one call, which takes little longer than one question.  The nearest answer counts:
 * an exception for `b.example` lets `a.b.example` pass, also where `example` is in the filter.  A
 * key that is no name, or is an address such as 192.0.2.1, has no parents and is asked for alone.
 *
 * A list with a rate of p says yes to a stranger of four labels with some 4 p: ask for a quarter of
 * the rate when you make it.
 *
 * offset   NULL, or, where the answer is 1, receives at which byte of `name` what is in the filter
 *          begins: 0 for the name itself.
 * Returns  1 or 0, as tamis_filter_contains(), and its errors; TAMIS_ENOMEM.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_contains_name(tamis_filter *filter, const void *name,
                                                          size_t name_bytes, size_t *offset);

/*
 * Asks several filters for the same keys.  The keys are hashed once for all filters that have one
 * key rule, hash set and seed.
 *
 * filters  filter_count open handles, at most 4096, of one store or of several.  One may come
 * twice. answers  filter_count times count bytes: answers[f * count + i] is 1 if filters[f] has
 * keys[i], else 0. Returns  the number of ones, or an error of tamis_filter_contains_batch().
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filters_contains_batch(tamis_filter *const *filters,
                                                                size_t filter_count,
                                                                const struct tamis_key *keys,
                                                                size_t count, uint8_t *answers);

/* ---- Removing and counting: kind counting --------------------------------------------------- */

/*
 * Takes a key off once: after as many removes as adds the key is absent.  Safe beside any other
 * call, from any thread or process.
 *
 * Returns  1 if the key was there; 0 if it is certainly absent, and then nothing was changed.  If
 *          several processes remove one key, as many of them are told 1 as there were adds of it.
 *          TAMIS_EUNSUPPORTED: another kind.  TAMIS_EREADONLY, TAMIS_EINVAL, TAMIS_EDROPPED;
 *          TAMIS_ELIMIT and the like at the first remove of a handle in a process, which opens the
 *          segment's file once more; nothing was changed then.
 * Caution  a key that was never added and that the filter takes for present (a false positive)
 *          is "removed" too, at the cost of the keys that share its counters.  Remove only
 *          what was added.
 * Waits    for another remover whose key lies in the same block, or in any block with the same
 *          number modulo 48; also for one that is suspended there, never for one that died.  Adds
 *          and queries never wait.
 * Killed   in the middle, a remove counts as done.  Counters that it had not come to stay too high,
 *          so the key may still be answered "present".
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_remove(tamis_filter *filter, const void *key,
                                                   size_t key_bytes);

/*
 * Returns how often a key was added and not removed: never less, and more if other keys share all
 * of its counters, which happens at about the rate at which strangers are taken for present.
 * Wait-free; writes nothing.
 *
 * Returns  0 or more.  TAMIS_EUNSUPPORTED: another kind.  TAMIS_EINVAL, TAMIS_EDROPPED.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_count(tamis_filter *filter, const void *key,
                                                      size_t key_bytes);

/*
 * The same for many keys at once.
 *
 * answers  NULL, or count bytes: answers[i] receives 1 or 0 as the single call would return it;
 *          after an error in the middle, TAMIS_ANSWER_REFUSED for each key that was not handled.
 * counts   counts[i] receives what the single call would return.
 * Returns  the number of answers, or of counts, that are not 0; or an error.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_remove_batch(tamis_filter *filter,
                                                             const struct tamis_key *keys,
                                                             size_t count, uint8_t *answers);
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_count_batch(tamis_filter *filter,
                                                            const struct tamis_key *keys,
                                                            size_t count, uint64_t *counts);

/* ---- Exceptions ------------------------------------------------------------------------------ */

/*
 * Keys that answer absent whatever the bits say.  They are kept exactly, byte for byte, in the
 * catalog; a query consults them, in a mapped index, only where the bits say yes.  They belong to
 * the filter and outlast its generations.  A filter has at most TAMIS_EXCEPTIONS_MAX, each of at
 * most TAMIS_EXCEPTION_BYTES_MAX bytes.
 */
#define TAMIS_EXCEPTIONS_MAX 10000000
#define TAMIS_EXCEPTION_BYTES_MAX 65535

/* Adds keys to the exceptions: all of them, or none on an error.  Returns how many were no
 * exceptions yet; open handles follow within one call.  TAMIS_ENOTFOUND, TAMIS_EINVAL,
 * TAMIS_ELIMIT, TAMIS_ENOSPACE, TAMIS_EREADONLY. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_except(tamis_store *store, const char *name,
                                                       const struct tamis_key *keys, size_t count);
/* Takes keys off the exceptions, also those that a build found.  answers: NULL, or answers[i]
 * becomes 1 if the key was an exception.  Returns how many were; the others change nothing.
 * Errors as above. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_unexcept(tamis_store *store, const char *name,
                                                         const struct tamis_key *keys, size_t count,
                                                         uint8_t *answers);

/* One exception; the key lives only during the call.  generation: 0, or the one whose
 * build found it. */
typedef int tamis_exception_fn(void *context, const struct tamis_key *key, uint64_t generation);
/* Calls fn for each exception, in order of their bytes.  Returns 0, or what fn returned, which ends
 * this.  No lock is held while fn runs. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_exceptions(tamis_store *store, const char *name,
                                                       tamis_exception_fn *fn, void *context);

/* As above, for the filter of an open handle, whatever its name is now.  Returns TAMIS_EDROPPED
 * too, and TAMIS_ECORRUPT if the exceptions are damaged.  fn may not close the handle. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_each_exception(tamis_filter *filter,
                                                           tamis_exception_fn *fn, void *context);

/* ---- Shards ------------------------------------------------------------------------------- */

/* The seed of a shard, where none is asked for.  With seed 0 and hash set xxh3, the shard of a key
 * of more than 240 bytes would come from the hash that its bits come from: keys crowd, and a filter
 * of kind fuse cannot be made. */
#define TAMIS_SHARD_SEED 1

/*
 * The shard that a key belongs to, where a filter is spread over `shards` filters
 * (docs/cluster.md): 0 to shards - 1.  Any thread may call it; it reads the key alone.
 *
 * key      key_bytes bytes of any content; NULL only with key_bytes == 0.
 * shards   1 or more; with 0 the answer is 0.
 */
TAMIS_API uint32_t tamis_shard(const void *key, size_t key_bytes, uint32_t shards);

#ifdef __cplusplus
}
#endif

#endif

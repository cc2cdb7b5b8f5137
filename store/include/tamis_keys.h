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
 * Adds one key.  Any thread of any process may make this call beside any other call on the filter.
 * It is lock-free.
 *
 * key      key_bytes bytes of any content, not kept; NULL only with key_bytes == 0.
 * Returns  1: the key was new; 0: it was, or seemed, present.  If several processes and threads add
 *          one key at the same time, at most one of them gets 1.  One of them does get it, unless
 *          the key was there already or is a false positive.
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
 * Returns  the number of ones, or an error.  TAMIS_EINVAL: nothing was added.  After any other
 * error answers[i] is TAMIS_ANSWER_REFUSED for each key that was not added.  For the other keys it
 * is their answer, which no later add gives again.  After TAMIS_EFULL every key was handled.  After
 * another error the caller may add the refused keys again, or the whole batch.  A filter of kind
 * counting counts some keys twice if the whole batch is repeated.
 */
#define TAMIS_ANSWER_REFUSED 2
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_add_batch(tamis_filter *filter,
                                                          const struct tamis_key *keys,
                                                          size_t count, uint8_t *answers);
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_contains_batch(tamis_filter *filter,
                                                               const struct tamis_key *keys,
                                                               size_t count, uint8_t *answers);

/*
 * Has the processor fetch the memory that a later call for this key reads of the newest segment,
 * and does not wait for it.  This helps a program that has some hundred nanoseconds of other work
 * before that call, such as parsing the rest of a request.  It costs one hash of the key, and pays
 * if the filter is larger than the processor's caches.  The batch calls prefetch by themselves.  No
 * answer changes.  Safe beside any other call; wait-free.
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
 * filters  filter_count open handles, at most 4096, of one store or of several.  The same handle
 *          may come twice.
 * answers  filter_count * count bytes: answers[f * count + i] is 1 if filters[f] has keys[i],
 *          else 0.
 * Returns  the number of ones, or an error of tamis_filter_contains_batch().
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filters_contains_batch(tamis_filter *const *filters,
                                                                size_t filter_count,
                                                                const struct tamis_key *keys,
                                                                size_t count, uint8_t *answers);

/* ---- Removing and counting: kind counting --------------------------------------------------- */

/*
 * Removes one add of a key: after as many removes as adds the key is absent.  Safe beside any other
 * call, from any thread or process.
 *
 * Returns  1: the key was there.  0: the key is certainly absent; nothing was changed.  If several
 *          processes remove a key that was added n times, n of the removes get 1.
 *          TAMIS_EUNSUPPORTED: the filter is of another kind.  TAMIS_EREADONLY, TAMIS_EINVAL,
 *          TAMIS_EDROPPED.  TAMIS_ELIMIT, TAMIS_EACCESS: the first remove of a handle in a process
 *          opens the segment's file once more and could not; nothing was changed.
 * Caution  if the key was never added and is a false positive, the call lowers counters of other
 *          keys.  Remove only what was added.
 * Waits    for another remover whose key lies in the same block, or in a block with the same number
 *          modulo 48.  It also waits for a remover that is
 *          suspended, but never for one that died.  Adds and queries never wait.
 * Killed   in the middle, a remove counts as done.  Counters that it had not lowered yet stay too
 *          high, so the key may still seem present.
 * Durable  after tamis_filter_sync().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_remove(tamis_filter *filter, const void *key,
                                                   size_t key_bytes);

/*
 * Counts how often a key was added and not removed.  The count is never too low.  It is too high if
 * other keys share all counters of the key, which happens at about the filter's false-positive
 * rate. Wait-free; writes nothing.
 *
 * Returns  0 or more.  TAMIS_EUNSUPPORTED: the filter is of another kind.  TAMIS_EINVAL,
 *          TAMIS_EDROPPED.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_count(tamis_filter *filter, const void *key,
                                                      size_t key_bytes);

/*
 * Remove, or count, many keys at once.
 *
 * answers  NULL, or count bytes: answers[i] receives 1 or 0 as tamis_filter_remove() would return
 *          it; after an error, TAMIS_ANSWER_REFUSED for each key that was not handled.
 * counts   room for count numbers: counts[i] receives what tamis_filter_count() would return.
 * Returns  how many keys were there: answers of 1, or counts above 0.  Or an error of the single
 *          call.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_remove_batch(tamis_filter *filter,
                                                             const struct tamis_key *keys,
                                                             size_t count, uint8_t *answers);
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_count_batch(tamis_filter *filter,
                                                            const struct tamis_key *keys,
                                                            size_t count, uint64_t *counts);

/* ---- Exceptions ------------------------------------------------------------------------------ */

/*
 * Exceptions are keys that answer absent whatever the bits say.  The catalog keeps them exactly,
 * byte for byte.  A query looks them up, in a mapped index, only if the bits say yes.  An exception
 * that tamis_filter_except() has set belongs to the filter and outlasts its generations.  An
 * exception that a build has found (tamis_build_against()) belongs to that generation.  A filter
 * has at most TAMIS_EXCEPTIONS_MAX exceptions, each of at most TAMIS_EXCEPTION_BYTES_MAX bytes.
 */
#define TAMIS_EXCEPTIONS_MAX 10000000
#define TAMIS_EXCEPTION_BYTES_MAX 65535

/*
 * Makes keys exceptions: all of them, or none on an error.  Each open handle, in whatever process,
 * obeys from its next call on.
 *
 * Returns  how many of the keys were no exceptions yet.  TAMIS_ENOTFOUND: there is no such filter.
 *          TAMIS_EINVAL: also a key that is too long.  TAMIS_ELIMIT: too many exceptions.
 *          TAMIS_ENOSPACE, TAMIS_EREADONLY, TAMIS_EBUSY, TAMIS_EIO, TAMIS_ENOMEM.
 * Durable  when it returns 0 or more.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_except(tamis_store *store, const char *name,
                                                       const struct tamis_key *keys, size_t count);

/*
 * Removes exceptions: those that tamis_filter_except() has set and those that a build has found.
 * All keys, or none on an error.  Each open handle obeys from its next call on.
 *
 * answers  NULL, or count bytes: answers[i] becomes 1 if keys[i] was an exception, else 0.
 * Returns  how many of the keys were exceptions, or an error of tamis_filter_except().
 * Durable  when it returns 0 or more.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_unexcept(tamis_store *store, const char *name,
                                                         const struct tamis_key *keys, size_t count,
                                                         uint8_t *answers);

/* The library calls this function for one exception.  The key lives only during the call.
 * generation: the generation whose build found the exception; 0: tamis_filter_except() has set it.
 */
typedef int tamis_exception_fn(void *context, const struct tamis_key *key, uint64_t generation);
/* Calls fn for each exception, in byte order.  Returns 0; the value other than 0 by which fn ended
 * the call; or TAMIS_ENOTFOUND, TAMIS_ECORRUPT, TAMIS_EBUSY, TAMIS_EIO, TAMIS_ENOMEM.  No lock is
 * held while fn runs. */
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

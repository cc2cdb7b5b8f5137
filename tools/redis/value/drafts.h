/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drafts.h: filters that are not in the store yet, so that many come into it by one change.
 *
 * To make a filter waits for the disk some five times.  So a command that makes a small one leaves
 * a draft: what the filter is to be, and its first keys, in the server's memory.  All drafts of a
 * turn of the server's event loop come into the store together, before the server answers the
 * clients of that turn (docs/decisions/0026-filters-made-together.md).
 *
 *     BF.ADD a x      a draft             a turn begins
 *     BF.ADD b x      another one
 *     BF.EXISTS a x   the draft answers
 *     BF.INFO b       value_open(): all drafts come into the store, and b is opened
 *     BF.ADD c x      a draft
 *     ...             the other clients
 *                     drafts_before_sleep(): c comes into the store
 *                     the AOF is written, the answers are sent
 *
 * That is tamis.make sync, which waits for the disk.  Else a thread makes the filters of drafts,
 * some hundreds at a time, and the main thread takes them back when it is done (drafts.c).  With
 * `auto`, the default, the answers to clients that made them are held back until then, for a
 * bounded time in all; with `async` none is (docs/decisions/0036-nobody-else-waits.md).
 *
 * A value with a draft has a name and no handle, as one whose handle is closed (handles.h).  The
 * main thread makes drafts; another thread may free a value that has one.
 */
#pragma once

#include "value/value.h"

/* The store that they come into; what is called for each value that then has a filter; and what
 * gives a value another name. */
typedef void made_fn(struct value *value, bool opens);
typedef void named_fn(struct value *value, const char *name);
void drafts_set_store(tamis_store *of, made_fn *made, named_fn *named);
/* May filters be drafts?  Called when the server has said that it tells of its event loop. */
void drafts_allow(void);
/* Registers handlers of fork(): the first one between those of handles.h and of the registry, the
 * other one last, so that it comes first: with tamis.make sync a child finds no draft. */
void drafts_prepare_for_fork(void);
void drafts_enter_before_fork(void);

/* May a filter of so many bytes be a draft now?  Also one of those that the store refuses just now,
 * if it is loaded: else the load would fail. */
bool drafts_take(uint64_t file_bytes, bool is_loaded);
/* The time of creation of a filter that got a name apart as it came into the store, for another one
 * had that of its key; 0: there is none more.  For some of them, if there are very many. */
int64_t drafts_next_apart(void);
/* Gives the value, which has its name, a draft of that spec.  `sizing` is what tamis_size() says of
 * the filter. */
void draft_begin(struct value *value, const struct tamis_filter_spec *spec,
                 const struct tamis_sizing *sizing);

/* Makes the draft that has just begun one of RedisBloom's filters, of that framed head (head.h);
 * its spec has m and k. */
void draft_be_exact(struct value *value, const void *framed, size_t bytes);
/* The head that it was made so by; NULL: it was not. */
const void *draft_head(const struct value *value, size_t *bytes);

/* Has the value a draft that a copy can be made of, which is a draft too?  Not with tamis.make
 * sync. Gives a value, which has its name, such a copy. */
bool draft_can_be_copied(const struct value *value);
void draft_begin_copy(struct value *value, const struct value *from);

/* The whole stream of a filter that goes into a drawer, of format tamis or, of one layer,
 * redisbloom (docs/exchange.md).  RedisModule_Free() frees the data. */
struct draft_stream {
    char *data;
    size_t bytes;
    bool is_redisbloom;
};
/* Gives the value, which has its name, a draft of a stream, whose data it frees; `created_at` 0:
 * now. Nothing can be asked of it, or added to it.  The caller sets the expansion of the value. */
void draft_begin_content(struct value *value, const struct draft_stream *stream,
                         int64_t created_at);
/* The stream of such a draft; NULL: the value has none. */
const struct draft_stream *draft_content(const struct value *value);

/* Can a dump and an AOF have it?  One that was held may have more keys than its filter is made
 * with, or keys behind its content: it is to come into the store before it is saved. */
bool draft_can_be_saved(const struct value *value);
/* What a dump has of another draft: what the filter is to be, and its keys. */
const struct tamis_filter_spec *draft_spec(const struct value *value);
const struct tamis_key *draft_keys(const struct value *value, size_t *count);
/* So many keys it may have, and no more than its capacity. */
#define DRAFT_KEYS_MAX 128u

/* Has the value a draft with room for so many more keys? */
bool draft_has_room(const struct value *value, size_t keys);
/* Adds a key.  Returns 1 if it is new, or 0. */
int draft_add(struct value *value, const void *key, size_t bytes);
bool draft_contains(const struct value *value, const void *key, size_t bytes);

/* May so many keys be added to a draft of that capacity at once?  With tamis.make sync a draft that
 * cannot take them comes into the store directly. */
bool drafts_hold(size_t keys, uint64_t capacity);

/* A command has made the draft, or added to it.  If the answer is to be held back until the store
 * has that, blocks the client, and returns the context that the answer goes to, and then
 * draft_held_back(); else NULL. */
RedisModuleCtx *draft_hold_back(RedisModuleCtx *ctx, const struct value *value);
void draft_held_back(RedisModuleCtx *answer);
/* A command needs the filter, and the value has a draft.  If the client can wait, it is blocked,
 * and `again` runs its command when the filter is made. */
bool draft_puts_off(RedisModuleCtx *ctx, const struct value *value, RedisModuleReplyFunc *again);

/*
 * While all is loaded, a key may yet get the filter that the store had of it before: draft_hold()
 * keeps the draft that its commands make out of the store until draft_release(), which gives it
 * another name if `name` is not NULL.  drafts_release_held() releases all of them; those that
 * cannot be saved as they are come into the store at once.  The main thread calls these.
 */
void draft_hold(struct value *value);
bool draft_is_held(const struct value *value);
void draft_release(struct value *value, const char *name);
void drafts_release_held(void);
/* If those that are held have too many bytes of keys, they come into the store under names apart.
 */
void drafts_relieve(void);

/* Gives a draft another name, which nobody has.  Returns false if a thread has it. */
bool draft_rename(struct value *value, const char *name);

/* Brings all drafts into the store.  Returns 0, or the error of one; those with an error stay
 * drafts. */
int drafts_enter(void);
/* A turn of the event loop ends: brings all drafts into the store, or hands them over.  From now on
 * until the next call of drafts_after_sleep() there are no new ones, as answers may be sent. */
void drafts_before_sleep(void);
void drafts_after_sleep(void);
/* Without tamis.make sync: are there so many drafts that this client had better wait?  Then it is
 * blocked, and `again` runs its command later. */
bool drafts_put_off(RedisModuleCtx *ctx, RedisModuleReplyFunc *again);
/* Lets those go on, if there is room for their drafts.  Called at the end of each turn. */
void drafts_go_on(void);
/* How many there are, without those that are held. */
unsigned drafts_count(void);
/* After an error: tries again, and allows new drafts.  Called now and then. */
void drafts_try_again(void);

/* The value goes.  Returns whether it had a draft, which is gone then, and nothing is in the store.
 * If the thread has the draft, draft_wait() must follow.  In any thread. */
bool draft_forget(struct value *value);
/* All keys of a database are about to go; -1: those of all.  None of their drafts comes into the
 * store from now on, though another thread may free the values later.  In the main thread. */
void drafts_forget_database(int db);
/* For a value whose key is gone: waits until the thread does not have its draft, which is gone
 * then. The store has the filter under the value's name, or not at all.  In any thread. */
void draft_wait(struct value *value);

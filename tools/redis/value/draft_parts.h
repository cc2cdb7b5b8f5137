/* SPDX-License-Identifier: BSD-2-Clause */
/* draft_parts.h: what the files drafts*.c know of a draft. */
#pragma once

#include "server/config.h"
#include "server/waiting.h"
#include "value/drafts.h"
#include "value/value.h"

#define DRAFT_SENTENCE_ROOM 1024

struct draft_list {
    struct draft *first, **last;
};

struct draft {
    struct draft *next, **link; /* in its list; link is NULL: the key is gone */
    struct draft_list *list;
    struct value *value;
    struct draft_client *clients;  /* drafts_clients.c; the one that came last is the first */
    struct tamis_filter_spec spec; /* with `exact`: what people are told of it */
    struct draft_exact *exact;     /* of a filter of RedisBloom (drafts_exact.c); else NULL */
    struct draft_stream content;   /* of what was loaded (drafts_content.c); without data: none */
    struct tamis_key *keys;        /* each allocated */
    size_t key_count, key_room, key_bytes;
    size_t key_most; /* its filter is made with so many at most; of one that is held, there may be
                        more behind them, by which the filter grows */
    enum { WAITING, IN_WORK, DONE } state;
    size_t stored; /* so many of the keys are in the store, if it is made */
    bool made;
    bool is_alone; /* it was made by draft_make_alone() just now */
    /* Of the thread, until it is DONE. */
    char name[NAME_ROOM]; /* of the filter: another one than the value has if that was taken */
    struct tamis_key *in_hands; /* the first keys, of which further ones may move the others */
    size_t handed;
    tamis_filter *filter; /* NULL: it is not open */
    int rc;
};

/* drafts.c.  The mutex of the drafts: takes it, or gives it back. */
void drafts_lock(bool locks);
/* Gives the value another name.  The caller has the mutex. */
void draft_set_name(struct value *value, const char *name);
/* Did the store refuse drafts the last time? */
bool drafts_are_stuck(void);

/* drafts_list.c; the caller has the mutex.  Puts a draft into a list; takes it off its list; adds
 * to the bytes of its list, which needs no mutex. */
extern struct draft_list drafts_ready, drafts_held;
void draft_append(struct draft *draft, struct draft_list *list);
void draft_take_off(struct draft *draft);
void draft_move(struct draft *draft, struct draft_list *to);
void draft_count_bytes(const struct draft *draft, int64_t change);
/* Those that count there. */
#define DRAFT_CONTENT_SHARE 8
static inline int64_t draft_bytes(const struct draft *draft)
{
    return (int64_t)(draft->key_bytes + draft->content.bytes / DRAFT_CONTENT_SHARE);
}
/* Are there `times` as many drafts as there should be?  No mutex is needed. */
bool drafts_are_many(unsigned times);

/* Those with which its filter is made. */
static inline size_t draft_first_keys(const struct draft *draft)
{
    return draft->key_count < draft->key_most ? draft->key_count : draft->key_most;
}
/* Has one that is held room for so many more keys? */
bool draft_held_has_room(const struct draft *draft, size_t keys);
/* A filter that was created at that time has a name apart, and is to get that of its key later. */
void draft_note_apart(int64_t created_at);
/* Have all that are held too many bytes of keys? */
bool drafts_held_are_large(void);

/* drafts_clients.c; the caller has the mutex.  May the answer of one more client be held back? Adds
 * a client that has its answer, or one whose command is to be run anew; lets all of a draft go on.
 */
bool draft_may_hold_back(void);
void draft_add_answered(struct draft *draft, RedisModuleBlockedClient *client);
void draft_add_waiting(struct draft *draft, struct waiting *waiting);
void draft_let_go(struct draft *draft);
/* Does a thread make the filters? */
static inline bool drafts_are_made_behind(void)
{
    return config.make != MAKE_SYNC;
}

/* drafts_exact.c.  What a filter of RedisBloom is to be, and the bits of its keys: in one piece of
 * memory.  The head does not change. */
struct draft_exact {
    uint64_t bits;
    uint32_t hashes;
    uint32_t head_bytes; /* of the framed head */
    unsigned char *head, *data;
};
/* Would RedisBloom's bits have the key?  Sets them. */
bool draft_bits_have(const struct draft_exact *exact, const void *key, size_t bytes);
void draft_bits_set(struct draft_exact *exact, const void *key, size_t bytes);

/* drafts_make.c.  Has the disk of the store that much room, or had it 10 ms ago? */
bool draft_disk_has(uint64_t bytes);
/* What the library makes of a draft. */
struct tamis_filled draft_filled(const struct draft *draft, const char *name,
                                 const struct tamis_key *keys, size_t key_count);
/* Copies what the thread needs of a draft: keys that are added meanwhile may move
 * the others. */
void draft_give(struct draft *draft);
/* Opens the filter of a draft that is made, and adds the keys that it lacks.  One that a local
 * process has dropped or renamed is left alone: the command that wants it says so. */
int draft_add_others(tamis_store *store, struct draft *draft);
/* Makes the filter of the only draft and adds its keys, which takes less than a batch of one; it
 * stays open, and is ready for further keys. */
int draft_make_alone(tamis_store *store, struct draft *draft);
/* Makes the filters of drafts that are IN_WORK, and opens them if that is wanted; or adds the keys
 * that they lack.  Each gets its result; `failure` gets the sentence of the last error. */
void drafts_make(tamis_store *store, struct draft **drafts, unsigned count, bool opens,
                 char failure[DRAFT_SENTENCE_ROOM]);

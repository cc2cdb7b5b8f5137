/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * moves_read.c: what the run before had under way; see moves.h, moves_parts.h.
 *
 * The entries come in the order of the commands.  Those that are not confirmed are of the last turn
 * of the event loop: the AOF may have all commands of that turn, or none.  So they say nothing for
 * certain, but that a name may belong to another filter than before.
 */
#include <stdlib.h>
#include <string.h>

#include "kept/moves.h"
#include "kept/moves_parts.h"
#include "value/table.h"

/* What is known of a filter. */
struct known_move {
    struct node by_time;
    int64_t created_at;
    uint64_t has_key_since; /* the place of an entry MOVES_KEY; 0: there is none */
    bool is_gone;
    bool is_behind;
    bool is_unsure; /* the last turn did something to it, or to its key */
    char *to;       /* NULL: it keeps its name */
    char *perhaps;  /* the same, by the last turn */
};

/* A name that the last turn has given to a filter. */
struct given {
    struct node by_name;
    int64_t created_at;
    char name[];
};

struct flush {
    struct flush *next;
    uint64_t place;
    int64_t created_before;
    int db;
    bool is_sure;
};

struct swap {
    struct swap *next;
    uint64_t place;
    int a, b;
};

static struct table known, given_names;
static struct flush *flushes;   /* the last one is the first, as of swaps */
static struct swap *swaps;      /* those that are confirmed */
static int64_t load_began;      /* the first one that has not come to its end; 0: none has begun */
static struct known_move **all; /* of `known`, and those of `given_names` */
static struct given **all_given;
static size_t all_count, all_room, given_count, given_room;

static void *more_room(void *list, size_t count, size_t *list_room)
{
    if (count < *list_room) return list;
    *list_room = 2 * *list_room + 64;
    return RedisModule_Realloc(list, *list_room * sizeof(void *));
}

/* ---- Reading --------------------------------------------------------------------------------- */

static struct known_move *find(int64_t created_at)
{
    const struct node *node = table_find(&known, hash_of_time(created_at));
    for (; node != NULL; node = table_find_next(node)) {
        struct known_move *k = NODE_OF(struct known_move, by_time, node);
        if (k->created_at == created_at) return k;
    }
    return NULL;
}

static struct known_move *find_or_put(int64_t created_at)
{
    struct known_move *k = find(created_at);
    if (k != NULL) return k;
    k = RedisModule_Calloc(1, sizeof *k);
    k->created_at = created_at;
    table_put(&known, &k->by_time, hash_of_time(created_at));
    all = more_room(all, all_count, &all_room);
    all[all_count++] = k;
    return k;
}

static void put_given(const char *name, int64_t created_at)
{
    const size_t bytes = strlen(name);
    struct given *g = RedisModule_Calloc(1, sizeof *g + bytes + 1);
    memcpy(g->name, name, bytes);
    g->created_at = created_at;
    table_put(&given_names, &g->by_name, hash_of_bytes(name, bytes));
    all_given = more_room(all_given, given_count, &given_room);
    all_given[given_count++] = g;
}

static void put_flush(uint64_t place, const struct moves_entry *entry, const char *db, bool sure)
{
    struct flush *flush = RedisModule_Calloc(1, sizeof *flush);
    *flush = (struct flush){.next = flushes,
                            .place = place,
                            .created_before = entry->created_at,
                            .db = (int)strtol(db, NULL, 10),
                            .is_sure = sure};
    flushes = flush;
}

static void put_swap(uint64_t place, const char *dbs)
{
    struct swap *swap = RedisModule_Calloc(1, sizeof *swap);
    char *second;
    *swap = (struct swap){.next = swaps, .place = place, .a = (int)strtol(dbs, &second, 10)};
    swap->b = (int)strtol(second, NULL, 10);
    swaps = swap;
}

static void set(char **to, const char *name)
{
    RedisModule_Free(*to);
    *to = RedisModule_Strdup(name);
}

static void read_sure(uint64_t place, const struct moves_entry *entry, uint64_t type,
                      const char *name)
{
    struct known_move *k = find_or_put(entry->created_at);
    k->is_gone = type == MOVES_GONE || (type == MOVES_NAME && k->is_gone);
    if (type != MOVES_GONE) set(&k->to, name);
    if (type == MOVES_KEY) k->has_key_since = place;
}

static void read_entry(uint64_t place, const struct moves_entry *entry, uint64_t type,
                       const char *name, bool sure)
{
    if (type == MOVES_LOAD || type == MOVES_DONE) {
        load_began = type == MOVES_DONE ? 0 : load_began != 0 ? load_began : entry->created_at;
    } else if (type == MOVES_ADDS) {
        find_or_put(entry->created_at)->is_behind = true;
    } else if (type == MOVES_FLUSH) {
        put_flush(place, entry, name, sure);
    } else if (type == MOVES_SWAP) {
        if (sure) put_swap(place, name);
    } else if (sure) {
        read_sure(place, entry, type, name);
    } else {
        struct known_move *k = find_or_put(entry->created_at);
        k->is_unsure = true;
        if (type == MOVES_GONE) return;
        put_given(name, entry->created_at);
        set(&k->perhaps, name);
    }
}

/* Is an entry confirmed?  If not, it is marked: the server that reads it confirms what comes
 * behind.
 */
static bool is_sure(struct moves_entry *entry, bool confirmed)
{
    const bool sure =
        (entry->head & MOVES_SURE) != 0 || (confirmed && (entry->head & MOVES_UNSURE) == 0);
    if (!sure) entry->head |= MOVES_UNSURE;
    return sure;
}

static bool has_name(uint64_t type)
{
    return type != MOVES_GONE && type != MOVES_ADDS && type != MOVES_LOAD && type != MOVES_DONE;
}

/* Is that the head of an entry of the epoch, which ends before `end`?  A thread that was killed
 * while it wrote one has left none: then something else follows. */
static bool is_head(uint64_t head, uint64_t epoch, uint64_t left)
{
    const uint64_t units = MOVES_UNITS(head), type = MOVES_TYPE(head);
    return head >> 40 == MOVES_MARK && MOVES_EPOCH(head) == epoch && units >= 1 && units <= left &&
           units <= 1 + (NAME_ROOM + MOVES_UNIT - 1) / MOVES_UNIT && type >= MOVES_GONE &&
           type <= MOVES_DONE && (units == 1) == !has_name(type);
}

void moves_read(void *bytes_of_file, size_t bytes)
{
    const struct moves_head *file = bytes_of_file;
    const uint64_t epoch = MOVES_EPOCH(file->control),
                   most = (bytes - MOVES_ENTRIES_AT) / MOVES_UNIT;
    const uint64_t end = MOVES_OFFSET(file->control) < most ? MOVES_OFFSET(file->control) : most;
    const uint64_t sure = MOVES_EPOCH(file->confirmed) == epoch ? MOVES_OFFSET(file->confirmed) : 0;
    char name[NAME_ROOM + MOVES_UNIT];
    for (uint64_t unit = 0, units = 1; unit < end; unit += units) {
        struct moves_entry *entry =
            (void *)((char *)bytes_of_file + MOVES_ENTRIES_AT + unit * MOVES_UNIT);
        units = 1;
        if (!is_head(entry->head, epoch, end - unit)) continue;
        units = MOVES_UNITS(entry->head);
        memset(name, 0, sizeof name);
        memcpy(name, entry->name, (units - 1) * MOVES_UNIT);
        name[NAME_ROOM - 1] = '\0';
        read_entry(unit + 1, entry, MOVES_TYPE(entry->head), name, is_sure(entry, unit < sure));
    }
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* The database of a key whose filter has that name (names.h); -1: no key's has it. */
static int db_of(const char *name)
{
    static const char prefix[] = "redis:";
    char *end;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) return 0;
    const long db = strtol(name + sizeof prefix - 1, &end, 10);
    return end > name + sizeof prefix - 1 && *end == ':' ? (int)db : -1;
}

/* The same at an earlier place of the file: databases have changed places since. */
static int db_at(uint64_t place, const char *name)
{
    int db = db_of(name);
    for (const struct swap *s = swaps; s != NULL && s->place > place; s = s->next)
        if (db == s->a || db == s->b) db = db == s->a ? s->b : s->a;
    return db;
}

/* Was the filter's database emptied, and its key has not come since? */
static bool is_flushed(int64_t created_at, const char *name, uint64_t has_key_since, bool *unsure)
{
    bool flushed = false;
    for (const struct flush *f = flushes; f != NULL; f = f->next) {
        if (created_at > f->created_before || f->place < has_key_since ||
            (f->db >= 0 && f->db != db_at(f->place, name)))
            continue;
        flushed |= f->is_sure;
        *unsure |= !f->is_sure;
    }
    return flushed;
}

/* Has the last turn given the name to another filter? */
static bool is_given_to_another(const char *name, int64_t created_at)
{
    const struct node *node = table_find(&given_names, hash_of_bytes(name, strlen(name)));
    for (; node != NULL; node = table_find_next(node)) {
        const struct given *g = NODE_OF(const struct given, by_name, node);
        if (g->created_at != created_at && strcmp(g->name, name) == 0) return true;
    }
    return false;
}

struct moved moves_of(int64_t created_at, const char *name)
{
    const struct known_move *k = known.count > 0 ? find(created_at) : NULL;
    struct moved moved = {.gone = STAYS,
                          .is_behind = k != NULL && k->is_behind,
                          .is_of_load = load_began != 0 && created_at >= load_began,
                          .to = k != NULL ? k->to : NULL,
                          .perhaps = k != NULL ? k->perhaps : NULL};
    const char *now = moved.to != NULL ? moved.to : name;
    bool unsure = k != NULL && k->is_unsure;
    const bool flushed = is_flushed(created_at, now, k != NULL ? k->has_key_since : 0, &unsure);
    if (k != NULL && k->is_gone)
        moved.gone = k->is_unsure ? BY_HEIR : GONE; /* the last turn may have taken it back */
    else if (flushed)
        moved.gone = FLUSHED;
    else if (unsure && is_given_to_another(now, created_at))
        moved.gone = BY_HEIR;
    return moved;
}

void moves_let_go(void)
{
    for (size_t i = 0; i < all_count; i++) {
        table_take(&known, &all[i]->by_time);
        RedisModule_Free(all[i]->to);
        RedisModule_Free(all[i]->perhaps);
        RedisModule_Free(all[i]);
    }
    for (size_t i = 0; i < given_count; i++) {
        table_take(&given_names, &all_given[i]->by_name);
        RedisModule_Free(all_given[i]);
    }
    for (struct flush *f = flushes, *next; f != NULL; f = next) {
        next = f->next;
        RedisModule_Free(f);
    }
    for (struct swap *s = swaps, *next; s != NULL; s = next) {
        next = s->next;
        RedisModule_Free(s);
    }
    RedisModule_Free(all);
    RedisModule_Free(all_given);
    all = NULL;
    all_given = NULL;
    flushes = NULL;
    swaps = NULL;
    load_began = 0;
    all_count = all_room = given_count = given_room = 0;
}

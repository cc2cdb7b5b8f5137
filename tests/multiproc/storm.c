/* SPDX-License-Identifier: BSD-2-Clause */
#include "storm.h"

#include <stdio.h>
#include <string.h>

#include "auto.h"
#include "builds.h"
#include "random.h"
#include "spawn.h"
#include "specs.h"

#define LIST_KEYS 30u
#define NAME_BYTES 32
#define KEYS_MAX 300u
#define SLICES 4u

/* ---- Filters that come and go ---------------------------------------------------------------- */

static void name_of(unsigned number, uint32_t index, char name[NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "writer-%u-%u", number, index);
}

static uint64_t key_of(unsigned number, const struct storm_name *name, uint64_t key)
{
    return (uint64_t)(number + 1) << 56 | name->serial << 16 | key;
}

static bool exists(tamis_store *store, const char *name, tamis_filter **filter)
{
    const int rc = tamis_filter_open(store, name, 0, filter);
    SPAWN_CHECK(rc == 0 || rc == TAMIS_ENOTFOUND);
    return rc == 0;
}

static void check_keys(tamis_filter *filter, unsigned number, const struct storm_name *name)
{
    for (uint64_t i = 0; i < name->keys; i++) {
        const uint64_t key = key_of(number, name, i);
        SPAWN_CHECK(tamis_filter_contains(filter, &key, sizeof key) == 1);
    }
}

static void check_names(tamis_store *store, unsigned number, struct storm_writer *writer)
{
    for (uint32_t i = 0; i < STORM_NAMES; i++) {
        struct storm_name *name = &writer->names[i];
        char text[NAME_BYTES];
        AUTO_FILTER *filter = NULL;
        name_of(number, i, text);
        const bool is_there = exists(store, text, &filter);
        SPAWN_CHECK(is_there ? name->state != STORM_ABSENT : name->state != STORM_PRESENT);
        if (name->twin != 0) { /* of the two exactly one is there */
            struct storm_name *twin = &writer->names[name->twin - 1];
            twin->state = is_there ? STORM_ABSENT : STORM_PRESENT;
            twin->twin = name->twin = 0;
        }
        name->state = is_there ? STORM_PRESENT : STORM_ABSENT;
        if (is_there) check_keys(filter, number, name);
    }
}

static void create(tamis_store *store, unsigned number, struct storm_writer *writer, uint32_t index)
{
    static const uint32_t kinds[] = {TAMIS_KIND_BLOCKED, TAMIS_KIND_BLOOM, TAMIS_KIND_COUNTING};
    struct storm_name *name = &writer->names[index];
    char text[NAME_BYTES];
    name_of(number, index, text);
    name->keys = 0;
    name->serial = ++writer->serials;
    name->state = STORM_BEGUN;
    SPAWN_CHECK(tamis_filter_create(store, text,
                                    SPEC(.capacity = 16, .kind = kinds[writer->serials % 3]),
                                    NULL) == 0);
    name->state = STORM_PRESENT;
    writer->operations[0]++;
}

static void drop(tamis_store *store, unsigned number, struct storm_writer *writer, uint32_t index)
{
    struct storm_name *name = &writer->names[index];
    char text[NAME_BYTES];
    name_of(number, index, text);
    name->state = STORM_BEGUN;
    SPAWN_CHECK(tamis_filter_drop(store, text) == 0);
    name->state = STORM_ABSENT;
    writer->operations[1]++;
}

static void rename_it(tamis_store *store, unsigned number, struct storm_writer *writer,
                      uint32_t from, uint32_t to)
{
    struct storm_name *names = writer->names;
    char old[NAME_BYTES], new[NAME_BYTES];
    name_of(number, from, old);
    name_of(number, to, new);
    names[to] = (struct storm_name){.state = STORM_BEGUN,
                                    .serial = names[from].serial,
                                    .keys = names[from].keys,
                                    .twin = from + 1};
    names[from].twin = to + 1;
    names[from].state = STORM_BEGUN;
    SPAWN_CHECK(tamis_filter_rename(store, old, new) == 0);
    names[to].state = STORM_PRESENT;
    names[from].state = STORM_ABSENT;
    names[to].twin = names[from].twin = 0;
    writer->operations[2]++;
}

/* More keys than it was made for, so that it grows; one so often that its counters outgrow their
 * bits. */
static void grow(tamis_store *store, unsigned number, struct storm_writer *writer, uint32_t index)
{
    struct storm_name *name = &writer->names[index];
    char text[NAME_BYTES];
    tamis_filter *filter;
    name_of(number, index, text);
    SPAWN_CHECK(exists(store, text, &filter));
    for (unsigned i = 0; i < 40; i++) {
        const uint64_t key = key_of(number, name, name->keys);
        SPAWN_CHECK(tamis_filter_add(filter, &key, sizeof key) >= 0);
        name->keys++;
        SPAWN_CHECK(tamis_filter_add(filter, "often", 5) >= 0);
    }
    SPAWN_CHECK(tamis_filter_close(filter) == 0);
    writer->operations[6]++;
}

static void sync_it(tamis_store *store, unsigned number, struct storm_writer *writer,
                    uint32_t index)
{
    char text[NAME_BYTES];
    tamis_filter *filter;
    name_of(number, index, text);
    SPAWN_CHECK(exists(store, text, &filter));
    SPAWN_CHECK(tamis_filter_sync(filter) == 0);
    SPAWN_CHECK(tamis_filter_close(filter) == 0);
    writer->operations[3]++;
}

/* ---- A list that is built, with an exception that comes and goes ----------------------------- */

static uint64_t mark_of(uint64_t generation)
{
    return UINT64_C(1000000) + generation;
}

static void publish(tamis_store *store, const char *list, struct storm_writer *writer)
{
    const struct tamis_build_spec fuse = {.size = sizeof fuse,
                                          .filter =
                                              SPEC(.fp_rate = 0x1p-32, .kind = TAMIS_KIND_FUSE),
                                          .threads = 1},
                                  blocked = {.size = sizeof blocked,
                                             .filter = SPEC(.fp_rate = 1e-9, .capacity = 100,
                                                            .kind = TAMIS_KIND_BLOCKED),
                                             .threads = 1};
    uint64_t keys[LIST_KEYS + 1];
    for (uint64_t i = 0; i < LIST_KEYS; i++)
        keys[i] = i;
    keys[LIST_KEYS] = mark_of(++writer->list_begun);
    SPAWN_CHECK(builds_publish(store, list, writer->list_begun % 2 ? &fuse : &blocked, keys,
                               LIST_KEYS + 1, NULL) == 1);
    writer->list_done = writer->list_begun;
    writer->operations[4]++;
}

/* Key 0 is an exception after an odd number of changes. */
static void except(tamis_store *store, const char *list, struct storm_writer *writer)
{
    const uint64_t number = 0;
    const struct tamis_key key = {&number, sizeof number};
    if (writer->list_done == 0) return;
    writer->excepted_begun++;
    SPAWN_CHECK((writer->excepted_begun % 2
                     ? tamis_filter_except(store, list, &key, 1)
                     : tamis_filter_unexcept(store, list, &key, 1, NULL)) == 1);
    writer->excepted_done = writer->excepted_begun;
    writer->operations[7]++;
}

/* One generation, done or begun; what is in force then is what is done. */
static void check_list(tamis_store *store, const char *list, struct storm_writer *writer)
{
    tamis_filter *filter;
    uint64_t in_force = 0, key = 0;
    if (!exists(store, list, &filter)) {
        SPAWN_CHECK(writer->list_done == 0);
        return;
    }
    for (uint64_t g = writer->list_done; g <= writer->list_begun; g++) {
        const uint64_t mark = mark_of(g);
        if (tamis_filter_contains(filter, &mark, sizeof mark) != 1) continue;
        SPAWN_CHECK(in_force == 0);
        in_force = g;
    }
    SPAWN_CHECK(in_force != 0);
    writer->list_done = writer->list_begun = in_force;
    const int has = tamis_filter_contains(filter, &key, sizeof key);
    SPAWN_CHECK(has == 0 || has == 1);
    const uint64_t odd = has == 0;
    SPAWN_CHECK(writer->excepted_begun % 2 == odd || writer->excepted_done % 2 == odd);
    if (writer->excepted_begun % 2 != odd) writer->excepted_begun = writer->excepted_done;
    writer->excepted_done = writer->excepted_begun;
    for (key = 1; key < LIST_KEYS; key++)
        SPAWN_CHECK(tamis_filter_contains(filter, &key, sizeof key) == 1);
    SPAWN_CHECK(tamis_filter_close(filter) == 0);
}

/* ---- A window -------------------------------------------------------------------------------- */

static void rotate(tamis_store *store, const char *window, struct storm_writer *writer)
{
    tamis_filter *filter;
    SPAWN_CHECK(tamis_filter_open_or_create(
                    store, window, SPEC(.window_items = 4000, .slices = SLICES), &filter) == 0);
    const uint64_t key = writer->window_key + 1;
    if (writer->window_key > 0 && writer->window_moves < SLICES)
        SPAWN_CHECK(tamis_filter_contains(filter, &writer->window_key, sizeof key) == 1);
    SPAWN_CHECK(tamis_filter_add(filter, &key, sizeof key) >= 0);
    writer->window_moves = 1;
    writer->window_key = key;
    SPAWN_CHECK(tamis_filter_rotate(filter) == 0);
    SPAWN_CHECK(tamis_filter_close(filter) == 0);
    writer->operations[5]++;
}

/* ---- All of it ------------------------------------------------------------------------------- */

struct names {
    char list[NAME_BYTES], window[NAME_BYTES];
};

static struct names names_of(unsigned number)
{
    struct names names;
    (void)snprintf(names.list, NAME_BYTES, "list-%u", number);
    (void)snprintf(names.window, NAME_BYTES, "window-%u", number);
    return names;
}

void storm_check(tamis_store *store, unsigned number, struct storm_writer *writer)
{
    const struct names names = names_of(number);
    check_names(store, number, writer);
    check_list(store, names.list, writer);
}

static void change_one(tamis_store *store, unsigned number, struct storm_writer *writer,
                       uint64_t *random)
{
    const uint32_t index = (uint32_t)random_below(random, STORM_NAMES),
                   other = (uint32_t)random_below(random, STORM_NAMES);
    const struct storm_name *name = &writer->names[index];
    if (name->state == STORM_ABSENT)
        create(store, number, writer, index);
    else if (name->keys < KEYS_MAX && random_below(random, 2) == 0)
        grow(store, number, writer, index);
    else if (writer->names[other].state == STORM_ABSENT)
        rename_it(store, number, writer, index, other);
    else if (random_below(random, 2) == 0)
        sync_it(store, number, writer, index);
    else
        drop(store, number, writer, index);
}

void storm_write(tamis_store *store, unsigned number, struct storm_writer *writer, uint64_t random)
{
    const struct names names = names_of(number);
    storm_check(store, number, writer);
    for (;;) {
        switch (random_below(&random, 6)) {
        case 0:
            publish(store, names.list, writer);
            break;
        case 1:
            except(store, names.list, writer);
            break;
        case 2:
            rotate(store, names.window, writer);
            break;
        default:
            change_one(store, number, writer, &random);
            break;
        }
    }
}

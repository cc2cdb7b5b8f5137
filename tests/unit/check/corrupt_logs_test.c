/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * corrupt_logs_test.c: 200 damaged logs of durable filters, after the machine went down.
 *
 * A store with two durable filters, whose segments the disk has as they were when a handle had
 * marked them, and their logs.  One log is damaged: header, length, bytes of frames, frames
 * exchanged, the end never written, another log in its place.  A child opens the filters under
 * another boot:
 *
 *     refused   one cannot be opened for writing
 *     told      one is unclean, or verify tells of a problem
 *     true      every key is there
 *     missing   some are not: all of them in frames that were damaged, which look like torn ones
 *     silent    a key is in that was not in the sound filter, or one is missing whose frame is as
 *               it was
 *     crashed   a signal, or 60 seconds
 *
 * Seen to fail: with the checksum of frames not compared.
 */
#include "fixture.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/point.h"
#include "damages.h"
#include "log/log.h"
#include "numbers.h"
#include "spawn.h"
#include "txn/store.h"

#define SHARE (FIXTURE_SANITIZED ? 10u : 1u)
#define ALARM_SECONDS 60u

enum outcome { REFUSED, TOLD, TRUE, MISSING, SILENT, CRASHED, OUTCOMES };

#define LOG_MUTATIONS 200u
#define LOG_FRAMES 60u
#define LOG_KEYS 10u /* a frame */
#define LOG_ASKED 20000u
#define LOG_FILTERS 2u

static const struct {
    const char *name;
    struct tamis_filter_spec spec;
} durables[LOG_FILTERS] = {
    {"digests", SPEC_FIELD(.capacity = 2000, .fp_rate = 0.01, .flags = TAMIS_FILTER_DURABLE)},
    {"keys", SPEC_FIELD(.capacity = 2000, .fp_rate = 0.01, .hash_set = "redisbloom",
                        .flags = TAMIS_FILTER_DURABLE)},
};

struct logged {
    char *path, file[LOG_FILTERS][64]; /* "logs/..." */
    struct bytes sound[LOG_FILTERS];
    bool is_in[LOG_FILTERS][LOG_ASKED];
    /* Of a mutation: */
    const char *down;
    bool intact[LOG_FILTERS][LOG_FRAMES];
};

static struct bytes read_whole(const char *file)
{
    struct bytes b = {.count = (size_t)fixture_size(file)};
    b.data = malloc(b.count + 8192);
    if (b.data == NULL) err(1, "malloc");
    fixture_peek(file, 0, b.data, b.count);
    return b;
}

static int note_log(void *context, uint64_t filter_id, const char *name)
{
    struct logged *logged = context;
    (void)snprintf(logged->file[filter_id - 1], sizeof logged->file[0], "logs/%s", name);
    return 0;
}

/* Its log names are kept in `logged`, and the store as the disk has it is at its path. */
static void make_logged(struct logged *logged)
{
    char *path, from[4200];
    tamis_store *store = fixture_store(&path);
    tamis_filter *filters[LOG_FILTERS];
    const struct tamis__logs logs = {.root_fd = store->root_fd, .path = path};
    const uint64_t first = LOG_ASKED;
    for (size_t f = 0; f < LOG_FILTERS; f++) {
        assert_done(tamis_filter_create(store, durables[f].name, &durables[f].spec, &filters[f]));
        assert_done(tamis_filter_add(filters[f], &first, sizeof first)); /* marks it */
    }
    logged->path = scratch_path("logged");
    scratch_copy(path, logged->path);
    scratch_remove(fixture_join(logged->path, "logs"));
    for (uint64_t key = 0; key < (uint64_t)LOG_FRAMES * LOG_KEYS; key += LOG_KEYS)
        for (size_t f = 0; f < LOG_FILTERS; f++) {
            uint64_t numbers[LOG_KEYS];
            struct tamis_key keys[LOG_KEYS];
            numbers_from(key, LOG_KEYS, numbers, keys);
            assert_done(tamis_filter_add_batch(filters[f], keys, LOG_KEYS, NULL));
        }
    (void)snprintf(from, sizeof from, "%s/logs", path);
    scratch_copy(from, fixture_join(logged->path, "logs"));
    assert_int_equal(tamis__logs_each(&logs, 0, note_log, logged), 0);
    for (size_t f = 0; f < LOG_FILTERS; f++) {
        for (uint64_t key = 0; key < LOG_ASKED; key++)
            logged->is_in[f][key] = tamis_filter_contains(filters[f], &key, sizeof key) == 1;
        logged->sound[f] = read_whole(fixture_join(logged->path, logged->file[f]));
        assert_done(tamis_filter_close(filters[f]));
    }
    tamis_store_close(store);
    free(path);
}

/* Where frame `i` of all but the first, which has one key, is, and its bytes. */
static size_t frame_at(size_t filter, size_t i, size_t *bytes)
{
    const size_t payload = LOG_KEYS * (filter == 0 ? 16 : 4 + sizeof(uint64_t));
    *bytes = tamis__frame_bytes(payload);
    return TAMIS__LOG_HEADER_BYTES + tamis__frame_bytes(filter == 0 ? 16 : 12) + i * *bytes;
}

static void swap_frames(struct bytes *b, size_t filter, uint64_t *random)
{
    size_t bytes;
    unsigned char kept[512];
    unsigned char *one = b->data + frame_at(filter, random_below(random, LOG_FRAMES), &bytes);
    unsigned char *other = b->data + frame_at(filter, random_below(random, LOG_FRAMES), &bytes);
    memcpy(kept, one, bytes);
    memmove(one, other, bytes);
    memcpy(other, kept, bytes);
}

static struct bytes damaged_log(const struct logged *logged, size_t filter, uint64_t *random)
{
    struct tamis__log_header header;
    size_t bytes;
    const struct bytes *sound = &logged->sound[filter];
    const size_t end = frame_at(filter, LOG_FRAMES, &bytes);
    struct bytes b = {.count = sound->count, .data = malloc(sound->count + 8192)};
    if (b.data == NULL) err(1, "malloc");
    memcpy(b.data, sound->data, b.count);
    switch (random_below(random, 7)) {
    case 0: /* of another store, as that has sealed it */
        memcpy(&header, b.data, sizeof header);
        header.store_id++;
        tamis__log_header_seal(&header);
        memcpy(b.data, &header, sizeof header);
        break;
    case 1: /* its header */
        damage(&b, 0, 80, 64, random);
        break;
    case 2:
        damage_length(&b, random);
        break;
    case 3:
        swap_frames(&b, filter, random);
        break;
    case 4: /* that of another filter, which the nonce tells from this one's */
        memcpy(b.data, logged->sound[!filter].data, b.count);
        break;
    case 5: /* torn: an end of it was never written */
        bytes = random_below(random, end);
        memset(b.data + bytes, 0, end - bytes);
        break;
    default:
        damage(&b, TAMIS__LOG_HEADER_BYTES, end, 512, random);
    }
    return b;
}

static void note_intact(struct logged *logged, size_t filter, const struct bytes *b)
{
    const struct bytes *sound = &logged->sound[filter];
    for (size_t i = 0; i < LOG_FRAMES; i++) {
        size_t bytes;
        const size_t at = frame_at(filter, i, &bytes);
        logged->intact[filter][i] =
            at + bytes <= b->count && memcmp(b->data + at, sound->data + at, bytes) == 0;
    }
}

/* SILENT, MISSING or TRUE. */
static enum outcome judge_keys(const struct logged *logged, size_t f, tamis_filter *filter)
{
    enum outcome outcome = TRUE;
    for (uint64_t key = 0; key < LOG_ASKED; key++) {
        const int is_in = tamis_filter_contains(filter, &key, sizeof key);
        const size_t frame = key / LOG_KEYS;
        if (is_in < 0 || (is_in == 1 && !logged->is_in[f][key])) return SILENT;
        if (is_in == 1 || frame >= LOG_FRAMES) continue;
        if (logged->intact[f][frame]) return SILENT;
        outcome = MISSING;
    }
    return outcome;
}

static void come_up(void *context)
{
    static const uint8_t other_boot[16] = "another boot...";
    const struct logged *logged = context;
    enum outcome outcome = TRUE;
    tamis_store *store;
    (void)alarm(ALARM_SECONDS);
    tamis__boot_hook = other_boot;
    SPAWN_CHECK(tamis_store_open(logged->down, 0, &store) == 0);
    bool told = tamis_store_verify(store, NULL, NULL, NULL) != 0;
    for (size_t f = 0; f < LOG_FILTERS; f++) {
        AUTO_FILTER *filter;
        struct tamis_filter_stat stat = {.size = sizeof stat};
        if (tamis_filter_open(store, durables[f].name, 0, &filter) < 0) _exit(REFUSED);
        const enum outcome keys = judge_keys(logged, f, filter);
        if (keys == SILENT) _exit(SILENT);
        if (keys != TRUE) outcome = keys;
        SPAWN_CHECK(tamis_filter_stat(filter, &stat) == 0);
        told = told || (stat.state & TAMIS_STATE_UNCLEAN) != 0;
    }
    _exit((int)(told ? TOLD : outcome));
}

static enum outcome outcome_of_log(struct logged *logged, size_t filter, const struct bytes *b)
{
    char *down = scratch_path("down");
    scratch_copy(logged->path, down);
    damage_write(fixture_join(down, logged->file[filter]), b);
    for (size_t f = 0; f < LOG_FILTERS; f++)
        note_intact(logged, f, f == filter ? b : &logged->sound[f]);
    logged->down = down;
    const int status = fixture_child(come_up, logged);
    scratch_remove(down);
    free(down);
    return status < CRASHED ? (enum outcome)status : CRASHED;
}

CASE(corrupt_logs_bring_in_nothing)
{
    static struct logged logged; /* large */
    uint64_t count[OUTCOMES] = {0};
    uint64_t random = random_seed();
    make_logged(&logged);
    for (size_t f = 0; f < LOG_FILTERS; f++)
        assert_int_equal(outcome_of_log(&logged, f, &logged.sound[f]), TRUE);
    for (unsigned i = 0; i < LOG_MUTATIONS / SHARE; i++) {
        const size_t filter = i % LOG_FILTERS;
        struct bytes b = damaged_log(&logged, filter, &random);
        count[outcome_of_log(&logged, filter, &b)]++;
        free(b.data);
    }
    printf("logs: refused %" PRIu64 ", told %" PRIu64 ", true %" PRIu64 ", missing %" PRIu64
           ", silent %" PRIu64 ", crashed %" PRIu64 "\n",
           count[REFUSED], count[TOLD], count[TRUE], count[MISSING], count[SILENT], count[CRASHED]);
    assert_int_equal(count[CRASHED] + count[SILENT], 0);
    assert_true(SHARE > 1 || (count[REFUSED] > 0 && count[TOLD] > 0 && count[MISSING] > 0));
    for (size_t f = 0; f < LOG_FILTERS; f++)
        free(logged.sound[f].data);
    free(logged.path);
}

CASES_PREPARE
{
    scratch_in_memory();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * large_test.c: filters of more than 2^33 bits answer right over their whole range.
 *
 * The keys are chosen by where they go: for each of 64 equal parts of the bit array a few hundred
 * keys with a position in it, the last 4096 bits included.  After adding them the file, read with
 * pread, has exactly their bits set there.  Needs 2.5 GiB of disk, or twice as much of
 * tmpfs; skipped where there is less.
 *
 * Seen to fail: with the block number cut to 24 bits in blocked.c's probe_of (2^33 bits are 2^24
 * blocks); with positions cut to 33 bits in xxh3.h's walk.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "keys.h"

#define PARTS 64u
#define KEYS 40000u
#define ROOM_BYTES ((uint64_t)5 << 29)

static void positions_of(tamis_filter *filter, uint64_t key, uint64_t *positions, size_t *count)
{
    char hashes[128];
    struct tamis_explanation explanation = {.size = sizeof explanation,
                                            .hashes = hashes,
                                            .hashes_bytes = sizeof hashes,
                                            .positions = positions,
                                            .positions_max = TAMIS_K_MAX};
    assert_int_equal(tamis_filter_explain(filter, 0, &key, sizeof key, &explanation), 0);
    *count = explanation.positions_count;
}

static void assert_bit_set(int fd, const struct tamis_segment_stat *stat, uint64_t position)
{
    unsigned char byte;
    assert_int_equal(pread(fd, &byte, 1, (off_t)(stat->data_offset + position / 8)), 1);
    assert_true(byte >> (position % 8) & 1);
}

static void check_whole_range(const struct tamis_filter_spec *spec)
{
    const char *path = scratch_directory();
    uint64_t positions[TAMIS_K_MAX], parts[PARTS] = {0}, highest = 0;
    size_t count;
    AUTO_STORE *store = fixture_open(path, TAMIS_OPEN_CREATE);
    tamis_filter *filter = fixture_create(store, "large", spec);
    struct tamis_segment_stat stat = fixture_segment_stat(filter, 0);
    assert_true(stat.m_bits > (uint64_t)1 << 33);
    assert_int_equal(keys_add(filter, 0, KEYS), KEYS);

    const int fd = open(fixture_segment_path(path, stat.number), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (uint64_t key = 0; key < KEYS; key++) {
        assert_int_equal(tamis_filter_contains(filter, &key, sizeof key), 1);
        positions_of(filter, key, positions, &count);
        for (size_t i = 0; i < count; i++) {
            assert_true(positions[i] < stat.m_bits);
            assert_bit_set(fd, &stat, positions[i]);
            parts[positions[i] / (stat.m_bits / PARTS + 1)]++;
            if (positions[i] > highest) highest = positions[i];
        }
    }
    (void)close(fd);
    for (unsigned part = 0; part < PARTS; part++)
        assert_true(parts[part] > KEYS / PARTS / 4);
    assert_true(highest > (uint64_t)1 << 33);
    assert_int_equal(keys_found(filter, KEYS, 2 * KEYS), 0); /* the filter is almost empty */
    assert_int_equal(tamis_filter_fill(filter, 0, &stat), 0);
    assert_true(stat.ones <= (uint64_t)KEYS * stat.k &&
                stat.ones > (uint64_t)KEYS * stat.k * 9 / 10);
    printf("%s, m = %" PRIu64 " bits: %u keys in all %u parts, highest position %" PRIu64 "\n",
           tamis_kind_name(stat.kind), stat.m_bits, KEYS, PARTS, highest);
    assert_int_equal(tamis_filter_close(filter), 0);
    assert_int_equal(tamis_filter_drop(store, "large"), 0);
}

CASE(large_bloom_answers_over_its_whole_range)
{
    check_whole_range(SPEC(.m_bits = ((uint64_t)1 << 33) + 12345677, .k = 7));
}

CASE(large_blocked_answers_over_its_whole_range)
{
    check_whole_range(SPEC(.capacity = 900000000, .on_full = TAMIS_ON_FULL_WARN, .fp_rate = 0.01));
}

CASES_PREPARE
{
    struct statvfs fs;
    if (statvfs("/dev/shm", &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize > 2 * ROOM_BYTES)
        scratch_in_memory(); /* it is not the disk that is looked at */
    if (statvfs(scratch_directory(), &fs) != 0 ||
        (uint64_t)fs.f_bavail * fs.f_frsize < ROOM_BYTES) {
        (void)fprintf(stderr, "skipped: needs %" PRIu64 " MiB of disk\n", ROOM_BYTES >> 20);
        exit(77);
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* log_test.c: frames and files of logs, written, torn, damaged and read again (store/log/). */
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/log.h"
#include "os/io.h"
#include "spawn.h"

#define NONCE UINT64_C(0x1122334455667788)
#define FRAME_BYTES_MAX (1 << 16)

static struct tamis__digest digest_of(uint64_t n)
{
    return (struct tamis__digest){.high = n * 0x9E3779B97F4A7C15u, .low = ~n};
}

/* A frame of `count` digests, digest_of(first) and on. */
static size_t put_digests(uint64_t nonce, uint64_t epoch, uint64_t first, uint32_t count,
                          unsigned char *buffer)
{
    unsigned char *at = tamis__frame_payload(buffer);
    for (uint32_t i = 0; i < count; i++)
        at = tamis__frame_put_digest(at, digest_of(first + i));
    const struct tamis__frame frame = {.type = TAMIS__FRAME_DIGESTS,
                                       .count = count,
                                       .segment = 7,
                                       .epoch = epoch,
                                       .payload_bytes = (size_t)count * 16};
    return tamis__frame_seal(nonce, &frame, buffer);
}

static size_t put_keys(uint64_t nonce, const char *const *keys, uint32_t count,
                       unsigned char *buffer)
{
    unsigned char *at = tamis__frame_payload(buffer);
    for (uint32_t i = 0; i < count; i++)
        at = tamis__frame_put_key(at, keys[i], (uint32_t)strlen(keys[i]));
    const struct tamis__frame frame = {.type = TAMIS__FRAME_KEYS,
                                       .count = count,
                                       .segment = 9,
                                       .epoch = 3,
                                       .payload_bytes =
                                           (size_t)(at - tamis__frame_payload(buffer))};
    return tamis__frame_seal(nonce, &frame, buffer);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* Whoever replays has room for as many keys as a frame can have.  (Broken: is_plausible() takes
 * more.) */
CASE(frame_of_one_key_too_many_is_none)
{
    static unsigned char buffer[FRAME_BYTES_MAX];
    struct tamis__frame frame;
    size_t wanted, bytes = put_digests(NONCE, 1, 0, TAMIS__FRAME_KEYS_MAX, buffer);
    assert_int_equal(tamis__frame_read(NONCE, buffer, bytes, &frame, &wanted), bytes);
    bytes = put_digests(NONCE, 1, 0, TAMIS__FRAME_KEYS_MAX + 1, buffer);
    assert_int_equal(tamis__frame_read(NONCE, buffer, bytes, &frame, &wanted), 0);
}

CASE(frame_is_read_as_it_was_written)
{
    static unsigned char buffer[FRAME_BYTES_MAX];
    struct tamis__frame frame;
    size_t wanted;
    for (uint32_t count = 1; count <= TAMIS__FRAME_KEYS_MAX; count += count < 8 ? 1 : 127) {
        const size_t bytes = put_digests(NONCE, 5, 1000, count, buffer);
        assert_int_equal(bytes % 64, 0);
        assert_int_equal(bytes, (40 + 16 * count + 63) / 64 * 64);
        assert_int_equal(tamis__frame_read(NONCE, buffer, sizeof buffer, &frame, &wanted), bytes);
        assert_int_equal(frame.count, count);
        assert_int_equal(frame.segment, 7);
        assert_int_equal(frame.epoch, 5);
        for (uint32_t i = 0; i < count; i++) {
            const struct tamis__digest is = tamis__frame_digest(&frame, i),
                                       want = digest_of(1000 + i);
            assert_true(is.high == want.high && is.low == want.low);
        }
    }
    static const char *const keys[] = {"", "a", "http://example.org/", "\xff\n"};
    const size_t bytes = put_keys(NONCE, keys, 4, buffer);
    assert_int_equal(tamis__frame_read(NONCE, buffer, bytes, &frame, &wanted), bytes);
    size_t offset = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const struct tamis_key key = tamis__frame_next_key(&frame, &offset);
        assert_int_equal(key.bytes, strlen(keys[i]));
        assert_memory_equal(key.data, keys[i], key.bytes);
    }
    assert_int_equal(offset, frame.payload_bytes);
}

/* docs/format.md 4.2, byte by byte. */
CASE(frame_has_the_documented_bytes)
{
    static const unsigned char want[64 - 8] = {
        'F', 'R', 'M', '\n', 2, 0, 0,  0, 9, 0, 0, 0, 0, 0, 0,   0, 3, 0, 0, 0,   0,  0,
        0,   0,   2,   0,    0, 0, 11, 0, 0, 0, 1, 0, 0, 0, 'x', 2, 0, 0, 0, 'y', 'z'};
    static const char *const keys[] = {"x", "yz"};
    unsigned char buffer[64];
    assert_int_equal(put_keys(NONCE, keys, 2, buffer), 64);
    assert_memory_equal(buffer + 8, want, sizeof want);
    assert_int_equal(tamis__get64(buffer), XXH3_64bits_withSeed(buffer + 8, 56, NONCE));
}

CASE(frame_damaged_anywhere_is_none)
{
    static const char *const keys[] = {"one", "two", "three and some more than a line holds"};
    unsigned char buffer[1024];
    unsigned flips = 0, cuts = 0;
    for (int raw = 0; raw < 2; raw++) {
        const size_t bytes =
            raw ? put_keys(NONCE, keys, 3, buffer) : put_digests(NONCE, 1, 0, 9, buffer);
        struct tamis__frame frame;
        size_t wanted;
        for (size_t i = 0; i < bytes; i++)
            for (unsigned bit = 0; bit < 8; bit++, flips++) {
                buffer[i] ^= (unsigned char)(1u << bit);
                assert_int_equal(tamis__frame_read(NONCE, buffer, bytes, &frame, &wanted), 0);
                buffer[i] ^= (unsigned char)(1u << bit);
            }
        for (size_t cut = 0; cut < bytes; cut++, cuts++) {
            assert_int_equal(tamis__frame_read(NONCE, buffer, cut, &frame, &wanted), 0);
            assert_int_equal(wanted, cut < 40 ? 0 : bytes);
        }
        assert_int_equal(tamis__frame_read(NONCE + 1, buffer, bytes, &frame, &wanted), 0);
        assert_int_equal(tamis__frame_read(NONCE, buffer, bytes, &frame, &wanted), bytes);
    }
    print_message("%u bits flipped, cut at %u bytes: no frame was taken for whole\n", flips, cuts);
}

/* Right by its checksum, and yet none: lengths that do not add up, counts and types there are not.
 * */
CASE(frame_that_contradicts_itself_is_none)
{
    unsigned char buffer[256] = {0};
    const struct {
        uint32_t type, count;
        size_t payload_bytes;
        uint32_t first_length;
    } cases[] = {{1, 2, 16, 0},  {1, 0, 0, 0},  {3, 1, 16, 0}, {2, 1, 16, 13},
                 {2, 1, 16, 11}, {2, 5, 16, 0}, {2, 1, 3, 0},  {2, 1, 16, UINT32_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tamis__frame frame = {.type = cases[i].type,
                                     .count = cases[i].count,
                                     .segment = 1,
                                     .epoch = 1,
                                     .payload_bytes = cases[i].payload_bytes};
        size_t wanted;
        memset(buffer, 0, sizeof buffer);
        memcpy(tamis__frame_payload(buffer), &cases[i].first_length, 4);
        (void)tamis__frame_seal(NONCE, &frame, buffer);
        assert_int_equal(tamis__frame_read(NONCE, buffer, sizeof buffer, &frame, &wanted), 0);
    }
}

/* Seen to fail without the look at the padding: fuzz_log found a checksum that such a frame
 * matches. */
CASE(frame_with_more_behind_its_payload_is_none)
{
    unsigned char buffer[64] = {0};
    const struct tamis__frame written = {
        .type = TAMIS__FRAME_DIGESTS, .count = 1, .segment = 1, .epoch = 1, .payload_bytes = 16};
    struct tamis__frame read;
    size_t wanted;
    assert_int_equal(tamis__frame_seal(NONCE, &written, buffer), 64);
    assert_int_equal(tamis__frame_read(NONCE, buffer, sizeof buffer, &read, &wanted), 64);
    buffer[63] = 1;
    const uint64_t checksum = tamis__checksum_from(NONCE, buffer + 8, sizeof buffer - 8);
    memcpy(buffer, &checksum, sizeof checksum);
    assert_int_equal(tamis__frame_read(NONCE, buffer, sizeof buffer, &read, &wanted), 0);
}

CASE(header_damaged_is_refused)
{
    struct tamis__log_header header = {
        .store_id = 1, .filter_id = 2, .nonce = NONCE, .created_at = 4};
    const char *reason;
    unsigned char *bytes = (unsigned char *)&header;
    tamis__log_header_seal(&header);
    assert_int_equal(tamis__log_header_check(&header, sizeof header, &reason), 0);
    assert_int_equal(tamis__log_header_check(&header, 4095, &reason), TAMIS_ECORRUPT);
    for (size_t i = 0; i < sizeof header; i++) {
        bytes[i] ^= 0x10;
        assert_true(tamis__log_header_check(&header, sizeof header, &reason) < 0);
        bytes[i] ^= 0x10;
    }
    header.format_version++;
    assert_int_equal(tamis__log_header_check(&header, sizeof header, &reason), TAMIS_EVERSION);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static char *store_path;

static struct tamis__logs open_logs(void)
{
    store_path = scratch_path("logs");
    assert_int_equal(mkdir(store_path, 0777), 0);
    const struct tamis__logs logs = {
        .root_fd = open(store_path, O_RDONLY | O_DIRECTORY), .path = store_path, .store_id = 77};
    assert_true(logs.root_fd >= 0);
    return logs;
}

static void close_logs(const struct tamis__logs *logs)
{
    (void)close(logs->root_fd);
    free(store_path);
}

static uint64_t append(const struct tamis__logs *logs, struct tamis__log *log, uint64_t first,
                       uint32_t count)
{
    static unsigned char buffer[FRAME_BYTES_MAX];
    const size_t bytes = put_digests(log->nonce, log->epoch, first, count, buffer);
    const uint64_t at = log->end;
    assert_int_equal(tamis__log_reach(logs, log, log->end + bytes), 0);
    assert_int_equal(tamis__log_write(logs, log, at, buffer, bytes), 0);
    log->end += bytes;
    return at;
}

struct found {
    unsigned frames, keys, of_epoch[4];
    uint64_t first[64];
};

static int find(void *context, const struct tamis__frame *frame)
{
    struct found *found = context;
    if (found->frames < 64) found->first[found->frames] = ~tamis__frame_digest(frame, 0).low;
    found->frames++;
    found->keys += frame->count;
    found->of_epoch[frame->epoch < 4 ? frame->epoch : 0] += frame->count;
    return 0;
}

static struct found read_log(const struct tamis__logs *logs, struct tamis__log *log)
{
    struct found found = {0};
    assert_int_equal(tamis__log_each_frame(logs, log, find, &found), 0);
    return found;
}

CASE(frames_behind_a_torn_one_are_found)
{
    const struct tamis__logs logs = open_logs();
    struct tamis__log log;
    assert_int_equal(tamis__log_create(&logs, 5, &log), 0);
    const uint64_t bytes_at_first = log.bytes;
    (void)append(&logs, &log, 100, 10);
    const uint64_t torn = append(&logs, &log, 200, 1000);
    (void)append(&logs, &log, 300, 1);
    (void)append(&logs, &log, 400, 1024);
    struct found found = read_log(&logs, &log);
    assert_int_equal(found.frames, 4);
    assert_int_equal(found.keys, 2035);
    static const char zeros[512];
    assert_int_equal(pwrite(log.file.fd, zeros, sizeof zeros, (off_t)torn + 512), sizeof zeros);
    found = read_log(&logs, &log);
    assert_int_equal(found.frames, 3);
    assert_int_equal(found.keys, 1035);
    assert_int_equal(found.first[1], 300);
    for (unsigned i = 0; log.bytes < 8 * bytes_at_first; i++)
        (void)append(&logs, &log, 1000 + i, 1024);
    assert_int_equal(read_log(&logs, &log).keys % 1024, 1035 % 1024);
    assert_int_equal(tamis__log_remove(&logs, &log), 0);
    close_logs(&logs);
}

CASE(log_begun_anew_still_has_what_it_did_not_overwrite)
{
    const struct tamis__logs logs = open_logs();
    struct tamis__log log;
    assert_int_equal(tamis__log_create(&logs, 5, &log), 0);
    for (unsigned i = 0; i < 20; i++)
        (void)append(&logs, &log, 100 * i, 10);
    tamis__log_rewind(&log);
    (void)append(&logs, &log, 5000,
                 11); /* longer than the first, which is overwritten with the second's head */
    const struct found found = read_log(&logs, &log);
    assert_int_equal(found.of_epoch[2], 11);
    assert_int_equal(found.of_epoch[1] % 10, 0);
    assert_int_equal(found.of_epoch[1],
                     tamis__frame_bytes(160) == tamis__frame_bytes(176) ? 190 : 180);
    assert_int_equal(tamis__log_remove(&logs, &log), 0);
    close_logs(&logs);
}

static int count_one(void *context, uint64_t filter_id, const char *name)
{
    (void)filter_id;
    (void)name;
    ++*(unsigned *)context;
    return 0;
}

static int take_one(void *context, uint64_t filter_id, const char *name)
{
    (void)filter_id;
    (void)memcpy(context, name, strlen(name) + 1);
    return 0;
}

CASE(log_is_taken_over_only_from_the_dead)
{
    const struct tamis__logs logs = open_logs();
    struct tamis__log log, other;
    char name[TAMIS__LOG_NAME_BYTES] = "";
    unsigned count = 0;
    assert_int_equal(tamis__logs_each(&logs, 0, count_one, &count), 0); /* no directory yet */
    assert_int_equal(tamis__log_create(&logs, 5, &log), 0);
    (void)append(&logs, &log, 100, 10);
    assert_int_equal(tamis__logs_each(&logs, 6, count_one, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(tamis__logs_each(&logs, 5, take_one, name), 0);
    assert_string_equal(name, log.name);
    assert_int_equal(tamis__log_take(&logs, name, &other), 0);
    const pid_t parent = getpid(), child = fork(); /* has no part in the lock */
    if (child == 0) {
        spawn_settle(parent);
        (void)pause();
        _exit(0);
    }
    tamis__log_close(&log); /* as death would */
    assert_int_equal(tamis__log_take(&logs, name, &other), 1);
    assert_int_equal(other.filter_id, 5);
    assert_int_equal(read_log(&logs, &other).keys, 10);
    assert_int_equal(tamis__log_remove(&logs, &other), 0);
    assert_int_equal(tamis__log_take(&logs, name, &other), 0);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close_logs(&logs);
}

CASE(log_with_a_damaged_header_keeps_its_frames)
{
    const struct tamis__logs logs = open_logs();
    struct tamis__log log, again;
    assert_int_equal(tamis__log_create(&logs, 5, &log), 0);
    (void)append(&logs, &log, 100, 10);
    assert_int_equal(pwrite(log.file.fd, "XXXX", 4, 20), 4);
    char name[TAMIS__LOG_NAME_BYTES];
    (void)strcpy(name, log.name);
    tamis__log_close(&log);
    assert_int_equal(tamis__log_take(&logs, name, &again), 1);
    assert_int_equal(read_log(&logs, &again).keys, 10);
    assert_int_equal(tamis__log_remove(&logs, &again), 0);
    close_logs(&logs);
}

/* What a maker that died left is removed by the next, and never taken for a log. */
CASE(log_half_made_is_removed)
{
    const struct tamis__logs logs = open_logs();
    struct tamis__log log;
    unsigned count = 0;
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/logs", store_path);
    assert_int_equal(mkdir(path, 0777), 0);
    (void)snprintf(path, sizeof path, "%s/logs/0000000000000005-00000000000000aa.new", store_path);
    const int fd = open(path, O_CREAT | O_WRONLY, 0666);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(tamis__logs_each(&logs, 0, count_one, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(tamis__log_create(&logs, 5, &log), 0);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(tamis__log_remove(&logs, &log), 0);
    close_logs(&logs);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* make_seeds.c CORPUS: write sound inputs to CORPUS/header, record, pages and index. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "catalogs.h"
#include "exceptions/set.h"
#include "fixture.h"

static const char *corpus;

static void write_seed(const char *name, const void *bytes, size_t count)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", corpus, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, count, file) != count || fclose(file) != 0)
        err(1, "%s", path);
}

#define HOUR INT64_C(3600000000000)

static void seed_header(const char *name, uint32_t kind, uint64_t m_bits, uint32_t k,
                        const struct tamis__policy *policy)
{
    struct tamis__segment_header header;
    fixture_header(&header, kind, m_bits, k);
    if (policy != NULL) {
        header.on_full = policy->on_full;
        header.slices = policy->slices;
        header.window_ns = policy->window_ns;
        header.window_items = policy->window_items;
        header.slice = policy->slices;
        header.slice_start = policy->slices ? header.created_at : 0;
        header.step = 2;
        tamis__header_seal(&header);
    }
    tamis__label_write(&header.labels[1], 2, "renamed");
    write_seed(name, &header, sizeof header);
}

/* Of 3 pieces of (2 + 2) * 64 slots, as a build would make it; no kind need know it. */
static void seed_fuse(const char *name)
{
    const uint32_t bits = 8, pieces = 3, segments = 2, slots = 64;
    const uint64_t m_bits = (uint64_t)pieces * (segments + 2) * slots * bits;
    struct tamis__segment_header header;
    fixture_header(&header, TAMIS_KIND_BLOOM, 64 * 8 + m_bits, 3); /* the seeds take 64 bytes */
    header.kind = TAMIS_KIND_FUSE;
    header.m_bits = m_bits;
    header.fingerprint_bits = bits;
    header.pieces = pieces;
    header.piece_segments = segments;
    header.segment_slots = slots;
    header.data_checksum = 0x0123456789abcdef;
    header.publication = 5;
    memset(header.key_digest, 0xd1, sizeof header.key_digest);
    tamis__header_set_items(&header, 200);
    tamis__header_seal(&header);
    write_seed(name, &header, sizeof header);
}

static void seed_record(const char *name, uint32_t segments, const struct tamis__policy *policy)
{
    static struct tamis__record record;
    static unsigned char input[8 + TAMIS__RECORD_BYTES_MAX] = "\5fseen";
    const struct tamis__bytes key = {input + 1, 5};
    catalogs_record(&record, "seen", 3, segments);
    if (policy != NULL) record.policy = *policy;
    for (uint32_t i = 0; policy != NULL && i < segments; i++) {
        record.segments[i].slice = policy->slices ? i : 0;
        record.segments[i].slice_start = policy->slices ? record.created_at + i * HOUR : 0;
        record.segments[i].step = policy->slices ? 0 : i;
    }
    write_seed(name, input, 6 + tamis__record_encode(&record, key, input + 6));
}

/* A filter that was built and rolled back, with exceptions; and what is kept of such a one. */
static void seed_generations(void)
{
    static struct tamis__record record;
    static unsigned char input[18 + TAMIS__RECORD_BYTES_MAX] = "\5fseen";
    static const unsigned char kept[18] = {17, 'v', [9] = 3, [17] = 2};
    catalogs_record(&record, "seen", 3, 1);
    record.generation = 2;
    record.last_generation = 7;
    record.publication = 9;
    record.keep = 3;
    record.exceptions = 301;
    record.exception_count = 12;
    memset(record.key_digest, 0xd1, sizeof record.key_digest);
    record.segments[0].kind = TAMIS_KIND_FUSE;
    record.segments[0].fingerprint_bits = 8;
    record.segments[0].pieces = 3;
    const struct tamis__bytes name = {input + 1, 5}, key = {input + 1, 17};
    write_seed("record/rolled-back", input, 6 + tamis__record_encode(&record, name, input + 6));
    memcpy(input, kept, sizeof kept);
    write_seed("record/kept", input,
               sizeof kept + tamis__record_encode(&record, key, input + sizeof kept));
}

static void seed_store_record(void)
{
    const struct tamis__store_record record = {1, 2, 3, 4, 0};
    unsigned char input[2 + TAMIS__STORE_RECORD_BYTES] = "\1s";
    tamis__store_record_encode(&record, (struct tamis__bytes){input + 1, 1}, input + 2);
    write_seed("record/store", input, sizeof input);
}

static void seed_pages(const char *name, const char *path)
{
    size_t bytes;
    unsigned char *file = catalogs_read_file(path, &bytes);
    write_seed(name, file, bytes);
    free(file);
}

/* A set of `count` keys, each one byte longer than the one before, as an index. */
static void seed_exceptions(const char *name, size_t count)
{
    static const char text[] = "abcdefghijklmnopqrstuvwxyz";
    struct tamis__exceptions set = {0};
    char path[64];
    for (size_t i = 0; i < count; i++)
        if (tamis__exceptions_add(&set, text, i, i % 3) < 0) errx(1, "%s", tamis_last_error());
    if (tamis__exceptions_sort(&set) < 0) errx(1, "%s", tamis_last_error());
    const size_t bytes = (size_t)tamis__index_bytes(&set);
    void *data = malloc(bytes);
    if (data == NULL) err(1, "malloc");
    tamis__index_encode(&set, data);
    (void)snprintf(path, sizeof path, "index/%s-index", name);
    write_seed(path, data, bytes);
    free(data);
    tamis__exceptions_clear(&set);
}

int main(int argc, char **argv)
{
    char *path;
    if (argc != 2) errx(1, "use: make_seeds CORPUS");
    corpus = argv[1];
    const struct tamis__policy growing = {.on_full = 1, .capacity = 100, .fp_rate = 0.01},
                               hours = {.on_full = 1,
                                        .slices = 24,
                                        .window_ns = 24 * HOUR,
                                        .capacity = 100,
                                        .fp_rate = 0.01},
                               keys = {.on_full = 2,
                                       .slices = 3,
                                       .window_items = 1000,
                                       .capacity = 1000,
                                       .fp_rate = 0.01};
    seed_header("header/blocked", TAMIS_KIND_BLOCKED, 512 * 20, 6, NULL);
    seed_header("header/bloom", TAMIS_KIND_BLOOM, 12345, 7, NULL);
    seed_header("header/large", TAMIS_KIND_BLOOM, (uint64_t)1 << 40, 64, NULL);
    seed_header("header/growing", TAMIS_KIND_BLOCKED, 512 * 20, 6, &growing);
    seed_header("header/window-of-time", TAMIS_KIND_BLOCKED, 512 * 20, 6, &hours);
    seed_header("header/window-of-keys", TAMIS_KIND_BLOOM, 12345, 7, &keys);
    seed_fuse("header/fuse");
    seed_record("record/one-segment", 1, NULL);
    seed_record("record/three-segments", 3, NULL);
    seed_record("record/growing", 4, &growing);
    seed_record("record/window-of-time", 5, &hours);
    seed_record("record/window-of-keys", 2, &keys);
    seed_record("record/most-segments", TAMIS__SEGMENTS_MAX, NULL);
    seed_generations();
    seed_store_record();
    seed_exceptions("none", 0);
    seed_exceptions("one", 1);
    seed_exceptions("twenty", 20);
    tamis_store *store = fixture_store(&path);
    seed_pages("pages/new", path);
    catalogs_put_range(store, 1, 2);
    seed_pages("pages/leaf", path);
    catalogs_put_range(store, 3, 20); /* a branch page */
    seed_pages("pages/branch", path);
    catalogs_put_range(store, 50, 1); /* a record on overflow pages */
    catalogs_forget_range(store, 1, 20, 1);
    seed_pages("pages/overflow-and-free", path);
    tamis_store_close(store);
    free(path);
    return 0;
}

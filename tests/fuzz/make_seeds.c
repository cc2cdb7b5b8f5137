/* SPDX-License-Identifier: BSD-2-Clause */
/* make_seeds.c CORPUS: write sound inputs to CORPUS/header, CORPUS/record and CORPUS/pages. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "catalogs.h"
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

static void seed_header(const char *name, uint32_t kind, uint64_t m_bits, uint32_t k)
{
    struct tamis__segment_header header;
    fixture_header(&header, kind, m_bits, k);
    tamis__label_write(&header.labels[1], 2, "renamed");
    write_seed(name, &header, sizeof header);
}

static void seed_record(const char *name, uint32_t segments)
{
    static struct tamis__record record;
    static unsigned char input[8 + TAMIS__RECORD_BYTES_MAX] = "\5fseen";
    const struct tamis__bytes key = {input + 1, 5};
    catalogs_record(&record, "seen", 3, segments);
    write_seed(name, input, 6 + tamis__record_encode(&record, key, input + 6));
}

static void seed_store_record(void)
{
    const struct tamis__store_record record = {1, 2, 3, 4};
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

int main(int argc, char **argv)
{
    char *path;
    if (argc != 2) errx(1, "use: make_seeds CORPUS");
    corpus = argv[1];
    seed_header("header/blocked", TAMIS_KIND_BLOCKED, 512 * 20, 6);
    seed_header("header/bloom", TAMIS_KIND_BLOOM, 12345, 7);
    seed_header("header/large", TAMIS_KIND_BLOOM, (uint64_t)1 << 40, 64);
    seed_record("record/one-segment", 1);
    seed_record("record/three-segments", 3);
    seed_record("record/most-segments", TAMIS__SEGMENTS_MAX);
    seed_store_record();
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

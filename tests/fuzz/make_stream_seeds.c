/* SPDX-License-Identifier: BSD-2-Clause */
/* make_stream_seeds.c CORPUS: sound streams to a folder of CORPUS for each format. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "dumps.h"
#include "fixture.h"
#include "tamis_build.h"

static const char *corpus;

static void write_seed(const char *name, struct stream *stream)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", corpus, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(stream->data, 1, stream->bytes, file) != stream->bytes ||
        fclose(file) != 0)
        err(1, "%s", path);
    stream_free(stream);
}

static void seed_redisbloom(const char *name, uint32_t layers, size_t chunk_bytes)
{
    struct dump dump = dump_of(layers);
    dump.chunk_bytes = chunk_bytes;
    struct stream stream = dump_stream(&dump);
    write_seed(name, &stream);
}

static void seed_filter(tamis_store *store, const char *name, const char *format,
                        const struct tamis_filter_spec *spec, const struct tamis_import_spec *seal)
{
    struct stream stream = {.data = NULL}, sealed = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&stream), sealed_sink = stream_sink(&sealed);
    tamis_filter *filter;
    assert_done(tamis_filter_create(store, "one", spec, &filter));
    assert_done(tamis_filter_add(filter, "key", 3));
    assert_done(tamis_filter_export(filter, format, TAMIS_EXPORT_WITH_KEY, &sink));
    assert_done(tamis_filter_close(filter));
    if (seal != NULL) {
        const struct tamis_source source = stream_source(&stream);
        assert_done(tamis_filter_import(store, "two", format, seal, &source, &filter));
        assert_done(tamis_filter_add(filter, "another", 7));
        assert_done(tamis_filter_export(filter, format, TAMIS_EXPORT_WITH_KEY, &sealed_sink));
        assert_done(tamis_filter_close(filter));
        assert_done(tamis_filter_drop(store, "two"));
    }
    assert_done(tamis_filter_drop(store, "one"));
    write_seed(name, seal ? &sealed : &stream);
    if (seal != NULL) stream_free(&stream);
}

static void seed_and_drop(tamis_store *store, const char *name)
{
    struct stream stream = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&stream);
    tamis_filter *filter;
    assert_done(tamis_filter_open(store, "one", TAMIS_READ_ONLY, &filter));
    assert_done(tamis_filter_export(filter, "tamis", TAMIS_EXPORT_WITH_KEY, &sink));
    assert_done(tamis_filter_close(filter));
    assert_done(tamis_filter_drop(store, "one"));
    write_seed(name, &stream);
}

/* A list of several segments: it has grown, or been rotated. */
static void seed_list(tamis_store *store, const char *name, const struct tamis_filter_spec *spec)
{
    struct stream stream = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&stream);
    tamis_filter *filter;
    assert_done(tamis_filter_create(store, "one", spec, &filter));
    for (uint64_t key = 0; key < 30; key++)
        assert_done(tamis_filter_add(filter, &key, sizeof key));
    if (spec->slices > 0) assert_done(tamis_filter_rotate(filter));
    assert_done(tamis_filter_export(filter, "tamis", TAMIS_EXPORT_WITH_KEY, &sink));
    assert_done(tamis_filter_close(filter));
    assert_done(tamis_filter_drop(store, "one"));
    write_seed(name, &stream);
}

/* A filter of kind fuse of so many keys, which is version 2 of the format. */
static void seed_fuse(tamis_store *store, const char *name, uint64_t keys, double rate)
{
    const struct tamis_filter_spec filter = {.size = sizeof filter, .fp_rate = rate};
    const struct tamis_build_spec spec = {.size = sizeof spec, .filter = &filter, .threads = 1};
    tamis_build *build;
    assert_done(tamis_build_begin(store, "one", &spec, &build));
    for (uint64_t i = 0; i < keys; i++)
        assert_done(tamis_build_add(build, &(struct tamis_key){&i, sizeof i}, 1));
    assert_done(tamis_build_publish(build, NULL));
    tamis_build_close(build);
    seed_and_drop(store, name);
}

static void seed_exceptions(tamis_store *store, const char *name)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 20, .fp_rate = 0.1};
    const struct tamis_key keys[] = {{"key", 3}, {"", 0}, {"another", 7}};
    assert_done(tamis_filter_create(store, "one", &spec, NULL));
    assert_done(tamis_filter_except(store, "one", keys, 3));
    seed_and_drop(store, name);
}

int main(int argc, char **argv)
{
    const struct tamis_filter_spec
        blocked = {.size = sizeof blocked, .capacity = 20, .fp_rate = 0.1, .seed = 7},
        php = {.size = sizeof php, .m_bits = 100, .hash_set = "php:js,pjw"},
        guava = {.size = sizeof guava, .capacity = 10, .fp_rate = 0.3, .hash_set = "guava"},
        spark1 = {.size = sizeof spark1, .capacity = 10, .fp_rate = 0.3, .hash_set = "spark-v1"},
        spark2 = {.size = sizeof spark2,
                  .capacity = 10,
                  .fp_rate = 0.3,
                  .hash_set = "spark-v2",
                  .seed = 7},
        parquet = {.size = sizeof parquet, .capacity = 10, .fp_rate = 0.3, .hash_set = "parquet"};
    const struct tamis_filter_spec growing = {.size = sizeof growing,
                                              .capacity = 10,
                                              .fp_rate = 0.1},
                                   keys = {.size = sizeof keys,
                                           .window_items = 60,
                                           .fp_rate = 0.1,
                                           .slices = 3},
                                   hour = {.size = sizeof hour,
                                           .capacity = 100,
                                           .fp_rate = 0.1,
                                           .slices = 6,
                                           .window_ns = INT64_C(3600000000000)};
    const struct tamis_import_spec seal = {
        .size = sizeof seal, .seal_capacity = 10, .seal_rate = 0.2};
    if (argc != 2) errx(1, "use: make_stream_seeds CORPUS");
    corpus = argv[1];
    seed_redisbloom("redisbloom/one-layer", 1, 0);
    seed_redisbloom("redisbloom/three-layers", 3, 0);
    seed_redisbloom("redisbloom/small-chunks", 2, 5);
    tamis_store *store = fixture_store(NULL);
    seed_filter(store, "guava/small", "guava", &guava, NULL);
    seed_filter(store, "spark/version-1", "spark", &spark1, NULL);
    seed_filter(store, "spark/version-2", "spark", &spark2, NULL);
    seed_filter(store, "parquet/one-block", "parquet", &parquet, NULL);
    seed_filter(store, "portable/blocked", "tamis", &blocked, NULL);
    seed_filter(store, "portable/php", "tamis", &php, NULL);
    seed_filter(store, "portable/sealed", "tamis", &php, &seal);
    seed_list(store, "portable/grown", &growing);
    seed_list(store, "portable/window-of-keys", &keys);
    seed_list(store, "portable/window-of-time", &hour);
    seed_fuse(store, "portable/fuse-8", 9, 0.1);
    seed_fuse(store, "portable/fuse-16", 3, 1e-4);
    seed_fuse(store, "portable/fuse-32", 3, 1e-9);
    seed_fuse(store, "portable/fuse-none", 0, 0.1);
    seed_exceptions(store, "portable/exceptions");
    tamis_store_close(store);
    return 0;
}

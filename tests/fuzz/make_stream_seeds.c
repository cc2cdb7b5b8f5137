/* SPDX-License-Identifier: BSD-2-Clause */
/* make_stream_seeds.c CORPUS: sound streams to CORPUS/redisbloom, CORPUS/guava, CORPUS/portable. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "dumps.h"
#include "fixture.h"

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

int main(int argc, char **argv)
{
    const struct tamis_filter_spec
        blocked = {.size = sizeof blocked, .capacity = 20, .fp_rate = 0.1, .seed = 7},
        php = {.size = sizeof php, .m_bits = 100, .hash_set = "php:js,pjw"},
        guava = {.size = sizeof guava, .capacity = 10, .fp_rate = 0.3, .hash_set = "guava"};
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
    seed_filter(store, "portable/blocked", "tamis", &blocked, NULL);
    seed_filter(store, "portable/php", "tamis", &php, NULL);
    seed_filter(store, "portable/sealed", "tamis", &php, &seal);
    seed_list(store, "portable/grown", &growing);
    seed_list(store, "portable/window-of-keys", &keys);
    seed_list(store, "portable/window-of-time", &hour);
    tamis_store_close(store);
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* arguments.c: see run_api.h. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "run_api.h"

/* A struct of the header, to be filled in or read. */
#define OUT(type) (&(struct tamis_##type){.size = sizeof(struct tamis_##type)})
#define OF(type, ...) (&(struct tamis_##type){.size = sizeof(struct tamis_##type), __VA_ARGS__})
#define NINE OF(filter_spec, .capacity = 9)

/* What calls fill in, and where the first one that answers wrongly is told. */
struct room {
    char *trouble;
    size_t trouble_bytes;
    tamis_store *store;
    tamis_filter *filter;
    tamis_watch *watch;
    tamis_build *build;
    double real;
    uint32_t kind;
    unsigned char bytes[16];
};

/* A handle that may not write says that first; one whose filter is gone says that. */
static void judge(struct room *r, int64_t code, const char *words, const char *call, int64_t got)
{
    const bool first = got == TAMIS_EREADONLY || got == TAMIS_EDROPPED || got == TAMIS_EUNSUPPORTED;
    if (*r->trouble != '\0' || (first && code < 0)) return;
    if (got != code)
        (void)snprintf(r->trouble, r->trouble_bytes, "%s gives %s, not %s: %s", call,
                       tamis_error_name((int)got), tamis_error_name((int)code), tamis_last_error());
    else if (code < 0 && strstr(tamis_last_error(), words) == NULL)
        (void)snprintf(r->trouble, r->trouble_bytes, "%s: the sentence does not name '%s': %s",
                       call, words, tamis_last_error());
}

#define GIVES(code, words, call) judge(r, (code), (words), #call, (int64_t)(call))
#define BAD(words, call) GIVES(TAMIS_EINVAL, words, call)
#define NOBODY(call) GIVES(TAMIS_ENOTFOUND, "nobody", call)

/* Specs of a filter, whoever asks. */
static const struct {
    int code;
    const char *words;
    struct tamis_filter_spec spec;
} specs[] = {
    {TAMIS_EINVAL, "capacity", {.capacity = 0}},
    {TAMIS_EINVAL, "", {.capacity = ((uint64_t)1 << 56) + 1}},
    {TAMIS_EINVAL, "rate", {.capacity = 9, .fp_rate = 1}},
    {TAMIS_EINVAL, "rate", {.capacity = 9, .fp_rate = -0.1}},
    {TAMIS_EINVAL, "rate", {.capacity = 9, .fp_rate = 0.9e-12}},
    {TAMIS_EINVAL, "kind", {.capacity = 9, .kind = 77}},
    {TAMIS_EUNSUPPORTED, "fuse", {.capacity = 9, .kind = TAMIS_KIND_FUSE}},
    {TAMIS_EINVAL, "", {.capacity = 9, .k = 4}},
    {TAMIS_EINVAL, "", {.m_bits = 999}},
    {TAMIS_EINVAL, "65", {.m_bits = 999, .k = 65}},
    {TAMIS_EINVAL, "bloom", {.m_bits = 999, .k = 4, .kind = TAMIS_KIND_BLOCKED}},
    {TAMIS_EINVAL, "0.5", {.m_bits = 99, .k = 4, .capacity = 99, .fp_rate = 0.5}},
    {TAMIS_EINVAL, "nohash", {.capacity = 9, .hash_set = "nohash"}},
    {TAMIS_EUNSUPPORTED, "guava", {.capacity = 9, .hash_set = "guava", .kind = TAMIS_KIND_BLOCKED}},
    {TAMIS_EINVAL, "secret", {.capacity = 9, .secret = {1}}},
    {TAMIS_EINVAL, "seed", {.capacity = 9, .hash_set = "sip", .seed = 1}},
    {TAMIS_EINVAL, "9", {.capacity = 9, .on_full = 9}},
    {TAMIS_EINVAL, "window", {.capacity = 9, .slices = 4}},
    {TAMIS_EINVAL, "33", {.capacity = 9, .slices = 33, .window_items = 99}},
    {TAMIS_EINVAL, "both", {.capacity = 9, .window_ns = 1000000000, .window_items = 99}},
    {TAMIS_EINVAL, "0.1 s", {.capacity = 9, .window_ns = 999999999, .slices = 10}},
    {0, "", {.capacity = 9, .window_ns = 1000000000, .slices = 10}},
    {TAMIS_EINVAL, "100 years", {.capacity = 9, .window_ns = TAMIS_WINDOW_NS_MAX + 1}},
    {TAMIS_EINVAL, "window", {.capacity = 9, .flags = TAMIS_FILTER_FROM_FIRST}},
    {TAMIS_EUNSUPPORTED, "window", {.m_bits = 999, .k = 4, .window_items = 99}},
    {TAMIS_EINVAL, "flags", {.capacity = 9, .flags = 0x80}},
    {TAMIS_EINVAL, "pages", {.capacity = 9, .pages = 3}},
    {TAMIS_EINVAL, "reserved", {.capacity = 9, .reserved = 1}},
    {TAMIS_EINVAL, "", {.capacity = 9, .counter_bits = 4}},
    {TAMIS_EINVAL, "", {.capacity = 9, .kind = TAMIS_KIND_COUNTING, .counter_bits = 5}},
    {TAMIS_EUNSUPPORTED,
     "durable",
     {.capacity = 9, .kind = TAMIS_KIND_COUNTING, .flags = TAMIS_FILTER_DURABLE}},
    {TAMIS_EUNSUPPORTED,
     "counting",
     {.capacity = 9, .kind = TAMIS_KIND_COUNTING, .window_items = 9}},
    {TAMIS_EUNSUPPORTED,
     "counting",
     {.capacity = 9, .kind = TAMIS_KIND_COUNTING, .on_full = TAMIS_ON_FULL_GROW}},
    {TAMIS_EUNSUPPORTED,
     "counting",
     {.capacity = 9, .kind = TAMIS_KIND_COUNTING, .on_full = TAMIS_ON_FULL_REFUSE}},
    {TAMIS_EINVAL, "grows", {.m_bits = 999, .k = 4, .on_full = TAMIS_ON_FULL_GROW}},
    {0, "", {.capacity = (uint64_t)1 << 40, .fp_rate = 1e-12}},
};

static int nothing_told(void *context, const struct tamis_filter_stat *stat)
{
    (void)context;
    return stat != NULL;
}

static int refuse_write(void *context, const void *buffer, size_t bytes)
{
    (void)context, (void)buffer;
    return bytes > 0 ? TAMIS_EIO : 0;
}

static int64_t read_nothing(void *context, void *buffer, size_t bytes)
{
    (void)context, (void)buffer, (void)bytes;
    return 0;
}

static const struct tamis_key half[] = {{"a", 1}, {NULL, 1}}; /* the second one is none */
static const struct tamis_sink sink = {.size = sizeof sink, .write = refuse_write};
static const struct tamis_source empty = {.size = sizeof empty, .read = read_nothing};

static void without_any(struct room *r)
{
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct tamis_filter_spec spec = specs[i].spec;
        char text[60];
        spec.size = sizeof spec;
        (void)snprintf(text, sizeof text, "spec %zu of arguments.c", i);
        judge(r, specs[i].code, specs[i].words, text, tamis_filter_check(NULL, "x", &spec));
    }
    BAD("path", tamis_store_open(NULL, 0, &r->store));
    BAD("", tamis_store_open("redis://host", 0, &r->store));
    BAD("", tamis_store_open("/nowhere", 0x40000000u, &r->store));
    BAD("store", tamis_store_open("/nowhere", 0, NULL));
    GIVES(TAMIS_ENOSTORE, "/nowhere", tamis_store_open("/nowhere/at/all", 0, &r->store));
    BAD("mode", tamis_store_open_with(
                    "/n", OF(store_options, .flags = TAMIS_OPEN_CREATE, .mode = 0123), &r->store));
    BAD("", tamis_store_open_with(
                "/n", OF(store_options, .busy_timeout_ms = TAMIS_BUSY_TIMEOUT_MAX + 1), &r->store));
    BAD("size", tamis_store_open_with("/n", &(struct tamis_store_options){.size = 3}, &r->store));
    BAD("store", tamis_store_set_busy_timeout(NULL, 1));
    BAD("store", tamis_store_set_busy_callback(NULL, NULL, NULL));
    BAD("-2", tamis_descriptors_set_least(-2));
    BAD("store", tamis_store_list(NULL, NULL, nothing_told, NULL));
    BAD("store", tamis_watch_new(NULL, NULL, &r->watch));
    BAD("watch", tamis_watch_look(NULL, nothing_told, NULL));
    BAD("store", tamis_store_verify(NULL, NULL, NULL, NULL));
    BAD("store", tamis_filter_create(NULL, "x", NINE, NULL));
    BAD("store", tamis_filter_open(NULL, "x", 0, &r->filter));
    BAD("filter", tamis_filter_add(NULL, "k", 1));
    BAD("filter", tamis_filter_contains(NULL, "k", 1));
    BAD("filter", tamis_filter_remove(NULL, "k", 1));
    BAD("filter", tamis_filter_count(NULL, "k", 1));
    BAD("filter", tamis_filter_sync(NULL));
    BAD("filter", tamis_filter_rotate(NULL));
    BAD("filter", tamis_filter_accept(NULL));
    BAD("filter", tamis_filter_set_sync_interval(NULL, 0));
    BAD("filter", tamis_filter_stat(NULL, OUT(filter_stat)));
    BAD("store", tamis_build_begin(NULL, "x", NULL, &r->build));
    BAD("build", tamis_build_add(NULL, half, 1));
    GIVES(TAMIS_ENOSTORE, "/nowhere", tamis_store_repair("/nowhere", 0, NULL, NULL));
    BAD("path", tamis_store_repair(NULL, 0, NULL, NULL));
    BAD("wrong", tamis_kind_from_name("wrong", &r->kind));
    BAD("", tamis_explain("md5", 0, 3, 0, "k", 1, OUT(explanation)));
    BAD("sip", tamis_explain("sip", 100, 3, 0, "k", 1, OUT(explanation)));
    BAD("", tamis_field(9, 0, 0, OUT(field)));
    BAD("", tamis_field(TAMIS_FIELDS_FILTER, 9, 0, OUT(field)));
    BAD("", tamis_size(OUT(sizing)));
}

static void of_store(struct room *r, tamis_store *s)
{
    static char long_name[257];
    memset(long_name, 'x', sizeof long_name - 1);
    BAD("-1", tamis_store_set_busy_timeout(s, -1));
    BAD("fn", tamis_store_list(s, NULL, NULL, NULL));
    BAD("watch", tamis_watch_new(s, NULL, NULL));
    NOBODY(tamis_store_verify(s, "nobody", NULL, NULL));
    BAD("", tamis_filter_create(s, "", NINE, NULL));
    BAD("", tamis_filter_create(s, "a\nb", NINE, NULL));
    BAD("", tamis_filter_create(s, "\xff", NINE, NULL));
    BAD("name", tamis_filter_create(s, NULL, NINE, NULL));
    BAD("255", tamis_filter_create(s, long_name, NINE, NULL));
    BAD("spec", tamis_filter_create(s, "x", NULL, NULL));
    BAD("size", tamis_filter_create(s, "x", &(struct tamis_filter_spec){.capacity = 9}, NULL));
    BAD("filter", tamis_filter_open(s, "x", 0, NULL));
    NOBODY(tamis_filter_open(s, "nobody", 0, &r->filter));
    BAD("flags", tamis_filter_open(s, "x", 0x4000u, &r->filter));
    BAD("", tamis_filter_exists(s, ""));
    GIVES(0, "", tamis_filter_exists(s, "nobody"));
    BAD("", tamis_filter_rename(s, "nobody", ""));
    BAD("2", tamis_filter_set_owned(s, "nobody", 2));
    BAD("3", tamis_filter_set_pages(s, "nobody", 3));
    BAD("nofmt", tamis_filter_import(s, "x", "nofmt", NULL, &empty, NULL));
    BAD("source", tamis_filter_import(s, "x", "tamis", NULL, NULL, NULL));
    BAD("flags",
        tamis_filter_import(s, "new", "tamis", OF(import_spec, .flags = 64), &empty, NULL));
    BAD("redisbloom",
        tamis_filter_import(s, "new", "tamis", OF(import_spec, .flags = TAMIS_IMPORT_AS_THERE),
                            &empty, NULL));
    BAD("head", tamis_filter_import(s, "new", "redis-bitmap",
                                    OF(import_spec, .flags = TAMIS_IMPORT_HEAD), &empty, NULL));
    BAD("build", tamis_build_begin(s, "x", NULL, NULL));
    BAD("flags", tamis_build_begin(s, "x", OF(build_spec, .flags = 64), &r->build));
    BAD("1001", tamis_build_begin(s, "x", OF(build_spec, .flags = TAMIS_BUILD_KEEP, .keep = 1001),
                                  &r->build));
    BAD("", tamis_build_begin(s, "x", OF(build_spec, .memory_bytes = 1000), &r->build));
    NOBODY(tamis_filter_generations(s, "nobody", tell_generation, NULL));
    BAD("1", tamis_filter_except(s, "nobody", half, 2));
    NOBODY(tamis_filter_exceptions(s, "nobody", tell_exception, NULL));
    BAD("path", tamis_store_backup(s, NULL, NULL, NULL));
    GIVES(TAMIS_EEXIST, "/proc", tamis_store_backup(s, "/proc", NULL, NULL));
}

/* Calls that a store which may not be written to refuses for that. */
static void of_writer(struct room *r, tamis_store *s)
{
    static const char *const twice[] = {"new", "new"};
    NOBODY(tamis_filter_drop(s, "nobody"));
    BAD("twice", tamis_filter_create_many(s, twice, 2, NINE, 0));
    NOBODY(tamis_filter_rename(s, "nobody", "somebody"));
    NOBODY(tamis_filter_set_pages(s, "nobody", 1));
    NOBODY(tamis_filter_set_owned(s, "nobody", 1));
    NOBODY(tamis_filter_rollback(s, "nobody", 0));
    NOBODY(tamis_filter_except(s, "nobody", half, 1));
    GIVES(TAMIS_ECORRUPT, "", tamis_filter_import(s, "new", "tamis", NULL, &empty, NULL));
    BAD("hash set", tamis_filter_import(s, "new", "redis-bitmap", NULL, &empty, NULL));
    BAD("", tamis_filter_import(s, "new", "redis-bitmap", OF(import_spec, .hash_set = "md5"),
                                &empty, NULL));
    GIVES(TAMIS_EUNSUPPORTED, "window",
          tamis_build_begin(s, "new", OF(build_spec, .filter = OF(filter_spec, .window_items = 9)),
                            &r->build));
    GIVES(TAMIS_EUNSUPPORTED, "counting",
          tamis_build_begin(s, "new",
                            OF(build_spec, .filter = OF(filter_spec, .kind = TAMIS_KIND_COUNTING)),
                            &r->build));
    GIVES(TAMIS_EUNSUPPORTED, "",
          tamis_build_begin(s, "new", OF(build_spec, .filter = OF(filter_spec, .fp_rate = 1e-11)),
                            &r->build));
    BAD("nothing", tamis_filter_create_merged(s, "x", OF(merge, .count = 0), NULL));
    BAD("source 0",
        tamis_filter_create_merged(s, "x", OF(merge, .count = 1, .sources = &r->filter), NULL));
}

static void of_filter(struct room *r, tamis_filter *f)
{
    const unsigned char byte = 1;
    struct tamis_segment_stat first = {.size = sizeof first};
    uint32_t segments = 0;
    BAD("key", tamis_filter_add(f, NULL, 1));
    BAD("key", tamis_filter_contains(f, NULL, 1));
    BAD("1", tamis_filter_add_batch(f, half, 2, NULL));
    BAD("1", tamis_filter_contains_batch(f, half, 2, NULL));
    BAD("keys", tamis_filter_add_batch(f, NULL, 2, NULL));
    BAD("keys", tamis_filter_contains_batch(f, NULL, 2, NULL));
    BAD("key", tamis_filter_remove(f, NULL, 1));
    BAD("key", tamis_filter_count(f, NULL, 1));
    BAD("counts", tamis_filter_count_batch(f, half, 1, NULL));
    BAD("key", tamis_filter_prefetch(f, NULL, 1));
    BAD("", tamis_filter_set_sync_interval(f, -1));
    BAD("", tamis_filter_set_sync_interval(f, 999999));
    BAD("tamis_filter_stat", tamis_filter_stat(f, NULL));
    BAD("size", tamis_filter_stat(f, &(struct tamis_filter_stat){.size = 5}));
    BAD("", tamis_filter_segment(f, 64, OUT(segment_stat)));
    BAD("", tamis_filter_fill(f, 64, OUT(segment_stat)));
    BAD("", tamis_filter_fill_map(f, 0, NULL, 3));
    BAD("", tamis_filter_fill_map(f, 0, &r->real, 0));
    BAD("data", tamis_filter_read_data(f, 0, (uint64_t)1 << 50, r->bytes, 1));
    BAD("buffer", tamis_filter_read_data(f, 0, 0, NULL, 1));
    BAD("data", tamis_filter_write_data(f, 0, 0, NULL, 1));
    BAD("", tamis_filter_read_data(f, 64, 0, r->bytes, 1));
    BAD("a", tamis_filter_compare(NULL, f, OUT(comparison)));
    BAD("b", tamis_filter_compare(f, NULL, OUT(comparison)));
    BAD("nofmt", tamis_filter_export(f, "nofmt", 0, &sink));
    BAD("flags", tamis_filter_export(f, "tamis", 64, &sink));
    BAD("sink", tamis_filter_export(f, "tamis", 0, NULL));
    /* One past the last bit, byte or segment. */
    while (tamis_filter_segment(f, segments, &first) == 0)
        segments++;
    BAD("", tamis_filter_fill(f, segments, &first));
    if (tamis_filter_segment(f, 0, &first) < 0) return;
    BAD("m of the segment", tamis_filter_set_bit(f, 0, first.m_bits));
    BAD("data", tamis_filter_read_data(f, 0, first.data_bytes - 1, r->bytes, 2));
    BAD("data", tamis_filter_write_data(f, 0, first.data_bytes, &byte, 1));
}

/* What needs no store. */
static void constants(struct room *r)
{
    uint32_t sets = 0;
    for (uint32_t kind = tamis_kind_next(0); kind != 0; kind = tamis_kind_next(kind)) {
        GIVES(0, "", tamis_kind_from_name(tamis_kind_name(kind), &r->kind));
        GIVES(kind, "", r->kind);
        GIVES(kind == TAMIS_KIND_COUNTING, "", tamis_kind_has(kind, TAMIS_KIND_COUNTS));
    }
    for (const char *set = tamis_hash_set_next(NULL); set != NULL; set = tamis_hash_set_next(set)) {
        const char *weakness = tamis_hash_set_weakness(set);
        sets += weakness == NULL || *weakness != '\0';
    }
    GIVES(true, "", sets >= hash_set_count - 1);
    GIVES(true, "", tamis_pages_name(TAMIS_PAGES_HUGE) != NULL && tamis_pages_name(3) == NULL);
    GIVES(true, "", *tamis_version() != '\0' && *tamis_simd() != '\0');
    for (int code = -1; strcmp(tamis_error_name(code), "TAMIS_?") != 0; code--)
        GIVES(true, "", *tamis_error_message(code) != '\0');
    GIVES(9, "", tamis_key_form("name", "A.Example", 9, r->bytes, sizeof r->bytes));
    GIVES(0, "", memcmp(r->bytes, "a.example", 9));
    BAD("norule", tamis_key_form("norule", "a", 1, r->bytes, sizeof r->bytes));
    GIVES(true, "", tamis_shard("a", 1, 7) < 7 && tamis_shard("a", 1, 0) == 0);
}

static void of_both(struct room *r, tamis_store *s, tamis_filter *f)
{
    static const char bytes[TAMIS_EXCEPTION_BYTES_MAX + 1];
    const struct tamis_key key = {bytes, sizeof bytes};
    struct tamis_filter_stat stat = {.size = sizeof stat};
    if (tamis_filter_stat(f, &stat) == 0) BAD("65535", tamis_filter_except(s, stat.name, &key, 1));
    BAD("flags",
        tamis_filter_create_merged(s, "x", OF(merge, .count = 1, .sources = &f, .flags = 4), NULL));
}

int arguments_try(tamis_store *store, tamis_filter *filter, char *trouble, size_t bytes)
{
    struct room room = {.trouble = trouble, .trouble_bytes = bytes};
    const bool writable = tamis_filter_drop(store, "nobody") != TAMIS_EREADONLY;
    constants(&room);
    without_any(&room);
    of_store(&room, store);
    of_filter(&room, filter);
    if (writable) of_writer(&room, store);
    if (writable) of_both(&room, store, filter);
    return 0;
}

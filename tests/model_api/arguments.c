/* SPDX-License-Identifier: BSD-2-Clause */
/* arguments.c: see arguments.h. */
#include "arguments.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tamis_build.h"

#define SPEC(...)                                                                                  \
    (&(const struct tamis_filter_spec){.size = sizeof(struct tamis_filter_spec), __VA_ARGS__})
#define BUILD(...)                                                                                 \
    (&(const struct tamis_build_spec){.size = sizeof(struct tamis_build_spec), __VA_ARGS__})
#define OPTIONS(...)                                                                               \
    (&(const struct tamis_store_options){.size = sizeof(struct tamis_store_options), __VA_ARGS__})
#define MERGE(...) (&(const struct tamis_merge){.size = sizeof(struct tamis_merge), __VA_ARGS__})
#define IMPORT(...)                                                                                \
    (&(const struct tamis_import_spec){.size = sizeof(struct tamis_import_spec), __VA_ARGS__})

/* A new filter by this spec is refused, whoever asks. */
#define NO_SPEC(code, words, ...) X(code, words, tamis_filter_check(NULL, "x", SPEC(__VA_ARGS__)))
/* X(code, words, call): s is a store or NULL, f a filter or NULL. */
#define CALLS                                                                                      \
    X(TAMIS_EINVAL, "path", tamis_store_open(NULL, 0, &out.store))                                 \
    X(TAMIS_EINVAL, "", tamis_store_open("redis://host", 0, &out.store))                           \
    X(TAMIS_EINVAL, "", tamis_store_open("/nowhere", 0x40000000u, &out.store))                     \
    X(TAMIS_EINVAL, "store", tamis_store_open("/nowhere", 0, NULL))                                \
    X(TAMIS_ENOSTORE, "/nowhere", tamis_store_open("/nowhere/at/all", 0, &out.store))              \
    X(TAMIS_EINVAL, "mode",                                                                        \
      tamis_store_open_with("/nowhere", OPTIONS(.flags = TAMIS_CREATE, .mode = 0123), &out.store)) \
    X(TAMIS_EINVAL, "",                                                                            \
      tamis_store_open_with("/nowhere", OPTIONS(.busy_timeout_ms = TAMIS_BUSY_TIMEOUT_MAX + 1),    \
                            &out.store))                                                           \
    X(TAMIS_EINVAL, "size",                                                                        \
      tamis_store_open_with("/nowhere", &(struct tamis_store_options){.size = 3}, &out.store))     \
    X(TAMIS_EINVAL, "store", tamis_store_set_busy_timeout(NULL, 1))                                \
    X(TAMIS_EINVAL, "-1", tamis_store_set_busy_timeout(s, -1))                                     \
    X(TAMIS_EINVAL, "store", tamis_store_set_busy_callback(NULL, NULL, NULL))                      \
    X(TAMIS_EINVAL, "-2", tamis_descriptors_set_least(-2))                                         \
    X(TAMIS_EINVAL, "store", tamis_store_list(NULL, NULL, told_filter, NULL))                      \
    X(TAMIS_EINVAL, "fn", tamis_store_list(s, NULL, NULL, NULL))                                   \
    X(TAMIS_EINVAL, "store", tamis_watch_new(NULL, NULL, &out.watch))                              \
    X(TAMIS_EINVAL, "watch", tamis_watch_new(s, NULL, NULL))                                       \
    X(TAMIS_EINVAL, "watch", tamis_watch_look(NULL, told_filter, NULL))                            \
    X(TAMIS_EINVAL, "store", tamis_store_verify(NULL, NULL, NULL, NULL))                           \
    X(TAMIS_ENOTFOUND, "nobody", tamis_store_verify(s, "nobody", NULL, NULL))                      \
    X(TAMIS_EINVAL, "store", tamis_filter_create(NULL, "x", SPEC(.capacity = 9), NULL))            \
    X(TAMIS_EINVAL, "", tamis_filter_create(s, "", SPEC(.capacity = 9), NULL))                     \
    X(TAMIS_EINVAL, "", tamis_filter_create(s, "a\nb", SPEC(.capacity = 9), NULL))                 \
    X(TAMIS_EINVAL, "", tamis_filter_create(s, "\xff", SPEC(.capacity = 9), NULL))                 \
    X(TAMIS_EINVAL, "name", tamis_filter_create(s, NULL, SPEC(.capacity = 9), NULL))               \
    X(TAMIS_EINVAL, "255", tamis_filter_create(s, long_name, SPEC(.capacity = 9), NULL))           \
    X(TAMIS_EINVAL, "spec", tamis_filter_create(s, "x", NULL, NULL))                               \
    X(TAMIS_EINVAL, "size",                                                                        \
      tamis_filter_create(s, "x", &(struct tamis_filter_spec){.capacity = 9}, NULL))               \
    NO_SPEC(TAMIS_EINVAL, "capacity", .capacity = 0)                                               \
    NO_SPEC(TAMIS_EINVAL, "", .capacity = ((uint64_t)1 << 56) + 1)                                 \
    NO_SPEC(TAMIS_EINVAL, "rate", .capacity = 9, .fp_rate = 1)                                     \
    NO_SPEC(TAMIS_EINVAL, "rate", .capacity = 9, .fp_rate = -0.1)                                  \
    NO_SPEC(TAMIS_EINVAL, "rate", .capacity = 9, .fp_rate = 0.9e-12)                               \
    NO_SPEC(TAMIS_EINVAL, "kind", .capacity = 9, .kind = 77)                                       \
    NO_SPEC(TAMIS_EUNSUPPORTED, "fuse", .capacity = 9, .kind = TAMIS_KIND_FUSE)                    \
    NO_SPEC(TAMIS_EINVAL, "", .capacity = 9, .k = 4)                                               \
    NO_SPEC(TAMIS_EINVAL, "", .m_bits = 999)                                                       \
    NO_SPEC(TAMIS_EINVAL, "65", .m_bits = 999, .k = 65)                                            \
    NO_SPEC(TAMIS_EINVAL, "bloom", .m_bits = 999, .k = 4, .kind = TAMIS_KIND_BLOCKED)              \
    NO_SPEC(TAMIS_EINVAL, "0.5", .m_bits = 99, .k = 4, .capacity = 99, .fp_rate = 0.5)             \
    NO_SPEC(TAMIS_EINVAL, "nohash", .capacity = 9, .hash_set = "nohash")                           \
    NO_SPEC(TAMIS_EUNSUPPORTED, "guava", .capacity = 9, .hash_set = "guava",                       \
            .kind = TAMIS_KIND_BLOCKED)                                                            \
    NO_SPEC(TAMIS_EINVAL, "secret", .capacity = 9, .secret = {1})                                  \
    NO_SPEC(TAMIS_EINVAL, "seed", .capacity = 9, .hash_set = "sip", .seed = 1)                     \
    NO_SPEC(TAMIS_EINVAL, "9", .capacity = 9, .on_full = 9)                                        \
    NO_SPEC(TAMIS_EINVAL, "window", .capacity = 9, .slices = 4)                                    \
    NO_SPEC(TAMIS_EINVAL, "33", .capacity = 9, .slices = 33, .window_items = 99)                   \
    NO_SPEC(TAMIS_EINVAL, "both", .capacity = 9, .window_ns = 1000000000, .window_items = 99)      \
    NO_SPEC(TAMIS_EINVAL, "0.1 s", .capacity = 9, .window_ns = 999999999, .slices = 10)            \
    NO_SPEC(0, "", .capacity = 9, .window_ns = 1000000000, .slices = 10)                           \
    NO_SPEC(TAMIS_EINVAL, "100 years", .capacity = 9, .window_ns = TAMIS_WINDOW_NS_MAX + 1)        \
    NO_SPEC(TAMIS_EINVAL, "window", .capacity = 9, .flags = TAMIS_FILTER_FROM_FIRST)               \
    NO_SPEC(TAMIS_EUNSUPPORTED, "window", .m_bits = 999, .k = 4, .window_items = 99)               \
    NO_SPEC(TAMIS_EINVAL, "flags", .capacity = 9, .flags = 0x80)                                   \
    NO_SPEC(TAMIS_EINVAL, "pages", .capacity = 9, .pages = 3)                                      \
    NO_SPEC(TAMIS_EINVAL, "reserved", .capacity = 9, .reserved = 1)                                \
    NO_SPEC(TAMIS_EINVAL, "", .capacity = 9, .counter_bits = 4)                                    \
    NO_SPEC(TAMIS_EINVAL, "", .capacity = 9, .kind = TAMIS_KIND_COUNTING, .counter_bits = 5)       \
    NO_SPEC(TAMIS_EUNSUPPORTED, "durable", .capacity = 9, .kind = TAMIS_KIND_COUNTING,             \
            .flags = TAMIS_FILTER_DURABLE)                                                         \
    NO_SPEC(TAMIS_EUNSUPPORTED, "counting", .capacity = 9, .kind = TAMIS_KIND_COUNTING,            \
            .window_items = 9)                                                                     \
    NO_SPEC(TAMIS_EUNSUPPORTED, "counting", .capacity = 9, .kind = TAMIS_KIND_COUNTING,            \
            .on_full = TAMIS_ON_FULL_GROW)                                                         \
    NO_SPEC(TAMIS_EUNSUPPORTED, "counting", .capacity = 9, .kind = TAMIS_KIND_COUNTING,            \
            .on_full = TAMIS_ON_FULL_REFUSE)                                                       \
    NO_SPEC(TAMIS_EINVAL, "grows", .m_bits = 999, .k = 4, .on_full = TAMIS_ON_FULL_GROW)           \
    NO_SPEC(0, "", .capacity = (uint64_t)1 << 40, .fp_rate = 1e-12)                                \
    X(TAMIS_EINVAL, "twice",                                                                       \
      s == NULL ? skip : tamis_filter_create_many(s, twice, 2, SPEC(.capacity = 9), 0))            \
    X(TAMIS_EINVAL, "store", tamis_filter_open(NULL, "x", 0, &out.filter))                         \
    X(TAMIS_EINVAL, "filter", tamis_filter_open(s, "x", 0, NULL))                                  \
    X(TAMIS_ENOTFOUND, "nobody", tamis_filter_open(s, "nobody", 0, &out.filter))                   \
    X(TAMIS_EINVAL, "flags", tamis_filter_open(s, "x", 0x4000u, &out.filter))                      \
    X(TAMIS_EINVAL, "", tamis_filter_exists(s, ""))                                                \
    X(0, "", tamis_filter_exists(s, "nobody"))                                                     \
    X(TAMIS_ENOTFOUND, "nobody", writable ? tamis_filter_drop(s, "nobody") : skip)                 \
    X(TAMIS_EINVAL, "1001", tamis_filter_drop_many(s, many, NULL, TAMIS_DROP_MAX + 1))             \
    X(TAMIS_ENOTFOUND, "nobody", writable ? tamis_filter_rename(s, "nobody", "somebody") : skip)   \
    X(TAMIS_EINVAL, "", tamis_filter_rename(s, "nobody", ""))                                      \
    X(TAMIS_EINVAL, "2", tamis_filter_set_owned(s, "nobody", 2))                                   \
    X(TAMIS_EINVAL, "3", tamis_filter_set_pages(s, "nobody", 3))                                   \
    X(TAMIS_ENOTFOUND, "nobody", writable ? tamis_filter_set_pages(s, "nobody", 1) : skip)         \
    X(TAMIS_ENOTFOUND, "nobody", writable ? tamis_filter_set_owned(s, "nobody", 1) : skip)         \
    X(TAMIS_EINVAL, "filter", tamis_filter_add(NULL, "k", 1))                                      \
    X(TAMIS_EINVAL, "key", tamis_filter_add(f, NULL, 1))                                           \
    X(TAMIS_EINVAL, "key", tamis_filter_contains(f, NULL, 1))                                      \
    X(TAMIS_EINVAL, "filter", tamis_filter_contains(NULL, "k", 1))                                 \
    X(TAMIS_EINVAL, "1", tamis_filter_add_batch(f, half, 2, NULL))                                 \
    X(TAMIS_EINVAL, "1", tamis_filter_contains_batch(f, half, 2, NULL))                            \
    X(TAMIS_EINVAL, "keys", tamis_filter_add_batch(f, NULL, 2, NULL))                              \
    X(TAMIS_EINVAL, "keys", tamis_filter_contains_batch(f, NULL, 2, NULL))                         \
    X(TAMIS_EINVAL, "filter", tamis_filter_remove(NULL, "k", 1))                                   \
    X(TAMIS_EINVAL, "key", tamis_filter_remove(f, NULL, 1))                                        \
    X(TAMIS_EINVAL, "filter", tamis_filter_count(NULL, "k", 1))                                    \
    X(TAMIS_EINVAL, "key", tamis_filter_count(f, NULL, 1))                                         \
    X(TAMIS_EINVAL, "counts", tamis_filter_count_batch(f, half, 1, NULL))                          \
    X(TAMIS_EINVAL, "key", tamis_filter_prefetch(f, NULL, 1))                                      \
    X(TAMIS_EINVAL, "filter", tamis_filter_sync(NULL))                                             \
    X(TAMIS_EINVAL, "filter", tamis_filter_rotate(NULL))                                           \
    X(TAMIS_EINVAL, "filter", tamis_filter_accept(NULL))                                           \
    X(TAMIS_EINVAL, "filter", tamis_filter_set_sync_interval(NULL, 0))                             \
    X(TAMIS_EINVAL, "", tamis_filter_set_sync_interval(f, -1))                                     \
    X(TAMIS_EINVAL, "", tamis_filter_set_sync_interval(f, 999999))                                 \
    X(TAMIS_EINVAL, "filter", tamis_filter_stat(NULL, &out.stat))                                  \
    X(TAMIS_EINVAL, "tamis_filter_stat", tamis_filter_stat(f, NULL))                               \
    X(TAMIS_EINVAL, "size", tamis_filter_stat(f, &(struct tamis_filter_stat){.size = 5}))          \
    X(TAMIS_EINVAL, "", tamis_filter_segment(f, 64, &out.segment))                                 \
    X(TAMIS_EINVAL, "", tamis_filter_fill(f, 64, &out.segment))                                    \
    X(TAMIS_EINVAL, "", tamis_filter_fill_map(f, 0, NULL, 3))                                      \
    X(TAMIS_EINVAL, "", tamis_filter_fill_map(f, 0, &out.real, 0))                                 \
    X(TAMIS_EINVAL, "data", tamis_filter_read_data(f, 0, (uint64_t)1 << 50, out.bytes, 1))         \
    X(TAMIS_EINVAL, "buffer", tamis_filter_read_data(f, 0, 0, NULL, 1))                            \
    X(TAMIS_EINVAL, "data", tamis_filter_write_data(f, 0, 0, NULL, 1))                             \
    X(TAMIS_EINVAL, "", tamis_filter_read_data(f, 64, 0, out.bytes, 1))                            \
    X(TAMIS_EINVAL, "m of the segment", just_past(f, 0))                                           \
    X(TAMIS_EINVAL, "data", just_past(f, 1))                                                       \
    X(TAMIS_EINVAL, "data", just_past(f, 2))                                                       \
    X(TAMIS_EINVAL, "", just_past(f, 3))                                                           \
    X(TAMIS_EINVAL, "nothing",                                                                     \
      tamis_filter_create_merged(NULL, "x", MERGE(.count = 0), NULL) == TAMIS_EINVAL &&            \
              s != NULL && writable                                                                \
          ? tamis_filter_create_merged(s, "x", MERGE(.count = 0), NULL)                            \
          : skip)                                                                                  \
    X(TAMIS_EINVAL, "flags",                                                                       \
      writable                                                                                     \
          ? tamis_filter_create_merged(s, "x", MERGE(.count = 1, .sources = &f, .flags = 4), NULL) \
          : skip)                                                                                  \
    X(TAMIS_EINVAL, "source 0",                                                                    \
      writable                                                                                     \
          ? tamis_filter_create_merged(s, "x", MERGE(.count = 1, .sources = &out.filter), NULL)    \
          : skip)                                                                                  \
    X(TAMIS_EINVAL, "a", tamis_filter_compare(NULL, f, &out.comparison))                           \
    X(TAMIS_EINVAL, "b", tamis_filter_compare(f, NULL, &out.comparison))                           \
    X(TAMIS_EINVAL, "nofmt", tamis_filter_export(f, "nofmt", 0, &sink))                            \
    X(TAMIS_EINVAL, "flags", tamis_filter_export(f, "tamis", 64, &sink))                           \
    X(TAMIS_EINVAL, "sink", tamis_filter_export(f, "tamis", 0, NULL))                              \
    X(TAMIS_EINVAL, "nofmt", tamis_filter_import(s, "x", "nofmt", NULL, &empty, NULL))             \
    X(TAMIS_EINVAL, "source", tamis_filter_import(s, "x", "tamis", NULL, NULL, NULL))              \
    X(TAMIS_ECORRUPT, "",                                                                          \
      writable ? tamis_filter_import(s, "new", "tamis", NULL, &empty, NULL) : skip)                \
    X(TAMIS_EINVAL, "hash set",                                                                    \
      writable ? tamis_filter_import(s, "new", "redis-bitmap", NULL, &empty, NULL) : skip)         \
    X(TAMIS_EINVAL, "",                                                                            \
      writable                                                                                     \
          ? tamis_filter_import(s, "new", "redis-bitmap", IMPORT(.hash_set = "md5"), &empty, NULL) \
          : skip)                                                                                  \
    X(TAMIS_EINVAL, "flags",                                                                       \
      tamis_filter_import(s, "new", "tamis", IMPORT(.flags = 64), &empty, NULL))                   \
    X(TAMIS_EINVAL, "redisbloom",                                                                  \
      tamis_filter_import(s, "new", "tamis", IMPORT(.flags = TAMIS_IMPORT_AS_THERE), &empty,       \
                          NULL))                                                                   \
    X(TAMIS_EINVAL, "head",                                                                        \
      tamis_filter_import(s, "new", "redis-bitmap", IMPORT(.flags = TAMIS_IMPORT_HEAD), &empty,    \
                          NULL))                                                                   \
    X(TAMIS_EINVAL, "store", tamis_build_begin(NULL, "x", NULL, &out.build))                       \
    X(TAMIS_EINVAL, "build", tamis_build_begin(s, "x", NULL, NULL))                                \
    X(TAMIS_EINVAL, "flags", tamis_build_begin(s, "x", BUILD(.flags = 64), &out.build))            \
    X(TAMIS_EINVAL, "1001",                                                                        \
      tamis_build_begin(s, "x", BUILD(.flags = TAMIS_BUILD_KEEP, .keep = 1001), &out.build))       \
    X(TAMIS_EINVAL, "", tamis_build_begin(s, "x", BUILD(.memory_bytes = 1000), &out.build))        \
    X(TAMIS_EUNSUPPORTED, "window",                                                                \
      writable ? tamis_build_begin(s, "new", BUILD(.filter = SPEC(.window_items = 9)), &out.build) \
               : skip)                                                                             \
    X(TAMIS_EUNSUPPORTED, "counting",                                                              \
      writable ? tamis_build_begin(s, "new", BUILD(.filter = SPEC(.kind = TAMIS_KIND_COUNTING)),   \
                                   &out.build)                                                     \
               : skip)                                                                             \
    X(TAMIS_EUNSUPPORTED, "",                                                                      \
      writable ? tamis_build_begin(s, "new", BUILD(.filter = SPEC(.fp_rate = 1e-11)), &out.build)  \
               : skip)                                                                             \
    X(TAMIS_EINVAL, "build", tamis_build_add(NULL, half, 1))                                       \
    X(TAMIS_ENOTFOUND, "nobody", tamis_filter_generations(s, "nobody", told_generation, NULL))     \
    X(TAMIS_ENOTFOUND, "nobody", writable ? tamis_filter_rollback(s, "nobody", 0) : skip)          \
    X(TAMIS_ENOTFOUND, "nobody", writable ? tamis_filter_except(s, "nobody", half, 1) : skip)      \
    X(TAMIS_EINVAL, "1", tamis_filter_except(s, "nobody", half, 2))                                \
    X(TAMIS_EINVAL, "65535", writable &&f != NULL ? except_long(s, f) : skip)                      \
    X(TAMIS_ENOTFOUND, "nobody", tamis_filter_exceptions(s, "nobody", told_exception, NULL))       \
    X(TAMIS_ENOSTORE, "/nowhere", tamis_store_repair("/nowhere", 0, NULL, NULL))                   \
    X(TAMIS_EINVAL, "path", tamis_store_repair(NULL, 0, NULL, NULL))                               \
    X(TAMIS_EINVAL, "path", tamis_store_backup(s, NULL, NULL, NULL))                               \
    X(TAMIS_EEXIST, "/proc", tamis_store_backup(s, "/proc", NULL, NULL))                           \
    X(TAMIS_EINVAL, "wrong", tamis_kind_from_name("wrong", &out.kind))                             \
    X(TAMIS_EINVAL, "", tamis_explain("md5", 0, 3, 0, "k", 1, &out.explanation))                   \
    X(TAMIS_EINVAL, "sip", tamis_explain("sip", 100, 3, 0, "k", 1, &out.explanation))              \
    X(TAMIS_EINVAL, "", tamis_field(9, 0, 0, &out.field))                                          \
    X(TAMIS_EINVAL, "", tamis_field(TAMIS_FIELDS_FILTER, 9, 0, &out.field))                        \
    X(TAMIS_EINVAL, "", tamis_size(&out.sizing))

static const int64_t skip = INT64_MIN;
static const struct tamis_key half[] = {{"a", 1}, {NULL, 1}};
static const char *const twice[] = {"new", "new"};

static int told_filter(void *context, const struct tamis_filter_stat *stat)
{
    (void)context, (void)stat;
    return 0;
}

static int told_generation(void *context, const struct tamis_generation_stat *stat)
{
    (void)context, (void)stat;
    return 0;
}

static int told_exception(void *context, const struct tamis_key *key, uint64_t generation)
{
    (void)context, (void)key, (void)generation;
    return 0;
}

static int refuse_write(void *context, const void *buffer, size_t bytes)
{
    (void)context, (void)buffer, (void)bytes;
    return TAMIS_EIO;
}

static int64_t read_nothing(void *context, void *buffer, size_t bytes)
{
    (void)context, (void)buffer, (void)bytes;
    return 0;
}

static int64_t except_long(tamis_store *store, tamis_filter *filter)
{
    static const char bytes[TAMIS_EXCEPTION_BYTES_MAX + 1];
    struct tamis_filter_stat stat = {.size = sizeof stat};
    const struct tamis_key key = {bytes, sizeof bytes};
    if (tamis_filter_stat(filter, &stat) < 0) return skip;
    return tamis_filter_except(store, stat.name, &key, 1);
}

/* One past the last bit, byte or segment. */
static int64_t just_past(tamis_filter *filter, int what)
{
    struct tamis_segment_stat first = {.size = sizeof first}, none = first;
    const unsigned char byte = 1;
    unsigned char buffer[2];
    uint32_t count = 0;
    if (tamis_filter_segment(filter, 0, &first) < 0) return skip;
    while (tamis_filter_segment(filter, count, &none) == 0)
        count++;
    if (what == 0) return tamis_filter_set_bit(filter, 0, first.m_bits);
    if (what == 1) return tamis_filter_read_data(filter, 0, first.data_bytes - 1, buffer, 2);
    if (what == 2) return tamis_filter_write_data(filter, 0, first.data_bytes, &byte, 1);
    return tamis_filter_fill(filter, count, &none);
}

struct room {
    tamis_store *store;
    tamis_filter *filter;
    tamis_watch *watch;
    tamis_build *build;
    struct tamis_filter_stat stat;
    struct tamis_segment_stat segment;
    struct tamis_comparison comparison;
    struct tamis_explanation explanation;
    struct tamis_field field;
    struct tamis_sizing sizing;
    double real;
    uint32_t kind;
    unsigned char bytes[16];
};

static int64_t call(unsigned number, tamis_store *s, tamis_filter *f, bool writable,
                    struct room *room, int64_t *code, const char **words, const char **text)
{
    static const char *many[TAMIS_DROP_MAX + 1];
    static char long_name[300];
    const struct tamis_sink sink = {.size = sizeof sink, .write = refuse_write};
    const struct tamis_source empty = {.size = sizeof empty, .read = read_nothing};
    struct room out = *room;
    memset(long_name, 'x', 256);
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++)
        many[i] = "nobody";
    enum { FIRST_LINE = __LINE__ };
    unsigned at = 0;
#define X(result, names, expression)                                                               \
    if (at++ == number) {                                                                          \
        *code = (result), *words = (names), *text = #expression;                                   \
        const bool lacks = (strstr(#expression, "(s,") != NULL && s == NULL) ||                    \
                           ((strstr(#expression, "(f,") != NULL) && f == NULL);                    \
        return lacks ? skip : (int64_t)(expression);                                               \
    }
    CALLS
#undef X
        (void)
    out;
    *code = at;
    return skip;
}

int arguments_try(tamis_store *store, tamis_filter *filter, unsigned number, char *trouble,
                  size_t bytes)
{
    struct room room = {.stat = {.size = sizeof room.stat},
                        .segment = {.size = sizeof room.segment},
                        .comparison = {.size = sizeof room.comparison},
                        .explanation = {.size = sizeof room.explanation},
                        .field = {.size = sizeof room.field},
                        .sizing = {.size = sizeof room.sizing}};
    int64_t code = 0;
    const char *words = "", *text = "";
    (void)call(UINT32_MAX, NULL, NULL, false, &room, &code, &words, &text);
    const bool writable = store != NULL && tamis_filter_drop(store, "nobody") != TAMIS_EREADONLY;
    const int64_t got =
        call(number % (unsigned)code, store, filter, writable, &room, &code, &words, &text);
    if (got == skip) return 0;
    /* A handle that may not write says that first, and one whose filter is gone says that. */
    if ((got == TAMIS_EREADONLY || got == TAMIS_EDROPPED || got == TAMIS_EUNSUPPORTED) && code < 0)
        return 0;
    if (got != code)
        (void)snprintf(trouble, bytes, "%s gives %s, not %s: %s", text, tamis_error_name((int)got),
                       tamis_error_name((int)code), tamis_last_error());
    else if (code < 0 && strstr(tamis_last_error(), words) == NULL)
        (void)snprintf(trouble, bytes, "%s: the sentence does not name '%s': %s", text, words,
                       tamis_last_error());
    return 0;
}

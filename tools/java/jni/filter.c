/* SPDX-License-Identifier: BSD-2-Clause */
/* filter.c: filters as a whole: made, opened, closed, renamed, dropped, brought to the disk. */
#include <stdlib.h>

#include "java_tamis.h"
#include "keys.h"

/* A name and a spec, which may be null, from Java. */
struct named {
    struct copy name, row;
    struct tamis_filter_spec spec;
};

static bool named_take(JNIEnv *env, jbyteArray name, jbyteArray spec, struct named *named)
{
    named->row = (struct copy){0};
    if (!copy_take(env, name, &named->name)) return false;
    if (copy_take(env, spec, &named->row)) return true;
    copy_free(&named->name);
    return false;
}

static void named_free(struct named *named)
{
    copy_free(&named->name);
    copy_free(&named->row);
}

static jlong java_check(JNIEnv *env, jclass class, jbyteArray path, jbyteArray name,
                        jbyteArray spec)
{
    struct named named;
    struct copy of_path;
    int rc = 0;

    if (!copy_take(env, path, &of_path)) return 0;
    if (named_take(env, name, spec, &named)) {
        rc = tamis_filter_check((const char *)of_path.bytes, (const char *)named.name.bytes,
                                spec_of(&named.row, &named.spec));
        named_free(&named);
    }
    copy_free(&of_path);
    return rc;
}

typedef int maker(tamis_store *store, const char *name, const struct tamis_filter_spec *spec,
                  tamis_filter **filter);

static jlong made(JNIEnv *env, maker *make, jlong store, jbyteArray name, jbyteArray spec)
{
    struct named named;
    tamis_filter *filter = NULL;
    int rc;

    if (!named_take(env, name, spec, &named)) return 0;
    rc = make(at(store), (const char *)named.name.bytes, spec_of(&named.row, &named.spec), &filter);
    named_free(&named);
    return handed_filter(env, rc, filter);
}

static jlong java_create(JNIEnv *env, jclass class, jlong store, jbyteArray name, jbyteArray spec)
{
    return made(env, tamis_filter_create, store, name, spec);
}

static jlong java_open_or_create(JNIEnv *env, jclass class, jlong store, jbyteArray name,
                                 jbyteArray spec)
{
    return made(env, tamis_filter_open_or_create, store, name, spec);
}

/* The texts of a row, which lie in it; NULL with an exception. */
static const char **texts_of(JNIEnv *env, struct copy *row, jint count)
{
    const char **texts = calloc((size_t)count + 1, sizeof *texts);

    if (!texts) throw_no_memory(env);
    for (jint i = 0; texts && i < count; i++)
        texts[i] = copy_text(row);
    return texts;
}

static jlong java_create_many(JNIEnv *env, jclass class, jlong store, jbyteArray names, jint count,
                              jbyteArray spec, jint flags)
{
    struct named named;
    const char **texts;
    int64_t rc = 0;

    if (!named_take(env, names, spec, &named)) return 0;
    texts = texts_of(env, &named.name, count);
    if (texts)
        rc = tamis_filter_create_many(at(store), texts, (size_t)count,
                                      spec_of(&named.row, &named.spec), (uint32_t)flags);
    free(texts);
    named_free(&named);
    return rc;
}

static jlong java_open(JNIEnv *env, jclass class, jlong store, jbyteArray name, jint flags)
{
    struct copy copy;
    tamis_filter *filter = NULL;
    int rc;

    if (!copy_take(env, name, &copy)) return 0;
    rc = tamis_filter_open(at(store), (const char *)copy.bytes, (uint32_t)flags, &filter);
    copy_free(&copy);
    return handed_filter(env, rc, filter);
}

static jlong by_name(JNIEnv *env, int (*call)(tamis_store *, const char *), jlong store,
                     jbyteArray name)
{
    struct copy copy;
    int rc;

    if (!copy_take(env, name, &copy)) return 0;
    rc = call(at(store), (const char *)copy.bytes);
    copy_free(&copy);
    return rc;
}

static jlong java_exists(JNIEnv *env, jclass class, jlong store, jbyteArray name)
{
    return by_name(env, tamis_filter_exists, store, name);
}

static jlong java_drop(JNIEnv *env, jclass class, jlong store, jbyteArray name)
{
    return by_name(env, tamis_filter_drop, store, name);
}

static jlong java_drop_many(JNIEnv *env, jclass class, jlong store, jbyteArray names, jint count,
                            jlongArray created_at)
{
    struct copy row;
    const char **texts = NULL;
    int64_t *times = NULL;
    int64_t rc = TAMIS_ENOMEM;

    if (!copy_take(env, names, &row)) return 0;
    texts = texts_of(env, &row, count);
    if (created_at) times = calloc((size_t)count + 1, sizeof *times);
    if (times) (*env)->GetLongArrayRegion(env, created_at, 0, count, times);
    if (texts && (times || !created_at))
        rc = tamis_filter_drop_many(at(store), texts, times, (size_t)count);
    free(times);
    free(texts);
    copy_free(&row);
    return rc;
}

static jlong java_rename(JNIEnv *env, jclass class, jlong store, jbyteArray old_name,
                         jbyteArray new_name)
{
    struct named both;
    int rc;

    if (!named_take(env, old_name, new_name, &both)) return 0;
    rc =
        tamis_filter_rename(at(store), (const char *)both.name.bytes, (const char *)both.row.bytes);
    named_free(&both);
    return rc;
}

static jlong java_set_owned(JNIEnv *env, jclass class, jlong store, jbyteArray name,
                            jboolean is_owned)
{
    struct copy copy;
    int rc;

    if (!copy_take(env, name, &copy)) return 0;
    rc = tamis_filter_set_owned(at(store), (const char *)copy.bytes, is_owned);
    copy_free(&copy);
    return rc;
}

static jlong java_set_pages(JNIEnv *env, jclass class, jlong store, jbyteArray name, jint pages)
{
    struct copy copy;
    int rc;

    if (!copy_take(env, name, &copy)) return 0;
    rc = tamis_filter_set_pages(at(store), (const char *)copy.bytes, (uint32_t)pages);
    copy_free(&copy);
    return rc;
}

static jbyteArray java_mapped(JNIEnv *env, jclass class, jlong filter)
{
    struct tamis_filter_mapped mapped = TAMIS_INIT(struct tamis_filter_mapped);
    struct row row = {0};
    const int rc = tamis_filter_mapped(at(filter), &mapped);

    if (rc < 0) return throw_error(env, rc);
    row_number(&row, (int64_t)mapped.bytes);
    row_number(&row, (int64_t)mapped.present);
    row_number(&row, (int64_t)mapped.huge_bytes);
    row_number(&row, mapped.wanted);
    row_text(&row, mapped.obstacle);
    return row_array(env, &row);
}

/* Calls of a filter alone, and of a filter and a number. */
#define OF_FILTER(name, answer)                                                                    \
    static jlong java_##name(JNIEnv *env, jclass class, jlong filter)                              \
    {                                                                                              \
        return answer;                                                                             \
    }
#define OF_FILTER_AND(name, type, value, answer)                                                   \
    static jlong java_##name(JNIEnv *env, jclass class, jlong filter, type value)                  \
    {                                                                                              \
        return answer;                                                                             \
    }

OF_FILTER(store, address_of(tamis_filter_store(at(filter))))
OF_FILTER(created_at, tamis_filter_created_at(at(filter)))
OF_FILTER(close, tamis_filter_close(at(filter)))
OF_FILTER(release, (tamis_filter_release(at(filter)), 0))
OF_FILTER(rotate, tamis_filter_rotate(at(filter)))
OF_FILTER(sync, tamis_filter_sync(at(filter)))
OF_FILTER(accept, tamis_filter_accept(at(filter)))
OF_FILTER_AND(may_wait, jlong, keys, tamis_filter_may_wait(at(filter), (size_t)keys))
OF_FILTER_AND(prepare, jlong, keys, tamis_filter_prepare(at(filter), (uint64_t)keys))
OF_FILTER_AND(set_sync_interval, jlong, ns, tamis_filter_set_sync_interval(at(filter), ns))

TABLE(filter_functions, {"filterCheck", "([B[B[B)J", java_check},
      {"filterCreate", "(J[B[B)J", java_create},
      {"filterCreateMany", "(J[BI[BI)J", java_create_many}, {"filterOpen", "(J[BI)J", java_open},
      {"filterOpenOrCreate", "(J[B[B)J", java_open_or_create},
      {"filterExists", "(J[B)J", java_exists}, {"filterStore", "(J)J", java_store},
      {"filterCreatedAt", "(J)J", java_created_at}, {"filterClose", "(J)J", java_close},
      {"filterRelease", "(J)J", java_release}, {"filterMayWait", "(JJ)J", java_may_wait},
      {"filterPrepare", "(JJ)J", java_prepare}, {"filterDrop", "(J[B)J", java_drop},
      {"filterDropMany", "(J[BI[J)J", java_drop_many}, {"filterRename", "(J[B[B)J", java_rename},
      {"filterSetOwned", "(J[BZ)J", java_set_owned}, {"filterSetPages", "(J[BI)J", java_set_pages},
      {"filterMapped", "(J)[B", java_mapped}, {"filterRotate", "(J)J", java_rotate},
      {"filterSync", "(J)J", java_sync}, {"filterSetSyncInterval", "(JJ)J", java_set_sync_interval},
      {"filterAccept", "(J)J", java_accept});

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.c: adding keys and asking for them.  The keys are outside of Java's heap, so that the
 * functions for single keys call nothing of Java.
 */
#include <stdlib.h>

#include "keys.h"

int keys_take(JNIEnv *env, struct keys *keys, jlong data, jlong ends, jint count)
{
    const unsigned char *start = at(data);
    const uint32_t *end = at(ends);
    uint32_t last = 0;

    keys->list = keys->few;
    if (count > FEW_KEYS) keys->list = malloc((size_t)count * sizeof *keys->list);
    if (!keys->list) {
        throw_no_memory(env);
        return TAMIS_ENOMEM;
    }
    for (jint i = 0; i < count; i++) {
        keys->list[i] = (struct tamis_key){.data = start + last, .bytes = end[i] - last};
        last = end[i];
    }
    return 0;
}

void keys_free(struct keys *keys)
{
    if (keys->list != keys->few) free(keys->list);
}

static jint java_add(JNIEnv *env, jclass class, jlong filter, jlong key, jint bytes)
{
    return tamis_filter_add(at(filter), at(key), (size_t)bytes);
}

static jint java_contains(JNIEnv *env, jclass class, jlong filter, jlong key, jint bytes)
{
    return tamis_filter_contains(at(filter), at(key), (size_t)bytes);
}

/* 0, or 1 and the offset of what was found. */
static jlong java_contains_name(JNIEnv *env, jclass class, jlong filter, jlong name, jint bytes)
{
    size_t offset = 0;
    const int rc = tamis_filter_contains_name(at(filter), at(name), (size_t)bytes, &offset);

    return rc > 0 ? 1 + (jlong)offset : rc;
}

static jint java_remove(JNIEnv *env, jclass class, jlong filter, jlong key, jint bytes)
{
    return tamis_filter_remove(at(filter), at(key), (size_t)bytes);
}

static jlong java_count(JNIEnv *env, jclass class, jlong filter, jlong key, jint bytes)
{
    return tamis_filter_count(at(filter), at(key), (size_t)bytes);
}

static jint java_prefetch(JNIEnv *env, jclass class, jlong filter, jlong key, jint bytes)
{
    return tamis_filter_prefetch(at(filter), at(key), (size_t)bytes);
}

static jlong java_batch(JNIEnv *env, jclass class, jlong filter, jint what, jlong data, jlong ends,
                        jint count, jlong answers)
{
    struct keys keys;
    int64_t rc = keys_take(env, &keys, data, ends, count);

    if (rc < 0) return rc;
    switch (what) { /* the numbers of Native.java */
    case 0:
        rc = tamis_filter_add_batch(at(filter), keys.list, (size_t)count, at(answers));
        break;
    case 1:
        rc = tamis_filter_contains_batch(at(filter), keys.list, (size_t)count, at(answers));
        break;
    case 2:
        rc = tamis_filter_remove_batch(at(filter), keys.list, (size_t)count, at(answers));
        break;
    default:
        rc = tamis_filter_count_batch(at(filter), keys.list, (size_t)count, at(answers));
    }
    keys_free(&keys);
    return rc;
}

static jint java_shard(JNIEnv *env, jclass class, jlong key, jint bytes, jint shards)
{
    return (jint)tamis_shard(at(key), (size_t)bytes, (uint32_t)shards);
}

TABLE(key_functions, {"add", "(JJI)I", java_add}, {"contains", "(JJI)I", java_contains},
      {"containsName", "(JJI)J", java_contains_name}, {"remove", "(JJI)I", java_remove},
      {"count", "(JJI)J", java_count}, {"prefetch", "(JJI)I", java_prefetch},
      {"batch", "(JIJJIJ)J", java_batch}, {"shard", "(JII)I", java_shard});

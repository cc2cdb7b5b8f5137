/* SPDX-License-Identifier: BSD-2-Clause */
/* merge.c: filters of the keys of others, and how much two filters have in common. */
#include <stdlib.h>

#include "java_tamis.h"

/* Merges into a filter, or makes one of that name in a store. */
static jlong merged(JNIEnv *env, struct tamis_merge merge, jlongArray sources, jobject progress,
                    tamis_filter *into, tamis_store *store, const char *name)
{
    struct upcall upcall = {.env = env, .progress = progress};
    const jsize count = (*env)->GetArrayLength(env, sources);
    tamis_filter **list = calloc((size_t)count + 1, sizeof(tamis_filter *));
    tamis_filter *made = NULL;
    int rc;

    if (!list) return TAMIS_ENOMEM;
    for (jsize i = 0; i < count; i++) {
        jlong address;
        (*env)->GetLongArrayRegion(env, sources, i, 1, &address);
        list[i] = at(address);
    }
    merge.size = sizeof merge;
    merge.sources = list;
    merge.count = (size_t)count;
    merge.progress = upcall_progress;
    merge.context = &upcall;
    rc = into ? tamis_filter_merge(into, &merge)
              : tamis_filter_create_merged(store, name, &merge, &made);
    free(list);
    return handed_filter(env, rc, made);
}

static jlong java_merge(JNIEnv *env, jclass class, jlong filter, jlongArray sources, jint flags,
                        jobject progress)
{
    const struct tamis_merge merge = {.flags = (uint32_t)flags};

    return merged(env, merge, sources, progress, at(filter), NULL, NULL);
}

static jlong java_create_merged(JNIEnv *env, jclass class, jlong store, jbyteArray name,
                                jlongArray sources, jint flags, jobject progress)
{
    const struct tamis_merge merge = {.flags = (uint32_t)flags};
    struct copy copy;
    jlong answer;

    if (!copy_take(env, name, &copy)) return 0;
    answer = merged(env, merge, sources, progress, NULL, at(store), (const char *)copy.bytes);
    copy_free(&copy);
    return answer;
}

static jbyteArray java_like(JNIEnv *env, jclass class, jlong filter)
{
    struct tamis_filter_spec spec = TAMIS_INIT(struct tamis_filter_spec);
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    struct row row = {0};
    const int rc = tamis_filter_like(at(filter), &spec, hash_set);

    if (rc < 0) return throw_error(env, rc);
    row_spec(&row, &spec);
    return row_array(env, &row);
}

static jbyteArray java_compare(JNIEnv *env, jclass class, jlong filter, jlong other)
{
    struct tamis_comparison comparison = TAMIS_INIT(struct tamis_comparison);
    struct row row = {0};
    const int rc = tamis_filter_compare(at(filter), at(other), &comparison);

    if (rc < 0) return throw_error(env, rc);
    row_real(&row, comparison.items_a);
    row_real(&row, comparison.items_b);
    row_real(&row, comparison.items_union);
    row_real(&row, comparison.items_both);
    row_real(&row, comparison.jaccard);
    row_real(&row, comparison.error);
    return row_array(env, &row);
}

TABLE(merge_functions, {"filterMerge", "(J[JILtamis/Progress;)J", java_merge},
      {"filterCreateMerged", "(J[B[JILtamis/Progress;)J", java_create_merged},
      {"filterLike", "(J)[B", java_like}, {"filterCompare", "(JJ)[B", java_compare});

/* SPDX-License-Identifier: BSD-2-Clause */
/* build.c: filters that are made anew as a whole, their generations and exceptions. */
#include <stdlib.h>

#include "java_tamis.h"
#include "keys.h"

/* A build, and what must live as long as it. */
struct build {
    tamis_build *build;
    struct copy row; /* has the name of the hash set */
    struct tamis_filter_spec filter;
    struct upcall upcall; /* its progress is a global reference; its env that of the caller */
};

static void build_free(JNIEnv *env, struct build *build)
{
    tamis_build_close(build->build);
    if (build->upcall.progress) (*env)->DeleteGlobalRef(env, build->upcall.progress);
    copy_free(&build->row);
    free(build);
}

/* Calls are made one after the other, so the thread of the last one is the one that is told. */
static tamis_build *used_by(JNIEnv *env, struct build *build)
{
    build->upcall.env = env;
    return build->build;
}

static void build_read(struct build *build, struct tamis_build_spec *spec)
{
    struct copy filter = {0};

    *spec = (struct tamis_build_spec)TAMIS_INIT(struct tamis_build_spec);
    filter.bytes = copy_bytes(&build->row, &filter.count);
    spec->filter = spec_of(&filter, &build->filter);
    spec->memory_bytes = (uint64_t)copy_number(&build->row);
    spec->threads = (uint32_t)copy_number(&build->row);
    spec->flags = (uint32_t)copy_number(&build->row);
    spec->keep = (uint32_t)copy_number(&build->row);
    spec->progress = build->upcall.progress ? upcall_phase : NULL;
    spec->context = &build->upcall;
}

static jlong java_begin(JNIEnv *env, jclass class, jlong store, jbyteArray name, jbyteArray row,
                        jobject progress)
{
    struct build *build = calloc(1, sizeof *build);
    struct tamis_build_spec spec;
    struct copy of_name = {0};
    jlong rc = TAMIS_ENOMEM;

    if (!build) return rc;
    if (progress) build->upcall.progress = (*env)->NewGlobalRef(env, progress);
    if (copy_take(env, name, &of_name) && copy_take(env, row, &build->row)) {
        build->upcall.env = env;
        build_read(build, &spec);
        rc = tamis_build_begin(at(store), (const char *)of_name.bytes, &spec, &build->build);
    }
    copy_free(&of_name);
    if (rc == 0 && !(*env)->ExceptionCheck(env)) return address_of(build);
    build_free(env, build);
    return rc;
}

static jlong java_keys(JNIEnv *env, jclass class, jlong address, jint what, jlong data, jlong ends,
                       jint count)
{
    tamis_build *build = used_by(env, at(address));
    struct keys keys;
    int rc = keys_take(env, &keys, data, ends, count);

    if (rc < 0) return rc;
    if (what == 0) /* the numbers of Native.java */
        rc = tamis_build_add(build, keys.list, (size_t)count);
    else if (what == 1)
        rc = tamis_build_against(build, keys.list, (size_t)count);
    else
        rc = tamis_build_except(build, keys.list, (size_t)count);
    keys_free(&keys);
    return rc;
}

static jbyteArray java_publish(JNIEnv *env, jclass class, jlong address)
{
    struct tamis_build_result result = TAMIS_INIT(struct tamis_build_result);
    struct row row = {0};
    const int rc = tamis_build_publish(used_by(env, at(address)), &result);

    if (rc < 0) return throw_error(env, rc);
    row_number(&row, rc);
    row_number(&row, (int64_t)result.keys);
    row_number(&row, (int64_t)result.distinct);
    row_number(&row, (int64_t)result.generation);
    row_number(&row, (int64_t)result.exceptions);
    row_number(&row, (int64_t)result.found);
    row_number(&row, (int64_t)result.conflicts);
    row_number(&row, (int64_t)result.sampled);
    row_number(&row, (int64_t)result.sampled_yes);
    row_number(&row, (int64_t)result.size_bytes);
    row_bytes(&row, result.key_digest, sizeof result.key_digest);
    return row_array(env, &row);
}

static jlong java_close(JNIEnv *env, jclass class, jlong address)
{
    build_free(env, at(address));
    return 0;
}

/* ---- Generations and exceptions ---------------------------------------------------------------
 */

static int told_generation(void *context, const struct tamis_generation_stat *stat)
{
    struct row row = {0};

    row_number(&row, (int64_t)stat->generation);
    row_number(&row, stat->in_force);
    row_number(&row, stat->kind);
    row_number(&row, stat->segment_count);
    row_number(&row, (int64_t)stat->items);
    row_number(&row, (int64_t)stat->size_bytes);
    row_real(&row, stat->fp_rate);
    row_number(&row, (int64_t)stat->exceptions);
    row_number(&row, stat->published_at);
    row_bytes(&row, stat->key_digest, sizeof stat->key_digest);
    return upcall_row(context, &row);
}

static jlong java_generations(JNIEnv *env, jclass class, jlong store, jbyteArray name,
                              jobject visitor)
{
    struct upcall upcall = {.env = env, .object = visitor};
    struct copy copy;
    int rc;

    if (!copy_take(env, name, &copy)) return 0;
    rc = tamis_filter_generations(at(store), (const char *)copy.bytes, told_generation, &upcall);
    copy_free(&copy);
    return ended(rc);
}

static jlong java_rollback(JNIEnv *env, jclass class, jlong store, jbyteArray name,
                           jlong generation)
{
    struct copy copy;
    int rc;

    if (!copy_take(env, name, &copy)) return 0;
    rc = tamis_filter_rollback(at(store), (const char *)copy.bytes, (uint64_t)generation);
    copy_free(&copy);
    return rc;
}

/* Puts keys on the exceptions, or with answers takes them off. */
static jlong excepted(JNIEnv *env, jlong store, jbyteArray name, jlong data, jlong ends, jint count,
                      jlong answers)
{
    struct keys keys;
    struct copy copy;
    int64_t rc = keys_take(env, &keys, data, ends, count);

    if (rc < 0) return rc;
    if (copy_take(env, name, &copy))
        rc = answers ? tamis_filter_unexcept(at(store), (const char *)copy.bytes, keys.list,
                                             (size_t)count, at(answers))
                     : tamis_filter_except(at(store), (const char *)copy.bytes, keys.list,
                                           (size_t)count);
    copy_free(&copy);
    keys_free(&keys);
    return rc;
}

static jlong java_except(JNIEnv *env, jclass class, jlong store, jbyteArray name, jlong data,
                         jlong ends, jint count)
{
    return excepted(env, store, name, data, ends, count, 0);
}

static jlong java_unexcept(JNIEnv *env, jclass class, jlong store, jbyteArray name, jlong data,
                           jlong ends, jint count, jlong answers)
{
    return excepted(env, store, name, data, ends, count, answers);
}

static jlong java_exceptions(JNIEnv *env, jclass class, jlong store, jbyteArray name,
                             jobject visitor)
{
    struct upcall upcall = {.env = env, .object = visitor};
    struct copy copy;
    int rc;

    if (!copy_take(env, name, &copy)) return 0;
    rc = tamis_filter_exceptions(at(store), (const char *)copy.bytes, upcall_exception, &upcall);
    copy_free(&copy);
    return ended(rc);
}

static jlong java_each_exception(JNIEnv *env, jclass class, jlong filter, jobject visitor)
{
    struct upcall upcall = {.env = env, .object = visitor};

    return ended(tamis_filter_each_exception(at(filter), upcall_exception, &upcall));
}

TABLE(build_functions, {"buildBegin", "(J[B[BLtamis/Progress;)J", java_begin},
      {"buildKeys", "(JIJJI)J", java_keys}, {"buildPublish", "(J)[B", java_publish},
      {"buildClose", "(J)J", java_close},
      {"filterGenerations", "(J[BLtamis/Upcalls$Visitor;)J", java_generations},
      {"filterRollback", "(J[BJ)J", java_rollback}, {"filterExcept", "(J[BJJI)J", java_except},
      {"filterUnexcept", "(J[BJJIJ)J", java_unexcept},
      {"filterExceptions", "(J[BLtamis/Upcalls$Visitor;)J", java_exceptions},
      {"filterEachException", "(JLtamis/Upcalls$Visitor;)J", java_each_exception});

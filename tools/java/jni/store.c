/* SPDX-License-Identifier: BSD-2-Clause */
/* store.c: stores, their lists, watches, checks, repair and backup. */
#include "java_tamis.h"

static struct tamis_store_options options_of(jint flags, jint mode, jlong busy_ms, jlong listener)
{
    return (struct tamis_store_options){
        .size = sizeof(struct tamis_store_options),
        .flags = (uint32_t)flags,
        .mode = (uint32_t)mode,
        .busy_timeout_ms = busy_ms,
        .busy_fn = listener ? upcall_busy : NULL,
        .busy_context = at(listener),
    };
}

static jlong java_open(JNIEnv *env, jclass class, jbyteArray path, jint flags, jint mode,
                       jlong busy_ms, jlong listener)
{
    const struct tamis_store_options options = options_of(flags, mode, busy_ms, listener);
    struct copy copy;
    tamis_store *store = NULL;
    int rc;

    if (!copy_take(env, path, &copy)) return 0;
    rc = tamis_store_open_with((const char *)copy.bytes, &options, &store);
    copy_free(&copy);
    if (rc < 0 || !(*env)->ExceptionCheck(env)) return rc < 0 ? rc : address_of(store);
    tamis_store_close(store);
    return 0;
}

static jlong java_close(JNIEnv *env, jclass class, jlong store)
{
    tamis_store_close(at(store));
    return 0;
}

static jlong java_set_busy_timeout(JNIEnv *env, jclass class, jlong store, jlong milliseconds)
{
    return tamis_store_set_busy_timeout(at(store), milliseconds);
}

static jlong java_set_busy_listener(JNIEnv *env, jclass class, jlong store, jlong listener)
{
    return tamis_store_set_busy_callback(at(store), listener ? upcall_busy : NULL, at(listener));
}

static jlong java_list(JNIEnv *env, jclass class, jlong store, jbyteArray prefix, jboolean is_live,
                       jobject visitor)
{
    struct upcall upcall = {.env = env, .object = visitor};
    struct copy copy;
    int rc;

    if (!copy_take(env, prefix, &copy)) return 0;
    rc = is_live ? tamis_store_list_live(at(store), (const char *)copy.bytes, upcall_stat, &upcall)
                 : tamis_store_list(at(store), (const char *)copy.bytes, upcall_stat, &upcall);
    copy_free(&copy);
    return ended(rc);
}

static int told_problem(void *context, const struct tamis_problem *problem)
{
    struct row row = {0};

    row_text(&row, problem->filter);
    row_text(&row, problem->file);
    row_number(&row, (int64_t)problem->offset);
    row_number(&row, problem->error);
    row_text(&row, problem->reason);
    return upcall_row(context, &row);
}

static jlong java_verify(JNIEnv *env, jclass class, jlong store, jbyteArray name, jobject visitor,
                         jobject progress)
{
    struct upcall upcall = {.env = env, .object = visitor, .progress = progress};
    const struct tamis_verify_options options = {
        .size = sizeof options,
        .fn = told_problem,
        .progress = upcall_progress,
        .context = &upcall,
    };
    struct copy copy;
    int64_t rc;

    if (!copy_take(env, name, &copy)) return 0;
    rc = tamis_store_verify_with(at(store), (const char *)copy.bytes, &options);
    copy_free(&copy);
    return rc;
}

static int told_step(void *context, const struct tamis_repair_step *step)
{
    struct row row = {0};

    row_text(&row, step->filter);
    row_text(&row, step->file);
    row_number(&row, step->error);
    row_text(&row, step->what);
    return upcall_row(context, &row);
}

static jlong java_repair(JNIEnv *env, jclass class, jbyteArray path, jint flags, jobject visitor,
                         jobject progress)
{
    struct upcall upcall = {.env = env, .object = visitor, .progress = progress};
    const struct tamis_repair_options options = {
        .size = sizeof options,
        .flags = (uint32_t)flags,
        .fn = told_step,
        .progress = upcall_progress,
        .context = &upcall,
    };
    struct copy copy;
    int64_t rc;

    if (!copy_take(env, path, &copy)) return 0;
    rc = tamis_store_repair_with((const char *)copy.bytes, &options);
    copy_free(&copy);
    return rc;
}

static jlong java_backup(JNIEnv *env, jclass class, jlong store, jbyteArray path, jobject progress)
{
    struct upcall upcall = {.env = env, .progress = progress};
    struct copy copy;
    int64_t rc;

    if (!copy_take(env, path, &copy)) return 0;
    rc = tamis_store_backup(at(store), (const char *)copy.bytes, upcall_progress, &upcall);
    copy_free(&copy);
    return rc;
}

static jlong java_watch_new(JNIEnv *env, jclass class, jlong store, jbyteArray prefix)
{
    tamis_watch *watch = NULL;
    struct copy copy;
    int rc;

    if (!copy_take(env, prefix, &copy)) return 0;
    rc = tamis_watch_new(at(store), (const char *)copy.bytes, &watch);
    copy_free(&copy);
    return rc < 0 ? rc : address_of(watch);
}

static jlong java_watch_look(JNIEnv *env, jclass class, jlong watch, jobject visitor)
{
    struct upcall upcall = {.env = env, .object = visitor};

    return ended(tamis_watch_look(at(watch), upcall_stat, &upcall));
}

static jlong java_watch_free(JNIEnv *env, jclass class, jlong watch)
{
    tamis_watch_free(at(watch));
    return 0;
}

static jlong java_open_at(JNIEnv *env, jclass class, jbyteArray path, jint store_flags, jint mode,
                          jlong busy_ms, jlong listener, jbyteArray name, jint flags)
{
    const struct tamis_store_options options = options_of(store_flags, mode, busy_ms, listener);
    struct copy of_path, of_name;
    tamis_filter *filter = NULL;
    int rc = 0;

    if (!copy_take(env, path, &of_path)) return 0;
    if (copy_take(env, name, &of_name))
        rc = tamis_filter_open_at((const char *)of_path.bytes, &options,
                                  (const char *)of_name.bytes, (unsigned)flags, &filter);
    copy_free(&of_path);
    copy_free(&of_name);
    return handed_filter(env, rc, filter);
}

TABLE(store_functions, {"storeOpen", "([BIIJJ)J", java_open}, {"storeClose", "(J)J", java_close},
      {"storeSetBusyTimeout", "(JJ)J", java_set_busy_timeout},
      {"storeSetBusyListener", "(JJ)J", java_set_busy_listener},
      {"storeList", "(J[BZLtamis/Upcalls$Visitor;)J", java_list},
      {"storeVerify", "(J[BLtamis/Upcalls$Visitor;Ltamis/Progress;)J", java_verify},
      {"storeRepair", "([BILtamis/Upcalls$Visitor;Ltamis/Progress;)J", java_repair},
      {"storeBackup", "(J[BLtamis/Progress;)J", java_backup},
      {"watchNew", "(J[B)J", java_watch_new},
      {"watchLook", "(JLtamis/Upcalls$Visitor;)J", java_watch_look},
      {"watchFree", "(J)J", java_watch_free}, {"filterOpenAt", "([BIIJJ[BI)J", java_open_at});

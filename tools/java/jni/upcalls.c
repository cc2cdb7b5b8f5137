/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upcalls.c: functions that the library calls, which call Java, in the thread that has called the
 * library.  If Java throws, the library is told to end its call, and the exception waits until the
 * function of Native returns.  Until then nothing of Java may be called.
 */
#include <string.h>

#include "java_tamis.h"

static JavaVM *the_vm;
static struct {
    jclass class;
    jmethodID visit, progress, busy, read, write;
} java;

JNIEnv *this_env(void)
{
    void *env = NULL;

    return (*the_vm)->GetEnv(the_vm, &env, JNI_VERSION_1_8) == JNI_OK ? env : NULL;
}

bool upcalls_find(JavaVM *vm, JNIEnv *env)
{
    const struct {
        jmethodID *method;
        const char *name, *signature;
    } methods[] = {
        {&java.visit, "visit", "(Ltamis/Upcalls$Visitor;[B)Z"},
        {&java.progress, "progress", "(Ltamis/Progress;IJJ)V"},
        {&java.busy, "busy", "(JJJ)Z"},
        {&java.read, "read", "(Ljava/io/InputStream;[BI)I"},
        {&java.write, "write", "(Ljava/io/OutputStream;[BI)V"},
    };

    the_vm = vm;
    java.class = global_class(env, "tamis/Upcalls");
    if (!java.class) return false;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        *methods[i].method =
            (*env)->GetStaticMethodID(env, java.class, methods[i].name, methods[i].signature);
        if (!*methods[i].method) return false;
    }
    return true;
}

int upcall_row(struct upcall *upcall, struct row *row)
{
    JNIEnv *env = upcall->env;
    jbyteArray array = row_array(env, row);
    jboolean goes_on;

    if (!array) return 1;
    goes_on = (*env)->CallStaticBooleanMethod(env, java.class, java.visit, upcall->object, array);
    if ((*env)->ExceptionCheck(env)) return 1;
    (*env)->DeleteLocalRef(env, array);
    return goes_on ? 0 : 1;
}

int upcall_phase(void *context, uint32_t phase, uint64_t done, uint64_t all)
{
    const struct upcall *upcall = context;
    JNIEnv *env = upcall->env;

    if ((*env)->ExceptionCheck(env)) return TAMIS_ESYSTEM;
    if (!upcall->progress) return 0;
    (*env)->CallStaticVoidMethod(env, java.class, java.progress, upcall->progress, (jint)phase,
                                 (jlong)done, (jlong)all);
    return (*env)->ExceptionCheck(env) ? TAMIS_ESYSTEM : 0;
}

int upcall_progress(void *context, uint64_t done, uint64_t all)
{
    return upcall_phase(context, 0, done, all);
}

int upcall_busy(void *listener, int64_t waited_ms, int64_t holder)
{
    JNIEnv *env = this_env();
    jboolean goes_on;

    if (!env) return 0;
    if ((*env)->ExceptionCheck(env)) return 1;
    goes_on = (*env)->CallStaticBooleanMethod(env, java.class, java.busy, address_of(listener),
                                              (jlong)waited_ms, (jlong)holder);
    return goes_on && !(*env)->ExceptionCheck(env) ? 0 : 1;
}

jlong handed_filter(JNIEnv *env, int rc, tamis_filter *filter)
{
    if (rc < 0 || !(*env)->ExceptionCheck(env)) return rc < 0 ? rc : address_of(filter);
    tamis_filter_release(filter);
    return 0;
}

#define STREAM_BYTES (256 * 1024)

bool upcall_streams(JNIEnv *env, struct upcall *upcall, jobject stream)
{
    *upcall = (struct upcall){.env = env, .object = stream};
    upcall->buffer = (*env)->NewByteArray(env, STREAM_BYTES);
    return upcall->buffer != NULL;
}

int64_t upcall_read(void *context, void *buffer, size_t bytes)
{
    const struct upcall *upcall = context;
    JNIEnv *env = upcall->env;
    const jint most = (jint)(bytes < STREAM_BYTES ? bytes : STREAM_BYTES);
    jint got;

    if ((*env)->ExceptionCheck(env)) return TAMIS_ESYSTEM;
    got = (*env)->CallStaticIntMethod(env, java.class, java.read, upcall->object, upcall->buffer,
                                      most);
    if ((*env)->ExceptionCheck(env)) return TAMIS_ESYSTEM;
    if (got < 0 || got > most) return TAMIS_EIO; /* a stream of somebody's own that says too much */
    (*env)->GetByteArrayRegion(env, upcall->buffer, 0, got, buffer);
    return got;
}

int upcall_write(void *context, const void *buffer, size_t bytes)
{
    const struct upcall *upcall = context;
    JNIEnv *env = upcall->env;
    const jbyte *next = buffer;

    while (bytes > 0) {
        const jint now = (jint)(bytes < STREAM_BYTES ? bytes : STREAM_BYTES);
        if ((*env)->ExceptionCheck(env)) return TAMIS_ESYSTEM;
        (*env)->SetByteArrayRegion(env, upcall->buffer, 0, now, next);
        (*env)->CallStaticVoidMethod(env, java.class, java.write, upcall->object, upcall->buffer,
                                     now);
        if ((*env)->ExceptionCheck(env)) return TAMIS_ESYSTEM;
        next += now;
        bytes -= (size_t)now;
    }
    return 0;
}

int upcall_stat(void *context, const struct tamis_filter_stat *stat)
{
    struct row row = {0};

    row_fields(&row, TAMIS_FIELDS_FILTER, stat);
    return upcall_row(context, &row);
}

int upcall_exception(void *context, const struct tamis_key *key, uint64_t generation)
{
    struct row row = {0};

    row_bytes(&row, key->bytes > 0 ? key->data : "", key->bytes);
    row_number(&row, (int64_t)generation);
    return upcall_row(context, &row);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* errors.c: how codes of the library, and the lack of memory, become exceptions. */
#include "java_tamis.h"

static struct {
    jclass of_library, of_memory;
    jmethodID check;
} errors;

jclass global_class(JNIEnv *env, const char *name)
{
    jclass local = (*env)->FindClass(env, name);

    return local ? (*env)->NewGlobalRef(env, local) : NULL;
}

bool errors_find(JNIEnv *env)
{
    errors.of_library = global_class(env, "tamis/TamisException");
    if (!errors.of_library) return false;
    errors.check = (*env)->GetStaticMethodID(env, errors.of_library, "check", "(J)J");
    if (!errors.check) return false;
    errors.of_memory = global_class(env, "java/lang/OutOfMemoryError");
    return errors.of_memory != NULL;
}

jbyteArray throw_error(JNIEnv *env, int64_t rc)
{
    if (!(*env)->ExceptionCheck(env))
        (void)(*env)->CallStaticLongMethod(env, errors.of_library, errors.check, (jlong)rc);
    return NULL;
}

void throw_no_memory(JNIEnv *env)
{
    if (!(*env)->ExceptionCheck(env))
        (void)(*env)->ThrowNew(env, errors.of_memory, "no memory outside of Java's heap");
}

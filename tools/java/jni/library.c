/* SPDX-License-Identifier: BSD-2-Clause */
/* library.c: what Java loads, and the functions of the library as a whole. */
#include <string.h>

#include "java_tamis.h"

/* In the order of the numbers in Native.java. */
static const char *text_of(jint what, jlong number, char file[TAMIS_SEGMENT_FILE_BYTES])
{
    switch (what) {
    case 0:
        return tamis_version();
    case 1:
        return tamis_simd();
    case 2:
        return tamis_error_name((int)number);
    case 3:
        return tamis_error_message((int)number);
    case 4:
        return tamis_last_error();
    case 5:
        return tamis_kind_name((uint32_t)number);
    case 6:
        return tamis_on_full_name((uint32_t)number);
    case 7:
        return tamis_pages_name((uint32_t)number);
    case 8:
        return tamis_format_name((unsigned)number);
    default:
        return tamis_segment_file((uint64_t)number, file);
    }
}

/* An array of the bytes of a text; NULL of NULL. */
static jbyteArray text_array(JNIEnv *env, const char *text)
{
    const jsize count = text ? (jsize)strlen(text) : 0;
    jbyteArray array = text ? (*env)->NewByteArray(env, count) : NULL;

    if (array) (*env)->SetByteArrayRegion(env, array, 0, count, (const jbyte *)text);
    return array;
}

static jbyteArray java_bytes(JNIEnv *env, jclass class, jint what, jlong number)
{
    char file[TAMIS_SEGMENT_FILE_BYTES];

    return text_array(env, text_of(what, number, file));
}

static jbyteArray java_of_name(JNIEnv *env, jbyteArray name, const char *(*call)(const char *))
{
    struct copy copy;
    const char *answer;

    if (!copy_take(env, name, &copy)) return NULL;
    answer = call((const char *)copy.bytes);
    copy_free(&copy);
    return text_array(env, answer);
}

static jbyteArray java_next_hash_set(JNIEnv *env, jclass class, jbyteArray name)
{
    return java_of_name(env, name, tamis_hash_set_next);
}

static jbyteArray java_weakness(JNIEnv *env, jclass class, jbyteArray name)
{
    return java_of_name(env, name, tamis_hash_set_weakness);
}

static jint java_kind_has(JNIEnv *env, jclass class, jint kind, jint property)
{
    return tamis_kind_has((uint32_t)kind, (uint32_t)property);
}

static jint java_kind_next(JNIEnv *env, jclass class, jint kind)
{
    return (jint)tamis_kind_next((uint32_t)kind);
}

static jlong java_kind_from_name(JNIEnv *env, jclass class, jbyteArray name)
{
    struct copy copy;
    uint32_t kind = 0;
    int rc;

    if (!copy_take(env, name, &copy)) return 0;
    rc = tamis_kind_from_name((const char *)copy.bytes, &kind);
    copy_free(&copy);
    return rc < 0 ? rc : (jlong)kind;
}

static jlong java_address(JNIEnv *env, jclass class, jobject buffer)
{
    return address_of((*env)->GetDirectBufferAddress(env, buffer));
}

static void java_leave_sigbus(JNIEnv *env, jclass class)
{
    tamis_sigbus_leave();
}

static jint java_set_least_descriptor(JNIEnv *env, jclass class, jint number)
{
    return tamis_descriptors_set_least(number);
}

static jbyteArray java_field(JNIEnv *env, jclass class, jint of, jint shown_by, jint index)
{
    struct tamis_field field = TAMIS_INIT(struct tamis_field);
    struct row row = {0};
    const int rc = tamis_field((uint32_t)of, (uint32_t)shown_by, (uint32_t)index, &field);

    if (rc < 1) return rc < 0 ? throw_error(env, rc) : NULL;
    row_text(&row, field.name);
    row_text(&row, field.info_name);
    row_text(&row, field.reply_name);
    row_text(&row, field.unit);
    row_text(&row, field.sentence);
    row_text(&row, field.lacking);
    row_number(&row, field.of);
    row_number(&row, field.number);
    row_number(&row, field.type);
    row_number(&row, field.sum);
    return row_array(env, &row);
}

TABLE(library_functions, {"bytes", "(IJ)[B", java_bytes},
      {"nextHashSet", "([B)[B", java_next_hash_set}, {"weakness", "([B)[B", java_weakness},
      {"kindHas", "(II)I", java_kind_has}, {"kindNext", "(I)I", java_kind_next},
      {"kindFromName", "([B)J", java_kind_from_name},
      {"address", "(Ljava/nio/ByteBuffer;)J", java_address},
      {"leaveSigbus", "()V", java_leave_sigbus},
      {"setLeastDescriptor", "(I)I", java_set_least_descriptor}, {"field", "(III)[B", java_field});

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    const struct table *const tables[] = {
        &library_functions, &store_functions, &filter_functions,   &key_functions,
        &inside_functions,  &merge_functions, &exchange_functions, &build_functions,
    };
    void *env_of_vm = NULL;
    JNIEnv *env;
    jclass native;

    if ((*vm)->GetEnv(vm, &env_of_vm, JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
    env = env_of_vm;
    native = (*env)->FindClass(env, "tamis/Native");
    if (!native || !errors_find(env) || !upcalls_find(vm, env)) return JNI_ERR;
    /* A function that Native.java does not have, or has otherwise, is a NoSuchMethodError here. */
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if ((*env)->RegisterNatives(env, native, tables[i]->methods, tables[i]->count) != 0)
            return JNI_ERR;
    return JNI_VERSION_1_8;
}

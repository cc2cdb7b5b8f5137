/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * java_tamis.h: what the files of libtamis_jni share: rows, calls from C to Java, and the tables of
 * functions that JNI_OnLoad() gives to the class tamis.Native.
 *
 * A function of Native returns what the library returns.  Handles and memory travel as addresses in
 * numbers of 64 bits; structs travel as rows of bytes (core/src/main/java/tamis/Row.java).  The
 * Java side counts the calls that use a handle, so that no close comes beside one (Handle.java),
 * and keeps the keys of a call outside of Java's heap (Arena.java): no function here holds a part
 * of that heap while the library waits.
 */
#pragma once

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tamis.h>

/* A table of JNI has functions as void *, which ISO C does not know and POSIX does. */
#pragma GCC diagnostic ignored "-Wpedantic"

/* The address that a number is, and the other way round. */
static inline void *at(jlong address)
{
    return (void *)(uintptr_t)address;
}

static inline jlong address_of(const void *pointer)
{
    return (jlong)(uintptr_t)pointer;
}

/* ---- Exceptions (errors.c) --------------------------------------------------------------------
 */

/* Throws the exception of a code; returns NULL. */
jbyteArray throw_error(JNIEnv *env, int64_t rc);
void throw_no_memory(JNIEnv *env);
/* A class that stays; NULL with an exception. */
jclass global_class(JNIEnv *env, const char *name);
bool errors_find(JNIEnv *env);

/* ---- Rows (row.c) -----------------------------------------------------------------------------
 */

/* A row that is being filled; starts as all 0. */
struct row {
    unsigned char *bytes;
    size_t used, room;
    bool is_short; /* there was no memory */
};

void row_number(struct row *row, int64_t number);
void row_real(struct row *row, double real);
void row_bytes(struct row *row, const void *bytes, size_t count);
void row_text(struct row *row, const char *text); /* NULL too */
/* Makes an array of it, and gives its memory back.  NULL with an exception. */
jbyteArray row_array(JNIEnv *env, struct row *row);

/* A row from Java, or a text: a copy of an array. */
struct copy {
    unsigned char *bytes; /* NULL: the array was null */
    size_t count, at;
};

/* Copies an array, with a NUL behind it.  Returns false with an exception if there is no memory. */
bool copy_take(JNIEnv *env, jbyteArray array, struct copy *copy);
void copy_free(struct copy *copy);
int64_t copy_number(struct copy *copy);
double copy_real(struct copy *copy);
/* The text lies in the copy; NULL: null. */
const char *copy_text(struct copy *copy);
/* Bytes that lie in the copy. */
unsigned char *copy_bytes(struct copy *copy, size_t *count);

/* A spec: FilterSpec.row().  Its texts lie in the copy. */
void spec_read(struct copy *copy, struct tamis_filter_spec *spec);
/* The spec in an array, which may be null.  Returns NULL for that. */
const struct tamis_filter_spec *spec_of(struct copy *copy, struct tamis_filter_spec *spec);
void row_spec(struct row *row, const struct tamis_filter_spec *spec);
/* All fields of a struct that a member has, in the order of the table: Stat.java reads them. */
void row_fields(struct row *row, uint32_t of, const void *record);

/* ---- Calls to Java (upcalls.c) ----------------------------------------------------------------
 */

/* An object whose function is called; the context of the library's callbacks. */
struct upcall {
    JNIEnv *env;
    jobject object;    /* NULL: nobody is to be told */
    jobject progress;  /* the same, of calls that tell rows and how far they are */
    jbyteArray buffer; /* of streams */
};

/* Gives the row to the object, a Visitor.  Returns 0, or 1: it wants no more, or there is an
 * exception. */
int upcall_row(struct upcall *upcall, struct row *row);
/* Tells upcall->progress.  Returns 0, or TAMIS_ESYSTEM if there is an exception. */
int upcall_progress(void *upcall, uint64_t done, uint64_t all);
int upcall_phase(void *upcall, uint32_t phase, uint64_t done, uint64_t all);
/* tamis_busy_fn: the context is the number of a listener (Upcalls.java). */
int upcall_busy(void *listener, int64_t waited_ms, int64_t holder);
/* What a call returns that has made a filter: its address, or rc < 0.  If a function of Java has
 * thrown meanwhile and the library went on, nobody gets the filter, so it is closed. */
jlong handed_filter(JNIEnv *env, int rc, tamis_filter *filter);
/* tamis_source.read and tamis_sink.write, of an InputStream and an OutputStream. */
int64_t upcall_read(void *upcall, void *buffer, size_t bytes);
int upcall_write(void *upcall, const void *buffer, size_t bytes);
/* Makes the buffer of a stream.  Returns false with an exception. */
bool upcall_streams(JNIEnv *env, struct upcall *upcall, jobject stream);
/* tamis_list_fn */
int upcall_stat(void *upcall, const struct tamis_filter_stat *stat);
/* tamis_exception_fn */
int upcall_exception(void *upcall, const struct tamis_key *key, uint64_t generation);

/* The number of what ended by a Visitor that wanted no more is 0. */
static inline jlong ended(int64_t rc)
{
    return rc == 1 ? 0 : rc;
}

/* The environment of this thread; NULL: it is none of Java's. */
JNIEnv *this_env(void);
bool upcalls_find(JavaVM *vm, JNIEnv *env);

/* ---- Tables -----------------------------------------------------------------------------------
 */

struct table {
    const JNINativeMethod *methods;
    jint count;
};

#define TABLE(name, ...)                                                                           \
    static const JNINativeMethod name##_methods[] = {__VA_ARGS__};                                 \
    const struct table name = {name##_methods, sizeof name##_methods / sizeof name##_methods[0]}

extern const struct table library_functions, store_functions, filter_functions, key_functions,
    inside_functions, merge_functions, exchange_functions, build_functions;

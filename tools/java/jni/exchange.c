/* SPDX-License-Identifier: BSD-2-Clause */
/* exchange.c: filters as streams of bytes, and pieces of their data. */
#include <stdlib.h>

#include "java_tamis.h"
#include "keys.h"

/* ImportSpec.rowOf(); texts lie in the copy. */
static void import_read(struct copy *copy, struct tamis_import_spec *spec)
{
    *spec = (struct tamis_import_spec)TAMIS_INIT(struct tamis_import_spec);
    spec->hash_set = copy_text(copy);
    spec->m_bits = (uint64_t)copy_number(copy);
    spec->k = (uint32_t)copy_number(copy);
    spec->capacity = (uint64_t)copy_number(copy);
    spec->fp_rate = copy_real(copy);
    spec->seal_capacity = (uint64_t)copy_number(copy);
    spec->seal_rate = copy_real(copy);
    spec->flags = (uint32_t)copy_number(copy);
    spec->created_at = copy_number(copy);
    spec->origin = copy_text(copy);
}

/* What a stream is read into: name, format, a row; and from where. */
struct stream {
    struct copy name, format, row;
    struct upcall upcall;
    struct tamis_source source;
};

static void stream_free(struct stream *stream)
{
    copy_free(&stream->name);
    copy_free(&stream->format);
    copy_free(&stream->row);
}

static bool stream_take(JNIEnv *env, struct stream *stream, jbyteArray name, jbyteArray format,
                        jbyteArray row, jobject source)
{
    *stream = (struct stream){0};
    if (copy_take(env, name, &stream->name) && copy_take(env, format, &stream->format) &&
        copy_take(env, row, &stream->row) && upcall_streams(env, &stream->upcall, source)) {
        stream->source = (struct tamis_source){
            .size = sizeof stream->source,
            .read = upcall_read,
            .context = &stream->upcall,
        };
        return true;
    }
    stream_free(stream);
    return false;
}

static jlong java_import(JNIEnv *env, jclass class, jlong store, jbyteArray name, jbyteArray format,
                         jbyteArray spec, jobject source)
{
    struct stream stream;
    struct tamis_import_spec import;
    tamis_filter *filter = NULL;
    int rc;

    if (!stream_take(env, &stream, name, format, spec, source)) return 0;
    if (stream.row.bytes) import_read(&stream.row, &import);
    rc = tamis_filter_import(at(store), (const char *)stream.name.bytes,
                             (const char *)stream.format.bytes, stream.row.bytes ? &import : NULL,
                             &stream.source, &filter);
    stream_free(&stream);
    return handed_filter(env, rc, filter);
}

static jbyteArray java_publish(JNIEnv *env, jclass class, jlong store, jbyteArray name,
                               jbyteArray format, jbyteArray spec, jlong data, jlong ends,
                               jint count, jobject source)
{
    struct tamis_publish_spec publish = TAMIS_INIT(struct tamis_publish_spec);
    struct tamis_publish_result result = TAMIS_INIT(struct tamis_publish_result);
    struct tamis_import_spec import;
    struct stream stream;
    struct copy inner = {0};
    struct keys keys;
    struct row row = {0};
    int rc;

    if (!stream_take(env, &stream, name, format, spec, source)) return NULL;
    inner.bytes = copy_bytes(&stream.row, &inner.count);
    publish.flags = (uint32_t)copy_number(&stream.row);
    publish.keep = (uint32_t)copy_number(&stream.row);
    if (inner.bytes) {
        import_read(&inner, &import);
        publish.import = &import;
    }
    rc = keys_take(env, &keys, data, ends, count);
    if (rc == 0) {
        publish.except = keys.list;
        publish.except_count = (uint64_t)count;
        rc = tamis_filter_publish(at(store), (const char *)stream.name.bytes,
                                  (const char *)stream.format.bytes, &publish, &stream.source,
                                  &result);
        keys_free(&keys);
    }
    stream_free(&stream);
    if (rc < 0) return throw_error(env, rc);
    row_number(&row, rc);
    row_number(&row, (int64_t)result.generation);
    row_number(&row, (int64_t)result.exceptions);
    row_number(&row, (int64_t)result.size_bytes);
    row_bytes(&row, result.digest, sizeof result.digest);
    return row_array(env, &row);
}

static jlong java_export(JNIEnv *env, jclass class, jlong filter, jbyteArray format, jint flags,
                         jobject stream, jlong from, jlong bytes)
{
    struct upcall upcall;
    struct copy copy;
    uint64_t all = 0;
    struct tamis_sink sink = {
        .size = sizeof sink,
        .write = upcall_write,
        .context = &upcall,
        .from = (uint64_t)from,
        .bytes = (uint64_t)bytes,
        .all_bytes = &all,
    };
    int rc;

    if (!upcall_streams(env, &upcall, stream) || !copy_take(env, format, &copy)) return 0;
    rc = tamis_filter_export(at(filter), (const char *)copy.bytes, (uint32_t)flags, &sink);
    copy_free(&copy);
    return rc < 0 ? rc : (jlong)all;
}

static jbyteArray java_read_data(JNIEnv *env, jclass class, jlong filter, jint index, jlong offset,
                                 jint bytes)
{
    void *data = malloc((size_t)bytes + 1);
    jbyteArray array = NULL;
    int rc = TAMIS_ENOMEM;

    if (data)
        rc = tamis_filter_read_data(at(filter), (uint32_t)index, (uint64_t)offset, data,
                                    (size_t)bytes);
    if (rc < 0)
        throw_error(env, rc);
    else
        array = (*env)->NewByteArray(env, bytes);
    if (array) (*env)->SetByteArrayRegion(env, array, 0, bytes, data);
    free(data);
    return array;
}

static jlong java_write_data(JNIEnv *env, jclass class, jlong filter, jint index, jlong offset,
                             jlong data, jint bytes)
{
    return tamis_filter_write_data(at(filter), (uint32_t)index, (uint64_t)offset, at(data),
                                   (size_t)bytes);
}

static jlong java_set_bit(JNIEnv *env, jclass class, jlong filter, jint index, jlong position)
{
    return tamis_filter_set_bit(at(filter), (uint32_t)index, (uint64_t)position);
}

TABLE(exchange_functions, {"filterImport", "(J[B[B[BLjava/io/InputStream;)J", java_import},
      {"filterPublish", "(J[B[B[BJJILjava/io/InputStream;)[B", java_publish},
      {"filterExport", "(J[BILjava/io/OutputStream;JJ)J", java_export},
      {"filterReadData", "(JIJI)[B", java_read_data},
      {"filterWriteData", "(JIJJI)J", java_write_data}, {"filterSetBit", "(JIJ)J", java_set_bit});

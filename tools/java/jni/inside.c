/* SPDX-License-Identifier: BSD-2-Clause */
/* inside.c: what is known of filters and segments, where keys go, and sizes. */
#include <stdlib.h>

#include "java_tamis.h"

static jbyteArray java_stat(JNIEnv *env, jclass class, jlong filter)
{
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    struct row row = {0};
    const int rc = tamis_filter_stat(at(filter), &stat);

    if (rc < 0) return throw_error(env, rc);
    row_fields(&row, TAMIS_FIELDS_FILTER, &stat);
    return row_array(env, &row);
}

static jlong java_items(JNIEnv *env, jclass class, jlong filter)
{
    return tamis_filter_items(at(filter));
}

static jbyteArray java_segment(JNIEnv *env, jclass class, jlong filter, jint index,
                               jboolean is_fill)
{
    struct tamis_segment_stat stat = TAMIS_INIT(struct tamis_segment_stat);
    struct row row = {0};
    const int rc = is_fill ? tamis_filter_fill(at(filter), (uint32_t)index, &stat)
                           : tamis_filter_segment(at(filter), (uint32_t)index, &stat);

    if (rc < 0) return throw_error(env, rc);
    row_fields(&row, TAMIS_FIELDS_SEGMENT, &stat);
    return row_array(env, &row);
}

static jbyteArray java_fill_map(JNIEnv *env, jclass class, jlong filter, jint index, jint count)
{
    double *fill = calloc((size_t)(count > 0 ? count : 1), sizeof *fill);
    struct row row = {0};
    int rc;

    if (!fill) {
        throw_no_memory(env);
        return NULL;
    }
    rc = tamis_filter_fill_map(at(filter), (uint32_t)index, fill, (size_t)(count > 0 ? count : 0));
    for (jint i = 0; rc == 0 && i < count; i++)
        row_real(&row, fill[i]);
    free(fill);
    return rc < 0 ? throw_error(env, rc) : row_array(env, &row);
}

/* Where a key goes: of a filter, or of a hash set. */
struct question {
    tamis_filter *filter;
    uint32_t index;
    const char *hash_set;
    uint64_t m_bits;
    uint32_t k;
    uint64_t seed;
    const void *key;
    size_t key_bytes;
};

static int explain(const struct question *q, struct tamis_explanation *explanation)
{
    if (q->filter)
        return tamis_filter_explain(q->filter, q->index, q->key, q->key_bytes, explanation);
    return tamis_explain(q->hash_set, q->m_bits, q->k, q->seed, q->key, q->key_bytes, explanation);
}

/* Room for what the hash sets have, and once more if the answer says that it needs more. */
static jbyteArray explained(JNIEnv *env, const struct question *question)
{
    struct tamis_explanation explanation = TAMIS_INIT(struct tamis_explanation);
    struct row row = {0};
    int rc = TAMIS_EINVAL;

    explanation.positions_count = TAMIS_K_MAX;
    for (int turn = 0; turn < 2 && rc == TAMIS_EINVAL; turn++) {
        if (turn > 0 && explanation.positions_count <= explanation.positions_max) break;
        free(explanation.hashes);
        free(explanation.positions);
        explanation.positions_max = explanation.positions_count;
        explanation.hashes_bytes = 64 * (explanation.positions_max + 1);
        explanation.hashes = malloc(explanation.hashes_bytes);
        explanation.positions = calloc(explanation.positions_max, sizeof *explanation.positions);
        rc = TAMIS_ENOMEM;
        if (explanation.hashes && explanation.positions) rc = explain(question, &explanation);
    }
    if (rc == 0) {
        row_text(&row, explanation.hashes);
        row_number(&row, (int64_t)explanation.positions_count);
        for (size_t i = 0; i < explanation.positions_count; i++)
            row_number(&row, (int64_t)explanation.positions[i]);
    }
    free(explanation.hashes);
    free(explanation.positions);
    return rc < 0 ? throw_error(env, rc) : row_array(env, &row);
}

static jbyteArray java_filter_explain(JNIEnv *env, jclass class, jlong filter, jint index,
                                      jlong key, jint bytes)
{
    const struct question question = {
        .filter = at(filter),
        .index = (uint32_t)index,
        .key = at(key),
        .key_bytes = (size_t)bytes,
    };

    return explained(env, &question);
}

static jbyteArray java_explain(JNIEnv *env, jclass class, jbyteArray hash_set, jlong m_bits, jint k,
                               jlong seed, jlong key, jint bytes)
{
    struct copy copy;
    struct question question = {
        .m_bits = (uint64_t)m_bits,
        .k = (uint32_t)k,
        .seed = (uint64_t)seed,
        .key = at(key),
        .key_bytes = (size_t)bytes,
    };
    jbyteArray answer;

    if (!copy_take(env, hash_set, &copy)) return NULL;
    question.hash_set = (const char *)copy.bytes;
    answer = explained(env, &question);
    copy_free(&copy);
    return answer;
}

static jbyteArray java_size(JNIEnv *env, jclass class, jbyteArray known)
{
    struct tamis_sizing sizing = TAMIS_INIT(struct tamis_sizing);
    struct row row = {0};
    struct copy copy;
    int rc;

    if (!copy_take(env, known, &copy)) return NULL;
    sizing.kind = (uint32_t)copy_number(&copy);
    sizing.k = (uint32_t)copy_number(&copy);
    sizing.capacity = (uint64_t)copy_number(&copy);
    sizing.m_bits = (uint64_t)copy_number(&copy);
    sizing.fp_rate = copy_real(&copy);
    sizing.counter_bits = (uint32_t)copy_number(&copy);
    copy_free(&copy);
    rc = tamis_size(&sizing);
    if (rc < 0) return throw_error(env, rc);
    row_number(&row, sizing.kind);
    row_number(&row, sizing.k);
    row_number(&row, (int64_t)sizing.capacity);
    row_number(&row, (int64_t)sizing.m_bits);
    row_real(&row, sizing.fp_rate);
    row_real(&row, sizing.predicted_rate);
    row_real(&row, sizing.bits_per_key);
    row_number(&row, (int64_t)sizing.data_bytes);
    row_number(&row, (int64_t)sizing.file_bytes);
    row_number(&row, sizing.words);
    row_number(&row, sizing.counter_bits);
    row_number(&row, sizing.fingerprint_bits);
    row_number(&row, sizing.pieces);
    return row_array(env, &row);
}

static jdouble java_predict_rate(JNIEnv *env, jclass class, jint kind, jlong m_bits, jint k,
                                 jlong keys)
{
    return tamis_predict_rate((uint32_t)kind, (uint64_t)m_bits, (uint32_t)k, (uint64_t)keys);
}

TABLE(inside_functions, {"filterStat", "(J)[B", java_stat}, {"filterItems", "(J)J", java_items},
      {"filterSegment", "(JIZ)[B", java_segment}, {"filterFillMap", "(JII)[B", java_fill_map},
      {"filterExplain", "(JIJI)[B", java_filter_explain}, {"explain", "([BJIJJI)[B", java_explain},
      {"size", "([B)[B", java_size}, {"predictRate", "(IJIJ)D", java_predict_rate});

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values.cc: what goes to JavaScript: numbers, and the structs of the library as objects.
 *
 * NUMBERS.  A count is a number: there is no store with 2^53 keys or bytes.  What uses all 64 bits
 * is a bigint: seeds, and times in nanoseconds.
 */
#include "common.h"

#include <cstring>

namespace tamis_node
{

Napi::Value NumberOf(Napi::Env env, uint64_t number)
{
    return Napi::Number::New(env, static_cast<double>(number));
}

Napi::Value BytesOf(Napi::Env env, const void *data, size_t bytes)
{
    auto buffer = Napi::Buffer<uint8_t>::New(env, bytes);

    if (bytes > 0) memcpy(buffer.Data(), data, bytes);
    return buffer;
}

Napi::Value StringOf(Napi::Env env, const char *text)
{
    return Napi::String::New(env, text, strlen(text)); /* V8 puts U+FFFD for what is no UTF-8 */
}

/* ---- Fields of the library's table ---------------------------------------------------------- */

/* "size_bytes" is sizeBytes in JavaScript. */
static std::string CamelOf(const char *name)
{
    std::string camel;

    for (; *name; name++) {
        if (*name == '_' && name[1])
            camel += static_cast<char>(*++name - 'a' + 'A');
        else
            camel += *name;
    }
    return camel;
}

static Napi::Value ValueOfField(Napi::Env env, const struct tamis_field &field,
                                const struct tamis_field_value &value)
{
    switch (field.type) {
    case TAMIS_FIELD_TEXT:
    case TAMIS_FIELD_WORD:
        return value.text ? StringOf(env, value.text) : env.Null();
    case TAMIS_FIELD_LIMIT:
        return value.number == UINT64_MAX ? env.Null() : NumberOf(env, value.number);
    case TAMIS_FIELD_YES:
        return Napi::Boolean::New(env, value.number != 0);
    case TAMIS_FIELD_REAL:
        return Napi::Number::New(env, value.real);
    case TAMIS_FIELD_TIME:
    case TAMIS_FIELD_SPAN:
        return Napi::BigInt::New(env, value.ns);
    default:
        if (strcmp(field.name, "seed") == 0) return Napi::BigInt::New(env, value.number);
        return NumberOf(env, value.number);
    }
}

static Napi::Object FieldsOfStat(Napi::Env env, uint32_t of, uint32_t shown_by, const void *stat)
{
    struct tamis_field field = TAMIS_INIT(struct tamis_field);
    struct tamis_field_value value = TAMIS_INIT(struct tamis_field_value);
    Napi::Object object = Napi::Object::New(env);

    for (uint32_t i = 0; tamis_field(of, shown_by, i, &field) > 0; i++)
        if (tamis_field_get(&field, stat, &value) > 0)
            object.Set(CamelOf(field.name), ValueOfField(env, field, value));
    return object;
}

Napi::Object FilterStatOf(Napi::Env env, const struct tamis_filter_stat &stat)
{
    Napi::Object object = FieldsOfStat(env, TAMIS_FIELDS_FILTER, TAMIS_SHOWN_BY_BINDINGS, &stat);

    object.Set("newKeys", NumberOf(env, stat.new_keys));
    return object;
}

Napi::Object SegmentStatOf(Napi::Env env, const struct tamis_segment_stat &stat)
{
    return FieldsOfStat(env, TAMIS_FIELDS_SEGMENT, TAMIS_SHOWN_ANYWHERE, &stat);
}

Napi::Array FieldsOf(Napi::Env env)
{
    struct tamis_field field = TAMIS_INIT(struct tamis_field);
    Napi::Array fields = Napi::Array::New(env);

    for (uint32_t of : {TAMIS_FIELDS_FILTER, TAMIS_FIELDS_SEGMENT})
        for (uint32_t i = 0; tamis_field(of, TAMIS_SHOWN_ANYWHERE, i, &field) > 0; i++) {
            Napi::Object object = Napi::Object::New(env);
            object.Set("name", StringOf(env, field.name));
            object.Set("property", CamelOf(field.name));
            object.Set("of", StringOf(env, of == TAMIS_FIELDS_FILTER ? "filter" : "segment"));
            object.Set("unit", StringOf(env, field.unit));
            object.Set("sentence", StringOf(env, field.sentence));
            fields.Set(fields.Length(), object);
        }
    return fields;
}

/* ---- Other structs -------------------------------------------------------------------------- */

static const char *WordOf(const char *name)
{
    return name ? name : "";
}

Napi::Object GenerationOf(Napi::Env env, const struct tamis_generation_stat &stat)
{
    Napi::Object object = Napi::Object::New(env);

    object.Set("generation", NumberOf(env, stat.generation));
    object.Set("inForce", Napi::Boolean::New(env, stat.in_force != 0));
    object.Set("kind", StringOf(env, WordOf(tamis_kind_name(stat.kind))));
    object.Set("segmentCount", NumberOf(env, stat.segment_count));
    object.Set("items", NumberOf(env, stat.items));
    object.Set("sizeBytes", NumberOf(env, stat.size_bytes));
    object.Set("fpRate", Napi::Number::New(env, stat.fp_rate));
    object.Set("exceptions", NumberOf(env, stat.exceptions));
    object.Set("publishedAt", Napi::BigInt::New(env, stat.published_at));
    object.Set("keyDigest", BytesOf(env, stat.key_digest, sizeof stat.key_digest));
    return object;
}

Napi::Object BuildResultOf(Napi::Env env, const struct tamis_build_result &result)
{
    Napi::Object object = Napi::Object::New(env);

    object.Set("keys", NumberOf(env, result.keys));
    object.Set("distinct", NumberOf(env, result.distinct));
    object.Set("generation", NumberOf(env, result.generation));
    object.Set("exceptions", NumberOf(env, result.exceptions));
    object.Set("found", NumberOf(env, result.found));
    object.Set("conflicts", NumberOf(env, result.conflicts));
    object.Set("sampled", NumberOf(env, result.sampled));
    object.Set("sampledYes", NumberOf(env, result.sampled_yes));
    object.Set("sizeBytes", NumberOf(env, result.size_bytes));
    object.Set("keyDigest", BytesOf(env, result.key_digest, sizeof result.key_digest));
    return object;
}

Napi::Object PublishResultOf(Napi::Env env, const struct tamis_publish_result &result)
{
    Napi::Object object = Napi::Object::New(env);

    object.Set("generation", NumberOf(env, result.generation));
    object.Set("exceptions", NumberOf(env, result.exceptions));
    object.Set("sizeBytes", NumberOf(env, result.size_bytes));
    object.Set("digest", BytesOf(env, result.digest, sizeof result.digest));
    return object;
}

Napi::Object SizingOf(Napi::Env env, const struct tamis_sizing &sizing)
{
    Napi::Object object = Napi::Object::New(env);

    object.Set("kind", StringOf(env, WordOf(tamis_kind_name(sizing.kind))));
    object.Set("k", NumberOf(env, sizing.k));
    object.Set("capacity", NumberOf(env, sizing.capacity));
    object.Set("mBits", NumberOf(env, sizing.m_bits));
    object.Set("fpRate", Napi::Number::New(env, sizing.fp_rate));
    object.Set("predictedRate", Napi::Number::New(env, sizing.predicted_rate));
    object.Set("bitsPerKey", Napi::Number::New(env, sizing.bits_per_key));
    object.Set("dataBytes", NumberOf(env, sizing.data_bytes));
    object.Set("fileBytes", NumberOf(env, sizing.file_bytes));
    object.Set("words", NumberOf(env, sizing.words));
    object.Set("counterBits", NumberOf(env, sizing.counter_bits));
    object.Set("fingerprintBits", NumberOf(env, sizing.fingerprint_bits));
    object.Set("pieces", NumberOf(env, sizing.pieces));
    return object;
}

/* A spec that create() takes again: what is 0 is not in it. */
Napi::Object SpecOf(Napi::Env env, const struct tamis_filter_spec &spec)
{
    Napi::Object object = Napi::Object::New(env);
    const struct {
        const char *name;
        uint64_t number;
    } numbers[] = {{"capacity", spec.capacity},
                   {"k", spec.k},
                   {"mBits", spec.m_bits},
                   {"slices", spec.slices},
                   {"windowItems", spec.window_items},
                   {"counterBits", spec.counter_bits}};
    static const uint8_t no_secret[TAMIS_SECRET_BYTES] = {0};

    for (const auto &each : numbers)
        if (each.number > 0) object.Set(each.name, NumberOf(env, each.number));
    if (spec.fp_rate > 0) object.Set("fpRate", Napi::Number::New(env, spec.fp_rate));
    if (spec.kind) object.Set("kind", StringOf(env, WordOf(tamis_kind_name(spec.kind))));
    if (spec.hash_set) object.Set("hashSet", StringOf(env, spec.hash_set));
    if (spec.key_rule) object.Set("keyRule", StringOf(env, spec.key_rule));
    if (spec.seed) object.Set("seed", Napi::BigInt::New(env, spec.seed));
    if (spec.on_full) object.Set("onFull", StringOf(env, WordOf(tamis_on_full_name(spec.on_full))));
    if (spec.pages) object.Set("pages", StringOf(env, WordOf(tamis_pages_name(spec.pages))));
    if (spec.window_ns) object.Set("window", Napi::BigInt::New(env, spec.window_ns));
    if (spec.flags & TAMIS_FILTER_DURABLE) object.Set("durable", true);
    if (spec.flags & TAMIS_FILTER_OWNED) object.Set("owned", true);
    if (spec.flags & TAMIS_FILTER_FROM_FIRST) object.Set("windowFrom", "first");
    if (memcmp(spec.secret, no_secret, sizeof no_secret) != 0)
        object.Set("secret", BytesOf(env, spec.secret, sizeof spec.secret));
    return object;
}

/* ---- Exceptions of a filter ----------------------------------------------------------------- */

int CollectException(void *context, const struct tamis_key *key, uint64_t generation)
{
    try {
        static_cast<std::vector<Exception> *>(context)->push_back(
            {std::string(static_cast<const char *>(key->data), key->bytes), generation});
    } catch (const std::bad_alloc &) {
        return TAMIS_ENOMEM;
    }
    return 0;
}

Napi::Value ExceptionsOf(Napi::Env env, const std::vector<Exception> &exceptions)
{
    Napi::Array array = Napi::Array::New(env, exceptions.size());

    for (uint32_t i = 0; i < exceptions.size(); i++) {
        Napi::Object object = Napi::Object::New(env);
        object.Set("key", BytesOf(env, exceptions[i].key.data(), exceptions[i].key.size()));
        object.Set("generation", NumberOf(env, exceptions[i].generation));
        array.Set(i, object);
    }
    return array;
}

int CollectStat(void *context, const struct tamis_filter_stat *stat)
{
    try {
        static_cast<std::vector<struct tamis_filter_stat> *>(context)->push_back(*stat);
    } catch (const std::bad_alloc &) {
        return TAMIS_ENOMEM;
    }
    return 0;
}

Napi::Value StatsOf(Napi::Env env, const std::vector<struct tamis_filter_stat> &stats)
{
    Napi::Array array = Napi::Array::New(env, stats.size());

    for (uint32_t i = 0; i < stats.size(); i++)
        array.Set(i, FilterStatOf(env, stats[i]));
    return array;
}

} // namespace tamis_node

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.cc: keys from JavaScript, and the calls for one of them.
 *
 * A single key is added and asked for at once, in the thread of JavaScript: that takes less time
 * than handing it to another thread.  These calls are made most, so they do without the wrappers of
 * napi.h, and what they need costs least of what Node-API has for it:
 *
 *   the filter   is an external, PointerTo(), which ../lib/filter.js keeps in a private field.  To
 *                unwrap an object is a look-up of a property.
 *   a string     is copied as UTF-16 and made UTF-8 here.  V8's own UTF-8 goes character by
 *                character, and does not say whether there was half of a surrogate pair.
 */
#include "common.h"

#include <cstring>

namespace tamis_node
{

/* ---- One key -------------------------------------------------------------------------------- */

/* Writes the UTF-8 of `count` units of UTF-16, which has at most three bytes for each.  Returns its
 * length, or SIZE_MAX for half of a surrogate pair. */
static size_t ToUtf8(const char16_t *units, size_t count, char *to)
{
    unsigned all = 0;
    char *at = to;

    for (size_t i = 0; i < count; i++) { /* the compiler makes vectors of it */
        all |= units[i];
        to[i] = static_cast<char>(units[i]);
    }
    if (all < 0x80) return count;
    for (size_t i = 0; i < count; i++) {
        char32_t unit = units[i];
        if ((unit & 0xF800) == 0xD800) {
            if ((unit & 0x0400) || i + 1 == count || (units[i + 1] & 0xFC00) != 0xDC00)
                return SIZE_MAX;
            unit = 0x10000 + ((unit & 0x3FF) << 10) + (units[++i] & 0x3FFu);
        }
        if (unit < 0x80) {
            *at++ = static_cast<char>(unit);
            continue;
        }
        if (unit < 0x800) {
            *at++ = static_cast<char>(0xC0 | unit >> 6);
        } else {
            if (unit < 0x10000) {
                *at++ = static_cast<char>(0xE0 | unit >> 12);
            } else {
                *at++ = static_cast<char>(0xF0 | unit >> 18);
                *at++ = static_cast<char>(0x80 | (unit >> 12 & 0x3F));
            }
            *at++ = static_cast<char>(0x80 | (unit >> 6 & 0x3F));
        }
        *at++ = static_cast<char>(0x80 | (unit & 0x3F));
    }
    return static_cast<size_t>(at - to);
}

/* False: it is no text. */
bool Key::TakeText(napi_env env, napi_value value)
{
    char16_t small_units[SMALL_UNITS];
    const char16_t *units = small_units;
    std::u16string large_units;
    size_t count = 0;

    if (napi_get_value_string_utf16(env, value, small_units, SMALL_UNITS, &count) != napi_ok)
        return false;
    data = small_;
    if (count + 1 >= SMALL_UNITS) { /* it may have been cut */
        (void)napi_get_value_string_utf16(env, value, nullptr, 0, &count);
        large_units.resize(count + 1);
        (void)napi_get_value_string_utf16(env, value, large_units.data(), count + 1, &count);
        units = large_units.data();
        large_.resize(3 * count);
        data = large_.data();
    }
    bytes = ToUtf8(units, count, data == small_ ? small_ : large_.data());
    is_good = bytes != SIZE_MAX;
    if (!is_good)
        (void)napi_throw_type_error(env, "ERR_INVALID_ARG_VALUE",
                                    "the key has half of a surrogate pair, which UTF-8 cannot "
                                    "express; give its bytes as a Uint8Array");
    return true;
}

Key::Key(napi_env env, napi_value value)
{
    napi_typedarray_type of = napi_int8_array;
    bool is_view = false;
    void *at = nullptr;

    is_text = TakeText(env, value);
    if (is_text) return;
    if (napi_is_typedarray(env, value, &is_view) == napi_ok && is_view) {
        is_good =
            napi_get_typedarray_info(env, value, &of, &bytes, &at, nullptr, nullptr) == napi_ok &&
            of == napi_uint8_array;
        data = at;
    }
    if (!is_good)
        (void)napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE",
                                    "a key must be a string or a Uint8Array (as a Buffer is)");
}

/* ---- Many keys ------------------------------------------------------------------------------ */

/* The text in UTF-8.  One character of most texts is one byte, so this much room is tried first. */
static std::string Utf8Of(napi_env env, napi_value value, size_t units)
{
    std::string text(units + 4, '\0');
    size_t bytes = 0;

    (void)napi_get_value_string_utf8(env, value, text.data(), text.size(), &bytes);
    if (bytes + 4 >= text.size() && bytes != units) {
        (void)napi_get_value_string_utf8(env, value, nullptr, 0, &bytes);
        text.resize(bytes + 1);
        (void)napi_get_value_string_utf8(env, value, text.data(), bytes + 1, &bytes);
    }
    text.resize(bytes);
    return text;
}

std::shared_ptr<Keys> Keys::Of(const Napi::CallbackInfo &info, size_t at, Job &job)
{
    auto keys = std::make_shared<Keys>();
    auto lengths = info[at + 1].As<Napi::Uint32Array>();

    keys->lengths = lengths.Data();
    keys->count = info[at + 2].As<Napi::Number>().Uint32Value();
    if (keys->count > lengths.ElementLength())
        throw WrongType(info.Env(), "there are fewer lengths than keys");
    job.kept.push_back(Napi::Persistent(info[at + 1].As<Napi::Object>()));
    if (info[at].IsString()) {
        size_t units = keys->count; /* newlines */
        for (size_t i = 0; i < keys->count; i++)
            units += keys->lengths[i];
        keys->text = Utf8Of(info.Env(), info[at], units);
        keys->bytes = keys->text.data();
        keys->all_bytes = keys->text.size();
        keys->has_units = true;
    } else {
        auto bytes = info[at].As<Napi::Uint8Array>();
        keys->bytes = reinterpret_cast<const char *>(bytes.Data());
        keys->all_bytes = bytes.ByteLength();
        job.kept.push_back(Napi::Persistent(info[at].As<Napi::Object>()));
    }
    return keys;
}

/* The bytes that `units` of UTF-16 are in UTF-8. */
static size_t BytesOfUnits(const char *from, const char *end, size_t units)
{
    const char *at = from;

    while (units > 0 && at < end) {
        unsigned char head = static_cast<unsigned char>(*at);
        at += head < 0x80 ? 1 : head < 0xE0 ? 2 : head < 0xF0 ? 3 : 4;
        units -= head >= 0xF0 ? 2 : 1;
    }
    return static_cast<size_t>(at - from);
}

void Keys::Locate()
{
    const char *at = bytes, *end = bytes + all_bytes;
    size_t gap = has_units ? 1 : 0, all_units = 0;

    keys.resize(count);
    for (size_t i = 0; i < count; i++)
        all_units += lengths[i] + gap;
    /* The newline behind the last key is not there. */
    bool is_plain = !has_units || count == 0 || all_units - 1 == all_bytes;
    for (size_t i = 0; i < count; i++) {
        size_t of_key = is_plain ? lengths[i] : BytesOfUnits(at, end, lengths[i]);
        size_t left = static_cast<size_t>(end - at);
        if (of_key > left) of_key = left;
        keys[i] = {at, of_key};
        at += of_key + gap < left ? of_key + gap : left;
    }
}

/* ---- Calls for one key ---------------------------------------------------------------------- */

Napi::Value PointerTo(Napi::Env env, const std::shared_ptr<Use> &use)
{
    return Napi::External<std::shared_ptr<Use>>::New(
        env, new std::shared_ptr<Use>(use),
        [](Napi::Env, std::shared_ptr<Use> *pointer) { delete pointer; });
}

/* (pointer, key): whether the call was made and has answered; else an exception is pending. */
template <typename Call>
static bool CallWithKey(napi_env env, napi_callback_info info, Call call, int64_t *answer)
{
    napi_value arguments[2];
    size_t count = 2;
    void *pointer = nullptr;

    if (napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr) != napi_ok ||
        napi_get_value_external(env, arguments[0], &pointer) != napi_ok)
        return false;
    const Use *use = static_cast<std::shared_ptr<Use> *>(pointer)->get();
    Key key(env, arguments[1]);
    if (!key.is_good) return false;
    if (use->IsOver()) {
        ClosedError(env, "filter").ThrowAsJavaScriptException();
        return false;
    }
    *answer = call(static_cast<tamis_filter *>(use->Handle()), key);
    if (*answer < 0) LastError(env, static_cast<int>(*answer)).ThrowAsJavaScriptException();
    return *answer >= 0;
}

static napi_value Yes(napi_env env, napi_callback_info info,
                      int64_t (*call)(tamis_filter *, const Key &))
{
    napi_value value = nullptr;
    int64_t answer;

    if (CallWithKey(env, info, call, &answer)) (void)napi_get_boolean(env, answer == 1, &value);
    return value;
}

static napi_value FilterAdd(napi_env env, napi_callback_info info)
{
    return Yes(env, info, [](tamis_filter *filter, const Key &key) -> int64_t {
        return tamis_filter_add(filter, key.data, key.bytes);
    });
}

static napi_value FilterHas(napi_env env, napi_callback_info info)
{
    return Yes(env, info, [](tamis_filter *filter, const Key &key) -> int64_t {
        return tamis_filter_contains(filter, key.data, key.bytes);
    });
}

/* Of a string what was found of it, of bytes where that begins; null: nothing was. */
static napi_value FilterHasName(napi_env env, napi_callback_info info)
{
    napi_value value = nullptr;
    int64_t answer;
    bool is_made = CallWithKey(
        env, info,
        [&](tamis_filter *filter, const Key &name) -> int64_t {
            size_t offset = 0;
            int rc = tamis_filter_contains_name(filter, name.data, name.bytes, &offset);
            const char *found = static_cast<const char *>(name.data) + offset;

            if (rc == 0) (void)napi_get_null(env, &value);
            if (rc == 1 && name.is_text)
                (void)napi_create_string_utf8(env, found, name.bytes - offset, &value);
            else if (rc == 1)
                (void)napi_create_int64(env, static_cast<int64_t>(offset), &value);
            return rc;
        },
        &answer);

    return is_made ? value : nullptr;
}

static napi_value FilterRemove(napi_env env, napi_callback_info info)
{
    return Yes(env, info, [](tamis_filter *filter, const Key &key) -> int64_t {
        return tamis_filter_remove(filter, key.data, key.bytes);
    });
}

static napi_value FilterCount(napi_env env, napi_callback_info info)
{
    napi_value value = nullptr;
    int64_t answer;

    if (CallWithKey(
            env, info,
            [](tamis_filter *filter, const Key &key) {
                return tamis_filter_count(filter, key.data, key.bytes);
            },
            &answer))
        (void)napi_create_int64(env, answer, &value);
    return value;
}

static napi_value FilterPrefetch(napi_env env, napi_callback_info info)
{
    int64_t answer;

    (void)CallWithKey(
        env, info,
        [](tamis_filter *filter, const Key &key) -> int64_t {
            return tamis_filter_prefetch(filter, key.data, key.bytes);
        },
        &answer);
    return nullptr;
}

static void Export(napi_env env, napi_value exports, const char *name, napi_callback call)
{
    napi_value function;

    if (napi_create_function(env, name, NAPI_AUTO_LENGTH, call, nullptr, &function) != napi_ok ||
        napi_set_named_property(env, exports, name, function) != napi_ok)
        throw Napi::Error::New(env);
}

void InitKeys(Napi::Env env, Napi::Object exports)
{
    Export(env, exports, "add", FilterAdd);
    Export(env, exports, "has", FilterHas);
    Export(env, exports, "hasName", FilterHasName);
    Export(env, exports, "remove", FilterRemove);
    Export(env, exports, "count", FilterCount);
    Export(env, exports, "prefetch", FilterPrefetch);
}

} // namespace tamis_node

/* SPDX-License-Identifier: BSD-2-Clause */
/* arguments.cc: what comes from JavaScript: texts, numbers, options, specs, keys (common.h). */
#include "common.h"

#include <cmath>
#include <cstring>

namespace tamis_node
{

/* ---- Texts and numbers ---------------------------------------------------------------------- */

std::string TextOf(Napi::Value value, const char *what)
{
    Napi::Env env = value.Env();

    if (!value.IsString()) throw WrongType(env, std::string(what) + " must be a string");
    std::string text = value.As<Napi::String>().Utf8Value();
    if (text.find('\0') != std::string::npos) {
        Napi::TypeError error =
            Napi::TypeError::New(env, std::string(what) + " has a NUL character; give it without");
        error.Set("code", Napi::String::New(env, "ERR_INVALID_ARG_VALUE"));
        throw error;
    }
    return text;
}

std::vector<std::string> TextsOf(Napi::Value value, const char *what)
{
    if (!value.IsArray()) throw WrongType(value.Env(), std::string(what) + " must be an array");
    Napi::Array array = value.As<Napi::Array>();
    std::vector<std::string> texts;

    for (uint32_t i = 0; i < array.Length(); i++)
        texts.push_back(TextOf(array.Get(i), what));
    return texts;
}

static Napi::Error OutOfRange(Napi::Env env, const char *what, const char *range)
{
    Napi::Error error = Napi::RangeError::New(env, std::string(what) + " must be " + range);

    error.Set("code", Napi::String::New(env, "ERR_OUT_OF_RANGE"));
    return error;
}

constexpr double SAFE_MAX = 9007199254740991.0; /* Number.MAX_SAFE_INTEGER */

uint64_t U64Of(Napi::Value value, const char *what)
{
    Napi::Env env = value.Env();

    if (value.IsUndefined() || value.IsNull()) return 0;
    if (value.IsBigInt()) {
        bool is_whole;
        uint64_t number = value.As<Napi::BigInt>().Uint64Value(&is_whole);
        if (!is_whole) throw OutOfRange(env, what, "0n to 2n ** 64n - 1n");
        return number;
    }
    if (!value.IsNumber())
        throw WrongType(env, std::string(what) + " must be a number or a bigint");
    double number = value.As<Napi::Number>().DoubleValue();
    if (!(number >= 0 && number <= SAFE_MAX) || std::floor(number) != number)
        throw OutOfRange(env, what,
                         "a whole number from 0 to Number.MAX_SAFE_INTEGER, or a bigint");
    return static_cast<uint64_t>(number);
}

uint32_t U32Of(Napi::Value value, const char *what)
{
    uint64_t number = U64Of(value, what);

    if (number > UINT32_MAX) throw OutOfRange(value.Env(), what, "0 to 2 ** 32 - 1");
    return static_cast<uint32_t>(number);
}

int64_t NsOf(Napi::Value value, const char *what)
{
    Napi::Env env = value.Env();

    if (value.IsUndefined() || value.IsNull()) return 0;
    if (value.IsBigInt()) {
        bool is_whole;
        int64_t ns = value.As<Napi::BigInt>().Int64Value(&is_whole);
        if (!is_whole) throw OutOfRange(env, what, "a bigint of nanoseconds that fits 64 bits");
        return ns;
    }
    if (!value.IsNumber())
        throw WrongType(env, std::string(what) +
                                 " must be a number of milliseconds or a bigint of nanoseconds");
    double ns = std::round(value.As<Napi::Number>().DoubleValue() * 1e6);
    if (!(std::fabs(ns) < 9.2e18))
        throw OutOfRange(env, what, "less than 292 years, in milliseconds");
    return static_cast<int64_t>(ns);
}

/* ---- Options -------------------------------------------------------------------------------- */

Options::Options(Napi::Value value, const char *what)
    : env_(value.Env()), value_(value), what_(what)
{
    if (!value.IsUndefined() && !value.IsNull() && !value.IsObject())
        throw WrongType(env_, what_ + " must be an object");
}

Napi::Value Options::Get(const char *name)
{
    known_.insert(name);
    if (!value_.IsObject()) return env_.Undefined();
    return value_.As<Napi::Object>().Get(name);
}

bool Options::Has(const char *name)
{
    Napi::Value value = Get(name);

    return !value.IsUndefined() && !value.IsNull();
}

bool Options::Flag(const char *name, bool other)
{
    Napi::Value value = Get(name);

    if (value.IsUndefined() || value.IsNull()) return other;
    if (!value.IsBoolean()) throw WrongType(env_, std::string(name) + " must be true or false");
    return value.As<Napi::Boolean>().Value();
}

uint64_t Options::U64(const char *name)
{
    return U64Of(Get(name), name);
}

uint32_t Options::U32(const char *name)
{
    return U32Of(Get(name), name);
}

int64_t Options::Ns(const char *name)
{
    return NsOf(Get(name), name);
}

double Options::Real(const char *name)
{
    Napi::Value value = Get(name);

    if (value.IsUndefined() || value.IsNull()) return 0;
    if (!value.IsNumber()) throw WrongType(env_, std::string(name) + " must be a number");
    return value.As<Napi::Number>().DoubleValue();
}

std::string Options::Text(const char *name)
{
    Napi::Value value = Get(name);

    return value.IsUndefined() || value.IsNull() ? std::string() : TextOf(value, name);
}

void Options::Finish()
{
    if (!value_.IsObject()) return;
    Napi::Array names = value_.As<Napi::Object>().GetPropertyNames();

    for (uint32_t i = 0; i < names.Length(); i++) {
        std::string name = names.Get(i).ToString().Utf8Value();
        if (known_.count(name) == 0)
            throw WrongType(env_, what_ + " cannot have '" + name + "'; look for a typing error");
    }
}

/* ---- Specs ---------------------------------------------------------------------------------- */

/* The number of a word, among those that the library names from `first` on. */
static uint32_t NumberOfWord(Options &options, const char *option, uint32_t first,
                             const char *(*name_of)(uint32_t), Napi::Env env)
{
    if (!options.Has(option)) return 0;
    std::string word = options.Text(option), known;

    for (uint32_t number = first; name_of(number); number++) {
        if (word == name_of(number)) return number;
        known += (known.empty() ? "'" : ", '") + std::string(name_of(number)) + "'";
    }
    throw InvalidError(env, std::string(option) + " is one of " + known + ", not '" + word + "'");
}

uint32_t PagesOf(Napi::Value value)
{
    Napi::Object object = Napi::Object::New(value.Env());

    object.Set("pages", value);
    Options options(object, "pages");
    return NumberOfWord(options, "pages", TAMIS_PAGES_AUTO, tamis_pages_name, value.Env());
}

static uint32_t FlagsOfSpec(Options &options, Napi::Env env)
{
    std::string from = options.Text("windowFrom");
    uint32_t flags = 0;

    if (!from.empty() && from != "first" && from != "last")
        throw InvalidError(env, "windowFrom is 'first' or 'last', not '" + from + "'");
    if (from == "first") flags |= TAMIS_FILTER_FROM_FIRST;
    if (options.Flag("durable")) flags |= TAMIS_FILTER_DURABLE;
    if (options.Flag("owned")) flags |= TAMIS_FILTER_OWNED;
    if (options.Flag("inDrawer")) flags |= TAMIS_FILTER_IN_DRAWER;
    return flags;
}

static void TakeSecret(struct tamis_filter_spec *spec, Napi::Value value)
{
    if (value.IsUndefined() || value.IsNull()) return;
    if (!value.IsTypedArray() ||
        value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array ||
        value.As<Napi::TypedArray>().ByteLength() != TAMIS_SECRET_BYTES)
        throw WrongType(value.Env(), "secret must be a Uint8Array of 16 bytes");
    memcpy(spec->secret, value.As<Napi::Uint8Array>().Data(), TAMIS_SECRET_BYTES);
}

Spec::Spec(Options &options) : spec(TAMIS_INIT(struct tamis_filter_spec))
{
    Napi::Value secret = options.Get("secret");
    Napi::Env env = secret.Env();

    spec.capacity = options.U64("capacity");
    spec.fp_rate = options.Real("fpRate");
    spec.k = options.U32("k");
    spec.m_bits = options.U64("mBits");
    spec.seed = options.U64("seed");
    spec.slices = options.U32("slices");
    spec.window_ns = options.Ns("window");
    spec.window_items = options.U64("windowItems");
    spec.counter_bits = options.U32("counterBits");
    spec.on_full = NumberOfWord(options, "onFull", TAMIS_ON_FULL_GROW, tamis_on_full_name, env);
    spec.pages = NumberOfWord(options, "pages", TAMIS_PAGES_AUTO, tamis_pages_name, env);
    spec.flags = FlagsOfSpec(options, env);
    TakeSecret(&spec, secret);
    hash_set = options.Text("hashSet");
    if (!hash_set.empty()) spec.hash_set = hash_set.c_str();
    if (options.Has("kind")) {
        int rc = tamis_kind_from_name(options.Text("kind").c_str(), &spec.kind);
        if (rc < 0) throw LastError(env, rc);
    }
}

/* ---- One key -------------------------------------------------------------------------------- */

/* Where bytes are U+FFFD in UTF-8, a half of a surrogate pair may have been. */
static bool HasReplacement(const char *text, size_t bytes)
{
    return bytes >= 3 && memmem(text, bytes, "\xEF\xBF\xBD", 3);
}

bool Key::IsWhole(napi_env env, napi_value value)
{
    size_t length = 0;
    std::u16string units;

    if (napi_get_value_string_utf16(env, value, nullptr, 0, &length) != napi_ok) return false;
    units.resize(length + 1);
    (void)napi_get_value_string_utf16(env, value, units.data(), length + 1, &length);
    for (size_t i = 0; i < length; i++) {
        if ((units[i] & 0xF800) != 0xD800) continue;
        if ((units[i] & 0x0400) || i + 1 == length || (units[i + 1] & 0xFC00) != 0xDC00)
            return false;
        i++;
    }
    return true;
}

void Key::TakeText(napi_env env, napi_value value)
{
    (void)napi_get_value_string_utf8(env, value, small_, sizeof small_, &bytes);
    data = small_;
    if (bytes + 4 >= sizeof small_) { /* it may have been cut before a character of 4 bytes */
        (void)napi_get_value_string_utf8(env, value, nullptr, 0, &bytes);
        large_.resize(bytes + 1);
        (void)napi_get_value_string_utf8(env, value, large_.data(), bytes + 1, &bytes);
        data = large_.data();
    }
    is_good = !HasReplacement(static_cast<const char *>(data), bytes) || IsWhole(env, value);
    if (!is_good)
        (void)napi_throw_type_error(env, "ERR_INVALID_ARG_VALUE",
                                    "the key has half of a surrogate pair, which UTF-8 cannot "
                                    "express; give its bytes as a Uint8Array");
}

Key::Key(napi_env env, napi_value value)
{
    napi_valuetype type = napi_undefined;
    bool is_view = false;

    (void)napi_typeof(env, value, &type);
    if (type == napi_string) {
        TakeText(env, value);
        return;
    }
    if (type == napi_object) (void)napi_is_typedarray(env, value, &is_view);
    if (is_view) {
        napi_typedarray_type of = napi_int8_array;
        void *at = nullptr;
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

} // namespace tamis_node

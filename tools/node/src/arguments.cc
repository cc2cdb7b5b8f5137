/* SPDX-License-Identifier: BSD-2-Clause */
/* arguments.cc: what comes from JavaScript: texts, numbers, options, specs (common.h). */
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
    key_rule = options.Text("keyRule");
    if (!key_rule.empty()) spec.key_rule = key_rule.c_str();
    if (options.Has("kind")) {
        int rc = tamis_kind_from_name(options.Text("kind").c_str(), &spec.kind);
        if (rc < 0) throw LastError(env, rc);
    }
}

} // namespace tamis_node

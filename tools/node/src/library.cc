/* SPDX-License-Identifier: BSD-2-Clause */
/* library.cc: functions that need no open store: words, sizes, shards, checks, repair. */
#include "common.h"

namespace tamis_node
{

/* ---- Words ---------------------------------------------------------------------------------- */

static Napi::Value Version(const Napi::CallbackInfo &info)
{
    return StringOf(info.Env(), tamis_version());
}

static Napi::Value Simd(const Napi::CallbackInfo &info)
{
    return StringOf(info.Env(), tamis_simd());
}

static Napi::Value OrNull(Napi::Env env, const char *text)
{
    return text ? StringOf(env, text) : env.Null();
}

static int NumberAt(const Napi::CallbackInfo &info)
{
    if (!info[0].IsNumber()) throw WrongType(info.Env(), "a code must be a number");
    return info[0].As<Napi::Number>().Int32Value();
}

static Napi::Value ErrorName(const Napi::CallbackInfo &info)
{
    return StringOf(info.Env(), tamis_error_name(NumberAt(info)));
}

static Napi::Value ErrorMessage(const Napi::CallbackInfo &info)
{
    return StringOf(info.Env(), tamis_error_message(NumberAt(info)));
}

static Napi::Value LastSentence(const Napi::CallbackInfo &info)
{
    return StringOf(info.Env(), tamis_last_error());
}

/* [{name, number, isStatic, counts, mayGrow, mayBeDurable, isPlain}] */
static Napi::Value Kinds(const Napi::CallbackInfo &info)
{
    Napi::Env env = info.Env();
    Napi::Array kinds = Napi::Array::New(env);
    const struct {
        const char *name;
        uint32_t property;
    } properties[] = {{"isStatic", TAMIS_KIND_IS_STATIC},
                      {"counts", TAMIS_KIND_COUNTS},
                      {"mayGrow", TAMIS_KIND_MAY_GROW},
                      {"mayBeDurable", TAMIS_KIND_MAY_BE_DURABLE},
                      {"isPlain", TAMIS_KIND_IS_PLAIN}};

    for (uint32_t kind = tamis_kind_next(TAMIS_KIND_DEFAULT); kind; kind = tamis_kind_next(kind)) {
        Napi::Object object = Napi::Object::New(env);
        object.Set("name", StringOf(env, tamis_kind_name(kind)));
        object.Set("number", NumberOf(env, kind));
        for (const auto &each : properties)
            object.Set(each.name, Napi::Boolean::New(env, tamis_kind_has(kind, each.property)));
        kinds.Set(kinds.Length(), object);
    }
    return kinds;
}

/* (name): its number */
static Napi::Value KindNumber(const Napi::CallbackInfo &info)
{
    uint32_t kind = 0;
    int rc = tamis_kind_from_name(TextOf(info[0], "the name of a kind").c_str(), &kind);

    if (rc < 0) throw LastError(info.Env(), rc);
    return NumberOf(info.Env(), kind);
}

static Napi::Value HashSets(const Napi::CallbackInfo &info)
{
    Napi::Array names = Napi::Array::New(info.Env());

    for (const char *name = tamis_hash_set_next(nullptr); name; name = tamis_hash_set_next(name))
        names.Set(names.Length(), StringOf(info.Env(), name));
    return names;
}

static Napi::Value HashSetWeakness(const Napi::CallbackInfo &info)
{
    return OrNull(info.Env(),
                  tamis_hash_set_weakness(TextOf(info[0], "the name of a hash set").c_str()));
}

static Napi::Value Formats(const Napi::CallbackInfo &info)
{
    Napi::Array names = Napi::Array::New(info.Env());

    for (unsigned i = 0; tamis_format_name(i); i++)
        names.Set(i, StringOf(info.Env(), tamis_format_name(i)));
    return names;
}

/* (first, name_of): the words from there on */
static Napi::Value WordsOf(Napi::Env env, uint32_t first, const char *(*name_of)(uint32_t))
{
    Napi::Array names = Napi::Array::New(env);

    for (uint32_t number = first; name_of(number); number++)
        names.Set(names.Length(), StringOf(env, name_of(number)));
    return names;
}

static Napi::Value OnFullNames(const Napi::CallbackInfo &info)
{
    return WordsOf(info.Env(), TAMIS_ON_FULL_GROW, tamis_on_full_name);
}

static Napi::Value PagesNames(const Napi::CallbackInfo &info)
{
    return WordsOf(info.Env(), TAMIS_PAGES_AUTO, tamis_pages_name);
}

static Napi::Value Fields(const Napi::CallbackInfo &info)
{
    return FieldsOf(info.Env());
}

static Napi::Value SegmentFile(const Napi::CallbackInfo &info)
{
    char text[TAMIS_SEGMENT_FILE_BYTES];

    return StringOf(info.Env(), tamis_segment_file(U64Of(info[0], "number"), text));
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

static uint32_t KindAt(Options &options, Napi::Env env)
{
    uint32_t kind = 0;
    int rc = options.Has("kind") ? tamis_kind_from_name(options.Text("kind").c_str(), &kind) : 0;

    if (rc < 0) throw LastError(env, rc);
    return kind;
}

/* (options): all of a struct tamis_sizing */
static Napi::Value Size(const Napi::CallbackInfo &info)
{
    Options options(info[0], "size()");
    struct tamis_sizing sizing = TAMIS_INIT(struct tamis_sizing);

    sizing.kind = KindAt(options, info.Env());
    sizing.k = options.U32("k");
    sizing.capacity = options.U64("capacity");
    sizing.m_bits = options.U64("mBits");
    sizing.fp_rate = options.Real("fpRate");
    sizing.counter_bits = options.U32("counterBits");
    options.Finish();
    int rc = tamis_size(&sizing);
    if (rc < 0) throw LastError(info.Env(), rc);
    return SizingOf(info.Env(), sizing);
}

/* ({kind, mBits, k, items}) */
static Napi::Value PredictRate(const Napi::CallbackInfo &info)
{
    Options options(info[0], "predictRate()");
    uint32_t kind = KindAt(options, info.Env()), k = options.U32("k");
    uint64_t m_bits = options.U64("mBits"), items = options.U64("items");

    options.Finish();
    return Napi::Number::New(info.Env(), tamis_predict_rate(kind, m_bits, k, items));
}

/* ---- Keys ----------------------------------------------------------------------------------- */

/* (key, {hashSet, mBits, k, seed}): {hashes, positions}, as bigints: m may be any */
static Napi::Value Explain(const Napi::CallbackInfo &info)
{
    Napi::Env env = info.Env();
    Options options(info[1], "explain()");
    std::string set = options.Text("hashSet");
    uint64_t m_bits = options.U64("mBits"), seed = options.U64("seed");
    uint32_t k = options.U32("k");
    size_t most = k > TAMIS_K_MAX ? k : TAMIS_K_MAX;

    options.Finish();
    if (most > 1u << 20) throw InvalidError(env, "k is at most 1048576");
    std::vector<char> hashes(64 * most);
    std::vector<uint64_t> positions(most);
    struct tamis_explanation explanation = TAMIS_INIT(struct tamis_explanation);
    explanation.hashes = hashes.data();
    explanation.hashes_bytes = hashes.size();
    explanation.positions = positions.data();
    explanation.positions_max = positions.size();
    Key key(env, info[0]);
    if (!key.is_good) throw env.GetAndClearPendingException();
    int rc = tamis_explain(set.empty() ? "xxh3" : set.c_str(), m_bits, k, seed, key.data, key.bytes,
                           &explanation);
    if (rc < 0) throw LastError(env, rc);
    Napi::Object object = Napi::Object::New(env);
    Napi::Array array = Napi::Array::New(env);
    for (size_t i = 0; i < explanation.positions_count; i++)
        array.Set(static_cast<uint32_t>(i), Napi::BigInt::New(env, positions[i]));
    object.Set("hashes", StringOf(env, hashes.data()));
    object.Set("positions", array);
    return object;
}

static uint32_t ShardsAt(const Napi::CallbackInfo &info, size_t at)
{
    uint32_t shards = U32Of(info[at], "shards");

    if (shards == 0) throw InvalidError(info.Env(), "shards must be 1 or more");
    return shards;
}

/* (key, shards) */
static Napi::Value Shard(const Napi::CallbackInfo &info)
{
    uint32_t shards = ShardsAt(info, 1);
    Key key(info.Env(), info[0]);

    if (!key.is_good) throw info.Env().GetAndClearPendingException();
    return NumberOf(info.Env(), tamis_shard(key.data, key.bytes, shards));
}

/* (keys x 3, shards, Uint32Array): fills that */
static Napi::Value ShardMany(const Napi::CallbackInfo &info)
{
    Job job;
    auto keys = Keys::Of(info, 0, job);
    uint32_t shards = ShardsAt(info, KEYS_ARGUMENTS);
    auto to = info[KEYS_ARGUMENTS + 1].As<Napi::Uint32Array>();

    if (to.ElementLength() < keys->count)
        throw WrongType(info.Env(), "there are fewer answers than keys");
    keys->Locate();
    for (size_t i = 0; i < keys->count; i++)
        to[i] = tamis_shard(keys->keys[i].data, keys->keys[i].bytes, shards);
    return info.Env().Undefined();
}

/* ---- Checks, repair, the process ------------------------------------------------------------ */

/* (isSync, path of a store or null, name, spec) */
static Napi::Value Check(const Napi::CallbackInfo &info)
{
    auto job = std::make_unique<Job>();
    bool has_store = !info[1].IsNull() && !info[1].IsUndefined();
    auto path =
        has_store ? std::make_shared<std::string>(TextOf(info[1], "the path of a store")) : nullptr;
    auto name = std::make_shared<std::string>(TextOf(info[2], "the name of a filter"));
    Options options(info[3], "a filter");
    auto spec = std::make_shared<Spec>(options);

    options.Finish();
    job->run = [=]() -> int64_t {
        return tamis_filter_check(path ? path->c_str() : nullptr, name->c_str(), &spec->spec);
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

struct Step {
    std::string filter, file, what;
    int error;
};

static int CollectStep(void *context, const struct tamis_repair_step *step)
{
    try {
        static_cast<std::vector<Step> *>(context)->push_back(
            {step->filter, step->file, step->what, step->error});
    } catch (const std::bad_alloc &) {
        return TAMIS_ENOMEM;
    }
    return 0;
}

/* (isSync, path, {dryRun, rebuild, forceNetworkFs}): [{filter, file, code, what}] */
static Napi::Value Repair(const Napi::CallbackInfo &info)
{
    auto job = std::make_unique<Job>();
    auto path = std::make_shared<std::string>(TextOf(info[1], "the path of a store"));
    Options options(info[2], "repair()");
    auto steps = std::make_shared<std::vector<Step>>();
    unsigned flags = 0;

    if (options.Flag("dryRun")) flags |= TAMIS_REPAIR_DRY_RUN;
    if (options.Flag("rebuild")) flags |= TAMIS_REPAIR_REBUILD;
    if (options.Flag("forceNetworkFs")) flags |= TAMIS_REPAIR_FORCE_NETWORK_FS;
    options.Finish();
    job->run = [=]() { return tamis_store_repair(path->c_str(), flags, CollectStep, steps.get()); };
    job->done = [=](Napi::Env env, int64_t) -> Napi::Value {
        Napi::Array array = Napi::Array::New(env, steps->size());
        for (uint32_t i = 0; i < steps->size(); i++) {
            const Step &step = (*steps)[i];
            Napi::Object object = Napi::Object::New(env);
            object.Set("filter", StringOf(env, step.filter.c_str()));
            object.Set("file", StringOf(env, step.file.c_str()));
            object.Set("code",
                       step.error ? StringOf(env, tamis_error_name(step.error)) : env.Null());
            object.Set("what", StringOf(env, step.what.c_str()));
            array.Set(i, object);
        }
        return array;
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

static Napi::Value SetLeastDescriptor(const Napi::CallbackInfo &info)
{
    int rc = tamis_descriptors_set_least(NumberAt(info));

    if (rc < 0) throw LastError(info.Env(), rc);
    return info.Env().Undefined();
}

static Napi::Value LeaveSigbus(const Napi::CallbackInfo &info)
{
    tamis_sigbus_leave();
    return info.Env().Undefined();
}

void InitLibrary(Napi::Env env, Napi::Object exports)
{
    const struct {
        const char *name;
        Napi::Value (*call)(const Napi::CallbackInfo &);
    } functions[] = {{"version", Version},
                     {"simd", Simd},
                     {"errorName", ErrorName},
                     {"errorMessage", ErrorMessage},
                     {"lastError", LastSentence},
                     {"kinds", Kinds},
                     {"kindNumber", KindNumber},
                     {"hashSets", HashSets},
                     {"hashSetWeakness", HashSetWeakness},
                     {"formats", Formats},
                     {"onFullNames", OnFullNames},
                     {"pagesNames", PagesNames},
                     {"fields", Fields},
                     {"segmentFile", SegmentFile},
                     {"size", Size},
                     {"predictRate", PredictRate},
                     {"explain", Explain},
                     {"shard", Shard},
                     {"shardMany", ShardMany},
                     {"check", Check},
                     {"repair", Repair},
                     {"setLeastDescriptor", SetLeastDescriptor},
                     {"leaveSigbus", LeaveSigbus}};

    for (const auto &each : functions)
        exports.Set(each.name, Napi::Function::New(env, each.call, each.name));
}

} // namespace tamis_node

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.cc: the class Filter: an open filter.  The calls for one key are in keys.cc.
 */
#include "common.h"

namespace tamis_node
{

static const napi_type_tag filter_tag = {0x7a1d5ef24c2b4f01, 0x9e3f6a7712cd8801};

class Filter : public Napi::ObjectWrap<Filter>
{
  public:
    explicit Filter(const Napi::CallbackInfo &info)
        : Napi::ObjectWrap<Filter>(info),
          use(std::make_shared<Use>(info.Env(), "filter", [](void *handle) {
              return tamis_filter_close(static_cast<tamis_filter *>(handle));
          }))
    {
        info.This().As<Napi::Object>().TypeTag(&filter_tag);
    }
    void Finalize(Napi::Env env) override
    {
        use->Abandon(env);
    }

    Napi::Value Open(const Napi::CallbackInfo &info);
    Napi::Value Close(const Napi::CallbackInfo &info)
    {
        return use->Close(info.Env(), IsSync(info));
    }
    Napi::Value Release(const Napi::CallbackInfo &info);
    Napi::Value Pointer(const Napi::CallbackInfo &info)
    {
        return PointerTo(info.Env(), use);
    }
    Napi::Value IsClosed(const Napi::CallbackInfo &info)
    {
        return Napi::Boolean::New(info.Env(), use->IsOver());
    }
    Napi::Value Batch(const Napi::CallbackInfo &info);
    Napi::Value Items(const Napi::CallbackInfo &info);
    Napi::Value CreatedAt(const Napi::CallbackInfo &info);
    Napi::Value Stat(const Napi::CallbackInfo &info);
    Napi::Value Segment(const Napi::CallbackInfo &info);
    Napi::Value FillMap(const Napi::CallbackInfo &info);
    Napi::Value Explain(const Napi::CallbackInfo &info);
    Napi::Value Act(const Napi::CallbackInfo &info);
    Napi::Value MayWait(const Napi::CallbackInfo &info);
    Napi::Value Prepare(const Napi::CallbackInfo &info);
    Napi::Value SetSyncInterval(const Napi::CallbackInfo &info);
    Napi::Value Mapped(const Napi::CallbackInfo &info);
    Napi::Value Merge(const Napi::CallbackInfo &info);
    Napi::Value Like(const Napi::CallbackInfo &info);
    Napi::Value Compare(const Napi::CallbackInfo &info);
    Napi::Value Export(const Napi::CallbackInfo &info)
    {
        return ExportFilter(info, use);
    }
    Napi::Value Exceptions(const Napi::CallbackInfo &info);
    Napi::Value ReadData(const Napi::CallbackInfo &info);
    Napi::Value WriteData(const Napi::CallbackInfo &info);
    Napi::Value SetBit(const Napi::CallbackInfo &info);

    std::shared_ptr<Use> use;

  private:
    std::unique_ptr<Job> NewJob() const
    {
        auto job = std::make_unique<Job>();
        job->uses.push_back(use);
        return job;
    }
    /* The handle for a call that is done at once; throws if there is none. */
    tamis_filter *Here(Napi::Env env) const
    {
        if (use->IsOver()) throw ClosedError(env, "filter");
        return FilterOf(use);
    }
};

std::shared_ptr<Use> FilterUseOf(Napi::Value value)
{
    if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&filter_tag))
        throw WrongType(value.Env(), "a Filter is wanted here");
    return Filter::Unwrap(value.As<Napi::Object>())->use;
}

/* ---- Handles -------------------------------------------------------------------------------- */

enum { OPEN, CREATE, OPEN_OR_CREATE };

/* (isSync, store, name, mode, options) */
Napi::Value Filter::Open(const Napi::CallbackInfo &info)
{
    auto store = StoreUseOf(info[1]);
    auto name = std::make_shared<std::string>(TextOf(info[2], "the name of a filter"));
    uint32_t mode = U32Of(info[3], "mode"), flags = 0;
    Options options(info[4], mode == OPEN ? "open()" : "a filter");
    auto spec = mode == OPEN ? nullptr : std::make_shared<Spec>(options);
    auto job = std::make_unique<Job>();
    auto opened = std::make_shared<tamis_filter *>(nullptr);
    auto self =
        std::make_shared<Napi::ObjectReference>(Napi::Persistent(info.This().As<Napi::Object>()));

    if (mode == OPEN) {
        if (options.Flag("readOnly")) flags |= TAMIS_OPEN_READ_ONLY;
        if (options.Flag("noSync")) flags |= TAMIS_OPEN_NO_SYNC;
        if (options.Flag("populate")) flags |= TAMIS_OPEN_POPULATE;
    }
    options.Finish();
    if (use->Handle()) throw InvalidError(info.Env(), "this filter is open already; make another");
    job->uses.push_back(store);
    job->run = [=]() -> int64_t {
        tamis_filter **to = opened.get();
        if (mode == OPEN) return tamis_filter_open(StoreOf(store), name->c_str(), flags, to);
        if (mode == CREATE)
            return tamis_filter_create(StoreOf(store), name->c_str(), &spec->spec, to);
        return tamis_filter_open_or_create(StoreOf(store), name->c_str(), &spec->spec, to);
    };
    auto of_filter = use;
    job->done = [=](Napi::Env env, int64_t) -> Napi::Value {
        (void)self; /* the object lives until it is open */
        of_filter->Open(*opened);
        return env.Undefined();
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync) */
Napi::Value Filter::Release(const Napi::CallbackInfo &info)
{
    return use->Close(info.Env(), IsSync(info), [](void *handle) {
        tamis_filter_release(static_cast<tamis_filter *>(handle));
        return 0;
    });
}

/* ---- Many keys ------------------------------------------------------------------------------ */

enum { ADD, HAS, REMOVE, COUNT };

static int64_t RunBatch(tamis_filter *filter, uint32_t what, Keys &keys, void *answers)
{
    auto *bytes = static_cast<uint8_t *>(answers);

    keys.Locate();
    switch (what) {
    case ADD:
        return tamis_filter_add_batch(filter, keys.keys.data(), keys.count, bytes);
    case HAS:
        return tamis_filter_contains_batch(filter, keys.keys.data(), keys.count, bytes);
    case REMOVE:
        return tamis_filter_remove_batch(filter, keys.keys.data(), keys.count, bytes);
    default:
        return tamis_filter_count_batch(filter, keys.keys.data(), keys.count,
                                        static_cast<uint64_t *>(answers));
    }
}

/* (isSync, what, keys x 3, answers): the number of answers that are not 0 */
Napi::Value Filter::Batch(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    uint32_t what = U32Of(info[1], "what");
    auto keys = Keys::Of(info, 2, *job);
    auto answers = info[2 + KEYS_ARGUMENTS].As<Napi::TypedArray>();
    void *data = static_cast<uint8_t *>(answers.ArrayBuffer().Data()) + answers.ByteOffset();
    auto of_filter = use;

    if (answers.ElementLength() < keys->count)
        throw WrongType(info.Env(), "there are fewer answers than keys");
    job->kept.push_back(Napi::Persistent(answers.As<Napi::Object>()));
    job->run = [=]() { return RunBatch(FilterOf(of_filter), what, *keys, data); };
    job->done = [](Napi::Env env, int64_t ones) -> Napi::Value {
        return Napi::Number::New(env, static_cast<double>(ones));
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* ---- What is known -------------------------------------------------------------------------- */

Napi::Value Filter::Items(const Napi::CallbackInfo &info)
{
    int64_t items = tamis_filter_items(Here(info.Env()));

    if (items < 0) throw LastError(info.Env(), static_cast<int>(items));
    return NumberOf(info.Env(), static_cast<uint64_t>(items));
}

Napi::Value Filter::CreatedAt(const Napi::CallbackInfo &info)
{
    return Napi::BigInt::New(info.Env(), tamis_filter_created_at(Here(info.Env())));
}

/* (isSync) */
Napi::Value Filter::Stat(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    auto stat = std::make_shared<struct tamis_filter_stat>(TAMIS_INIT(struct tamis_filter_stat));
    auto of_filter = use;

    job->run = [=]() -> int64_t { return tamis_filter_stat(FilterOf(of_filter), stat.get()); };
    job->done = [=](Napi::Env env, int64_t) -> Napi::Value { return FilterStatOf(env, *stat); };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync, index, fills): fills: the set bits are counted */
Napi::Value Filter::Segment(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    auto stat = std::make_shared<struct tamis_segment_stat>(TAMIS_INIT(struct tamis_segment_stat));
    uint32_t index = U32Of(info[1], "index");
    bool fills = info[2].ToBoolean().Value();
    auto of_filter = use;

    job->run = [=]() -> int64_t {
        return (fills ? tamis_filter_fill : tamis_filter_segment)(FilterOf(of_filter), index,
                                                                  stat.get());
    };
    job->done = [=](Napi::Env env, int64_t) -> Napi::Value { return SegmentStatOf(env, *stat); };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync, index, shares): fills the Float64Array */
Napi::Value Filter::FillMap(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    uint32_t index = U32Of(info[1], "index");
    auto shares = info[2].As<Napi::Float64Array>();
    double *data = shares.Data();
    size_t count = shares.ElementLength();
    auto of_filter = use;

    job->kept.push_back(Napi::Persistent(shares.As<Napi::Object>()));
    job->run = [=]() -> int64_t {
        return tamis_filter_fill_map(FilterOf(of_filter), index, data, count);
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (key, index): {hashes, positions} */
Napi::Value Filter::Explain(const Napi::CallbackInfo &info)
{
    char hashes[64 * TAMIS_K_MAX];
    uint64_t positions[TAMIS_K_MAX];
    struct tamis_explanation explanation = TAMIS_INIT(struct tamis_explanation);
    uint32_t index = U32Of(info[1], "index");
    Key key(info.Env(), info[0]);

    if (!key.is_good) throw info.Env().GetAndClearPendingException();
    explanation.hashes = hashes;
    explanation.hashes_bytes = sizeof hashes;
    explanation.positions = positions;
    explanation.positions_max = TAMIS_K_MAX;
    int rc = tamis_filter_explain(Here(info.Env()), index, key.data, key.bytes, &explanation);
    if (rc < 0) throw LastError(info.Env(), rc);
    Napi::Object object = Napi::Object::New(info.Env());
    Napi::Array array = Napi::Array::New(info.Env());
    for (size_t i = 0; i < explanation.positions_count; i++)
        array.Set(static_cast<uint32_t>(i), NumberOf(info.Env(), positions[i]));
    object.Set("hashes", StringOf(info.Env(), hashes));
    object.Set("positions", array);
    return object;
}

/* (isSync) */
Napi::Value Filter::Mapped(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    auto mapped =
        std::make_shared<struct tamis_filter_mapped>(TAMIS_INIT(struct tamis_filter_mapped));
    auto of_filter = use;

    job->run = [=]() -> int64_t { return tamis_filter_mapped(FilterOf(of_filter), mapped.get()); };
    job->done = [=](Napi::Env env, int64_t) -> Napi::Value {
        Napi::Object object = Napi::Object::New(env);
        object.Set("bytes", NumberOf(env, mapped->bytes));
        object.Set("present", NumberOf(env, mapped->present));
        object.Set("hugeBytes", NumberOf(env, mapped->huge_bytes));
        object.Set("wanted", StringOf(env, tamis_pages_name(mapped->wanted)));
        object.Set("obstacle", mapped->obstacle ? StringOf(env, mapped->obstacle) : env.Null());
        return object;
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync): [{key, generation}] */
Napi::Value Filter::Exceptions(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    auto found = std::make_shared<std::vector<Exception>>();
    auto of_filter = use;

    job->run = [=]() -> int64_t {
        return tamis_filter_each_exception(FilterOf(of_filter), CollectException, found.get());
    };
    job->done = [=](Napi::Env env, int64_t) { return ExceptionsOf(env, *found); };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* ---- The filter as a whole ------------------------------------------------------------------ */

/* (isSync, what): calls that take the filter alone */
Napi::Value Filter::Act(const Napi::CallbackInfo &info)
{
    static constexpr int (*const calls[])(tamis_filter *) = {tamis_filter_sync, tamis_filter_rotate,
                                                             tamis_filter_accept};
    auto job = NewJob();
    uint32_t what = U32Of(info[1], "what");
    auto of_filter = use;

    if (what >= sizeof calls / sizeof *calls) throw WrongType(info.Env(), "no such call");
    auto call = calls[what];
    job->run = [=]() -> int64_t { return call(FilterOf(of_filter)); };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (keys): 0, 1 or 2, as the library says */
Napi::Value Filter::MayWait(const Napi::CallbackInfo &info)
{
    int rc = tamis_filter_may_wait(Here(info.Env()), U64Of(info[0], "keys"));

    if (rc < 0) throw LastError(info.Env(), rc);
    return Napi::Number::New(info.Env(), rc);
}

/* (isSync, keys) */
Napi::Value Filter::Prepare(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    uint64_t keys = U64Of(info[1], "keys");
    auto of_filter = use;

    job->run = [=]() -> int64_t { return tamis_filter_prepare(FilterOf(of_filter), keys); };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync, interval): it waits for the thread of before */
Napi::Value Filter::SetSyncInterval(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    int64_t interval = NsOf(info[1], "the interval");
    auto of_filter = use;

    job->run = [=]() -> int64_t {
        return tamis_filter_set_sync_interval(FilterOf(of_filter), interval);
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync, filters, intersects) */
Napi::Value Filter::Merge(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    Napi::Array filters = info[1].As<Napi::Array>();
    uint32_t flags = info[2].ToBoolean().Value() ? TAMIS_MERGE_INTERSECT : 0;
    auto of_filter = use;
    std::vector<std::shared_ptr<Use>> sources;

    for (uint32_t i = 0; i < filters.Length(); i++)
        sources.push_back(FilterUseOf(filters.Get(i)));
    job->uses.insert(job->uses.end(), sources.begin(), sources.end());
    job->run = [=]() -> int64_t {
        struct tamis_merge merge = TAMIS_INIT(struct tamis_merge);
        std::vector<tamis_filter *> handles;
        for (const auto &source : sources)
            handles.push_back(FilterOf(source));
        merge.sources = handles.data();
        merge.count = handles.size();
        merge.flags = flags;
        return tamis_filter_merge(FilterOf(of_filter), &merge);
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

Napi::Value Filter::Like(const Napi::CallbackInfo &info)
{
    struct tamis_filter_spec spec = TAMIS_INIT(struct tamis_filter_spec);
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    int rc = tamis_filter_like(Here(info.Env()), &spec, hash_set);

    if (rc < 0) throw LastError(info.Env(), rc);
    return SpecOf(info.Env(), spec);
}

/* (isSync, other) */
Napi::Value Filter::Compare(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    auto other = FilterUseOf(info[1]);
    auto found = std::make_shared<struct tamis_comparison>(TAMIS_INIT(struct tamis_comparison));
    auto of_filter = use;

    job->uses.push_back(other);
    job->run = [=]() -> int64_t {
        return tamis_filter_compare(FilterOf(of_filter), FilterOf(other), found.get());
    };
    job->done = [=](Napi::Env env, int64_t) -> Napi::Value {
        Napi::Object object = Napi::Object::New(env);
        object.Set("itemsA", Napi::Number::New(env, found->items_a));
        object.Set("itemsB", Napi::Number::New(env, found->items_b));
        object.Set("itemsUnion", Napi::Number::New(env, found->items_union));
        object.Set("itemsBoth", Napi::Number::New(env, found->items_both));
        object.Set("jaccard", Napi::Number::New(env, found->jaccard));
        object.Set("error", Napi::Number::New(env, found->error));
        return object;
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* ---- Data ----------------------------------------------------------------------------------- */

/* (isSync, index, offset, bytes): fills the Uint8Array */
Napi::Value Filter::ReadData(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    uint32_t index = U32Of(info[1], "index");
    uint64_t offset = U64Of(info[2], "offset");
    auto array = info[3].As<Napi::Uint8Array>();
    uint8_t *data = array.Data();
    size_t bytes = array.ByteLength();
    auto of_filter = use;

    job->kept.push_back(Napi::Persistent(array.As<Napi::Object>()));
    job->run = [=]() -> int64_t {
        return tamis_filter_read_data(FilterOf(of_filter), index, offset, data, bytes);
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync, index, offset, bytes): which are copied, as JavaScript may change them meanwhile */
Napi::Value Filter::WriteData(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    uint32_t index = U32Of(info[1], "index");
    uint64_t offset = U64Of(info[2], "offset");
    Key data(info.Env(), info[3]);
    auto of_filter = use;

    if (!data.is_good) throw info.Env().GetAndClearPendingException();
    auto copy = std::make_shared<std::string>(static_cast<const char *>(data.data), data.bytes);
    job->run = [=]() -> int64_t {
        return tamis_filter_write_data(FilterOf(of_filter), index, offset, copy->data(),
                                       copy->size());
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (index, position): the bit from before */
Napi::Value Filter::SetBit(const Napi::CallbackInfo &info)
{
    uint32_t index = U32Of(info[0], "index");
    uint64_t position = U64Of(info[1], "position");
    int rc = tamis_filter_set_bit(Here(info.Env()), index, position);

    if (rc < 0) throw LastError(info.Env(), rc);
    return Napi::Boolean::New(info.Env(), rc == 1);
}

void InitFilter(Napi::Env env, Napi::Object exports)
{
    exports.Set("Filter", Filter::DefineClass(
                              env, "Filter",
                              {Filter::InstanceMethod("_open", &Filter::Open),
                               Filter::InstanceMethod("_close", &Filter::Close),
                               Filter::InstanceMethod("_release", &Filter::Release),
                               Filter::InstanceMethod("_pointer", &Filter::Pointer),
                               Filter::InstanceMethod("_isClosed", &Filter::IsClosed),
                               Filter::InstanceMethod("_batch", &Filter::Batch),
                               Filter::InstanceMethod("_items", &Filter::Items),
                               Filter::InstanceMethod("_createdAt", &Filter::CreatedAt),
                               Filter::InstanceMethod("_stat", &Filter::Stat),
                               Filter::InstanceMethod("_segment", &Filter::Segment),
                               Filter::InstanceMethod("_fillMap", &Filter::FillMap),
                               Filter::InstanceMethod("_explain", &Filter::Explain),
                               Filter::InstanceMethod("_act", &Filter::Act),
                               Filter::InstanceMethod("_mayWait", &Filter::MayWait),
                               Filter::InstanceMethod("_prepare", &Filter::Prepare),
                               Filter::InstanceMethod("_setSyncInterval", &Filter::SetSyncInterval),
                               Filter::InstanceMethod("_mapped", &Filter::Mapped),
                               Filter::InstanceMethod("_merge", &Filter::Merge),
                               Filter::InstanceMethod("_like", &Filter::Like),
                               Filter::InstanceMethod("_compare", &Filter::Compare),
                               Filter::InstanceMethod("_export", &Filter::Export),
                               Filter::InstanceMethod("_exceptions", &Filter::Exceptions),
                               Filter::InstanceMethod("_readData", &Filter::ReadData),
                               Filter::InstanceMethod("_writeData", &Filter::WriteData),
                               Filter::InstanceMethod("_setBit", &Filter::SetBit)}));
}

} // namespace tamis_node

/* SPDX-License-Identifier: BSD-2-Clause */
/* store.cc: the class Store: an open store, and what is done to the filters in it by name. */
#include "common.h"

namespace tamis_node
{

static const napi_type_tag store_tag = {0x7a1d5ef24c2b4f01, 0x9e3f6a7712cd8802};

class Store : public Napi::ObjectWrap<Store>
{
  public:
    explicit Store(const Napi::CallbackInfo &info)
        : Napi::ObjectWrap<Store>(info),
          use(std::make_shared<Use>(info.Env(), "store", [](void *handle) {
              tamis_store_close(static_cast<tamis_store *>(handle));
              return 0;
          }))
    {
        info.This().As<Napi::Object>().TypeTag(&store_tag);
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
    Napi::Value IsClosed(const Napi::CallbackInfo &info)
    {
        return Napi::Boolean::New(info.Env(), use->IsOver());
    }
    Napi::Value SetBusyTimeout(const Napi::CallbackInfo &info);
    Napi::Value List(const Napi::CallbackInfo &info);
    Napi::Value Exists(const Napi::CallbackInfo &info);
    Napi::Value Verify(const Napi::CallbackInfo &info);
    Napi::Value Drop(const Napi::CallbackInfo &info);
    Napi::Value DropMany(const Napi::CallbackInfo &info);
    Napi::Value Rename(const Napi::CallbackInfo &info);
    Napi::Value SetOwned(const Napi::CallbackInfo &info);
    Napi::Value SetPages(const Napi::CallbackInfo &info);
    Napi::Value CreateMany(const Napi::CallbackInfo &info);
    Napi::Value Merge(const Napi::CallbackInfo &info);
    Napi::Value Import(const Napi::CallbackInfo &info)
    {
        return ImportFilter(info, use);
    }
    Napi::Value Publish(const Napi::CallbackInfo &info)
    {
        return PublishFilter(info, use);
    }
    Napi::Value Generations(const Napi::CallbackInfo &info);
    Napi::Value Rollback(const Napi::CallbackInfo &info);
    Napi::Value Except(const Napi::CallbackInfo &info);
    Napi::Value Unexcept(const Napi::CallbackInfo &info);
    Napi::Value Exceptions(const Napi::CallbackInfo &info);
    Napi::Value Backup(const Napi::CallbackInfo &info);

    std::shared_ptr<Use> use;

  private:
    std::unique_ptr<Job> NewJob() const
    {
        auto job = std::make_unique<Job>();
        job->uses.push_back(use);
        return job;
    }
    /* A job on the filter of a name. */
    Napi::Value ByName(const Napi::CallbackInfo &info,
                       const std::function<int64_t(tamis_store *, const char *)> &call);
};

using Text = std::shared_ptr<std::string>;

static Text TextAt(const Napi::CallbackInfo &info, size_t at, const char *what)
{
    return std::make_shared<std::string>(TextOf(info[at], what));
}

static Napi::Value CountOf(Napi::Env env, int64_t count)
{
    return Napi::Number::New(env, static_cast<double>(count));
}

std::shared_ptr<Use> StoreUseOf(Napi::Value value)
{
    if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&store_tag))
        throw WrongType(value.Env(), "a Store is wanted here");
    return Store::Unwrap(value.As<Napi::Object>())->use;
}

/* (isSync, path, options) */
Napi::Value Store::Open(const Napi::CallbackInfo &info)
{
    Text path = TextAt(info, 1, "the path of a store");
    Options from(info[2], "a store");
    struct tamis_store_options options = TAMIS_INIT(struct tamis_store_options);
    auto job = std::make_unique<Job>();
    auto opened = std::make_shared<tamis_store *>(nullptr);
    auto self =
        std::make_shared<Napi::ObjectReference>(Napi::Persistent(info.This().As<Napi::Object>()));
    auto of_store = use;

    if (use->Handle()) throw InvalidError(info.Env(), "this store is open already; make another");
    bool is_read_only = from.Flag("readOnly"), creates = from.Flag("create", !is_read_only);
    options.flags |= is_read_only ? TAMIS_OPEN_READ_ONLY : 0;
    options.flags |= creates ? TAMIS_OPEN_CREATE : 0;
    options.flags |= from.Flag("forceNetworkFs") ? TAMIS_OPEN_FORCE_NETWORK_FS : 0;
    options.mode = from.U32("mode");
    if (from.Has("busyTimeout")) {
        int64_t ms = from.Ns("busyTimeout") / 1000000;
        options.busy_timeout_ms = ms > 0 ? ms : -1;
    }
    from.Finish();
    job->run = [=]() -> int64_t {
        return tamis_store_open_with(path->c_str(), &options, opened.get());
    };
    job->done = [=](Napi::Env env, int64_t) -> Napi::Value {
        (void)self; /* the object lives until it is open */
        of_store->Open(*opened);
        return env.Undefined();
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (milliseconds) */
Napi::Value Store::SetBusyTimeout(const Napi::CallbackInfo &info)
{
    int64_t ms = NsOf(info[0], "the timeout") / 1000000;

    if (use->IsOver()) throw ClosedError(info.Env(), "store");
    int rc = tamis_store_set_busy_timeout(StoreOf(use), ms);
    if (rc < 0) throw LastError(info.Env(), rc);
    return info.Env().Undefined();
}

/* ---- Lists ---------------------------------------------------------------------------------- */

/* (isSync, prefix, isLive) */
Napi::Value Store::List(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    Text prefix = TextAt(info, 1, "the prefix");
    bool is_live = info[2].ToBoolean().Value();
    auto stats = std::make_shared<std::vector<struct tamis_filter_stat>>();
    auto of_store = use;

    job->run = [=]() -> int64_t {
        return (is_live ? tamis_store_list_live : tamis_store_list)(
            StoreOf(of_store), prefix->c_str(), CollectStat, stats.get());
    };
    job->done = [=](Napi::Env env, int64_t) { return StatsOf(env, *stats); };
    return Start(info.Env(), IsSync(info), std::move(job));
}

Napi::Value Store::ByName(const Napi::CallbackInfo &info,
                          const std::function<int64_t(tamis_store *, const char *)> &call)
{
    auto job = NewJob();
    Text name = TextAt(info, 1, "the name of a filter");
    auto of_store = use;

    job->run = [=]() { return call(StoreOf(of_store), name->c_str()); };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync, name) */
Napi::Value Store::Exists(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    Text name = TextAt(info, 1, "the name of a filter");
    auto of_store = use;

    job->run = [=]() -> int64_t { return tamis_filter_exists(StoreOf(of_store), name->c_str()); };
    job->done = [](Napi::Env env, int64_t is_there) -> Napi::Value {
        return Napi::Boolean::New(env, is_there == 1);
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

struct Problem {
    std::string filter, file, reason;
    uint64_t offset;
    int error;
};

static int CollectProblem(void *context, const struct tamis_problem *problem)
{
    try {
        static_cast<std::vector<Problem> *>(context)->push_back(
            {problem->filter, problem->file, problem->reason, problem->offset, problem->error});
    } catch (const std::bad_alloc &) {
        return TAMIS_ENOMEM;
    }
    return 0;
}

static Napi::Value ProblemsOf(Napi::Env env, const std::vector<Problem> &problems)
{
    Napi::Array array = Napi::Array::New(env, problems.size());

    for (uint32_t i = 0; i < problems.size(); i++) {
        const Problem &problem = problems[i];
        Napi::Object object = Napi::Object::New(env);
        object.Set("filter", StringOf(env, problem.filter.c_str()));
        object.Set("file", StringOf(env, problem.file.c_str()));
        object.Set("offset", NumberOf(env, problem.offset));
        object.Set("code",
                   problem.error ? StringOf(env, tamis_error_name(problem.error)) : env.Null());
        object.Set("reason", StringOf(env, problem.reason.c_str()));
        array.Set(i, object);
    }
    return array;
}

/* (isSync, name or null) */
Napi::Value Store::Verify(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    bool is_all = info[1].IsUndefined() || info[1].IsNull();
    Text name = is_all ? nullptr : TextAt(info, 1, "the name of a filter");
    auto problems = std::make_shared<std::vector<Problem>>();
    auto of_store = use;

    job->run = [=]() {
        return tamis_store_verify(StoreOf(of_store), name ? name->c_str() : nullptr, CollectProblem,
                                  problems.get());
    };
    job->done = [=](Napi::Env env, int64_t) { return ProblemsOf(env, *problems); };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* ---- Changes by name ------------------------------------------------------------------------ */

/* (isSync, name) */
Napi::Value Store::Drop(const Napi::CallbackInfo &info)
{
    return ByName(info, [](tamis_store *store, const char *name) -> int64_t {
        return tamis_filter_drop(store, name);
    });
}

static std::vector<const char *> PointersOf(const std::vector<std::string> &texts)
{
    std::vector<const char *> pointers;

    for (const auto &text : texts)
        pointers.push_back(text.c_str());
    return pointers;
}

/* (isSync, names, createdAt or undefined) */
Napi::Value Store::DropMany(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    auto names = std::make_shared<std::vector<std::string>>(TextsOf(info[1], "names"));
    auto times = std::make_shared<std::vector<int64_t>>();
    auto of_store = use;

    if (info[2].IsArray()) {
        Napi::Array array = info[2].As<Napi::Array>();
        for (uint32_t i = 0; i < array.Length(); i++)
            times->push_back(NsOf(array.Get(i), "createdAt"));
        if (times->size() != names->size())
            throw InvalidError(info.Env(), "createdAt needs one time for each name");
    }
    job->run = [=]() -> int64_t {
        auto pointers = PointersOf(*names);
        return tamis_filter_drop_many(StoreOf(of_store), pointers.data(),
                                      times->empty() ? nullptr : times->data(), pointers.size());
    };
    job->done = CountOf;
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync, name, newName) */
Napi::Value Store::Rename(const Napi::CallbackInfo &info)
{
    Text other = TextAt(info, 2, "the new name of a filter");

    return ByName(info, [=](tamis_store *store, const char *name) -> int64_t {
        return tamis_filter_rename(store, name, other->c_str());
    });
}

/* (isSync, name, isOwned) */
Napi::Value Store::SetOwned(const Napi::CallbackInfo &info)
{
    int is_owned = info[2].ToBoolean().Value();

    return ByName(info, [=](tamis_store *store, const char *name) -> int64_t {
        return tamis_filter_set_owned(store, name, is_owned);
    });
}

/* (isSync, name, pages) */
Napi::Value Store::SetPages(const Napi::CallbackInfo &info)
{
    uint32_t pages = PagesOf(info[2]);

    return ByName(info, [=](tamis_store *store, const char *name) -> int64_t {
        return tamis_filter_set_pages(store, name, pages);
    });
}

/* (isSync, name, generation) */
Napi::Value Store::Rollback(const Napi::CallbackInfo &info)
{
    uint64_t generation = U64Of(info[2], "generation");

    return ByName(info, [=](tamis_store *store, const char *name) -> int64_t {
        return tamis_filter_rollback(store, name, generation);
    });
}

static int CollectGeneration(void *context, const struct tamis_generation_stat *stat)
{
    try {
        static_cast<std::vector<struct tamis_generation_stat> *>(context)->push_back(*stat);
    } catch (const std::bad_alloc &) {
        return TAMIS_ENOMEM;
    }
    return 0;
}

/* (isSync, name) */
Napi::Value Store::Generations(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    Text name = TextAt(info, 1, "the name of a filter");
    auto found = std::make_shared<std::vector<struct tamis_generation_stat>>();
    auto of_store = use;

    job->run = [=]() -> int64_t {
        return tamis_filter_generations(StoreOf(of_store), name->c_str(), CollectGeneration,
                                        found.get());
    };
    job->done = [=](Napi::Env env, int64_t) -> Napi::Value {
        Napi::Array array = Napi::Array::New(env, found->size());
        for (uint32_t i = 0; i < found->size(); i++)
            array.Set(i, GenerationOf(env, (*found)[i]));
        return array;
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* ---- Many filters --------------------------------------------------------------------------- */

/* (isSync, names, spec, ifMissing): how many were made */
Napi::Value Store::CreateMany(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    auto names = std::make_shared<std::vector<std::string>>(TextsOf(info[1], "names"));
    Options options(info[2], "a filter");
    auto spec = std::make_shared<Spec>(options);
    unsigned flags = info[3].ToBoolean().Value() ? TAMIS_MANY_IF_MISSING : 0;
    auto of_store = use;

    options.Finish();
    job->run = [=]() -> int64_t {
        auto pointers = PointersOf(*names);
        return tamis_filter_create_many(StoreOf(of_store), pointers.data(), pointers.size(),
                                        &spec->spec, flags);
    };
    job->done = CountOf;
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync, name, filters, intersects) */
Napi::Value Store::Merge(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    Text name = TextAt(info, 1, "the name of a filter");
    Napi::Array filters = info[2].As<Napi::Array>();
    uint32_t flags = info[3].ToBoolean().Value() ? TAMIS_MERGE_INTERSECT : 0;
    std::vector<std::shared_ptr<Use>> sources;
    auto of_store = use;

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
        return tamis_filter_create_merged(StoreOf(of_store), name->c_str(), &merge, nullptr);
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* ---- Exceptions, backup --------------------------------------------------------------------- */

/* (isSync, name, keys x 3): how many were none yet */
Napi::Value Store::Except(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    Text name = TextAt(info, 1, "the name of a filter");
    auto keys = Keys::Of(info, 2, *job);
    auto of_store = use;

    job->run = [=]() -> int64_t {
        keys->Locate();
        return tamis_filter_except(StoreOf(of_store), name->c_str(), keys->keys.data(),
                                   keys->count);
    };
    job->done = CountOf;
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync, name, keys x 3, answers): how many were some */
Napi::Value Store::Unexcept(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    Text name = TextAt(info, 1, "the name of a filter");
    auto keys = Keys::Of(info, 2, *job);
    auto answers = info[2 + KEYS_ARGUMENTS].As<Napi::Uint8Array>();
    uint8_t *data = answers.Data();
    auto of_store = use;

    if (answers.ElementLength() < keys->count)
        throw WrongType(info.Env(), "there are fewer answers than keys");
    job->kept.push_back(Napi::Persistent(answers.As<Napi::Object>()));
    job->run = [=]() -> int64_t {
        keys->Locate();
        return tamis_filter_unexcept(StoreOf(of_store), name->c_str(), keys->keys.data(),
                                     keys->count, data);
    };
    job->done = CountOf;
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync, name): [{key, generation}] */
Napi::Value Store::Exceptions(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    Text name = TextAt(info, 1, "the name of a filter");
    auto found = std::make_shared<std::vector<Exception>>();
    auto of_store = use;

    job->run = [=]() -> int64_t {
        return tamis_filter_exceptions(StoreOf(of_store), name->c_str(), CollectException,
                                       found.get());
    };
    job->done = [=](Napi::Env env, int64_t) { return ExceptionsOf(env, *found); };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync, path): the number of filters */
Napi::Value Store::Backup(const Napi::CallbackInfo &info)
{
    auto job = NewJob();
    Text path = TextAt(info, 1, "the path of a backup");
    auto of_store = use;

    job->run = [=]() {
        return tamis_store_backup(StoreOf(of_store), path->c_str(), nullptr, nullptr);
    };
    job->done = CountOf;
    return Start(info.Env(), IsSync(info), std::move(job));
}

void InitStore(Napi::Env env, Napi::Object exports)
{
    exports.Set("Store", Store::DefineClass(
                             env, "Store",
                             {Store::InstanceMethod("_open", &Store::Open),
                              Store::InstanceMethod("_close", &Store::Close),
                              Store::InstanceMethod("_isClosed", &Store::IsClosed),
                              Store::InstanceMethod("_setBusyTimeout", &Store::SetBusyTimeout),
                              Store::InstanceMethod("_list", &Store::List),
                              Store::InstanceMethod("_exists", &Store::Exists),
                              Store::InstanceMethod("_verify", &Store::Verify),
                              Store::InstanceMethod("_drop", &Store::Drop),
                              Store::InstanceMethod("_dropMany", &Store::DropMany),
                              Store::InstanceMethod("_rename", &Store::Rename),
                              Store::InstanceMethod("_setOwned", &Store::SetOwned),
                              Store::InstanceMethod("_setPages", &Store::SetPages),
                              Store::InstanceMethod("_createMany", &Store::CreateMany),
                              Store::InstanceMethod("_merge", &Store::Merge),
                              Store::InstanceMethod("_import", &Store::Import),
                              Store::InstanceMethod("_publish", &Store::Publish),
                              Store::InstanceMethod("_generations", &Store::Generations),
                              Store::InstanceMethod("_rollback", &Store::Rollback),
                              Store::InstanceMethod("_except", &Store::Except),
                              Store::InstanceMethod("_unexcept", &Store::Unexcept),
                              Store::InstanceMethod("_exceptions", &Store::Exceptions),
                              Store::InstanceMethod("_backup", &Store::Backup)}));
}

} // namespace tamis_node

/* SPDX-License-Identifier: BSD-2-Clause */
/* build.cc: the class Build: a filter that is made anew as a whole. */
#include "common.h"

namespace tamis_node
{

class Build : public Napi::ObjectWrap<Build>
{
  public:
    explicit Build(const Napi::CallbackInfo &info)
        : Napi::ObjectWrap<Build>(info),
          use(std::make_shared<Use>(
              info.Env(), "build",
              [](void *handle) {
                  tamis_build_close(static_cast<tamis_build *>(handle));
                  return 0;
              },
              true))
    {
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
    Napi::Value Give(const Napi::CallbackInfo &info);
    Napi::Value Publish(const Napi::CallbackInfo &info);

    std::shared_ptr<Use> use;

  private:
    std::shared_ptr<Spec> spec_; /* its hash_set is read until the build is closed */
};

static struct tamis_build_spec BuildSpecOf(Options &options, const std::shared_ptr<Spec> &spec)
{
    struct tamis_build_spec build = TAMIS_INIT(struct tamis_build_spec);

    build.filter = &spec->spec;
    build.memory_bytes = options.U64("memoryBytes");
    build.threads = options.U32("threads");
    if (options.Flag("ifChanged")) build.flags |= TAMIS_BUILD_IF_CHANGED;
    if (options.Has("keep")) build.flags |= TAMIS_BUILD_KEEP;
    build.keep = options.U32("keep");
    options.Finish();
    return build;
}

/* (isSync, store, name, options) */
Napi::Value Build::Open(const Napi::CallbackInfo &info)
{
    auto store = StoreUseOf(info[1]);
    auto name = std::make_shared<std::string>(TextOf(info[2], "the name of a filter"));
    Options options(info[3], "a build");
    auto spec = std::make_shared<Spec>(options);
    struct tamis_build_spec build_spec = BuildSpecOf(options, spec);
    auto job = std::make_unique<Job>();
    auto opened = std::make_shared<tamis_build *>(nullptr);
    auto self =
        std::make_shared<Napi::ObjectReference>(Napi::Persistent(info.This().As<Napi::Object>()));
    auto of_build = use;

    if (use->Handle()) throw InvalidError(info.Env(), "this build has begun; make another");
    spec_ = spec;
    job->uses.push_back(store);
    job->run = [=]() -> int64_t {
        return tamis_build_begin(StoreOf(store), name->c_str(), &build_spec, opened.get());
    };
    job->done = [=](Napi::Env env, int64_t) -> Napi::Value {
        (void)spec;
        (void)self;
        of_build->Open(*opened); /* which keeps the store open */
        return env.Undefined();
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync, what, keys x 3): 0 adds, 1 gives known good keys, 2 gives exceptions */
Napi::Value Build::Give(const Napi::CallbackInfo &info)
{
    static constexpr int (*const calls[])(tamis_build *, const struct tamis_key *, size_t) = {
        tamis_build_add, tamis_build_against, tamis_build_except};
    auto job = std::make_unique<Job>();
    uint32_t what = U32Of(info[1], "what");
    auto keys = Keys::Of(info, 2, *job);
    auto of_build = use;

    if (what >= sizeof calls / sizeof *calls) throw WrongType(info.Env(), "no such call");
    auto call = calls[what];
    job->uses.push_back(use);
    job->run = [=]() -> int64_t {
        keys->Locate();
        return call(static_cast<tamis_build *>(of_build->Handle()), keys->keys.data(), keys->count);
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync): the result, with isPublished */
Napi::Value Build::Publish(const Napi::CallbackInfo &info)
{
    auto job = std::make_unique<Job>();
    auto result =
        std::make_shared<struct tamis_build_result>(TAMIS_INIT(struct tamis_build_result));
    auto of_build = use;
    auto spec = spec_;

    job->uses.push_back(use);
    job->run = [=]() -> int64_t {
        (void)spec;
        return tamis_build_publish(static_cast<tamis_build *>(of_build->Handle()), result.get());
    };
    job->done = [=](Napi::Env env, int64_t is_published) -> Napi::Value {
        Napi::Object object = BuildResultOf(env, *result);
        object.Set("isPublished", Napi::Boolean::New(env, is_published == 1));
        return object;
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

void InitBuild(Napi::Env env, Napi::Object exports)
{
    exports.Set("Build", Build::DefineClass(env, "Build",
                                            {Build::InstanceMethod("_open", &Build::Open),
                                             Build::InstanceMethod("_close", &Build::Close),
                                             Build::InstanceMethod("_isClosed", &Build::IsClosed),
                                             Build::InstanceMethod("_give", &Build::Give),
                                             Build::InstanceMethod("_publish", &Build::Publish)}));
}

} // namespace tamis_node

/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.cc: the class Watch: what has changed in the filters of a store. */
#include "common.h"

namespace tamis_node
{

class Watch : public Napi::ObjectWrap<Watch>
{
  public:
    explicit Watch(const Napi::CallbackInfo &info)
        : Napi::ObjectWrap<Watch>(info),
          use(std::make_shared<Use>(
              info.Env(), "watch",
              [](void *handle) {
                  tamis_watch_free(static_cast<tamis_watch *>(handle));
                  return 0;
              },
              true))
    {
    }
    void Finalize(Napi::Env env) override
    {
        use->Abandon(env);
    }

    /* (store, prefix) */
    Napi::Value Open(const Napi::CallbackInfo &info)
    {
        auto store = StoreUseOf(info[0]);
        std::string prefix = TextOf(info[1], "the prefix");
        tamis_watch *watch = nullptr;
        if (store->IsOver()) throw ClosedError(info.Env(), "store");
        if (use->Handle()) throw InvalidError(info.Env(), "this watch is open already");
        int rc = tamis_watch_new(StoreOf(store), prefix.c_str(), &watch);
        if (rc < 0) throw LastError(info.Env(), rc);
        use->Open(watch);
        return info.Env().Undefined();
    }
    Napi::Value Look(const Napi::CallbackInfo &info);
    Napi::Value Close(const Napi::CallbackInfo &info)
    {
        return use->Close(info.Env(), IsSync(info));
    }

    std::shared_ptr<Use> use;
};

/* (isSync) */
Napi::Value Watch::Look(const Napi::CallbackInfo &info)
{
    auto job = std::make_unique<Job>();
    auto stats = std::make_shared<std::vector<struct tamis_filter_stat>>();
    auto of_watch = use;

    job->uses.push_back(use);
    job->run = [=]() -> int64_t {
        return tamis_watch_look(static_cast<tamis_watch *>(of_watch->Handle()), CollectStat,
                                stats.get());
    };
    job->done = [=](Napi::Env env, int64_t) { return StatsOf(env, *stats); };
    return Start(info.Env(), IsSync(info), std::move(job));
}

void InitWatch(Napi::Env env, Napi::Object exports)
{
    exports.Set("Watch", Watch::DefineClass(env, "Watch",
                                            {Watch::InstanceMethod("_open", &Watch::Open),
                                             Watch::InstanceMethod("_look", &Watch::Look),
                                             Watch::InstanceMethod("_close", &Watch::Close)}));
}

} // namespace tamis_node

/* SPDX-License-Identifier: BSD-2-Clause */
/* addon.cc: the addon as Node loads it, once in each environment (common.h). */
#include "common.h"

namespace tamis_node
{

/* (class): TamisError, which every error is made of */
static Napi::Value SetErrorClass(const Napi::CallbackInfo &info)
{
    Environment::Of(info.Env())->error_class = Napi::Persistent(info[0].As<Napi::Function>());
    return info.Env().Undefined();
}

/* Closes all that is open and not in use: the process ends, and nobody will collect it. */
static Napi::Value CloseAll(const Napi::CallbackInfo &info)
{
    auto open = Environment::Of(info.Env())->open;

    for (Use *use : open)
        use->CloseAtExit();
    return info.Env().Undefined();
}

static Napi::Object Init(Napi::Env env, Napi::Object exports)
{
    auto *environment = new std::shared_ptr<Environment>(std::make_shared<Environment>());

    env.SetInstanceData<std::shared_ptr<Environment>>(environment);
    std::weak_ptr<Environment> weak = *environment;
    env.AddCleanupHook([weak]() {
        auto ending = weak.lock();
        if (ending) ending->is_ending = true;
    });
    exports.Set("setErrorClass", Napi::Function::New(env, SetErrorClass, "setErrorClass"));
    exports.Set("closeAll", Napi::Function::New(env, CloseAll, "closeAll"));
    InitLibrary(env, exports);
    InitKeys(env, exports);
    InitStore(env, exports);
    InitFilter(env, exports);
    InitBuild(env, exports);
    InitWatch(env, exports);
    return exports;
}

} // namespace tamis_node

static Napi::Object Init(Napi::Env env, Napi::Object exports)
{
    return tamis_node::Init(env, exports);
}

NODE_API_MODULE(tamis, Init)

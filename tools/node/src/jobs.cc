/* SPDX-License-Identifier: BSD-2-Clause */
/* jobs.cc: handles, and the jobs that use them (common.h). */
#include "common.h"

namespace tamis_node
{

std::shared_ptr<Environment> &Environment::Of(Napi::Env env)
{
    return *env.GetInstanceData<std::shared_ptr<Environment>>();
}

/* ---- Handles -------------------------------------------------------------------------------- */

Use::Use(Napi::Env env, const char *what, Closer closer, bool is_exclusive)
    : environment_(Environment::Of(env)), what_(what), closer_(closer), is_exclusive_(is_exclusive)
{
}

Use::~Use()
{
    environment_->open.erase(this);
}

void Use::Open(void *handle)
{
    handle_ = handle;
    if (handle) environment_->open.insert(this);
}

void Use::Begin(Napi::Env env)
{
    if (IsOver()) throw ClosedError(env, what_);
    if (is_exclusive_ && running_ > 0)
        throw ErrorOf(env,
                      std::string("another call on this ") + what_ +
                          " is running: await its promise before the next one",
                      "TAMIS_EINVAL", TAMIS_EINVAL);
    running_++;
}

/* Takes the handle off, for who closes it. */
void *Use::Take()
{
    void *handle = handle_;

    handle_ = nullptr;
    environment_->open.erase(this);
    return handle;
}

std::unique_ptr<Job> Use::ClosingJob(void *handle)
{
    auto job = std::make_unique<Job>();
    auto closer = closer_;

    job->run = [handle, closer]() -> int64_t { return closer(handle); };
    return job;
}

void Use::End(Napi::Env env)
{
    if (--running_ > 0 || !is_closed_ || !handle_) return;
    std::unique_ptr<Job> job = std::move(closing_);
    if (!job) {
        CloseQuietly(env);
        return;
    }
    job->run = ClosingJob(Take())->run;
    if (environment_->is_ending || napi_queue_async_work(env, job->work) != napi_ok)
        job->Execute();
    else
        (void)job.release();
}

static void Execute(napi_env env, void *data)
{
    (void)env;
    static_cast<Job *>(data)->Execute();
}

/* Whether JavaScript may still run.  It may not in a worker that was terminated. */
static bool CanRun(napi_env env)
{
    napi_value object, value;

    return napi_create_object(env, &object) == napi_ok &&
           napi_get_boolean(env, true, &value) == napi_ok &&
           napi_set_named_property(env, object, "is", value) == napi_ok;
}

static void Settle(Napi::Env env, Job &job)
{
    napi_value value = nullptr;
    bool is_good = job.result >= 0;

    try {
        if (!is_good)
            value = ErrorOf(env, job.sentence, tamis_error_name(static_cast<int>(job.result)),
                            static_cast<int>(job.result))
                        .Value();
        else
            value = job.done ? job.done(env, job.result) : env.Undefined();
    } catch (const Napi::Error &error) {
        is_good = false;
        value = error.Value();
    }
    (void)(is_good ? napi_resolve_deferred : napi_reject_deferred)(env, job.deferred, value);
}

static void Complete(napi_env raw, napi_status status, void *data)
{
    Napi::Env env(raw);
    std::unique_ptr<Job> job(static_cast<Job *>(data));

    (void)status;
    if (CanRun(env)) Settle(env, *job);
    job->EndUses(env);
    (void)napi_delete_async_work(env, job->work);
}

/* Makes its work and its promise. */
static Napi::Value Prepare(Napi::Env env, Job *job)
{
    napi_value promise, name = Napi::String::New(env, "tamis");

    if (napi_create_promise(env, &job->deferred, &promise) != napi_ok ||
        napi_create_async_work(env, nullptr, name, Execute, Complete, job, &job->work) != napi_ok)
        throw Napi::Error::New(env);
    return Napi::Value(env, promise);
}

Napi::Value Use::Close(Napi::Env env, bool is_sync, Closer closer)
{
    if (closer) closer_ = closer;
    if (IsOver()) {
        is_closed_ = true;
        return is_sync ? env.Undefined() : Start(env, false, std::make_unique<Job>());
    }
    is_closed_ = true;
    if (running_ > 0) {
        if (is_sync) return env.Undefined();
        auto job = std::make_unique<Job>();
        Napi::Value promise = Prepare(env, job.get());
        closing_ = std::move(job);
        return promise;
    }
    auto job = ClosingJob(Take());
    return Start(env, is_sync, std::move(job));
}

static void CompleteQuietly(napi_env env, napi_status status, void *data)
{
    std::unique_ptr<Job> job(static_cast<Job *>(data));

    (void)status;
    (void)napi_delete_async_work(env, job->work);
}

void Use::Abandon(Napi::Env env)
{
    bool is_over = IsOver();

    is_closed_ = true;
    if (!is_over && running_ == 0) CloseQuietly(env);
}

/* Nobody waits for it.  It may wait for the disk, which is not for the thread of JavaScript. */
void Use::CloseQuietly(Napi::Env env)
{
    napi_value name;
    auto job = ClosingJob(Take());

    if (environment_->is_ending || napi_create_string_utf8(env, "tamis", 5, &name) != napi_ok ||
        napi_create_async_work(env, nullptr, name, Execute, CompleteQuietly, job.get(),
                               &job->work) != napi_ok ||
        napi_queue_async_work(env, job->work) != napi_ok)
        job->Execute();
    else
        (void)job.release();
}

void Use::CloseAtExit()
{
    if (IsOver() || running_ > 0) return;
    is_closed_ = true;
    (void)closer_(Take());
}

/* ---- Jobs ----------------------------------------------------------------------------------- */

void Job::Execute()
{
    try {
        result = run ? run() : 0;
        if (result >= 0) return;
        if (said) sentence = said();
        if (sentence.empty()) sentence = tamis_last_error(); /* that of this thread */
    } catch (const std::bad_alloc &) {
        result = TAMIS_ENOMEM;
        sentence = "out of memory; give fewer keys to one call";
    }
}

void Job::BeginUses(Napi::Env env)
{
    try {
        for (auto &use : uses) {
            use->Begin(env);
            begun++;
        }
    } catch (...) {
        EndUses(env);
        throw;
    }
}

void Job::EndUses(Napi::Env env)
{
    while (begun > 0)
        uses[--begun]->End(env);
}

Napi::Value Start(Napi::Env env, bool is_sync, std::unique_ptr<Job> job)
{
    job->BeginUses(env);
    if (is_sync) {
        job->Execute();
        job->EndUses(env);
        if (job->result < 0)
            throw ErrorOf(env, job->sentence, tamis_error_name(static_cast<int>(job->result)),
                          static_cast<int>(job->result));
        return job->done ? job->done(env, job->result) : env.Undefined();
    }
    try {
        Napi::Value promise = Prepare(env, job.get());
        if (napi_queue_async_work(env, job->work) != napi_ok) throw Napi::Error::New(env);
        (void)job.release();
        return promise;
    } catch (...) {
        if (job) job->EndUses(env);
        throw;
    }
}

/* ---- Errors --------------------------------------------------------------------------------- */

Napi::Error ErrorOf(Napi::Env env, const std::string &sentence, const char *name, int code)
{
    auto &error_class = Environment::Of(env)->error_class;

    if (error_class.IsEmpty()) return Napi::Error::New(env, sentence);
    return Napi::Error(
        env, error_class.New({StringOf(env, sentence.c_str()), Napi::String::New(env, name),
                              Napi::Number::New(env, code)}));
}

Napi::Error LastError(Napi::Env env, int code)
{
    return ErrorOf(env, tamis_last_error(), tamis_error_name(code), code);
}

Napi::Error ClosedError(Napi::Env env, const char *what)
{
    return ErrorOf(env, std::string("the ") + what + " is closed; open it again", "TAMIS_ECLOSED",
                   0);
}

Napi::Error InvalidError(Napi::Env env, const std::string &sentence)
{
    return ErrorOf(env, sentence, "TAMIS_EINVAL", TAMIS_EINVAL);
}

Napi::TypeError WrongType(Napi::Env env, const std::string &sentence)
{
    Napi::TypeError error = Napi::TypeError::New(env, sentence);

    error.Set("code", Napi::String::New(env, "ERR_INVALID_ARG_TYPE"));
    return error;
}

} // namespace tamis_node

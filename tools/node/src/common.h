/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * common.h: what the files of the addon share: the environment, handles, jobs, and arguments.
 *
 * This addon is the part of the package that must be fast or must hold a handle of the library.
 * The classes that users see are in ../lib/, in JavaScript: they derive from Store, Filter, Build
 * and Watch here.
 *
 * ENVIRONMENTS.  Node has an environment for the main thread and one for each worker thread, and
 * each loads the addon by itself.  All that this code keeps is in its struct Environment, so
 * threads share nothing but the library, which is made for that.
 *
 * JOBS.  What may wait is a Job: it runs in the thread pool, and its end resolves a promise; or it
 * runs at once in the thread of JavaScript.  Only the thread of JavaScript begins and ends jobs, so
 * what belongs to an environment needs no lock.
 *
 * CLOSE.  The library forbids to close a handle beside another call on it.  So each job counts
 * itself in the Use of each handle that it needs, and close() marks the Use closed; if jobs are
 * running then the last of them lets the handle be closed.
 */
#pragma once

#include <napi.h>

#include <tamis.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace tamis_node
{

class Use;
struct Job;

/* What belongs to one thread of JavaScript. */
struct Environment {
    Napi::FunctionReference error_class; /* TamisError of ../lib/errors.js */
    std::unordered_set<Use *> open;      /* those with a handle, for the end of the process */
    bool is_ending = false;              /* no job can begin any more */

    static std::shared_ptr<Environment> &Of(Napi::Env env);
};

/* ---- Errors --------------------------------------------------------------------------------- */

/* A TamisError.  `name` is that of the code, such as "TAMIS_EINVAL". */
Napi::Error ErrorOf(Napi::Env env, const std::string &sentence, const char *name, int code);
/* That of the last call of this thread, which returned `code`. */
Napi::Error LastError(Napi::Env env, int code);
Napi::Error ClosedError(Napi::Env env, const char *what);
Napi::Error InvalidError(Napi::Env env, const std::string &sentence);
Napi::TypeError WrongType(Napi::Env env, const std::string &sentence);

/* ---- Handles -------------------------------------------------------------------------------- */

/* A handle of the library, and who uses it.  Shared by the object and the jobs. */
class Use : public std::enable_shared_from_this<Use>
{
  public:
    using Closer = int (*)(void *handle);

    Use(Napi::Env env, const char *what, Closer closer, bool is_exclusive = false);
    ~Use();

    /* Counts a job; throws if there is no handle, or if only one may use it at a time. */
    void Begin(Napi::Env env);
    void End(Napi::Env env);
    void Open(void *handle);
    bool IsOver() const
    {
        return !handle_ || is_closed_;
    }
    void *Handle() const
    {
        return handle_;
    }
    /* The promise of closing, or undefined.  `closer` NULL: as it was made with. */
    Napi::Value Close(Napi::Env env, bool is_sync, Closer closer = nullptr);
    /* The object is collected. */
    void Abandon(Napi::Env env);
    /* The process ends: closes what nobody uses. */
    void CloseAtExit();

  private:
    void *Take();
    void CloseQuietly(Napi::Env env);
    std::unique_ptr<Job> ClosingJob(void *handle);

    std::shared_ptr<Environment> environment_;
    const char *what_;
    Closer closer_;
    void *handle_ = nullptr;
    unsigned running_ = 0;
    bool is_exclusive_;
    bool is_closed_ = false;
    std::unique_ptr<Job> closing_; /* waits for the last of the running ones */
};

/* ---- Jobs ----------------------------------------------------------------------------------- */

struct Job {
    std::vector<std::shared_ptr<Use>> uses;  /* begun by Start() */
    std::vector<Napi::ObjectReference> kept; /* objects whose memory `run` reads or writes */
    std::function<int64_t()> run;            /* any thread; a result of the library */
    std::function<std::string()> said;       /* a better sentence of an error, or "" */
    std::function<Napi::Value(Napi::Env, int64_t)> done; /* its result >= 0; empty: undefined */

    int64_t result = 0;
    std::string sentence;
    napi_async_work work = nullptr;
    napi_deferred deferred = nullptr;
    unsigned begun = 0;

    void Execute();
    void EndUses(Napi::Env env);
    /* Begins all uses.  Throws with none of them begun. */
    void BeginUses(Napi::Env env);
};

/* Runs the job at once and returns its value, or returns its promise. */
Napi::Value Start(Napi::Env env, bool is_sync, std::unique_ptr<Job> job);

/* ---- Arguments ------------------------------------------------------------------------------ */

std::string TextOf(Napi::Value value, const char *what);
std::vector<std::string> TextsOf(Napi::Value value, const char *what);
uint64_t U64Of(Napi::Value value, const char *what);
uint32_t U32Of(Napi::Value value, const char *what);
/* A time: milliseconds as a number, or nanoseconds as a bigint. */
int64_t NsOf(Napi::Value value, const char *what);

/* An object of options.  Reads those that are asked for; Finish() refuses others. */
class Options
{
  public:
    Options(Napi::Value value, const char *what);
    Napi::Value Get(const char *name);
    bool Has(const char *name);
    bool Flag(const char *name, bool other = false);
    uint64_t U64(const char *name);
    uint32_t U32(const char *name);
    int64_t Ns(const char *name);
    double Real(const char *name);
    std::string Text(const char *name);
    void Finish();

  private:
    Napi::Env env_;
    Napi::Value value_;
    std::string what_;
    std::set<std::string> known_;
};

/* A spec with the memory of what it points to. */
struct Spec {
    struct tamis_filter_spec spec;
    std::string hash_set, key_rule;
    explicit Spec(Options &options);
    Spec(const Spec &) = delete;
    Spec &operator=(const Spec &) = delete;
};
uint32_t PagesOf(Napi::Value value);

/* One key: a string, or bytes that are not copied.  No JavaScript may run while it lives. */
class Key
{
  public:
    Key(napi_env env, napi_value value);
    const void *data = nullptr;
    size_t bytes = 0;
    bool is_good = false; /* false: an exception is pending */
    bool is_text = false;

  private:
    static constexpr size_t SMALL_UNITS = 512;
    bool TakeText(napi_env env, napi_value value);
    char small_[3 * SMALL_UNITS];
    std::string large_;
};

/* Keys that ../lib/pack.js has packed: (text or bytes, lengths, count). */
struct Keys {
    std::string text;
    const char *bytes = nullptr; /* of `text`, or of an array that the job keeps */
    const uint32_t *lengths = nullptr;
    size_t count = 0;
    bool has_units = false; /* lengths are of UTF-16, and a newline is behind each key */
    size_t all_bytes = 0;
    std::vector<struct tamis_key> keys;

    /* From info[at], info[at + 1] and info[at + 2]; keeps them in the job. */
    static std::shared_ptr<Keys> Of(const Napi::CallbackInfo &info, size_t at, Job &job);
    /* Where each key is; any thread. */
    void Locate();
};
constexpr size_t KEYS_ARGUMENTS = 3;

/* ---- Values --------------------------------------------------------------------------------- */

Napi::Value NumberOf(Napi::Env env, uint64_t number);
Napi::Value BytesOf(Napi::Env env, const void *data, size_t bytes);
/* A text that may come from a damaged file: not always UTF-8. */
Napi::Value StringOf(Napi::Env env, const char *text);
Napi::Object FilterStatOf(Napi::Env env, const struct tamis_filter_stat &stat);
Napi::Object SegmentStatOf(Napi::Env env, const struct tamis_segment_stat &stat);
Napi::Object GenerationOf(Napi::Env env, const struct tamis_generation_stat &stat);
Napi::Object BuildResultOf(Napi::Env env, const struct tamis_build_result &result);
Napi::Object PublishResultOf(Napi::Env env, const struct tamis_publish_result &result);
Napi::Object SizingOf(Napi::Env env, const struct tamis_sizing &sizing);
Napi::Object SpecOf(Napi::Env env, const struct tamis_filter_spec &spec);
Napi::Array FieldsOf(Napi::Env env);

/* Collects a std::vector<struct tamis_filter_stat> from the lists of the library. */
int CollectStat(void *context, const struct tamis_filter_stat *stat);
Napi::Value StatsOf(Napi::Env env, const std::vector<struct tamis_filter_stat> &stats);

/* ---- Classes -------------------------------------------------------------------------------- */

/* The Use of an argument that is a Store or a Filter; throws a TypeError for another. */
std::shared_ptr<Use> StoreUseOf(Napi::Value value);
std::shared_ptr<Use> FilterUseOf(Napi::Value value);

/* What the calls for one key take in the place of a Filter. */
Napi::Value PointerTo(Napi::Env env, const std::shared_ptr<Use> &use);

void InitKeys(Napi::Env env, Napi::Object exports);
void InitStore(Napi::Env env, Napi::Object exports);
void InitFilter(Napi::Env env, Napi::Object exports);
void InitBuild(Napi::Env env, Napi::Object exports);
void InitWatch(Napi::Env env, Napi::Object exports);
void InitLibrary(Napi::Env env, Napi::Object exports);

/* exchange.cc */
Napi::Value ExportFilter(const Napi::CallbackInfo &info, const std::shared_ptr<Use> &use);
Napi::Value ImportFilter(const Napi::CallbackInfo &info, const std::shared_ptr<Use> &use);
Napi::Value PublishFilter(const Napi::CallbackInfo &info, const std::shared_ptr<Use> &use);

/* An exception of a filter; both calls that list them collect these. */
struct Exception {
    std::string key;
    uint64_t generation;
};
int CollectException(void *context, const struct tamis_key *key, uint64_t generation);
Napi::Value ExceptionsOf(Napi::Env env, const std::vector<Exception> &exceptions);

inline tamis_store *StoreOf(const std::shared_ptr<Use> &use)
{
    return static_cast<tamis_store *>(use->Handle());
}

inline tamis_filter *FilterOf(const std::shared_ptr<Use> &use)
{
    return static_cast<tamis_filter *>(use->Handle());
}

/* The first argument of each call that may wait: whether it is to be done at once. */
inline bool IsSync(const Napi::CallbackInfo &info)
{
    return info[0].ToBoolean().Value();
}

} // namespace tamis_node

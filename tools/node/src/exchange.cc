/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exchange.cc: filters as streams: to and from a file, or bytes in memory.
 *
 * The library calls for the next piece from the thread that it runs in, where no JavaScript can
 * run.  So a stream of Node is first brought to a file or into memory, by who has it.
 */
#include "common.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tamis_node
{

/* A file or bytes in memory, read from the start or written at the end. */
struct Stream {
    std::string path; /* "" for bytes in memory */
    std::string bytes;
    size_t at = 0;
    FILE *file = nullptr;
    std::string trouble; /* of the file: what the library cannot know */

    Stream() = default;
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    ~Stream()
    {
        if (file) (void)fclose(file);
    }
    bool Open(const char *mode)
    {
        if (path.empty()) return true;
        file = fopen(path.c_str(), mode);
        if (!file) Failed("cannot be opened");
        return file != nullptr;
    }
    void Failed(const char *what)
    {
        trouble = "'" + path + "' " + what + ": " + strerror(errno);
    }
};

static int WritePiece(void *context, const void *data, size_t bytes)
{
    auto *stream = static_cast<Stream *>(context);

    if (stream->file) {
        if (fwrite(data, 1, bytes, stream->file) == bytes) return 0;
        stream->Failed("cannot be written");
        return errno == ENOSPC ? TAMIS_ENOSPACE : TAMIS_EIO;
    }
    try {
        stream->bytes.append(static_cast<const char *>(data), bytes);
    } catch (const std::bad_alloc &) {
        return TAMIS_ENOMEM;
    }
    return 0;
}

static int64_t ReadPiece(void *context, void *buffer, size_t bytes)
{
    auto *stream = static_cast<Stream *>(context);

    if (stream->file) {
        size_t got = fread(buffer, 1, bytes, stream->file);
        if (got > 0 || !ferror(stream->file)) return static_cast<int64_t>(got);
        stream->Failed("cannot be read");
        return TAMIS_EIO;
    }
    size_t left = stream->bytes.size() - stream->at;
    if (bytes > left) bytes = left;
    memcpy(buffer, stream->bytes.data() + stream->at, bytes);
    stream->at += bytes;
    return static_cast<int64_t>(bytes);
}

/* A job on a stream: the trouble of the file stands in the sentence. */
static void SetRun(Job *job, const std::shared_ptr<Stream> &stream, const char *mode,
                   const std::function<int64_t()> &call)
{
    job->run = [=]() -> int64_t {
        if (!stream->Open(mode)) return TAMIS_EIO;
        int64_t rc = call();
        if (stream->file && fclose(stream->file) != 0 && rc >= 0) {
            stream->Failed("cannot be written");
            rc = TAMIS_EIO;
        }
        stream->file = nullptr;
        return rc;
    };
    job->said = [=]() { return stream->trouble; };
}

/* (isSync, format, options, path or undefined): bytes, or undefined */
Napi::Value ExportFilter(const Napi::CallbackInfo &info, const std::shared_ptr<Use> &use)
{
    auto job = std::make_unique<Job>();
    auto format = std::make_shared<std::string>(TextOf(info[1], "the format"));
    Options options(info[2], "export()");
    auto stream = std::make_shared<Stream>();
    bool is_file = info[3].IsString();
    unsigned flags = 0;

    if (options.Flag("withKey")) flags |= TAMIS_EXPORT_WITH_KEY;
    if (options.Flag("withoutExceptions")) flags |= TAMIS_EXPORT_WITHOUT_EXCEPTIONS;
    if (options.Flag("withDigest")) flags |= TAMIS_EXPORT_WITH_DIGEST;
    uint64_t from = options.U64("from"), bytes = options.U64("bytes");
    options.Finish();
    if (is_file) stream->path = TextOf(info[3], "the path of a file");
    job->uses.push_back(use);
    SetRun(job.get(), stream, "wb", [=]() -> int64_t {
        struct tamis_sink sink = TAMIS_INIT(struct tamis_sink);
        sink.write = WritePiece;
        sink.context = stream.get();
        sink.from = from;
        sink.bytes = bytes;
        return tamis_filter_export(FilterOf(use), format->c_str(), flags, &sink);
    });
    job->done = [=](Napi::Env env, int64_t) -> Napi::Value {
        if (is_file) return env.Undefined();
        return BytesOf(env, stream->bytes.data(), stream->bytes.size());
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* What an import or a publication is called with. */
struct Importing {
    std::string name, format, hash_set, origin;
    struct tamis_import_spec spec = TAMIS_INIT(struct tamis_import_spec);
    std::shared_ptr<Stream> stream = std::make_shared<Stream>();
    struct tamis_source source = TAMIS_INIT(struct tamis_source);
};

static void TakeSource(Importing *importing, Napi::Value from)
{
    if (from.IsString()) {
        importing->stream->path = TextOf(from, "the path of a file");
        if (importing->stream->path.empty())
            throw InvalidError(from.Env(), "the path of the file is empty");
        if (importing->origin.empty()) importing->origin = importing->stream->path;
    } else {
        Key bytes(from.Env(), from); /* copied: JavaScript may change them meanwhile */
        if (!bytes.is_good) throw from.Env().GetAndClearPendingException();
        importing->stream->bytes.assign(static_cast<const char *>(bytes.data), bytes.bytes);
        importing->source.bytes = bytes.bytes;
    }
    importing->source.read = ReadPiece;
    importing->source.context = importing->stream.get();
}

/* (isSync, name, format, source, options); the caller finishes the options. */
static std::shared_ptr<Importing> ImportingOf(const Napi::CallbackInfo &info, Options &options)
{
    auto importing = std::make_shared<Importing>();
    struct tamis_import_spec *spec = &importing->spec;

    importing->name = TextOf(info[1], "the name of a filter");
    importing->format = TextOf(info[2], "the format");
    importing->hash_set = options.Text("hashSet");
    importing->origin = options.Text("origin");
    TakeSource(importing.get(), info[3]);
    spec->hash_set = importing->hash_set.empty() ? nullptr : importing->hash_set.c_str();
    spec->origin = importing->origin.empty() ? nullptr : importing->origin.c_str();
    spec->m_bits = options.U64("mBits");
    spec->k = options.U32("k");
    spec->capacity = options.U64("capacity");
    spec->fp_rate = options.Real("fpRate");
    spec->seal_capacity = options.U64("sealCapacity");
    spec->seal_rate = options.Real("sealRate");
    spec->created_at = options.Ns("createdAt");
    spec->signed_at = options.Ns("signedAt");
    if (options.Flag("head")) spec->flags |= TAMIS_IMPORT_HEAD;
    if (options.Flag("asThere")) spec->flags |= TAMIS_IMPORT_AS_THERE;
    if (options.Flag("owned")) spec->flags |= TAMIS_IMPORT_OWNED;
    if (options.Flag("durable")) spec->flags |= TAMIS_IMPORT_DURABLE;
    return importing;
}

Napi::Value ImportFilter(const Napi::CallbackInfo &info, const std::shared_ptr<Use> &use)
{
    auto job = std::make_unique<Job>();
    Options options(info[4], "import()");
    auto importing = ImportingOf(info, options);

    options.Finish();
    job->uses.push_back(use);
    SetRun(job.get(), importing->stream, "rb", [=]() -> int64_t {
        return tamis_filter_import(StoreOf(use), importing->name.c_str(), importing->format.c_str(),
                                   &importing->spec, &importing->source, nullptr);
    });
    return Start(info.Env(), IsSync(info), std::move(job));
}

/* (isSync, name, format, source, options, exceptions x 3): the result, with isPublished */
Napi::Value PublishFilter(const Napi::CallbackInfo &info, const std::shared_ptr<Use> &use)
{
    auto job = std::make_unique<Job>();
    Options options(info[4], "publish()");
    auto importing = ImportingOf(info, options);
    auto except = Keys::Of(info, 5, *job);
    struct tamis_publish_spec spec = TAMIS_INIT(struct tamis_publish_spec);
    auto result =
        std::make_shared<struct tamis_publish_result>(TAMIS_INIT(struct tamis_publish_result));

    if (options.Flag("ifChanged")) spec.flags |= TAMIS_PUBLISH_IF_CHANGED;
    if (options.Flag("newer")) spec.flags |= TAMIS_PUBLISH_NEWER;
    if (options.Has("keep")) spec.flags |= TAMIS_PUBLISH_KEEP;
    spec.keep = options.U32("keep");
    options.Finish();
    job->uses.push_back(use);
    SetRun(job.get(), importing->stream, "rb", [=]() -> int64_t {
        struct tamis_publish_spec with = spec;
        except->Locate();
        with.import = &importing->spec;
        with.except = except->keys.data();
        with.except_count = except->count;
        return tamis_filter_publish(StoreOf(use), importing->name.c_str(),
                                    importing->format.c_str(), &with, &importing->source,
                                    result.get());
    });
    job->done = [=](Napi::Env env, int64_t is_published) -> Napi::Value {
        Napi::Object object = PublishResultOf(env, *result);
        object.Set("isPublished", Napi::Boolean::New(env, is_published == 1));
        return object;
    };
    return Start(info.Env(), IsSync(info), std::move(job));
}

} // namespace tamis_node

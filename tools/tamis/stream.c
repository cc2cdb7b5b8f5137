/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream.c: files and pipes as streams; see stream.h.
 *
 * A file is written under a temporary name in the same directory, and gets its name when it is
 * complete. So neither a full disk nor a signal can leave half a file or destroy the old one.
 */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "redis_url.h"

bool stream_peer_is_given(const struct invocation *call, const char *option)
{
    char known[128] = "";
    const char *peer = call->options.peer;
    const char *scheme_end = peer != NULL ? strstr(peer, "://") : NULL;
    if (peer != NULL && redis_is_url(peer)) return true;
    if (scheme_end != NULL) { /* there may be a password in what follows */
        (void)cli_fail_usage(
            call->command,
            "a server can be reached as redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], rediss:// "
            "(TLS) or unix://[[USER]:PASSWORD@]/PATH, not as %.*s://",
            (int)(scheme_end - peer), peer);
        return false;
    }
    for (unsigned i = 0; tamis_format_name(i) != NULL; i++) {
        if (peer != NULL && strcmp(tamis_format_name(i), peer) == 0) return true;
        (void)strcat(strcat(known, tamis_format_name(i)), ", ");
    }
    if (peer != NULL)
        (void)cli_fail_usage(call->command, "there is no format '%s'; give %sor redis://...", peer,
                             known);
    else
        (void)cli_fail_usage(call->command, "%s is missing; give %sor redis://...", option, known);
    return false;
}

struct file_stream {
    struct stream stream;
    int fd;
    char *path;      /* NULL: written to directly, as a pipe or a device is */
    char *temporary; /* beside path; NULL once it has its name */
    bool force;
};

static struct file_stream *file_of(struct stream *stream)
{
    return (struct file_stream *)stream; /* its first member */
}

static int tell_failure(struct stream *stream, const char *verb)
{
    const int error = errno;
    if (error == EINTR && interrupt_signal())
        (void)cli_interrupted(" before %s was open; nothing was done", stream->name);
    else if (error == EPIPE && file_of(stream)->fd == STDOUT_FILENO)
        out_note_closed(); /* as of any other output */
    else
        cli_tell("cannot %s %s: %s", verb, stream->name, strerror(error));
    stream->failed = true;
    return TAMIS_EIO;
}

static int64_t file_read(struct stream *stream, void *buffer, size_t bytes)
{
    const int fd = file_of(stream)->fd;
    for (;;) {
        interrupt_wait_readable(fd);
        if (interrupt_signal()) return TAMIS_EIO;
        const ssize_t got = read(fd, buffer, bytes);
        if (got >= 0) return got;
        if (errno != EINTR && errno != EAGAIN) return tell_failure(stream, "read");
    }
}

/* Writes to a pipe or a device in steps that cannot block, so that a signal is noticed. */
static int file_write(struct stream *stream, const void *data, size_t bytes)
{
    struct file_stream *file = file_of(stream);
    const char *from = data;
    while (bytes > 0) {
        size_t now = bytes;
        if (file->path == NULL) {
            interrupt_wait_writable(file->fd);
            if (now > PIPE_BUF) now = PIPE_BUF;
        }
        if (interrupt_signal()) return TAMIS_EIO;
        const ssize_t put = write(file->fd, from, now);
        if (put < 0 && errno != EINTR && errno != EAGAIN) return tell_failure(stream, "write");
        if (put < 0) continue;
        from += put;
        bytes -= (size_t)put;
    }
    return 0;
}

int stream_fail_exists(const char *name)
{
    return cli_fail("%s is there already; --force replaces it", name);
}

static bool file_sync(struct stream *stream)
{
    const struct file_stream *file = file_of(stream);
    if (file->path == NULL || fsync(file->fd) == 0) return true;
    (void)tell_failure(stream, "write");
    return false;
}

/* The temporary file becomes the file: rename() replaces, link() refuses to. */
static bool file_keep(struct stream *stream)
{
    struct file_stream *file = file_of(stream);
    if (file->path == NULL) return true;
    if (!file_sync(stream)) return false;
    if (file->force ? rename(file->temporary, file->path) : link(file->temporary, file->path)) {
        if (errno == EEXIST)
            (void)stream_fail_exists(stream->name);
        else
            (void)tell_failure(stream, "make");
    } else {
        if (!file->force) (void)unlink(file->temporary);
        free(file->temporary);
        file->temporary = NULL;
        return true;
    }
    return false;
}

static void file_close(struct stream *stream)
{
    struct file_stream *file = file_of(stream);
    if (file->temporary != NULL) (void)unlink(file->temporary);
    if (file->fd > STDERR_FILENO) (void)close(file->fd);
    free(file->temporary);
    free(file->path);
    free(stream->name);
    free(file);
}

static const struct stream_kind FILE_KIND = {
    .read = file_read,
    .write = file_write,
    .sync = file_sync,
    .keep = file_keep,
    .close = file_close,
};

static struct file_stream *file_new(const char *name)
{
    struct file_stream *file = cli_alloc(sizeof *file);
    *file =
        (struct file_stream){.stream = {.kind = &FILE_KIND, .name = cli_strdup(name)}, .fd = -1};
    return file;
}

struct stream *stream_read_file(const char *path)
{
    struct stat st;
    const bool standard = strcmp(path, "-") == 0;
    struct file_stream *file = file_new(standard ? "standard input" : path);
    file->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &st) != 0) {
        (void)tell_failure(&file->stream, "open");
    } else if (S_ISDIR(st.st_mode)) {
        cli_tell("%s is a directory; name a file, or - for standard input", path);
    } else {
        const off_t read_before = standard ? lseek(file->fd, 0, SEEK_CUR) : 0;
        if (S_ISREG(st.st_mode) && read_before >= 0 && read_before < st.st_size)
            file->stream.all_bytes = (uint64_t)(st.st_size - read_before);
        return &file->stream;
    }
    stream_close(&file->stream);
    return NULL;
}

#define LINKS_MAX 40 /* as the kernel has it */

/* Where a symbolic link leads, so that the file there is replaced and not the link; else `path`.
 * The file need not be there.  The caller frees it. */
static char *target_of(const char *path)
{
    char *at = cli_strdup(path);
    for (int i = 0; i < LINKS_MAX; i++) {
        char target[PATH_MAX];
        const ssize_t bytes = readlink(at, target, sizeof target - 1);
        if (bytes < 0) break; /* it is no link */
        target[bytes] = '\0';
        const char *slash = strrchr(at, '/');
        const int folder = slash != NULL && target[0] != '/' ? (int)(slash + 1 - at) : 0;
        char *next = cli_format("%.*s%s", folder, at, target);
        free(at);
        at = next;
    }
    return at;
}

/* Makes the file beside `path` that will get its name. */
static bool make_temporary(struct file_stream *file, const char *path)
{
    const mode_t mask = umask(0);
    (void)umask(mask);
    file->path = target_of(path);
    file->temporary = cli_format("%s.XXXXXX", file->path);
    file->fd = mkostemp(file->temporary, O_CLOEXEC);
    if (file->fd >= 0 && fchmod(file->fd, 0666 & ~mask) == 0) return true;
    (void)tell_failure(&file->stream, "make");
    if (file->fd < 0) { /* nothing to remove */
        free(file->temporary);
        file->temporary = NULL;
    }
    return false;
}

struct stream *stream_write_file(const char *path, bool force)
{
    struct stat st;
    const bool standard = strcmp(path, "-") == 0;
    struct file_stream *file = file_new(standard ? "standard output" : path);
    file->force = force;
    if (standard) {
        file->fd = STDOUT_FILENO;
        return &file->stream;
    }
    if (stat(path, &st) != 0 ? errno == ENOENT : S_ISREG(st.st_mode)) {
        if (!force && access(path, F_OK) == 0)
            (void)stream_fail_exists(path);
        else if (make_temporary(file, path))
            return &file->stream;
    } else {
        file->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY); /* a pipe, a device */
        if (file->fd >= 0) return &file->stream;
        if (errno == EISDIR)
            cli_tell("%s is a directory; name a file, or - for standard output", path);
        else
            (void)tell_failure(&file->stream, "open");
    }
    stream_close(&file->stream);
    return NULL;
}

bool stream_is_terminal(const struct stream *stream)
{
    const struct file_stream *file = (const struct file_stream *)stream;
    return stream->kind == &FILE_KIND && isatty(file->fd) == 1;
}

/* ---- What the library is lent ---------------------------------------------------------------- */

static int64_t read_through(void *context, void *buffer, size_t bytes)
{
    struct stream *stream = context;
    if (interrupt_signal()) return TAMIS_EIO;
    const int64_t got = stream->kind->read(stream, buffer, bytes);
    if (got > 0) stream->done_bytes += (uint64_t)got;
    progress_update_bytes(stream->done_bytes, stream->all_bytes);
    return got;
}

static int write_through(void *context, const void *data, size_t bytes)
{
    struct stream *stream = context;
    if (interrupt_signal()) return TAMIS_EIO;
    const int rc = stream->kind->write(stream, data, bytes);
    if (rc == 0) stream->done_bytes += bytes;
    progress_update_bytes(stream->done_bytes, stream->all_bytes);
    return rc;
}

struct tamis_source stream_source(struct stream *stream)
{
    return (struct tamis_source){.size = sizeof(struct tamis_source),
                                 .read = read_through,
                                 .context = stream,
                                 .bytes = stream->all_bytes};
}

struct tamis_sink stream_sink(struct stream *stream)
{
    return (struct tamis_sink){
        .size = sizeof(struct tamis_sink), .write = write_through, .context = stream};
}

int stream_open_status(void)
{
    return interrupt_signal() ? 128 + interrupt_signal() : CLI_ERROR;
}

bool stream_sync(struct stream *stream)
{
    return stream->kind->sync == NULL || stream->kind->sync(stream);
}

bool stream_keep(struct stream *stream)
{
    return stream->kind->keep(stream);
}

void stream_close(struct stream *stream)
{
    if (stream != NULL) stream->kind->close(stream);
}

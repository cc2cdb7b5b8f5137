/* SPDX-License-Identifier: BSD-2-Clause */
/* log.c: see log.h. */
#include "log/log.h"

#include <fcntl.h>

#include "log/points.h"
#include "os/inside.h"
#include "os/io.h"

#define PATH_BYTES 4200 /* PATH_MAX and a log's name */
#define DIRECTORY "logs"

/* The most that a log grows by at once; reasoned, not measured.  To grow is to write zeros and sync
 * them.  Each step is as long as the log itself, so steps come ever more rarely; the bound limits
 * how long the add waits that meets a step. */
#define STEP_BYTES_MAX ((uint64_t)8 << 20)

/* Bytes that are looked at together when a log is read. */
#define WINDOW_BYTES ((size_t)1 << 20)

/* ---- Names ----------------------------------------------------------------------------------- */

static void write_name(uint64_t filter_id, uint64_t nonce, const char *end,
                       char name[TAMIS__LOG_NAME_BYTES])
{
    (void)snprintf(name, TAMIS__LOG_NAME_BYTES, "%016" PRIx64 "-%016" PRIx64 ".%s", filter_id,
                   nonce, end);
}

static bool parse_hex(const char *text, uint64_t *number)
{
    *number = 0;
    for (int i = 0; i < 16; i++) {
        const char c = text[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
        *number = *number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

static bool parse_name(const char *name, const char *end, uint64_t *filter_id, uint64_t *nonce)
{
    return parse_hex(name, filter_id) && name[16] == '-' && parse_hex(name + 17, nonce) &&
           name[33] == '.' && strcmp(name + 34, end) == 0;
}

bool tamis__log_parse_name(const char *name, uint64_t *filter_id, uint64_t *nonce)
{
    return parse_name(name, "log", filter_id, nonce);
}

static const char *path_of(const struct tamis__logs *logs, const char *name, char what[PATH_BYTES])
{
    (void)snprintf(what, PATH_BYTES, "%s/" DIRECTORY "%s%s", logs->path, *name ? "/" : "", name);
    return what;
}

/* ---- The directory --------------------------------------------------------------------------- */

/* Opens logs/.  TAMIS_ENOTFOUND if there is none, as in a store without durable filters. */
static int open_logs(const struct tamis__logs *logs, int *fd)
{
    char what[PATH_BYTES];
    int rc = tamis__open(logs->root_fd, DIRECTORY, O_RDONLY | O_DIRECTORY, 0,
                         path_of(logs, "", what), fd);
    if (rc < 0) return rc;
    rc = tamis__inside_check_owner(logs->root_fd, *fd, what);
    if (rc < 0) tamis__close(*fd);
    return rc;
}

static int make_directory(const struct tamis__logs *logs, int *fd)
{
    char what[PATH_BYTES];
    int rc = open_logs(logs, fd);
    if (rc != TAMIS_ENOTFOUND) return rc;
    rc = tamis__inside_make_directory(logs->root_fd, DIRECTORY, 0, path_of(logs, "", what));
    if (rc == 0) rc = tamis__sync_file(logs->root_fd, logs->path);
    return rc < 0 ? rc : open_logs(logs, fd);
}

struct visit {
    const struct tamis__logs *logs;
    int directory_fd;
    uint64_t filter_id;
    tamis__log_fn *fn;
    void *context;
};

/* Removes a log that was being made, if its maker is dead. */
static int sweep_one(void *context, const char *name)
{
    const struct visit *visit = context;
    char what[PATH_BYTES];
    struct tamis__private_fd file;
    uint64_t filter_id, nonce;
    if (!parse_name(name, "new", &filter_id, &nonce)) return 0;
    (void)path_of(visit->logs, name, what);
    if (tamis__inside_open_private(visit->directory_fd, name, O_RDWR, what, &file) < 0) return 0;
    if (tamis__try_lock(file.fd, TAMIS__LOCK_EXCLUSIVE, what) > 0)
        (void)tamis__unlink(visit->directory_fd, name, what);
    tamis__private_close(&file);
    return 0;
}

int tamis__logs_each_name(const struct tamis__logs *logs, tamis__name_fn *fn, void *context)
{
    char what[PATH_BYTES];
    int directory_fd, rc = open_logs(logs, &directory_fd);
    if (rc < 0) return rc == TAMIS_ENOTFOUND ? 0 : rc;
    rc = tamis__each_name(directory_fd, path_of(logs, "", what), fn, context);
    tamis__close(directory_fd);
    return rc;
}

static int visit_one(void *context, const char *name)
{
    const struct visit *visit = context;
    uint64_t filter_id, nonce;
    if (!tamis__log_parse_name(name, &filter_id, &nonce)) return 0;
    if (visit->filter_id != 0 && visit->filter_id != filter_id) return 0;
    return visit->fn(visit->context, filter_id, name);
}

int tamis__logs_each(const struct tamis__logs *logs, uint64_t filter_id, tamis__log_fn *fn,
                     void *context)
{
    struct visit visit = {.filter_id = filter_id, .fn = fn, .context = context};
    return tamis__logs_each_name(logs, visit_one, &visit);
}

/* ---- Making one ------------------------------------------------------------------------------ */

/* Writes zeros up to `bytes`.  If this fails, the log is as it was. */
static int grow_log(const struct tamis__logs *logs, struct tamis__log *log, uint64_t bytes)
{
    static const unsigned char zeros[65536];
    char what[PATH_BYTES];
    (void)path_of(logs, log->name, what);
    /* Reserve the bytes in one piece if that is possible, so that a full disk is found before it
     * is written to. */
    int rc = tamis__reserve(log->file.fd, log->bytes, bytes - log->bytes, what, "");
    for (uint64_t at = log->bytes; rc == 0 && at < bytes;) {
        const size_t now = bytes - at < sizeof zeros ? (size_t)(bytes - at) : sizeof zeros;
        rc = tamis__write_at(log->file.fd, zeros, now, at, what);
        at += now;
    }
    if (rc < 0) return rc;
    rc = tamis__sync_file(log->file.fd, what);
    if (rc == 0) log->bytes = bytes;
    log->failed |= rc < 0;
    return rc;
}

static int write_header(const struct tamis__logs *logs, struct tamis__log *log)
{
    char what[PATH_BYTES];
    struct tamis__log_header header = {.store_id = logs->store_id,
                                       .filter_id = log->filter_id,
                                       .nonce = log->nonce,
                                       .created_at = tamis__now_ns()};
    (void)tamis__boot_id(header.boot_id);
    tamis__log_header_seal(&header);
    const int rc =
        tamis__write_at(log->file.fd, &header, sizeof header, 0, path_of(logs, log->name, what));
    if (rc == 0) log->bytes = log->end = sizeof header;
    return rc;
}

/* The file is made under another name first, so that a file under its own name is whole.  Returns
 * 1, or 0 if a sweeper took it away. */
static int make_file(const struct tamis__logs *logs, int directory_fd, struct tamis__log *log)
{
    char what[PATH_BYTES], name[TAMIS__LOG_NAME_BYTES];
    write_name(log->filter_id, log->nonce, "new", log->name);
    write_name(log->filter_id, log->nonce, "log", name);
    (void)path_of(logs, log->name, what);
    int rc = tamis__inside_make_private(logs->root_fd, directory_fd, log->name, what, &log->file);
    if (rc < 0) return rc;
    rc = tamis__try_lock(log->file.fd, TAMIS__LOCK_EXCLUSIVE, what);
    if (rc > 0) rc = tamis__exists(directory_fd, log->name, what);
    if (rc <= 0) return rc; /* 0: a sweeper has it, and may be stopped */
    rc = write_header(logs, log);
    if (rc == 0) rc = grow_log(logs, log, TAMIS__LOG_FIRST_BYTES);
    TAMIS__POINT(TAMIS__POINT_LOG_MADE);
    if (rc == 0) rc = tamis__rename(directory_fd, log->name, directory_fd, name, what);
    if (rc < 0) {
        (void)tamis__unlink(directory_fd, log->name, what);
        return rc;
    }
    memcpy(log->name, name, sizeof name);
    rc = tamis__sync_file(directory_fd, what);
    TAMIS__POINT(TAMIS__POINT_LOG_NAMED);
    if (rc < 0) (void)tamis__unlink(directory_fd, log->name, what);
    return rc < 0 ? rc : 1;
}

int tamis__log_create(const struct tamis__logs *logs, uint64_t filter_id, struct tamis__log *log)
{
    struct visit visit = {.logs = logs, .directory_fd = -1};
    char what[PATH_BYTES];
    *log = (struct tamis__log){.file = {.fd = -1}, .filter_id = filter_id, .epoch = 1};
    int rc = make_directory(logs, &visit.directory_fd);
    if (rc < 0) return rc;
    (void)tamis__each_name(visit.directory_fd, path_of(logs, "", what), sweep_one, &visit);
    do {
        tamis__random_bytes(&log->nonce, sizeof log->nonce);
        rc = make_file(logs, visit.directory_fd, log);
        if (rc <= 0) tamis__private_close(&log->file);
    } while (rc == 0);
    tamis__close(visit.directory_fd);
    if (rc < 0) log->failed = false; /* no frame was in it */
    return rc < 0 ? rc : 0;
}

/* ---- Appending ------------------------------------------------------------------------------- */

int tamis__log_reach(const struct tamis__logs *logs, struct tamis__log *log, uint64_t bytes)
{
    if (bytes <= log->bytes) return 0;
    uint64_t step = log->bytes < STEP_BYTES_MAX ? log->bytes : STEP_BYTES_MAX;
    if (step < bytes - log->bytes) step = bytes - log->bytes;
    return grow_log(logs, log,
                    (log->bytes + step + TAMIS__LOG_FIRST_BYTES - 1) / TAMIS__LOG_FIRST_BYTES *
                        TAMIS__LOG_FIRST_BYTES);
}

int tamis__log_write(const struct tamis__logs *logs, const struct tamis__log *log, uint64_t offset,
                     const void *frames, size_t bytes)
{
    char what[PATH_BYTES];
    return tamis__write_at(log->file.fd, frames, bytes, offset, path_of(logs, log->name, what));
}

int tamis__log_sync(const struct tamis__logs *logs, const struct tamis__log *log)
{
    char what[PATH_BYTES];
    return tamis__sync_data(log->file.fd, path_of(logs, log->name, what));
}

void tamis__log_rewind(struct tamis__log *log)
{
    log->epoch++;
    log->end = TAMIS__LOG_HEADER_BYTES;
}

int tamis__log_unlink(const struct tamis__logs *logs, const struct tamis__log *log)
{
    char what[PATH_BYTES];
    int directory_fd, rc = open_logs(logs, &directory_fd);
    if (rc < 0) return rc == TAMIS_ENOTFOUND ? 0 : rc;
    rc = tamis__unlink(directory_fd, log->name, path_of(logs, log->name, what));
    tamis__close(directory_fd);
    return rc;
}

int tamis__log_remove(const struct tamis__logs *logs, struct tamis__log *log)
{
    const int rc = tamis__log_unlink(logs, log);
    if (rc == 0) tamis__log_close(log);
    return rc;
}

void tamis__log_close(struct tamis__log *log)
{
    tamis__private_close(&log->file);
}

/* ---- Logs of others -------------------------------------------------------------------------- */

int tamis__log_judge(const struct tamis__logs *logs, const struct tamis__log *log,
                     const char **reason)
{
    char what[PATH_BYTES];
    struct tamis__log_header header;
    const size_t bytes = log->bytes < sizeof header ? (size_t)log->bytes : sizeof header;
    int rc = tamis__read_at(log->file.fd, &header, bytes, 0, path_of(logs, log->name, what));
    *reason = "cannot be read";
    if (rc < 0) return rc;
    rc = tamis__log_header_check(&header, bytes, reason);
    if (rc == TAMIS_EFOREIGN) return TAMIS_ECORRUPT; /* by its name it is one */
    if (rc < 0) return rc;
    *reason = "belongs to another store; take it away";
    if (header.store_id != logs->store_id) return TAMIS_EFOREIGN;
    *reason = "has a header of another log";
    if (header.filter_id != log->filter_id || header.nonce != log->nonce) return TAMIS_ECORRUPT;
    *reason = "is shorter than any log is when it gets its name";
    return log->bytes < TAMIS__LOG_FIRST_BYTES ? TAMIS_ECORRUPT : 0;
}

int tamis__log_look(const struct tamis__logs *logs, const char *name, struct tamis__log *log)
{
    char what[PATH_BYTES];
    struct tamis__file_info info;
    int directory_fd;
    *log = (struct tamis__log){.file = {.fd = -1}};
    (void)snprintf(log->name, sizeof log->name, "%s", name);
    (void)tamis__log_parse_name(name, &log->filter_id, &log->nonce);
    int rc = open_logs(logs, &directory_fd);
    if (rc < 0) return rc;
    (void)path_of(logs, name, what);
    rc = tamis__inside_open_private(directory_fd, name, O_RDONLY, what, &log->file);
    tamis__close(directory_fd);
    if (rc == 0) rc = tamis__file_info(log->file.fd, what, &info);
    if (rc == 0)
        log->bytes = info.bytes;
    else
        tamis__private_close(&log->file);
    return rc;
}

int tamis__log_try_lock(const struct tamis__logs *logs, const struct tamis__log *log)
{
    char what[PATH_BYTES];
    return tamis__try_lock(log->file.fd, TAMIS__LOCK_EXCLUSIVE, path_of(logs, log->name, what));
}

/* A log whose header is damaged has its frames all the same. */
static int may_take(const struct tamis__logs *logs, struct tamis__log *log)
{
    const char *reason;
    char what[PATH_BYTES];
    const int rc = tamis__log_judge(logs, log, &reason);
    if (rc == TAMIS_EVERSION || rc == TAMIS_EFOREIGN)
        return tamis__fail(rc, "%s %s", path_of(logs, log->name, what), reason);
    log->damaged = rc == TAMIS_ECORRUPT;
    return log->damaged ? 0 : rc;
}

int tamis__log_take(const struct tamis__logs *logs, const char *name, struct tamis__log *log)
{
    char what[PATH_BYTES];
    struct tamis__file_info info;
    int directory_fd;
    *log = (struct tamis__log){.file = {.fd = -1}};
    (void)snprintf(log->name, sizeof log->name, "%s", name);
    if (!tamis__log_parse_name(name, &log->filter_id, &log->nonce)) return 0;
    int rc = open_logs(logs, &directory_fd);
    if (rc < 0) return rc == TAMIS_ENOTFOUND ? 0 : rc;
    (void)path_of(logs, name, what);
    rc = tamis__inside_open_private(directory_fd, name, O_RDWR, what, &log->file);
    if (rc == 0) rc = tamis__log_try_lock(logs, log);
    if (rc > 0) rc = tamis__exists(directory_fd, name, what);
    tamis__close(directory_fd);
    if (rc > 0) {
        rc = tamis__file_info(log->file.fd, what, &info);
        if (rc == 0) log->bytes = info.bytes;
        if (rc == 0) rc = may_take(logs, log);
        if (rc == 0) return 1;
    }
    tamis__private_close(&log->file);
    return rc == TAMIS_ENOTFOUND ? 0 : rc;
}

/* ---- Reading it again ------------------------------------------------------------------------ */

/* Part of a log in memory; it grows if a frame is longer. */
struct window {
    unsigned char *buffer;
    size_t room, bytes;
    uint64_t offset;
};

/* Reads until the window has at least `wanted` bytes from `offset` on, or all that there are. */
static int fill_window(const struct tamis__log *log, struct window *window, uint64_t offset,
                       size_t wanted, const char *what)
{
    const uint64_t left = log->bytes - offset;
    if (wanted > window->room) {
        unsigned char *buffer = realloc(window->buffer, wanted);
        if (buffer == NULL)
            return tamis__fail_at(TAMIS_ENOMEM, what, "out of memory reading %s", what);
        window->buffer = buffer;
        window->room = wanted;
    }
    window->offset = offset;
    window->bytes = left < window->room ? (size_t)left : window->room;
    return tamis__read_at(log->file.fd, window->buffer, window->bytes, offset, what);
}

static int each_frame(struct tamis__log *log, struct window *window, const char *what,
                      tamis__frame_fn *fn, void *context)
{
    uint64_t at = TAMIS__LOG_HEADER_BYTES;
    while (at + TAMIS__FRAME_UNIT <= log->bytes) {
        const uint64_t left = log->bytes - at;
        struct tamis__frame frame;
        size_t wanted = 0, seen = (size_t)(window->offset + window->bytes - at);
        int rc = 0;
        if (seen < TAMIS__FRAME_UNIT) {
            rc = fill_window(log, window, at, WINDOW_BYTES, what);
            seen = window->bytes;
        }
        if (rc < 0) return rc;
        size_t bytes = tamis__frame_read(log->nonce, window->buffer + (at - window->offset), seen,
                                         &frame, &wanted);
        if (wanted > left) log->damaged = true;
        if (wanted > seen && wanted <= left) {
            rc = fill_window(log, window, at, wanted > WINDOW_BYTES ? wanted : WINDOW_BYTES, what);
            if (rc < 0) return rc;
            bytes = tamis__frame_read(log->nonce, window->buffer, window->bytes, &frame, &wanted);
        }
        if (bytes > 0) rc = fn(context, &frame);
        if (rc != 0) return rc;
        at += bytes > 0 ? bytes : TAMIS__FRAME_UNIT;
    }
    return 0;
}

int tamis__log_each_frame(const struct tamis__logs *logs, struct tamis__log *log,
                          tamis__frame_fn *fn, void *context)
{
    char what[PATH_BYTES];
    struct window window = {.offset = TAMIS__LOG_HEADER_BYTES};
    const int rc = each_frame(log, &window, path_of(logs, log->name, what), fn, context);
    free(window.buffer);
    return rc;
}

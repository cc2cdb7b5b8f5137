/* SPDX-License-Identifier: BSD-2-Clause */
/* spool.c: what a pull has received so far, in a file; see spool.h. */
#include "pull/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "pull/url.h"

#define FOLDER "pulls"
#define GIVEN_UP_SECONDS INT64_C(604800) /* a week */
/* A longer base is not used: it would be in memory. */
#define BASE_BYTES_MAX (INT64_C(1) << 30)
#define LOOK_AGAIN_NS 100000000
#define TELL_AFTER_S 1.0

static const char *mend_of(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return "; free some space";
    case EACCES:
    case EPERM:
        return "; 'tamis pull' makes it for the owner of the store, and nobody else's will do";
    case ENOTDIR:
    case ELOOP:
        return "; remove what is in the place of the directory that 'tamis pull' makes";
    default:
        return "";
    }
}

/* `file` is one of the directory, or NULL for the directory itself. */
static int fail(const struct spool *spool, const char *verb, const char *file)
{
    const int error = errno;
    return cli_fail("cannot %s %s%s%s: %s%s", verb, spool->path, file != NULL ? "/" : "",
                    file != NULL ? file : "", strerror(error), mend_of(error));
}

/* ---- The directory --------------------------------------------------------------------------- */

/* Opens STORE/pulls, and makes it as STORE/staging is. */
static int open_folder(struct spool *spool, const char *store_path)
{
    struct stat staging, folder;
    const int root_fd = open(store_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root_fd < 0) return fail(spool, "open", NULL);
    bool good = fstatat(root_fd, "staging", &staging, AT_SYMLINK_NOFOLLOW) == 0;
    const bool is_new = good && mkdirat(root_fd, FOLDER, 0700) == 0;
    good = good && (is_new || errno == EEXIST);
    if (good)
        spool->dir_fd = openat(root_fd, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    good = good && spool->dir_fd >= 0;
    if (good && is_new) { /* only root can give it away; else it is the user's, as it should be */
        const bool given = fchown(spool->dir_fd, staging.st_uid, staging.st_gid) == 0;
        good = (given || errno == EPERM) && fchmod(spool->dir_fd, staging.st_mode & 07777) == 0;
    }
    good = good && fstat(spool->dir_fd, &folder) == 0;
    if (!good) (void)fail(spool, "open", NULL);
    (void)close(root_fd);
    return good ? CLI_DONE : CLI_ERROR;
}

/* Is a file that was in the directory one that a pull has made?  What is no plain file, has a
 * second name, or is somebody else's in a directory that is open to all, is refused, as the library
 * does with the files of a store. */
static bool file_is_good(const struct spool *spool, int fd, struct stat *st)
{
    struct stat folder;
    if (fstat(fd, st) != 0 || fstat(spool->dir_fd, &folder) != 0) return false;
    const mode_t open_to_all = S_ISVTX | S_IWOTH;
    const bool is_ours = st->st_uid == geteuid() || st->st_uid == folder.st_uid;
    errno = EPERM;
    return S_ISREG(st->st_mode) && st->st_nlink <= 1 &&
           ((folder.st_mode & open_to_all) != open_to_all || is_ours);
}

/* Opens a file to write, and makes it with the mode and the owner of the directory. */
static int open_file(const struct spool *spool, const char *name, int flags)
{
    struct stat folder, st;
    int fd =
        openat(spool->dir_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | flags, 0600);
    if (fd < 0) return -1;
    bool good = file_is_good(spool, fd, &st) && fstat(spool->dir_fd, &folder) == 0;
    if (good && st.st_size == 0) {
        const bool given = st.st_uid == folder.st_uid ||
                           fchown(fd, folder.st_uid, folder.st_gid) == 0 || errno == EPERM;
        const mode_t mode = folder.st_mode & 0666;
        good = given && ((st.st_mode & 0777) == mode || fchmod(fd, mode) == 0 || errno == EPERM);
    }
    if (good) return fd;
    const int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

/* ---- The lock -------------------------------------------------------------------------------- */

/* Has the file that is open still its name?  Its user before may have removed it. */
static bool has_name(const struct spool *spool, int fd, const char *name)
{
    struct stat named, own;
    return fstatat(spool->dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &own) == 0 &&
           named.st_dev == own.st_dev && named.st_ino == own.st_ino;
}

/* Opens and locks the file.  1: done; 0: another process has it, or had; below 0 after a message.
 */
static int try_lock(struct spool *spool)
{
    spool->fd = open_file(spool, spool->part, O_CREAT);
    if (spool->fd < 0) {
        (void)fail(spool, "open", spool->part);
        return -1;
    }
    const bool locked = flock(spool->fd, LOCK_EX | LOCK_NB) == 0;
    if (locked && has_name(spool, spool->fd, spool->part)) return 1;
    const bool busy = locked || errno == EWOULDBLOCK || errno == EINTR;
    if (!busy) (void)fail(spool, "lock", spool->part);
    (void)close(spool->fd);
    spool->fd = -1;
    return busy ? 0 : -1;
}

static int64_t wait_limit_ms(const struct invocation *call)
{
    return cli_given(call, TAKES(WAIT)) ? call->options.wait_ms : TAMIS_BUSY_TIMEOUT_DEFAULT;
}

static int wait_for_lock(struct spool *spool, const struct invocation *call, const char *name)
{
    const double start = progress_clock();
    const double limit = (double)wait_limit_ms(call) / 1000;
    bool told = false;
    for (;;) {
        const int rc = try_lock(spool);
        if (rc != 0) return rc < 0 ? CLI_ERROR : CLI_DONE;
        const double waited = progress_clock() - start;
        if (waited >= limit)
            return cli_fail(
                "another process pulls '%s'; wait for its end, or give --wait more time", name);
        if (!told && waited >= TELL_AFTER_S) {
            cli_tell("waiting for another process that pulls '%s'", name);
            told = true;
        }
        (void)interrupt_wait_ns(-1, 0, LOOK_AGAIN_NS);
        if (interrupt_signal()) return cli_interrupted("; nothing was published");
    }
}

/* ---- Opening and closing --------------------------------------------------------------------- */

/* Notes that are being written, before they have the name of those before. */
static void name_of_new(const char *last, char name[40])
{
    (void)snprintf(name, 40, "%s.new", last);
}

/* Takes up what a pull before has received. */
static int take_up(struct spool *spool)
{
    struct stat st;
    char block[NOTES_BYTES], made[40];
    name_of_new(spool->last, made);
    (void)unlinkat(spool->dir_fd, made, 0); /* of a pull that was killed; ours is the lock */
    if (fstat(spool->fd, &st) != 0) return fail(spool, "examine", spool->part);
    const ssize_t got = pread(spool->fd, block, sizeof block, 0);
    if (got < 0) return fail(spool, "read", spool->part);
    if (!notes_parse(block, (size_t)got, &spool->notes)) return spool_empty(spool);
    spool->bytes = (uint64_t)st.st_size - NOTES_BYTES;
    return CLI_DONE;
}

static void nothing_told(void *context, const char *file)
{
    (void)context;
    (void)file;
}

int spool_open(struct spool *spool, const struct invocation *call, const char *path,
               const char *name)
{
    static const struct spool_sweep given_up = {.seconds = GIVEN_UP_SECONDS, .tell = nothing_told};
    const uint64_t id = url_id(name);
    *spool = (struct spool){.path = cli_format("%s/" FOLDER, path), .dir_fd = -1, .fd = -1};
    (void)snprintf(spool->part, sizeof spool->part, "%016" PRIx64 ".part", id);
    (void)snprintf(spool->base, sizeof spool->base, "%016" PRIx64 ".base", id);
    (void)snprintf(spool->last, sizeof spool->last, "%016" PRIx64 ".last", id);
    int status = open_folder(spool, path);
    if (status == CLI_DONE) status = wait_for_lock(spool, call, name);
    if (status == CLI_DONE) status = take_up(spool);
    if (status == CLI_DONE && strcmp(spool->notes.name, name) != 0) status = spool_empty(spool);
    if (status == CLI_DONE)
        (void)spool_sweep(path, &given_up);
    else
        spool_close(spool);
    return status;
}

void spool_close(struct spool *spool)
{
    if (spool->fd >= 0) (void)close(spool->fd);
    if (spool->dir_fd >= 0) (void)close(spool->dir_fd);
    free(spool->path);
    *spool = (struct spool){.dir_fd = -1, .fd = -1};
}

void spool_remove(struct spool *spool)
{
    if (spool->fd >= 0) (void)unlinkat(spool->dir_fd, spool->part, 0);
    spool_close(spool);
}

/* ---- The bytes ------------------------------------------------------------------------------- */

int spool_empty(struct spool *spool)
{
    spool->notes = (struct notes){.bytes = 0};
    spool->bytes = 0;
    return ftruncate(spool->fd, 0) == 0 ? CLI_DONE : fail(spool, "empty", spool->part);
}

static bool write_all(int fd, const char *data, size_t bytes, off_t at)
{
    while (bytes > 0) {
        const ssize_t put = pwrite(fd, data, bytes, at);
        if (put < 0 && errno != EINTR) return false;
        if (put < 0) continue;
        data += put;
        at += put;
        bytes -= (size_t)put;
    }
    return true;
}

int spool_begin(struct spool *spool, const struct notes *notes)
{
    char block[NOTES_BYTES];
    int status = spool_empty(spool);
    if (status != CLI_DONE) return status;
    /* Notes that cannot be written are those of a server that sends what is no ETag. */
    struct notes kept = *notes;
    if (!notes_print(&kept, block)) {
        kept.etag[0] = '\0';
        if (!notes_print(&kept, block)) return cli_fail("the URL or the name is too long to pull");
    }
    if (!write_all(spool->fd, block, sizeof block, 0)) return fail(spool, "write", spool->part);
    spool->notes = kept;
    return CLI_DONE;
}

bool spool_put(struct spool *spool, const void *data, size_t bytes)
{
    if (!write_all(spool->fd, data, bytes, (off_t)(NOTES_BYTES + spool->bytes))) return false;
    spool->bytes += bytes;
    return true;
}

int spool_append(struct spool *spool, const void *data, size_t bytes)
{
    return spool_put(spool, data, bytes) ? CLI_DONE : fail(spool, "write", spool->part);
}

int64_t spool_read(const struct spool *spool, uint64_t at, void *buffer, size_t bytes)
{
    for (;;) {
        const ssize_t got = pread(spool->fd, buffer, bytes, (off_t)(NOTES_BYTES + at));
        if (got >= 0) return got;
        if (errno == EINTR) continue;
        (void)fail(spool, "read", spool->part);
        return -1;
    }
}

uint64_t spool_room(const struct spool *spool)
{
    struct statvfs disk;
    if (fstatvfs(spool->dir_fd, &disk) != 0) return UINT64_MAX;
    return (uint64_t)disk.f_bavail * disk.f_frsize;
}

/* ---- What was last published ----------------------------------------------------------------- */

bool spool_read_last(const struct spool *spool, struct notes *notes)
{
    struct stat st;
    char block[NOTES_BYTES];
    const int fd =
        openat(spool->dir_fd, spool->last, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    bool good = fd >= 0 && file_is_good(spool, fd, &st) && st.st_size == (off_t)sizeof block;
    good = good && pread(fd, block, sizeof block, 0) == (ssize_t)sizeof block &&
           notes_parse(block, sizeof block, notes);
    if (fd >= 0) (void)close(fd);
    return good;
}

void spool_write_last(const struct spool *spool, const struct notes *notes)
{
    char block[NOTES_BYTES], made[40];
    name_of_new(spool->last, made);
    (void)unlinkat(spool->dir_fd, spool->last, 0); /* those before are no longer true */
    if (!notes_print(notes, block)) return;
    const int fd = open_file(spool, made, O_CREAT | O_EXCL);
    if (fd < 0) return;
    const bool good = write_all(fd, block, sizeof block, 0) && fsync(fd) == 0;
    (void)close(fd);
    if (!good || renameat(spool->dir_fd, made, spool->dir_fd, spool->last) != 0)
        (void)unlinkat(spool->dir_fd, made, 0);
}

/* ---- The base of patches --------------------------------------------------------------------- */

void spool_keep_base(struct spool *spool, const struct notes *notes)
{
    char block[NOTES_BYTES];
    const bool kept = notes_print(notes, block) && write_all(spool->fd, block, sizeof block, 0) &&
                      renameat(spool->dir_fd, spool->part, spool->dir_fd, spool->base) == 0;
    if (kept)
        spool_close(spool);
    else
        spool_remove(spool);
}

void spool_remove_base(const struct spool *spool)
{
    (void)unlinkat(spool->dir_fd, spool->base, 0);
}

static void *read_base(const struct spool *spool, int fd, struct notes *notes, size_t *bytes)
{
    struct stat st;
    char block[NOTES_BYTES];
    if (!file_is_good(spool, fd, &st) || st.st_size <= (off_t)sizeof block ||
        st.st_size > (off_t)BASE_BYTES_MAX)
        return NULL;
    if (pread(fd, block, sizeof block, 0) != (ssize_t)sizeof block ||
        !notes_parse(block, sizeof block, notes))
        return NULL;
    *bytes = (size_t)st.st_size - sizeof block;
    char *data = cli_alloc(*bytes);
    for (size_t done = 0; done < *bytes;) {
        const ssize_t got = pread(fd, data + done, *bytes - done, (off_t)(sizeof block + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            free(data);
            return NULL;
        }
        done += (size_t)got;
    }
    return data;
}

void *spool_read_base(const struct spool *spool, struct notes *notes, size_t *bytes)
{
    const int fd =
        openat(spool->dir_fd, spool->base, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return NULL;
    void *data = read_base(spool, fd, notes, bytes);
    (void)close(fd);
    return data;
}

/* ---- Those that were given up ---------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
    const size_t bytes = strlen(name), end_bytes = strlen(end);
    return bytes == 16 + end_bytes && strcmp(name + 16, end) == 0 &&
           strspn(name, "0123456789abcdef") >= 16;
}

/* Has nobody the spool that is open, and has nobody written to it for so long? */
static bool is_given_up(const struct spool *spool, int fd, const char *name, int64_t seconds)
{
    struct stat st;
    if (!file_is_good(spool, fd, &st)) return false;
    if ((int64_t)time(NULL) - (int64_t)st.st_mtime < seconds) return false;
    return flock(fd, LOCK_EX | LOCK_NB) == 0 && has_name(spool, fd, name);
}

/* Is the file that is open, with notes at its head, of a filter that is not there? */
static bool is_of_nothing(const struct spool *spool, int fd, const struct spool_sweep *sweep)
{
    struct stat st;
    struct notes notes;
    char block[NOTES_BYTES];
    if (sweep->exists == NULL || !file_is_good(spool, fd, &st)) return false;
    const ssize_t got = pread(fd, block, sizeof block, 0);
    return got >= 0 && (!notes_parse(block, (size_t)got, &notes) ||
                        sweep->exists(sweep->context, notes.name) == 0);
}

/* Are the notes that are open those of a pull that was killed while it wrote them?  Who writes them
 * has the lock of the spool. */
static bool is_half_written(const struct spool *spool, int fd, const char *name)
{
    struct stat st;
    char part[32];
    if (!file_is_good(spool, fd, &st)) return false;
    (void)snprintf(part, sizeof part, "%.16s.part", name);
    const int part_fd = openat(spool->dir_fd, part, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (part_fd < 0) return errno == ENOENT;
    const bool idle = flock(part_fd, LOCK_EX | LOCK_NB) == 0;
    (void)close(part_fd);
    return idle;
}

/* Is it a file that nobody has a use for?  A spool is locked behind this. */
static bool is_left_over(const struct spool *spool, int fd, const char *name,
                         const struct spool_sweep *sweep)
{
    if (ends_with(name, ".part")) return is_given_up(spool, fd, name, sweep->seconds);
    if (ends_with(name, ".last.new")) return is_half_written(spool, fd, name);
    return is_of_nothing(spool, fd, sweep);
}

/* Removes one file; a spool while it has its lock.  true: it was, or would have been. */
static bool sweep_one(const struct spool *spool, const char *name, const struct spool_sweep *sweep)
{
    if (!ends_with(name, ".part") && !ends_with(name, ".last") && !ends_with(name, ".last.new") &&
        !ends_with(name, ".base"))
        return false;
    const int fd = openat(spool->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    bool removed = is_left_over(spool, fd, name, sweep);
    if (removed && !sweep->dry) removed = unlinkat(spool->dir_fd, name, 0) == 0;
    (void)close(fd);
    return removed;
}

int spool_sweep(const char *store_path, const struct spool_sweep *sweep)
{
    struct spool spool = {.path = cli_format("%s/" FOLDER, store_path), .fd = -1};
    spool.dir_fd = open(spool.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int listed = spool.dir_fd >= 0 ? dup(spool.dir_fd) : -1;
    DIR *directory = listed >= 0 ? fdopendir(listed) : NULL;
    int status = CLI_DONE;
    if (directory == NULL && errno != ENOENT) status = fail(&spool, "open", NULL);
    if (directory == NULL && listed >= 0) (void)close(listed);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        if (!sweep_one(&spool, entry->d_name, sweep)) continue;
        char *file = cli_format(FOLDER "/%s", entry->d_name);
        sweep->tell(sweep->context, file);
        free(file);
    }
    if (directory != NULL) (void)closedir(directory);
    spool_close(&spool);
    return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* store.c: opens, makes and closes a store, and checks the names of filters. */
#include "txn/store.h"

#include <fcntl.h>

#include "os/inside.h"
#include "os/network.h"
#include "os/overlay.h"
#include "txn/points.h"
#include "txn/wait.h"

/* ---- Opening and closing --------------------------------------------------------------------- */

static void store_free(struct tamis_store *store)
{
    tamis__catalog_clear(&store->catalog);
    tamis__close(store->place.segments_fd);
    tamis__close(store->place.staging_fd);
    tamis__close(store->root_fd);
    free(store->place.path);
    free(store);
}

struct tamis_store *tamis__store_reference(struct tamis_store *store)
{
    /* ORDER relaxed: the caller has a reference already. */
    (void)__atomic_add_fetch(&store->references, 1, __ATOMIC_RELAXED);
    return store;
}

TAMIS_API void tamis_store_close(tamis_store *store)
{
    if (store == NULL) return;
    /* ORDER acq_rel: the last user to leave sees all that the others did to the store. */
    if (__atomic_sub_fetch(&store->references, 1, __ATOMIC_ACQ_REL) == 0) store_free(store);
}

struct tamis_store *tamis__store_new(bool read_only)
{
    struct tamis_store *store = calloc(1, sizeof *store);
    if (store == NULL) return NULL;
    store->references = 1;
    store->read_only = read_only;
    store->busy_timeout_ms = TAMIS_BUSY_TIMEOUT_DEFAULT;
    store->busy_every_ms = 1000;
    store->root_fd = store->place.root_fd = -1;
    store->place.segments_fd = store->place.staging_fd = -1;
    return store;
}

static int open_part(const struct tamis_store *store, const char *name, int *fd)
{
    char *what;
    if (asprintf(&what, "%s/%s", store->place.path, name) < 0)
        return tamis__fail(TAMIS_ENOMEM, "out of memory opening the store %s", store->place.path);
    int rc = tamis__open(store->root_fd, name, O_RDONLY | O_DIRECTORY, 0, what, fd);
    if (rc == TAMIS_ENOTFOUND)
        rc = tamis__fail_at(TAMIS_ECORRUPT, what, "the store's directory %s is missing; restore it",
                            what);
    else if (rc == 0)
        rc = tamis__inside_check_owner(store->root_fd, *fd, what);
    free(what);
    return rc;
}

/* What may lie in a directory that is to become a store: what somebody has begun to make there or
 * has left, and what says that a directory is empty.  Returns 1 for any other name, and keeps it.
 */
static int find_foreign(void *context, const char *name)
{
    static const char *const known[] = {"segments",   "staging",    "logs",
                                        "pulls",      "redis.lock", ".gitkeep",
                                        ".gitignore", "lost+found", ".keep"};
    char **foreign = context;
    if (strncmp(name, "catalog.", 8) == 0) return 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i]) == 0) return 0;
    *foreign = strdup(name);
    return 1;
}

/* Fails if the directory is no store and belongs to something else: a store must not be scattered
 * over /etc. */
static int check_is_free(const struct tamis_store *store)
{
    char quoted[TAMIS__QUOTED_BYTES], first[TAMIS__QUOTED_BYTES];
    char *foreign = NULL;
    const char *path = store->place.path;
    int rc = tamis__exists(store->root_fd, "catalog.mdb", path);
    if (rc != 0) return rc < 0 ? rc : 0;
    rc = tamis__each_name(store->root_fd, path, find_foreign, &foreign);
    if (rc > 0)
        rc = tamis__fail(TAMIS_EINVAL,
                         "%s is no store, and has other files, such as %s; name a directory that "
                         "is not there yet, or is empty",
                         tamis__quote(quoted, path),
                         foreign ? tamis__quote(first, foreign) : "some");
    free(foreign);
    return rc;
}

/* Makes what an empty store lacks.  Each step does no harm if another process was first. */
static int make_store(struct tamis_store *store)
{
    unsigned mode = store->catalog.mode;
    int rc = check_is_free(store);
    if (rc == 0 && mode == 0) rc = tamis__inside_mode(store->root_fd, store->place.path, &mode);
    if (rc < 0) return rc;
    rc = tamis__inside_make_directory(store->root_fd, "segments", mode, store->place.path);
    if (rc == 0)
        rc = tamis__inside_make_directory(store->root_fd, "staging", mode, store->place.path);
    TAMIS__POINT(TAMIS__POINT_STORE_MADE);
    if (rc == 0) rc = tamis__catalog_create(&store->catalog);
    return rc;
}

static int fail_no_store(const char *path)
{
    char quoted[TAMIS__QUOTED_BYTES];
    return tamis__fail(
        TAMIS_ENOSTORE,
        "there is no store at %s; 'tamis create' makes one with its first filter, or "
        "name another directory",
        tamis__quote(quoted, path));
}

/* Opens the root directory.  If it `is_new`, sets the mode that the caller asked for. */
static int open_root(struct tamis_store *store, const struct tamis_store_options *options,
                     bool is_new)
{
    const char *path = store->place.path;
    int rc = tamis__open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0, path, &store->root_fd);
    if (rc == 0 && (options->flags & TAMIS_OPEN_FORCE_NETWORK_FS) == 0)
        rc = tamis__refuse_network(store->root_fd, path);
    store->place.root_fd = store->root_fd;
    if (rc == 0 && (options->flags & TAMIS_OPEN_FORCE_NETWORK_FS) == 0)
        rc = tamis__is_overlay(store->root_fd, path, &store->place.overlay);
    if (rc == 0 && store->place.overlay)
        rc = tamis__overlay_copy_up(store->root_fd, "catalog.lock", path);
    if (rc == 0 && is_new && options->mode != 0)
        rc = tamis__inside_set_root(store->root_fd, options->mode, path);
    if (rc == 0) rc = tamis__store_init_catalog(store, store->read_only);
    store->catalog.mode = options->mode;
    store->catalog.stays_open =
        !store->place.overlay && (options->flags & TAMIS_OPEN_FORCE_NETWORK_FS) == 0;
    return rc;
}

/* Fails if the store has another mode than the caller asked for. */
static int check_mode(const struct tamis_store *store, unsigned wanted)
{
    const char *path = store->place.path;
    unsigned mode = 0;
    const int rc = tamis__inside_mode(store->root_fd, path, &mode);
    if (rc < 0 || wanted == 0 || mode == wanted) return rc < 0 ? rc : 0;
    const unsigned directory = wanted | ((wanted & 0444) >> 2) | (wanted & 020 ? 02000 : 0);
    return tamis__fail(TAMIS_EMISMATCH,
                       "the store %s has mode 0%03o, not 0%03o; change it with 'chmod %04o %s/*.* "
                       "%s/*/*' and 'chmod %04o %s %s/*/', or do not ask for a mode",
                       path, mode, wanted, wanted, path, path, directory, path, path);
}

/* Opens all that is in the root directory. */
static int open_parts(struct tamis_store *store, const struct tamis_store_options *options,
                      const struct tamis__opening *opening)
{
    struct tamis__catalog_txn *txn;
    const char *path = opening->path;
    int rc = (options->flags & TAMIS_OPEN_CREATE) != 0 ? make_store(store) : 0;
    if (rc == 0) rc = tamis__exists(store->root_fd, "catalog.mdb", path);
    if (rc == 0) {
        rc = tamis__catalog_is_lost(&store->catalog);
        return rc < 0 ? rc : rc > 0 ? tamis__fail_lost(&store->catalog) : fail_no_store(path);
    }
    if (rc > 0) rc = open_part(store, "segments", &store->place.segments_fd);
    if (rc == 0 && !store->read_only) {
        /* An empty directory is easily lost in copying. */
        rc = tamis__inside_make_directory(store->root_fd, "staging", 0, path);
        if (rc == 0) rc = open_part(store, "staging", &store->place.staging_fd);
    }
    if (rc == 0) rc = check_mode(store, options->mode);
    if (rc == 0) rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    store->store_id = tamis__catalog_store(txn)->store_id;
    rc = tamis__catalog_get_known_as(txn, &store->known_as);
    if (rc == 0 && opening->then != NULL) rc = opening->then(opening->context, store, txn);
    tamis__catalog_end(txn);
    return rc;
}

/* A URL is no directory.  Taken as one, `redis://host` would silently be a store of its own, in the
 * directory `redis:` of the working directory. */
static int check_path(const char *path)
{
    char quoted[TAMIS__QUOTED_BYTES];
    if (path == NULL || *path == '\0')
        return tamis__fail(TAMIS_EINVAL, "a store needs a path; pass that of its directory");
    const size_t scheme_bytes = strcspn(path, "/:");
    if (scheme_bytes == 0 || strncmp(path + scheme_bytes, "://", 3) != 0) return 0;
    return tamis__fail(
        TAMIS_EINVAL,
        "%s is a URL, and a store is a directory; pass its path (a directory of that "
        "name is ./%.*s://...); a server's filters are reached by 'tamis --store' or "
        "by a client of Redis",
        tamis__quote(quoted, path), (int)scheme_bytes, path);
}

static int check_options(const struct tamis_store_options *options)
{
    const unsigned known = TAMIS_OPEN_READ_ONLY | TAMIS_OPEN_CREATE | TAMIS_OPEN_FORCE_NETWORK_FS;
    const unsigned mode = options->mode, both = TAMIS_OPEN_READ_ONLY | TAMIS_OPEN_CREATE;
    if ((options->flags & ~known) != 0 || (options->flags & both) == both)
        return tamis__fail(
            TAMIS_EINVAL,
            "tamis_store_open flags %#x: use 0, TAMIS_OPEN_READ_ONLY or TAMIS_OPEN_CREATE",
            options->flags);
    if (options->busy_timeout_ms > TAMIS_BUSY_TIMEOUT_MAX)
        return tamis__fail_busy_timeout(options->busy_timeout_ms);
    if (options->busy_every_ms < 0 || options->busy_every_ms > TAMIS_BUSY_TIMEOUT_MAX)
        return tamis__fail(TAMIS_EINVAL,
                           "busy_every_ms %" PRId64 " is out of range; use 0 (once a second) to %d",
                           options->busy_every_ms, TAMIS_BUSY_TIMEOUT_MAX);
    /* Whoever may write must be able to read, and the owner must be able to do both. */
    if (mode != 0 &&
        ((mode & ~0666u) != 0 || (mode & 0600) != 0600 || ((mode & 0222) << 1 & ~mode) != 0))
        return tamis__fail(TAMIS_EINVAL,
                           "a store cannot have the mode 0%o; give 6 for the owner, and 6, 4 or 0 "
                           "each for the group and for others, such as 0660 or 0644",
                           mode);
    return 0;
}

/* Makes the directory.  Returns 1 if it was not there.  Fails on a file system on which a store is
 * refused. */
static int make_root(const char *path, const struct tamis_store_options *options)
{
    int fd = -1, rc = 0;
    if ((options->flags & TAMIS_OPEN_CREATE) == 0) return 0;
    if ((options->flags & TAMIS_OPEN_FORCE_NETWORK_FS) == 0) {
        rc = tamis__open_nearest(path, &fd);
        if (rc == 0) rc = tamis__refuse_network(fd, path);
        tamis__close(fd);
    }
    return rc < 0 ? rc : tamis__make_path(path);
}

static int open_with(const struct tamis__opening *opening,
                     const struct tamis_store_options *options, tamis_store **out)
{
    const char *path = opening->path;
    int rc = check_path(path);
    if (rc == 0) rc = check_options(options);
    if (rc < 0) return rc;
    struct tamis_store *store = tamis__store_new((options->flags & TAMIS_OPEN_READ_ONLY) != 0);
    if (store == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory opening the store %s", path);
    if (options->busy_timeout_ms != 0)
        store->busy_timeout_ms = options->busy_timeout_ms < 0 ? 0 : options->busy_timeout_ms;
    store->busy_fn = options->busy_fn;
    store->busy_context = options->busy_context;
    if (options->busy_every_ms != 0) store->busy_every_ms = options->busy_every_ms;
    rc = make_root(path, options);
    const bool is_new = rc > 0;
    if (rc >= 0) {
        rc = tamis__absolute_path(path, &store->place.path);
        if (rc == TAMIS_ENOTFOUND) rc = fail_no_store(path);
    }
    if (rc == 0) rc = open_root(store, options, is_new);
    if (rc == 0) rc = open_parts(store, options, opening);
    if (rc < 0) {
        store_free(store);
        return rc;
    }
    *out = store;
    return 0;
}

int tamis__store_open(const struct tamis__opening *opening, const struct tamis_store_options *given,
                      tamis_store **out)
{
    struct tamis_store_options options = {.size = sizeof options};
    int rc = 0;
    if (given != NULL)
        rc = tamis__take_struct(given, &options, sizeof options, "struct tamis_store_options");
    return rc < 0 ? rc : open_with(opening, &options, out);
}

TAMIS_API int tamis_store_open_with(const char *path, const struct tamis_store_options *options,
                                    tamis_store **out)
{
    TAMIS__REFUSE_NULL(out, "store");
    return tamis__store_open(&(struct tamis__opening){.path = path}, options, out);
}

TAMIS_API int tamis_store_open(const char *path, uint32_t flags, tamis_store **out)
{
    const struct tamis_store_options options = {.size = sizeof options, .flags = flags};
    return tamis_store_open_with(path, &options, out);
}

/* ---- Names ----------------------------------------------------------------------------------- */

int tamis__check_name(const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES];
    if (name == NULL || *name == '\0')
        return tamis__fail(TAMIS_EINVAL, "a filter's name cannot be empty; give 1 to %d bytes",
                           TAMIS_NAME_MAX);
    const size_t bytes = strlen(name);
    if (bytes > TAMIS_NAME_MAX)
        return tamis__fail(TAMIS_EINVAL, "the name %s has %zu bytes; the most is %d",
                           tamis__quote(quoted, name), bytes, TAMIS_NAME_MAX);
    for (const unsigned char *s = (const unsigned char *)name; *s != '\0';) {
        const size_t length = tamis__utf8_length(s);
        if (length == 0)
            return tamis__fail(TAMIS_EINVAL, "the name %s is not UTF-8; use another encoding of it",
                               tamis__quote(quoted, name));
        if (*s < 0x20 || *s == 0x7F || (s[0] == 0xC2 && s[1] < 0xA0))
            return tamis__fail(TAMIS_EINVAL,
                               "the name %s has a control character; use letters, digits, "
                               "punctuation and spaces",
                               tamis__quote(quoted, name));
        s += length;
    }
    return 0;
}

/* The bytes of a blank at `s`: a space, or one of those of Unicode; 0 if there is none. */
static size_t blank_bytes(const unsigned char *s)
{
    if (*s == ' ') return 1;
    if (s[0] == 0xC2 && s[1] == 0xA0) return 2;                                 /* no-break space */
    if (s[0] == 0xE1 && s[1] == 0x9A && s[2] == 0x80) return 3;                 /* U+1680 */
    if (s[0] == 0xE2 && s[1] == 0x80 && s[2] >= 0x80 && s[2] <= 0x8B) return 3; /* U+2000 to 200B */
    if (s[0] == 0xE2 && s[1] == 0x80 && (s[2] == 0xA8 || s[2] == 0xA9 || s[2] == 0xAF)) return 3;
    if (s[0] == 0xE2 && s[1] == 0x81 && s[2] == 0x9F) return 3;  /* U+205F */
    if (s[0] == 0xE3 && s[1] == 0x80 && s[2] == 0x80) return 3;  /* U+3000 */
    return s[0] == 0xEF && s[1] == 0xBB && s[2] == 0xBF ? 3 : 0; /* U+FEFF */
}

int tamis__check_new_name(const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES];
    const int rc = tamis__check_name(name);
    if (rc < 0) return rc;
    const unsigned char *s = (const unsigned char *)name;
    const bool before = blank_bytes(s) > 0;
    size_t last = 1;
    for (; *s != '\0'; s += last)
        last = tamis__utf8_length(s);
    if (!before && blank_bytes(s - last) == 0) return 0;
    return tamis__fail(TAMIS_EINVAL,
                       "the name %s %s with a blank, which nobody would see; leave it out",
                       tamis__quote(quoted, name), before ? "begins" : "ends");
}

int tamis__fail_no_filter(const struct tamis_store *store, const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES];
    return tamis__fail(TAMIS_ENOTFOUND,
                       "no such filter: %s in the store %s; 'tamis list' shows what is there",
                       tamis__quote(quoted, name), store->place.path);
}

/* ---- What other files ask of a store --------------------------------------------------------- */

int tamis__check_writable(const struct tamis_store *store)
{
    if (!store->read_only) return 0;
    return tamis__fail(TAMIS_EREADONLY, "the store %s is open read-only; open it for writing",
                       store->place.path);
}

int tamis__fail_exists(const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES];
    return tamis__fail(TAMIS_EEXIST, "a filter %s exists already; choose another name, or drop it",
                       tamis__quote(quoted, name));
}

int tamis__open_nearest(const char *path, int *fd)
{
    char *copy = strdup(path);
    if (copy == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for the path %s", path);
    int rc;
    for (;;) {
        char *absolute = NULL;
        rc = tamis__absolute_path(*copy ? copy : "/", &absolute);
        if (rc == 0) rc = tamis__open(AT_FDCWD, absolute, O_RDONLY | O_DIRECTORY, 0, absolute, fd);
        free(absolute);
        char *slash = strrchr(copy, '/');
        if (rc != TAMIS_ENOTFOUND || (slash == NULL && strcmp(copy, ".") == 0)) break;
        if (slash != NULL)
            *slash = '\0';
        else
            (void)strcpy(copy, "."); /* a path has at least one byte */
    }
    free(copy);
    return rc;
}

struct tamis__logs tamis__store_logs(const struct tamis_store *store)
{
    return (struct tamis__logs){
        .root_fd = store->root_fd, .path = store->place.path, .store_id = store->store_id};
}

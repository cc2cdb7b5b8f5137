/* SPDX-License-Identifier: BSD-2-Clause */
/* lost.c: see lost.h. */
#include "check/lost.h"

#include <fcntl.h>

#include "os/inside.h"
#include "os/io.h"

#define LOST "lost"
#define NOTE ".note"
#define NOTE_FIRST "tamis put aside 1\n"
#define NOTE_BYTES 2048u
#define PATH_BYTES TAMIS__SEGMENT_PATH_BYTES
#define NAMES_MAX 1000000u

/* ---- The directory --------------------------------------------------------------------------- */

static const char *path_of(const struct tamis_store *store, const char *name, char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s/" LOST "%s%s", store->place.path, *name ? "/" : "", name);
    return path;
}

int tamis__lost_open(const struct tamis_store *store, bool makes, int *fd)
{
    char path[PATH_BYTES];
    path_of(store, "", path);
    *fd = -1;
    int rc = makes ? tamis__inside_make_directory(store->root_fd, LOST, 0, path) : 0;
    if (rc == 0) rc = tamis__open(store->root_fd, LOST, O_RDONLY | O_DIRECTORY, 0, path, fd);
    return rc == 0 ? tamis__inside_check_owner(store->root_fd, *fd, path) : rc;
}

static void name_note(const char *name, char note[TAMIS__LOST_NAME_BYTES])
{
    (void)snprintf(note, TAMIS__LOST_NAME_BYTES, "%.*s" NOTE,
                   (int)(TAMIS__LOST_NAME_BYTES - sizeof NOTE), name);
}

static bool is_note(const char *name)
{
    const size_t bytes = strlen(name);
    return bytes >= sizeof NOTE && strcmp(name + bytes - (sizeof NOTE - 1), NOTE) == 0;
}

/* Finds a name that no file in lost/ has: the file's own, or that with a number behind. */
static int find_name(const struct tamis_store *store, int lost_fd, const char *base,
                     char name[TAMIS__LOST_NAME_BYTES])
{
    char path[PATH_BYTES];
    (void)snprintf(name, TAMIS__LOST_NAME_BYTES, "%.255s", base);
    for (unsigned i = 2; i < NAMES_MAX; i++) {
        const int rc = tamis__exists(lost_fd, name, path_of(store, name, path));
        if (rc <= 0) return rc;
        (void)snprintf(name, TAMIS__LOST_NAME_BYTES, "%.240s.%u", base, i);
    }
    return tamis__fail(TAMIS_ELIMIT,
                       "there are too many files of the name %s in %s; remove those that are not "
                       "needed with 'tamis repair --forget-lost AGE'",
                       base, path_of(store, "", path));
}

/* ---- Notes ----------------------------------------------------------------------------------- */

/* Writes the note of a file to be.  One that is there is of a repair that died before the file
 * came. */
static int write_note(const struct tamis_store *store, int lost_fd, const struct tamis__lost *lost)
{
    char path[PATH_BYTES], note[TAMIS__LOST_NAME_BYTES], text[NOTE_BYTES];
    int fd = -1;
    name_note(lost->name, note);
    path_of(store, note, path);
    const int bytes = snprintf(text, sizeof text, NOTE_FIRST "from %s\nat %" PRId64 "\nwhy %s\n",
                               lost->from, lost->at, lost->why);
    int rc = tamis__unlink(lost_fd, note, path);
    if (rc == 0) rc = tamis__inside_make(store->root_fd, lost_fd, note, path, &fd);
    if (rc == 0) rc = tamis__write_at(fd, text, (size_t)bytes, 0, path);
    if (rc == 0) rc = tamis__sync_file(fd, path);
    tamis__close(fd);
    return rc == 0 ? tamis__sync_file(lost_fd, path) : rc;
}

/* Copies what stands behind `key` and a space at the start of a line. */
static bool take_line(const char *text, const char *key, char *value, size_t room)
{
    const size_t key_bytes = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        if (end == NULL) return false; /* the note was cut */
        if (strncmp(line, key, key_bytes) == 0 && line[key_bytes] == ' ') {
            const char *from = line + key_bytes + 1;
            (void)snprintf(value, room, "%.*s", (int)(end - from), from);
            return true;
        }
        line = end + 1;
    }
    return false;
}

/* Does the path lead to where repairs take files from? */
static bool is_place(const char *from)
{
    const char *slash = strchr(from, '/');
    if (slash == NULL) return strcmp(from, TAMIS__LOST_CATALOG) == 0;
    return slash[1] != '\0' && slash[1] != '.' && strchr(slash + 1, '/') == NULL &&
           (strncmp(from, "segments/", 9) == 0 || strncmp(from, "logs/", 5) == 0);
}

bool tamis__lost_parse(const char *text, size_t bytes, struct tamis__lost *lost)
{
    char copy[NOTE_BYTES], at[32];
    if (bytes >= sizeof copy) return false;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    if (strncmp(copy, NOTE_FIRST, sizeof NOTE_FIRST - 1) != 0) return false;
    return take_line(copy, "from", lost->from, sizeof lost->from) && is_place(lost->from) &&
           take_line(copy, "at", at, sizeof at) && sscanf(at, "%20" SCNd64, &lost->at) == 1 &&
           take_line(copy, "why", lost->why, sizeof lost->why);
}

static bool read_note(const struct tamis_store *store, int lost_fd, const char *name,
                      struct tamis__lost *lost)
{
    char path[PATH_BYTES], note[TAMIS__LOST_NAME_BYTES], text[NOTE_BYTES];
    struct tamis__file_info info = {0};
    int fd = -1;
    name_note(name, note);
    path_of(store, note, path);
    bool good = tamis__inside_open(lost_fd, note, O_RDONLY, path, &fd) == 0 &&
                tamis__file_info(fd, path, &info) == 0 && info.bytes < sizeof text &&
                tamis__read_at(fd, text, (size_t)info.bytes, 0, path) == 0;
    tamis__close(fd);
    return good && tamis__lost_parse(text, (size_t)info.bytes, lost);
}

int tamis__lost_look(const struct tamis_store *store, int lost_fd, const char *name,
                     struct tamis__lost *lost)
{
    char path[PATH_BYTES];
    struct tamis__file_info info = {0};
    *lost = (struct tamis__lost){.at = 0};
    (void)snprintf(lost->name, sizeof lost->name, "%s", name);
    const int rc = tamis__named_info(lost_fd, name, path_of(store, name, path), &info);
    if (rc < 0) return rc;
    if (!read_note(store, lost_fd, name, lost)) {
        lost->at = info.changed_ns;
        lost->from[0] = '\0';
        (void)snprintf(lost->why, sizeof lost->why, "its note is missing or damaged");
    }
    lost->bytes = info.bytes;
    return 0;
}

/* ---- Putting aside --------------------------------------------------------------------------- */

/* Opens lost/, finds a name, and writes the note. */
static int prepare(const struct tamis_store *store, const char *directory, const char *base,
                   struct tamis__lost *lost, int *lost_fd)
{
    int rc = tamis__lost_open(store, true, lost_fd);
    if (rc == 0) rc = find_name(store, *lost_fd, base, lost->name);
    if (strcmp(directory, ".") == 0)
        (void)snprintf(lost->from, sizeof lost->from, TAMIS__LOST_CATALOG);
    else
        (void)snprintf(lost->from, sizeof lost->from, "%s/%.250s", directory, base);
    lost->at = tamis__now_ns();
    return rc == 0 ? write_note(store, *lost_fd, lost) : rc;
}

int tamis__lost_put(const struct tamis_store *store, const char *directory, const char *name,
                    const char *why)
{
    char path[PATH_BYTES];
    struct tamis__lost lost = {.at = 0};
    int lost_fd, fd = -1;
    (void)snprintf(lost.why, sizeof lost.why, "%s", why);
    (void)snprintf(path, sizeof path, "%s/%s/%s", store->place.path, directory, name);
    int rc = prepare(store, directory, name, &lost, &lost_fd);
    if (rc == 0) rc = tamis__open(store->root_fd, directory, O_RDONLY | O_DIRECTORY, 0, path, &fd);
    if (rc == 0) rc = tamis__rename(fd, name, lost_fd, lost.name, path);
    if (rc == 0) rc = tamis__sync_file(lost_fd, path);
    if (rc == 0) rc = tamis__sync_file(fd, path);
    tamis__close(fd);
    tamis__close(lost_fd);
    return rc;
}

int tamis__lost_put_segment(const struct tamis_store *store, uint64_t number, const char *why)
{
    char name[TAMIS__SEGMENT_NAME_BYTES];
    tamis__segment_name(number, name);
    return tamis__lost_put(store, "segments", name, why);
}

int tamis__lost_keep(const struct tamis_store *store, int fd, const char *directory,
                     const char *name, const char *why)
{
    char path[PATH_BYTES];
    struct tamis__lost lost = {.at = 0};
    struct tamis__file_info info = {0};
    const int staging = store->place.staging_fd;
    int lost_fd, to = -1;
    (void)snprintf(lost.why, sizeof lost.why, "%s", why);
    (void)snprintf(path, sizeof path, "%s/staging/%s", store->place.path, name);
    int rc = prepare(store, directory, name, &lost, &lost_fd);
    if (rc == 0) rc = tamis__unlink(staging, name, path); /* of a repair that died */
    if (rc == 0) rc = tamis__inside_make(store->root_fd, staging, name, path, &to);
    if (rc == 0) rc = tamis__file_info(fd, path, &info);
    if (rc == 0) rc = tamis__copy_range(fd, to, 0, info.bytes, path);
    if (rc == 0) rc = tamis__sync_file(to, path);
    if (rc == 0) rc = tamis__rename(staging, name, lost_fd, lost.name, path);
    if (rc == 0) rc = tamis__sync_file(lost_fd, path);
    tamis__close(to);
    tamis__close(lost_fd);
    return rc;
}

/* ---- Back, and gone for good ----------------------------------------------------------------- */

int tamis__lost_put_back(const struct tamis_store *store, int lost_fd,
                         const struct tamis__lost *lost)
{
    char path[PATH_BYTES], directory[TAMIS__LOST_NAME_BYTES];
    const char *name = strchr(lost->from, '/') + 1;
    int fd = -1;
    (void)snprintf(path, sizeof path, "%s/%s", store->place.path, lost->from);
    (void)snprintf(directory, sizeof directory, "%.*s", (int)(name - 1 - lost->from), lost->from);
    int rc = tamis__open(store->root_fd, directory, O_RDONLY | O_DIRECTORY, 0, path, &fd);
    if (rc == 0) rc = tamis__exists(fd, name, path);
    if (rc > 0)
        rc = tamis__fail(TAMIS_EEXIST,
                         "there is another file at %s; move that away first, then restore this one",
                         path);
    if (rc == 0) rc = tamis__rename(lost_fd, lost->name, fd, name, path);
    if (rc == 0) rc = tamis__sync_file(fd, path);
    tamis__close(fd);
    return rc;
}

int tamis__lost_forget(const struct tamis_store *store, int lost_fd, const char *name)
{
    char path[PATH_BYTES], note[TAMIS__LOST_NAME_BYTES];
    name_note(name, note);
    int rc = tamis__unlink(lost_fd, name, path_of(store, name, path));
    if (rc == 0) rc = tamis__unlink(lost_fd, note, path_of(store, note, path));
    return rc == 0 ? tamis__sync_file(lost_fd, path) : rc;
}

/* ---- All of them ----------------------------------------------------------------------------- */

struct visit {
    const struct tamis_store *store;
    int lost_fd;
    tamis__lost_fn *fn;
    void *context;
};

static int look_at_name(void *context, const char *name)
{
    const struct visit *visit = context;
    struct tamis__lost lost;
    if (is_note(name)) return 0;
    const int rc = tamis__lost_look(visit->store, visit->lost_fd, name, &lost);
    if (rc == TAMIS_ENOTFOUND) return 0; /* it is gone since its name was read */
    return rc < 0 ? rc : visit->fn(visit->context, &lost);
}

int tamis__lost_each(const struct tamis_store *store, int lost_fd, tamis__lost_fn *fn,
                     void *context)
{
    char path[PATH_BYTES];
    struct visit visit = {.store = store, .lost_fd = lost_fd, .fn = fn, .context = context};
    return tamis__each_name(lost_fd, path_of(store, "", path), look_at_name, &visit);
}

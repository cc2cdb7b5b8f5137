/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * denied.c: after EACCES, finds the file or directory that lacks a right, and says which, whose it
 * is and what gives it.
 *
 * A name is opened, made or removed in a directory: the user must be allowed to enter the
 * directory; to make or remove a name, to write to it; and to open a file, to read it or write to
 * it.  A path is looked through from its begin.  Nothing is locked: the answer may be out of date,
 * and then the sentence names nothing.
 */
#include "os/denied.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/io.h"

#define PATH_BYTES 1024

/* What lacks a right. */
struct culprit {
    char path[PATH_BYTES];
    struct stat st;
    int lacks; /* R_OK, W_OK or X_OK */
};

static bool is_member(gid_t group)
{
    gid_t groups[256];
    const int count = getgroups(sizeof groups / sizeof groups[0], groups);
    for (int i = 0; i < count; i++)
        if (groups[i] == group) return true;
    return group == getegid();
}

/* What chmod is to give, so that not the next right is lacking then. */
static const char *bits_to_give(int right, bool is_directory)
{
    if (right == W_OK) return is_directory ? "rwx" : "rw";
    return is_directory ? "rx" : "r";
}

static const char *deed(int right, bool is_directory)
{
    if (right == X_OK) return "enter";
    if (right == R_OK) return "read";
    return is_directory ? "make and remove files in" : "write to";
}

char *tamis__denied_mend(char mend[TAMIS__DENIED_BYTES], const struct tamis__file_info *file,
                         int lacks, const char *bits, const char *path)
{
    const unsigned bit = (unsigned)lacks; /* R_OK, W_OK and X_OK are the bits of a mode */
    if (file->owner == geteuid() && (file->mode >> 6 & bit) == 0)
        (void)snprintf(mend, TAMIS__DENIED_BYTES, "it is yours: 'chmod u+%s %s'", bits, path);
    else if (file->owner == geteuid() || (is_member(file->group) && (file->mode >> 3 & bit) != 0))
        (void)snprintf(mend, TAMIS__DENIED_BYTES,
                       "the mode allows it, so an access control list or a security module "
                       "forbids it: ask who runs this machine");
    else if (is_member(file->group))
        (void)snprintf(mend, TAMIS__DENIED_BYTES,
                       "you are of that group, which lacks the right: have its owner run 'chmod "
                       "g+%s %s'",
                       bits, path);
    else if ((file->mode >> 3 & bit) != 0)
        (void)snprintf(mend, TAMIS__DENIED_BYTES, "be of that group, or ask the owner to let you");
    else
        (void)snprintf(mend, TAMIS__DENIED_BYTES,
                       "ask the owner to let you: with a group of yours, 'chgrp', then 'chmod "
                       "g+%s %s'",
                       bits, path);
    return mend;
}

/* Notes the first right of `rights` that the name lacks.  Returns whether it lacks one. */
static bool lacks_right(struct culprit *c, int dir_fd, const char *name, int rights)
{
    static const int each[] = {X_OK, R_OK, W_OK};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        if ((rights & each[i]) == 0 || faccessat(dir_fd, name, each[i], AT_EACCESS) == 0 ||
            errno != EACCES)
            continue;
        c->lacks = each[i];
        return fstatat(dir_fd, name, &c->st, 0) == 0;
    }
    return false;
}

/* Looks through the directories of a path, the last name left out.  It ends with that. */
static bool lacks_way(struct culprit *c, const char *path)
{
    const char *slash = path;
    while ((slash = strchr(slash, '/')) != NULL) {
        const size_t bytes = slash == path ? 1 : (size_t)(slash - path);
        if (bytes >= sizeof c->path) return false;
        memcpy(c->path, path, bytes);
        c->path[bytes] = '\0';
        if (lacks_right(c, AT_FDCWD, c->path, X_OK)) return true;
        slash++;
    }
    if (strchr(path, '/') == NULL) (void)strcpy(c->path, ".");
    return false;
}

static bool directory_lacks(struct culprit *c, int dir_fd, const char *name, int rights)
{
    if (dir_fd == AT_FDCWD)
        return lacks_way(c, name) ||
               (*c->path != '\0' && lacks_right(c, AT_FDCWD, c->path, rights));
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", dir_fd);
    const ssize_t bytes = readlink(link, c->path, sizeof c->path - 1);
    c->path[bytes > 0 ? bytes : 0] = '\0';
    return lacks_right(c, dir_fd, ".", rights);
}

static bool find_culprit(struct culprit *c, int dir_fd, const char *name, int rights)
{
    struct stat st;
    const bool makes = rights == TAMIS__MAKES || fstatat(dir_fd, name, &st, 0) != 0;
    if (directory_lacks(c, dir_fd, name, makes ? X_OK | W_OK : X_OK)) return true;
    if (rights == TAMIS__MAKES || !lacks_right(c, dir_fd, name, rights)) return false;
    const size_t used = dir_fd == AT_FDCWD ? 0 : strlen(c->path);
    const int put = snprintf(c->path + used, sizeof c->path - used, "%s%s",
                             dir_fd == AT_FDCWD ? "" : "/", name);
    return put > 0 && (size_t)put < sizeof c->path - used;
}

int tamis__fail_denied(int error_number, int dir_fd, const char *name, int rights, const char *verb,
                       const char *what)
{
    struct culprit c = {.path = ""};
    if (error_number != EACCES || !find_culprit(&c, dir_fd, name, rights))
        return tamis__fail_errno(error_number, verb, what);
    const struct tamis__file_info file = {
        .owner = c.st.st_uid, .group = c.st.st_gid, .mode = c.st.st_mode & 07777};
    const bool is_directory = S_ISDIR(c.st.st_mode);
    char mend[TAMIS__DENIED_BYTES];
    const struct tamis__fault fault = {.what = what, .system_error = error_number};
    return tamis__fail_of(
        TAMIS_EACCESS, &fault,
        "cannot %s %s: user %u may not %s %s, which has mode 0%03o, owner %u and "
        "group %u; %s",
        verb, what, geteuid(), deed(c.lacks, is_directory), c.path, (unsigned)file.mode & 0777,
        file.owner, file.group,
        tamis__denied_mend(mend, &file, c.lacks, bits_to_give(c.lacks, is_directory), c.path));
}

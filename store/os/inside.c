/* SPDX-License-Identifier: BSD-2-Clause */
/* inside.c: see inside.h. */
#include "os/inside.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/denied.h"
#include "os/io.h"

/* ---- What is refused ------------------------------------------------------------------------- */

int tamis__inside_check_owner(int dir_fd, int fd, const char *what)
{
    const uint32_t open_to_all = S_ISVTX | S_IWOTH;
    struct tamis__file_info directory, file;
    int rc = tamis__file_info(dir_fd, what, &directory);
    if (rc < 0 || (directory.mode & open_to_all) != open_to_all) return rc;
    rc = tamis__file_info(fd, what, &file);
    if (rc < 0 || file.owner == geteuid() || file.owner == directory.owner) return rc;
    return tamis__fail_at(
        TAMIS_EACCESS, what,
        "%s belongs to user %u, and anybody may put files into its directory, as it is "
        "sticky and open to all; have the store in a directory of its own",
        what, file.owner);
}

/* Who only reads a file with two names changes nothing under the other: copies may share it. */
static int check(int dir_fd, int fd, bool reads, const char *what)
{
    struct tamis__file_info file;
    const int rc = tamis__file_info(fd, what, &file);
    if (rc < 0) return rc;
    if (!file.is_regular)
        return tamis__fail_at(TAMIS_EFOREIGN, what, "%s is not a regular file; remove it", what);
    if (file.links > 1 && !reads)
        return tamis__fail_at(
            TAMIS_EFOREIGN, what,
            "%s has %llu names (hard links), so what is written here is written there "
            "too; with the store at rest, make it a file of its own by 'cp -p "
            "--reflink=never' to another name and 'mv' back",
            what, (unsigned long long)file.links);
    return tamis__inside_check_owner(dir_fd, fd, what);
}

int tamis__inside_check(int dir_fd, int fd, const char *what)
{
    return check(dir_fd, fd, false, what);
}

static int open_checked(int dir_fd, const char *name, int flags, bool shared, const char *what,
                        int *fd)
{
    int rc = tamis__open(dir_fd, name, flags, 0, what, fd);
    if (rc < 0) return rc;
    rc = check(dir_fd, *fd, shared && (flags & O_ACCMODE) == O_RDONLY, what);
    if (rc == 0) return 0;
    tamis__close(*fd);
    *fd = -1;
    return rc;
}

int tamis__inside_open(int dir_fd, const char *name, int flags, const char *what, int *fd)
{
    return open_checked(dir_fd, name, flags, false, what, fd);
}

int tamis__inside_open_shared(int dir_fd, const char *name, int flags, const char *what, int *fd)
{
    return open_checked(dir_fd, name, flags, true, what, fd);
}

int tamis__inside_open_private(int dir_fd, const char *name, int flags, const char *what,
                               struct tamis__private_fd *file)
{
    int rc = tamis__private_open(dir_fd, name, flags, 0, what, file);
    if (rc == 0) rc = tamis__inside_check(dir_fd, file->fd, what);
    if (rc < 0) tamis__private_close(file);
    return rc;
}

/* ---- Mode, group and owner ------------------------------------------------------------------- */

/* The catalog is the model for all other files.  If there is no catalog yet, or it was lost, the
 * lock file is. */
static int find_model(int root_fd, const char *what, struct stat *model)
{
    static const char *const names[] = {"catalog.mdb", "catalog.lock"};
    if (tamis__may_fail("stat", what)) return tamis__fail_errno(errno, "examine", what);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (fstatat(root_fd, names[i], model, AT_SYMLINK_NOFOLLOW) == 0) {
            if (S_ISREG(model->st_mode)) return 1;
        } else if (errno != ENOENT) {
            return tamis__fail_errno(errno, "examine", what);
        }
    }
    return 0;
}

int tamis__inside_mode(int root_fd, const char *what, unsigned *mode)
{
    struct stat model;
    const int rc = find_model(root_fd, what, &model);
    if (rc > 0) *mode = model.st_mode & 0777;
    return rc;
}

int tamis__inside_set_mode(int fd, unsigned mode, const char *what)
{
    struct stat st;
    if (tamis__may_fail("chmod", what)) return tamis__fail_errno(errno, "change the mode of", what);
    if (fstat(fd, &st) != 0) return tamis__fail_errno(errno, "examine", what);
    if ((st.st_mode & 07777) == mode || fchmod(fd, (mode_t)mode) == 0) return 0;
    return tamis__fail_errno(errno, "change the mode of", what);
}

/* May the group do something that not everybody may? */
static bool group_matters(unsigned mode)
{
    return ((mode >> 3) & ~mode & 07) != 0;
}

static int fail_group(unsigned group, const char *what)
{
    return tamis__fail_at(TAMIS_EACCESS, what,
                          "cannot give %s the store's group, %u; be one of that group, or have the "
                          "store's directories hand it on (chgrp, chmod g+s)",
                          what, group);
}

/* Called before the mode is set: the mode would else let in another group. */
static int set_group(int fd, unsigned mode, gid_t group, const char *what)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return tamis__fail_errno(errno, "examine", what);
    if (st.st_gid == group || fchown(fd, (uid_t)-1, group) == 0 || !group_matters(mode)) return 0;
    return fail_group(group, what);
}

/* May somebody who is not the owner do all that the owner may? */
static bool others_may_write(unsigned mode)
{
    return (mode & 060) == 060 || (mode & 06) == 06;
}

/* If only the owner may write to a store, all its files belong to the owner.  A file that root made
 * would otherwise lock the owner out. */
static int set_owner(int fd, unsigned mode, uid_t owner, const char *what)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return tamis__fail_errno(errno, "examine", what);
    if (st.st_uid == owner || fchown(fd, owner, (gid_t)-1) == 0 || others_may_write(mode)) return 0;
    return tamis__fail_at(
        TAMIS_EACCESS, what,
        "user %u cannot give %s to user %u, who alone may write to this store; be that user "
        "('sudo -u'), or let a group write to it: with the store's directory DIR, 'chgrp -R GROUP "
        "DIR', "
        "'chmod -R g+rwX DIR' and 'chmod g+s DIR DIR/*/'",
        geteuid(), what, owner);
}

/* The first files of a store have no model.  If root makes them, they go to the owner
 * of the directory. */
static int give_first(int root_fd, int fd, const char *what)
{
    struct stat directory;
    if (geteuid() != 0) return 0;
    if (fstat(root_fd, &directory) != 0) return tamis__fail_errno(errno, "examine", what);
    if (directory.st_uid == 0 || (directory.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH))
        return 0;
    if (fchown(fd, directory.st_uid, directory.st_gid) == 0) return 0;
    return tamis__fail_errno(errno, "change the owner of", what);
}

/* Gives a new file the mode, the group and the owner of the store (inside.h).  A file of a copy of
 * the store, in `copy_fd`, goes to whoever makes it; if that is root, to the owner of that
 * directory, as with 'cp -a'.  copy_fd below 0: it is no copy. */
static int adopt(int root_fd, int copy_fd, int fd, const char *what)
{
    struct stat model, directory;
    int rc = find_model(root_fd, what, &model);
    if (rc < 0) return rc;
    if (rc == 0) return copy_fd < 0 ? give_first(root_fd, fd, what) : 0;
    const unsigned mode = model.st_mode & 0777;
    rc = set_group(fd, mode, model.st_gid, what);
    if (rc == 0) rc = tamis__inside_set_mode(fd, mode, what);
    if (rc < 0) return rc;
    if (copy_fd < 0) return set_owner(fd, mode, model.st_uid, what);
    if (geteuid() != 0 || fstat(copy_fd, &directory) != 0) return 0;
    return set_owner(fd, 0666, directory.st_uid, what);
}

int tamis__inside_give(int root_fd, int fd, const char *what)
{
    struct stat model;
    const int rc = geteuid() == 0 ? find_model(root_fd, what, &model) : 0;
    if (rc <= 0) return rc;
    return fchown(fd, model.st_uid, model.st_gid) == 0
               ? 0
               : tamis__fail_errno(errno, "change the owner of", what);
}

int tamis__inside_fail_denied(int root_fd, bool read_only, const char *what)
{
    struct stat model;
    const int rights = read_only ? R_OK : R_OK | W_OK;
    if (faccessat(root_fd, "catalog.lock", rights, AT_EACCESS) == 0 ||
        (errno != EACCES && errno != ENOENT) ||
        fstatat(root_fd, "catalog.lock", &model, AT_SYMLINK_NOFOLLOW) != 0)
        return TAMIS_EACCESS; /* the sentence is set there */
    const bool lacks_read = faccessat(root_fd, "catalog.lock", R_OK, AT_EACCESS) != 0;
    const struct tamis__file_info file = {
        .owner = model.st_uid, .group = model.st_gid, .mode = model.st_mode & 07777};
    const char *slash = strrchr(what, '/');
    char mend[TAMIS__DENIED_BYTES], store[1024];
    (void)snprintf(store, sizeof store, "-R %.*s", slash != NULL ? (int)(slash - what) : 1,
                   slash != NULL ? what : ".");
    return tamis__fail_at(
        TAMIS_EACCESS, what,
        "user %u may not %s this store: %s has mode 0%03o, owner %u and group %u; "
        "%s%s",
        geteuid(), read_only ? "read" : "write to", what, model.st_mode & 0777, model.st_uid,
        model.st_gid,
        tamis__denied_mend(mend, &file, lacks_read ? R_OK : W_OK, read_only ? "rX" : "rwX", store),
        read_only || lacks_read ? "" : ", or only read it");
}

/* ---- Making ---------------------------------------------------------------------------------- */

static int make_inside(int root_fd, int dir_fd, int copy_fd, const char *name, const char *what,
                       int *fd)
{
    int rc = tamis__open(dir_fd, name, O_RDWR | O_CREAT | O_EXCL, 0666, what, fd);
    if (rc < 0) return rc;
    rc = adopt(root_fd, copy_fd, *fd, what);
    if (rc == 0) return 0;
    (void)tamis__unlink(dir_fd, name, what);
    tamis__close(*fd);
    *fd = -1;
    return rc;
}

int tamis__inside_make(int root_fd, int dir_fd, const char *name, const char *what, int *fd)
{
    return make_inside(root_fd, dir_fd, -1, name, what, fd);
}

int tamis__inside_make_copy(int root_fd, int dir_fd, const char *name, const char *what, int *fd)
{
    return make_inside(root_fd, dir_fd, dir_fd, name, what, fd);
}

int tamis__inside_make_private(int root_fd, int dir_fd, const char *name, const char *what,
                               struct tamis__private_fd *file)
{
    int rc = tamis__private_open(dir_fd, name, O_RDWR | O_CREAT | O_EXCL, 0666, what, file);
    if (rc < 0) return rc;
    rc = adopt(root_fd, -1, file->fd, what);
    if (rc == 0) return 0;
    (void)tamis__unlink(dir_fd, name, what);
    tamis__private_close(file);
    return rc;
}

static int give_mode(int root_fd, int fd, unsigned mode, const char *what)
{
    if (mode == 0) return adopt(root_fd, -1, fd, what);
    const int rc = give_first(root_fd, fd, what);
    return rc < 0 ? rc : tamis__inside_set_mode(fd, mode, what);
}

/* The file is made without a name, so that nobody finds it before it has its mode.  Returns 0 if
 * the file system cannot do that. */
static int make_nameless(int root_fd, const char *name, unsigned mode, const char *what)
{
    char path[64];
    int fd = -1;
    if (tamis__open(root_fd, ".", O_TMPFILE | O_RDWR, 0666, what, &fd) < 0) return 0;
    int rc = give_mode(root_fd, fd, mode, what);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (rc == 0)
        rc = linkat(AT_FDCWD, path, root_fd, name, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST;
    tamis__close(fd);
    return rc;
}

int tamis__inside_make_once(int root_fd, const char *name, unsigned mode, const char *what)
{
    int fd = -1, rc = make_nameless(root_fd, name, mode, what);
    if (rc != 0) return rc < 0 ? rc : 0;
    rc = tamis__open(root_fd, name, O_RDWR | O_CREAT | O_EXCL, 0666, what, &fd);
    if (rc == TAMIS_EEXIST) return 0;
    if (rc == 0) rc = give_mode(root_fd, fd, mode, what);
    tamis__close(fd);
    return rc;
}

/* A directory gets x where the mode has r, and setgid.  The system drops setgid without a word
 * where the group is not ours. */
static int set_directory(int fd, unsigned mode, bool hand_on, const char *what)
{
    struct stat st;
    const unsigned setgid = hand_on || (mode & S_IWGRP) != 0 ? S_ISGID : 0;
    const int rc = tamis__inside_set_mode(fd, mode | ((mode & 0444) >> 2) | setgid, what);
    if (rc < 0) return rc;
    if (fstat(fd, &st) != 0) return tamis__fail_errno(errno, "examine", what);
    if ((st.st_mode & setgid) == setgid || !group_matters(mode)) return 0;
    return fail_group(st.st_gid, what);
}

int tamis__inside_make_directory(int root_fd, const char *name, unsigned mode, const char *what)
{
    struct stat model = {0};
    struct tamis__file_info root;
    int fd = -1;
    if (tamis__may_fail("mkdir", what))
        return tamis__fail_errno(errno, "make a directory in", what);
    if (mkdirat(root_fd, name, 0777) != 0)
        return errno == EEXIST ? 0
                               : tamis__fail_denied(errno, root_fd, name, TAMIS__MAKES,
                                                    "make a directory in", what);
    int rc = mode != 0 ? 0 : find_model(root_fd, what, &model);
    const bool follows = rc > 0;
    if (follows) mode = model.st_mode & 0777;
    if (rc < 0 || (mode == 0 && geteuid() != 0)) return rc;
    rc = tamis__file_info(root_fd, what, &root);
    if (rc == 0) rc = tamis__open(root_fd, name, O_RDONLY | O_DIRECTORY, 0, what, &fd);
    if (rc == 0)
        rc = follows ? set_group(fd, mode, model.st_gid, what) : give_first(root_fd, fd, what);
    if (rc == 0 && mode != 0) rc = set_directory(fd, mode, (root.mode & S_ISGID) != 0, what);
    if (rc == 0 && follows) rc = set_owner(fd, mode, model.st_uid, what);
    tamis__close(fd);
    return rc;
}

int tamis__inside_set_root(int root_fd, unsigned mode, const char *what)
{
    return set_directory(root_fd, mode, false, what);
}

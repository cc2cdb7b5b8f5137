/* SPDX-License-Identifier: BSD-2-Clause */
/* failure.c: what the error numbers of system calls mean to a user. */
#include <errno.h>
#include <string.h>

#include "os/io.h"

/* What each error number means to a user: the code, and the mend. */
static const struct {
    int number;
    int code;
    const char *mend;
} meanings[] = {
    {ENOENT, TAMIS_ENOTFOUND, ""},
    {EACCES, TAMIS_EACCESS, "; ask the owner of the store for permission"},
    {EPERM, TAMIS_EACCESS, "; the file system or the file's owner forbids it"},
    {EROFS, TAMIS_EREADONLY, "; the file system is mounted read-only"},
    {ENOSPC, TAMIS_ENOSPACE, "; free some room and try again"},
    {EDQUOT, TAMIS_ENOSPACE, "; the disk quota is used up"},
    {EFBIG, TAMIS_ENOSPACE, "; the file system or 'ulimit -f' allows no file of that size"},
    {ENOMEM, TAMIS_ENOMEM, "; free some memory, or raise 'ulimit -v' or vm.max_map_count"},
    {EMFILE, TAMIS_ELIMIT, "; close some files or raise 'ulimit -n'"},
    {ENFILE, TAMIS_ELIMIT, "; the system's table of open files is full"},
    {ENOLCK, TAMIS_ELIMIT, "; the kernel has no lock to give"},
    {EEXIST, TAMIS_EEXIST, ""},
    {ENOTEMPTY, TAMIS_EEXIST, ""},
    {ELOOP, TAMIS_EFOREIGN, "; it is a symbolic link, which a store never contains"},
    {ENOTDIR, TAMIS_ENOSTORE, "; a part of the path is not a directory"},
    {ENAMETOOLONG, TAMIS_EINVAL, "; the path is too long"},
    {ENXIO, TAMIS_EFOREIGN, "; it is a socket or a device, which a store never contains"},
    {EISDIR, TAMIS_EFOREIGN, "; it is a directory in the place of a file"},
    {EIO, TAMIS_EIO, "; look at the disk (dmesg) before trusting this store again"},
};

int tamis__fail_errno(int error_number, const char *verb, const char *what)
{
#ifdef __GLIBC__
    char text[128];
    const char *reason = strerror_r(error_number, text, sizeof text);
#else /* musl's strerror() returns constants, and its strerror_r() is that of POSIX */
    const char *reason = strerror(error_number);
#endif
    struct tamis__fault fault = {.what = what, .system_error = error_number};
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        const char *mend = meanings[i].mend;
        if (meanings[i].number != error_number) continue;
        fault.mend = *mend != '\0' ? mend + 2 : "";
        return tamis__fail_of(meanings[i].code, &fault, "cannot %s %s: %s%s", verb, what, reason,
                              mend);
    }
    return tamis__fail_of(TAMIS_ESYSTEM, &fault, "cannot %s %s: %s", verb, what, reason);
}

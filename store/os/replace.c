/* SPDX-License-Identifier: BSD-2-Clause */
/* replace.c: a directory takes the place of another one, and has files in common with it. */
#include "os/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "os/denied.h"
#include "os/io.h"

bool tamis__link_between(int from_fd, int to_fd, const char *name, const char *what)
{
    return !tamis__may_fail("link", what) && linkat(from_fd, name, to_fd, name, 0) == 0;
}

int tamis__exchange(const char *path, const char *other)
{
    if (!tamis__may_fail("exchange", path) &&
        renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE) == 0)
        return 0;
    if (errno == EINVAL || errno == ENOSYS)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "the file system of %s cannot swap two directories in one step; name a "
                           "directory that is not there yet",
                           path);
    return tamis__fail_denied(errno, AT_FDCWD, path, TAMIS__MAKES, "replace", path);
}

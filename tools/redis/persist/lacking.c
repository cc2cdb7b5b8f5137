/* SPDX-License-Identifier: BSD-2-Clause */
/* lacking.c: a dump or an AOF that would lack a filter. */
#include <signal.h>

#include "persist/rdb_parts.h"
#include "value/handles.h"

void save_lacks(RedisModuleIO *io, const char *what, const struct value *value)
{
    const bool of_child = handles_are_of_child();
    RedisModule_LogIOError(
        io, "warning", "the %s lacks the filter '%s', and %s: %s", what, value->name,
        of_child ? "is given up; the one before stays" : "cannot be loaded", tamis_last_error());
    /* A module cannot tell the server that it has failed.  The server removes what the child has
     * written, and says that the save has failed. */
    if (of_child) (void)raise(SIGKILL);
}

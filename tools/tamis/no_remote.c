/* SPDX-License-Identifier: BSD-2-Clause */
/* no_remote.c: in place of remote/ where the command is built without hiredis. */
#include "remote/remote.h"

const struct remote_calls remote = {0};

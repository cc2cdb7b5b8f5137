/* SPDX-License-Identifier: BSD-2-Clause */
/* paint.c: see paint.h. */
#include "paint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tamis.h"

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value;
}

bool paint_is_wanted(const struct options *options)
{
    if (options_have(options, TAKES(COLOR)) && options->color != COLOR_AUTO)
        return options->color == COLOR_ALWAYS;
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) == 1 && !is_set("NO_COLOR") && terminal != NULL && *terminal &&
           strcmp(terminal, "dumb") != 0;
}

enum paint_level paint_level_of(uint32_t state)
{
    if (state & ~TAMIS_STATE_FULL) return PAINT_BAD;
    return state ? PAINT_FULL : PAINT_GOOD;
}

const char *paint_begin(enum paint_level level)
{
    static const char *const begins[] = {
        [PAINT_GOOD] = "\x1b[32m", [PAINT_FULL] = "\x1b[33m", [PAINT_BAD] = "\x1b[31m"};
    return begins[level];
}

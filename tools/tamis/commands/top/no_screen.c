/* SPDX-License-Identifier: BSD-2-Clause */
/* no_screen.c: in the place of screen.c, in a build without ncurses. */
#include "figures.h"

int screen_run(struct figures *figures, int64_t interval_ns)
{
    (void)figures;
    (void)interval_ns;
    cli_tell("this build of tamis has no live view, so each state is printed below the one before; "
             "for the view install the package libncurses-dev and build Tamis with "
             "TAMIS_WITH_NCURSES=ON");
    return -1;
}

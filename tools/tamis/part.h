/* SPDX-License-Identifier: BSD-2-Clause */
/* part.h: parts of the command that need a library, and that a build may be without. */
#pragma once

/* A function or a table of such a part.  In a build without it the address is NULL, and whoever
 * uses the part looks at one of its addresses first. */
#define PART __attribute__((weak))

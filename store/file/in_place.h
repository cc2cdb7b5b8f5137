/* SPDX-License-Identifier: BSD-2-Clause */
/* in_place.h: files whose pages are rewritten where they are. */
#pragma once

#include "base/base.h"

/*
 * For a new file without data.  Some file systems (btrfs) write a changed page to a new place;
 * this asks them not to.  Otherwise each rewrite would need new room although room was allocated,
 * and a full disk would show itself when a mapping is written to.  It is a hint: on other file
 * systems it does nothing.
 */
void tamis__write_in_place(int fd);

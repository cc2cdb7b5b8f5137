/* SPDX-License-Identifier: BSD-2-Clause */
/* repairs.h: what a repair says, and damage for it to mend. */
#ifndef TAMIS_UNIT_REPAIRS_H
#define TAMIS_UNIT_REPAIRS_H

#include <stdint.h>

struct repairs_said {
    int done, failed;
    char text[65536];
};

/* Repair the store; the next call overwrites what this one said. */
const struct repairs_said *repairs_done(const char *path, unsigned flags);
/* The same, with a backup, or NULL. */
const struct repairs_said *repairs_done_from(const char *path, unsigned flags, const char *backup);
/* So many steps failed, and these words were said. */
void repairs_assert_said(const struct repairs_said *said, int failed, const char *words);

void repairs_unlink(const char *path, const char *name);
void repairs_lose(const char *path); /* the catalog is gone */
void repairs_zero(const char *path); /* its pages are */

/* The number of the index of exceptions of the filter `list`. */
uint64_t repairs_index_of(const char *path);
/* Segment `from` once more, as number `to`; the caller frees the path. */
char *repairs_copy_segment(const char *path, uint64_t from, uint64_t to);
/* What the store's record says. */
void repairs_set_counters(const char *path, uint64_t next_segment, uint64_t passed);

#endif

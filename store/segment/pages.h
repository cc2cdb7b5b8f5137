/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.h: in which pages a segment is mapped, of 4 KiB or of 2 MiB.
 *
 *     wanted     what the setting of the filter, and what is known of the segment, ask for
 *     advise     tells the kernel so, for this mapping; a page comes as advised when it is next
 *                brought into memory
 *     anew       has the pages that are in memory leave it and come again, as advised
 *     count      how much of a mapping has entries of 2 MiB
 *
 * The kernel writes a page of 2 MiB back whole, when one bit of it was set.  So `auto` takes huge
 * pages where nothing is written, or where so many keys come between two write-backs that nearly
 * all small pages would be written too.  docs/decisions/0027-pages.md has the arithmetic.
 */
#pragma once

#include "segment/segment.h"

/* What is known of a segment besides itself. */
struct tamis__pages_case {
    uint32_t setting; /* enum tamis_pages of the filter */
    bool takes_keys;  /* it is the newest of its list */
};

/* How many new keys between two write-backs make huge pages cost at most a quarter more bytes than
 * small ones; UINT64_MAX: the segment is too small for them. */
uint64_t tamis__pages_keys(const struct tamis__segment_header *header);

/* Returns TAMIS_PAGES_SMALL or TAMIS_PAGES_HUGE. */
uint32_t tamis__pages_wanted(const struct tamis__segment *segment, struct tamis__pages_case known);

/* Where the part of the mapping begins that is advised: all of it, or what is behind the header,
 * where that has a folio of its own. */
char *tamis__pages_begin(const struct tamis__segment *segment);

/* Advises the kernel, if that is not done yet.  Others may use the mapping meanwhile. */
void tamis__pages_advise(const struct tamis__segment *segment, uint32_t pages);

/* Notes in the segment what `auto` is from now on, for all processes. */
void tamis__pages_note(const struct tamis__segment *segment, uint32_t pages);

/*
 * Has the pages come anew, once after the opening and after each change of the advice, if they are
 * clean, of the other sort, and no other process has them mapped.  Takes about as long as reading
 * the file.  Whoever touches one meanwhile waits for that one.  Nothing of this fails.
 */
void tamis__pages_anew(const struct tamis__segment *segment);

/* Adds what is mapped, in memory, and mapped by entries of 2 MiB.  Touches what is in memory. */
struct tamis__pages_count {
    uint64_t mapped, present, huge; /* bytes */
};
int tamis__pages_count(const struct tamis__segment *segment, struct tamis__pages_count *count);

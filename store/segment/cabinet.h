/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cabinet.h: drawers (sheet.h) that are mapped whole, for reading, so that any of their sheets is
 * found without a system call.
 *
 *     heads[hash of a drawer] -> slot -> slot ...     slots: one for each drawer that is mapped
 *
 * A mapping stays until another drawer needs its slot, and costs no descriptor.  A clock says which
 * one goes: a hand goes round, clears `used`, and takes the first that nobody has used since it
 * last came by.  It is for one thread at a time.
 *
 * What is read in a sheet may be anything: the drawer may be gone, cut or damaged.  The reader
 * checks it (handle/light.c), and asks tamis__cabinet_is_whole() after the last look.
 */
#pragma once

#include "segment/sheet.h"

#define TAMIS__CABINET_MOST 65536u

struct tamis__slot {
    uint64_t drawer; /* 0: nothing is mapped */
    const char *map; /* TAMIS__DRAWER_BYTES bytes */
    const struct tamis__guard *guard;
    uint32_t next; /* index of the next slot with that hash, and 1; 0: there is none */
    bool used;     /* since the hand, or a look for what is unused, came by */
};

struct tamis__cabinet {
    const struct tamis__place *place; /* whose store the owner keeps open */
    struct tamis__slot *slots;        /* `most` of them */
    uint32_t *heads;                  /* mask + 1 of them; as `next` of a slot */
    uint32_t most, mask, count;
    uint32_t hand;  /* of the clock */
    uint32_t looks; /* tamis__cabinet_tidy() goes on with this slot */
};

/* Makes an empty one.  Returns 0 or TAMIS_ENOMEM. */
int tamis__cabinet_init(struct tamis__cabinet *cabinet, const struct tamis__place *place,
                        uint32_t most);
void tamis__cabinet_clear(struct tamis__cabinet *cabinet);

/* The slot of the drawer that has the sheet; the drawer is mapped if it is not.  NULL: that cannot
 * be done.  The slot is good until the next call with this cabinet. */
struct tamis__slot *tamis__cabinet_find(struct tamis__cabinet *cabinet, uint64_t sheet);

/* The sheet of that number in the slot of its drawer. */
static inline const struct tamis__sheet *tamis__slot_sheet(const struct tamis__slot *slot,
                                                           uint64_t number)
{
    return (const struct tamis__sheet *)(const void *)(slot->map + tamis__sheet_offset(number));
}

/* Could all of it be read that was read so far? */
static inline bool tamis__slot_is_whole(const struct tamis__slot *slot)
{
    tamis__guard_fence();
    /* ORDER relaxed: the fence comes before. */
    return __builtin_expect(__atomic_load_n(&tamis__guard_faults, __ATOMIC_RELAXED) == 0, 1) ||
           !tamis__guard_is_broken(slot->guard);
}

/* Does the sheet lie in the last page of its drawer?  (64 KiB: no system has larger ones.) */
static inline bool tamis__cabinet_is_last(uint64_t sheet)
{
    return tamis__sheet_offset(sheet) >= TAMIS__DRAWER_BYTES - ((uint64_t)64 << 10);
}
/* Has the file of the sheet's drawer all of its bytes, now?  A system call. */
bool tamis__cabinet_is_long(const struct tamis__cabinet *cabinet, uint64_t sheet);

/* Unmaps the drawer that has the sheet, if it is mapped. */
void tamis__cabinet_forget(struct tamis__cabinet *cabinet, uint64_t sheet);
/* Looks at that many slots, and unmaps the drawers whose sheets are all gone; if `unused`, those
 * too that were not used since such a look came by before. */
void tamis__cabinet_tidy(struct tamis__cabinet *cabinet, uint32_t looks, bool unused);

/* SPDX-License-Identifier: BSD-2-Clause */
/* cabinet.c: see cabinet.h. */
#include "segment/cabinet.h"

#include <fcntl.h>

#include "os/io.h"
#include "os/overlay.h"

int tamis__cabinet_init(struct tamis__cabinet *c, const struct tamis__place *place, uint32_t most)
{
    uint32_t heads = 1;
    while (heads < 2 * most)
        heads *= 2;
    *c = (struct tamis__cabinet){.place = place, .most = most, .mask = heads - 1};
    c->slots = calloc(most, sizeof *c->slots);
    c->heads = calloc(heads, sizeof *c->heads);
    if (c->slots != NULL && c->heads != NULL) return 0;
    tamis__cabinet_clear(c);
    return tamis__fail(TAMIS_ENOMEM, "out of memory for a cabinet of %u drawers", most);
}

/* Drawers are numbered one after the other, so their numbers are a hash. */
static uint32_t *head_of(const struct tamis__cabinet *c, uint64_t drawer)
{
    return &c->heads[drawer & c->mask];
}

static struct tamis__slot *find(const struct tamis__cabinet *c, uint64_t drawer)
{
    uint32_t at = *head_of(c, drawer);
    while (at != 0 && c->slots[at - 1].drawer != drawer)
        at = c->slots[at - 1].next;
    return at == 0 ? NULL : &c->slots[at - 1];
}

/* Unmaps the drawer of a slot. */
static void empty(struct tamis__cabinet *c, struct tamis__slot *slot)
{
    const uint32_t self = (uint32_t)(slot - c->slots) + 1;
    uint32_t *link = head_of(c, slot->drawer);
    while (*link != self)
        link = &c->slots[*link - 1].next;
    *link = slot->next;
    tamis__unmap((void *)(uintptr_t)slot->map, TAMIS__DRAWER_BYTES);
    *slot = (struct tamis__slot){.drawer = 0};
    c->count--;
}

void tamis__cabinet_clear(struct tamis__cabinet *c)
{
    for (uint32_t i = 0; c->slots != NULL && i < c->most; i++)
        if (c->slots[i].drawer != 0) empty(c, &c->slots[i]);
    free(c->slots);
    free(c->heads);
    *c = (struct tamis__cabinet){.place = NULL};
}

/* A slot without a drawer, after one was unmapped if there was none.  Two rounds clear all `used`.
 */
static struct tamis__slot *free_slot(struct tamis__cabinet *c)
{
    for (;;) {
        struct tamis__slot *slot = &c->slots[c->hand];
        c->hand = c->hand + 1 == c->most ? 0 : c->hand + 1;
        if (slot->drawer == 0) return slot;
        if (c->count < c->most) continue;
        if (!slot->used) {
            empty(c, slot);
            return slot;
        }
        slot->used = false;
    }
}

/* Maps the drawer that has the sheet.  NULL: it is not there, too short, or the system has no
 * mapping left. */
static void *map_drawer(const struct tamis__place *place, uint64_t sheet)
{
    char what[TAMIS__SEGMENT_PATH_BYTES], name[TAMIS__SEGMENT_NAME_BYTES];
    struct tamis__file_info info = {0};
    void *map = NULL;
    int fd = -1, rc = 0;
    tamis__segment_file(sheet, name);
    if (place->overlay) {
        tamis__segment_path(place, sheet, what);
        rc = tamis__overlay_copy_up(place->segments_fd, name, what);
    }
    if (rc == 0) rc = tamis__segment_open_file(place, sheet, O_RDONLY, what, &fd);
    if (rc == 0) rc = tamis__file_info(fd, what, &info);
    if (rc == 0 && info.bytes >= TAMIS__DRAWER_BYTES)
        rc = tamis__map(fd, TAMIS__DRAWER_BYTES, false, what, &map);
    tamis__close(fd); /* the mapping outlives the descriptor */
    return rc < 0 ? NULL : map;
}

struct tamis__slot *tamis__cabinet_find(struct tamis__cabinet *c, uint64_t sheet)
{
    const uint64_t drawer = tamis__sheet_drawer(sheet);
    struct tamis__slot *slot = find(c, drawer);
    if (slot != NULL) {
        slot->used = true;
        return slot;
    }
    void *map = map_drawer(c->place, sheet);
    if (map == NULL) return NULL;
    slot = free_slot(c);
    uint32_t *head = head_of(c, drawer);
    *slot = (struct tamis__slot){
        .drawer = drawer, .map = map, .guard = tamis__guard_of(map), .next = *head, .used = true};
    *head = (uint32_t)(slot - c->slots) + 1;
    c->count++;
    return slot;
}

bool tamis__cabinet_is_long(const struct tamis__cabinet *c, uint64_t sheet)
{
    char name[TAMIS__SEGMENT_NAME_BYTES];
    struct tamis__file_info info = {0};
    tamis__segment_file(sheet, name);
    return tamis__named_info(c->place->segments_fd, name, name, &info) == 0 &&
           info.bytes >= TAMIS__DRAWER_BYTES;
}

void tamis__cabinet_forget(struct tamis__cabinet *c, uint64_t sheet)
{
    struct tamis__slot *slot = find(c, tamis__sheet_drawer(sheet));
    if (slot != NULL) empty(c, slot);
}

/* Says the head of the drawer that all of its sheets are gone?  A page that cannot be had reads as
 * zeros, which says that they are there. */
static bool is_done_with(const struct tamis__slot *slot)
{
    const struct tamis__drawer_head *head = (const void *)slot->map;
    bool gone = true;
    for (size_t i = 0; gone && i < sizeof head->gone / sizeof head->gone[0]; i++)
        gone = __atomic_load_n(&head->gone[i], __ATOMIC_RELAXED) == UINT64_MAX; /* ORDER: a hint */
    return gone;
}

void tamis__cabinet_tidy(struct tamis__cabinet *c, uint32_t looks, bool unused)
{
    for (uint32_t i = 0; c->count > 0 && i < looks && i < c->most; i++) {
        struct tamis__slot *slot = &c->slots[c->looks];
        c->looks = c->looks + 1 == c->most ? 0 : c->looks + 1;
        if (slot->drawer == 0) continue;
        if (is_done_with(slot) || !tamis__slot_is_whole(slot) || (unused && !slot->used))
            empty(c, slot);
        else if (unused)
            slot->used = false;
    }
}

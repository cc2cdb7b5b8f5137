/* SPDX-License-Identifier: BSD-2-Clause */
/* drawer.c: the files of sheets; see sheet.h. */
#include <fcntl.h>

#include "os/inside.h"
#include "os/io.h"
#include "segment/points.h"
#include "segment/sheet.h"

#define PATH_BYTES TAMIS__SEGMENT_PATH_BYTES
#define HEAD_CHECKED offsetof(struct tamis__drawer_head, checksum)

/* Writes the path of a drawer, for sentences.  Returns the name at its end. */
static const char *drawer_path(const struct tamis__place *place, uint64_t drawer,
                               char path[PATH_BYTES])
{
    char name[TAMIS__DRAWER_NAME_BYTES];
    tamis__drawer_name(drawer, name);
    (void)snprintf(path, PATH_BYTES, "%s/segments/%s", place->path, name);
    return path + strlen(path) - strlen(name);
}

static int open_drawer(const struct tamis__place *place, uint64_t drawer, int flags,
                       char what[PATH_BYTES], int *fd)
{
    *fd = -1;
    const char *name = drawer_path(place, drawer, what);
    return tamis__inside_open(place->segments_fd, name, flags, what, fd);
}

/* ---- The head -------------------------------------------------------------------------------- */

static void make_head(uint64_t drawer, uint32_t class, uint64_t store_id,
                      struct tamis__drawer_head *head)
{
    *head = (struct tamis__drawer_head){.version = 1,
                                        .class = class,
                                        .number = drawer,
                                        .store_id = store_id,
                                        .created_at = tamis__now_ns()};
    memcpy(head->magic, TAMIS__DRAWER_MAGIC, sizeof head->magic);
    head->checksum = tamis__checksum(head, HEAD_CHECKED);
    /* The bits of places that are no sheets are set, so that a drawer whose sheets are all gone has
     * all bits set. */
    for (uint32_t i = 0; i < TAMIS__SHEETS_MAX; i++)
        if (i < tamis__class_first(class) || i >= tamis__class_end(class))
            head->gone[i / 64] |= (uint64_t)1 << i % 64;
}

int tamis__drawer_read(const struct tamis__place *place, uint64_t drawer,
                       struct tamis__drawer_head *head)
{
    char what[PATH_BYTES];
    struct tamis__file_info info = {0};
    int fd, rc = open_drawer(place, drawer, O_RDONLY, what, &fd);
    if (rc == 0) rc = tamis__read_at(fd, head, sizeof *head, 0, what);
    if (rc == 0) rc = tamis__file_info(fd, what, &info);
    tamis__close(fd);
    if (rc < 0) return rc;
    if (memcmp(head->magic, TAMIS__DRAWER_MAGIC, sizeof head->magic) != 0)
        return tamis__fail(TAMIS_EFOREIGN, "%s is not a drawer of Tamis (wrong first bytes)", what);
    if (head->version > 1)
        return tamis__fail(TAMIS_EVERSION,
                           "%s has version %u, this library reads up to 1; use a newer Tamis", what,
                           head->version);
    if (head->version == 0 || head->checksum != tamis__checksum(head, HEAD_CHECKED) ||
        head->class >= TAMIS__SHEET_CLASSES)
        return tamis__fail(TAMIS_ECORRUPT, "%s has a damaged head; restore it from a copy", what);
    if (head->number != drawer)
        return tamis__fail(TAMIS_EFOREIGN,
                           "%s says that it is drawer %" PRIu64
                           "; it was copied over another one, restore the right file",
                           what, head->number);
    if (info.bytes < TAMIS__DRAWER_BYTES)
        return tamis__fail(TAMIS_ECORRUPT,
                           "%s is truncated: it has %" PRIu64 " bytes of %" PRIu64
                           "; restore it from a copy",
                           what, info.bytes, TAMIS__DRAWER_BYTES);
    return 0;
}

static int make_drawer(const struct tamis__place *place, uint64_t drawer, uint32_t class,
                       uint64_t store_id)
{
    char what[PATH_BYTES];
    struct tamis__drawer_head head;
    struct tamis__staged staged;
    const char *name = drawer_path(place, drawer, what);
    make_head(drawer, class, store_id, &head);
    int rc =
        tamis__segment_stage(place, TAMIS__DRAWER_BYTES, "a drawer for small filters", &staged);
    if (rc < 0) return rc;
    rc = tamis__write_at(staged.file.fd, &head, sizeof head, 0, what);
    if (rc == 0) rc = tamis__sync_file(staged.file.fd, what);
    if (rc == 0) rc = tamis__rename(place->staging_fd, staged.name, place->segments_fd, name, what);
    if (rc < 0) {
        tamis__segment_discard(place, &staged);
        return rc;
    }
    tamis__private_close(&staged.file);
    return tamis__sync_file(place->segments_fd, what);
}

int tamis__drawer_copy(const struct tamis__place *from, const struct tamis__place *to,
                       uint64_t drawer, int *fd)
{
    char what[PATH_BYTES];
    struct tamis__drawer_head head;
    int rc = open_drawer(to, drawer, O_RDWR, what, fd);
    if (rc != TAMIS_ENOTFOUND) return rc;
    rc = tamis__drawer_read(from, drawer, &head);
    const char *name = drawer_path(to, drawer, what);
    if (rc == 0) rc = tamis__inside_make_copy(to->root_fd, to->segments_fd, name, what, fd);
    if (rc == 0) rc = tamis__allocate(*fd, TAMIS__DRAWER_BYTES, what);
    if (rc == 0) rc = tamis__write_at(*fd, &head, sizeof head, 0, what);
    return rc == 0 ? tamis__sync_file(*fd, what) : rc;
}

int tamis__drawer_ensure(const struct tamis__place *place, uint64_t drawer, uint32_t class,
                         uint64_t store_id)
{
    struct tamis__drawer_head head;
    int rc = tamis__drawer_read(place, drawer, &head);
    if (rc == TAMIS_ENOTFOUND) {
        rc = make_drawer(place, drawer, class, store_id);
        return rc < 0 ? rc : 1;
    }
    if (rc == TAMIS_EFOREIGN || rc == TAMIS_EVERSION || rc == TAMIS_ECORRUPT) return 0;
    return rc < 0 ? rc : head.class == class && head.store_id == store_id;
}

/* ---- Sheets -----------------------------------------------------------------------------------
 */

static bool is_gone(const struct tamis__drawer_head *head, uint32_t index)
{
    return (head->gone[index / 64] >> index % 64 & 1) != 0;
}

int tamis__sheet_is_there(int fd, uint64_t number, const char *what)
{
    struct tamis__drawer_head head;
    uint64_t magic = 0;
    int rc = tamis__read_at(fd, &head, sizeof head, 0, what);
    if (rc == 0) rc = tamis__read_at(fd, &magic, sizeof magic, tamis__sheet_offset(number), what);
    if (rc < 0) return rc;
    return magic == TAMIS__MAGIC_WORD && !is_gone(&head, tamis__sheet_index(number));
}

int tamis__drawer_each(const struct tamis__place *place, uint64_t drawer, tamis__sheet_fn *fn,
                       void *context)
{
    char what[PATH_BYTES];
    struct tamis__drawer_head head;
    uint64_t magic;
    int fd, rc = tamis__drawer_read(place, drawer, &head);
    if (rc == 0) rc = open_drawer(place, drawer, O_RDONLY, what, &fd);
    if (rc < 0) return rc;
    for (uint32_t i = tamis__class_first(head.class); rc == 0 && i < tamis__class_end(head.class);
         i++) {
        const uint64_t number = tamis__sheet_number(drawer, head.class, i);
        if (is_gone(&head, i)) continue;
        rc = tamis__read_at(fd, &magic, sizeof magic, tamis__sheet_offset(number), what);
        if (rc == 0 && magic == TAMIS__MAGIC_WORD) rc = fn(context, number);
    }
    tamis__close(fd);
    return rc;
}

/* Makes the bytes of a sheet, of which there are as many as its class has. */
static void encode(const struct tamis__segment_header *header, const void *data, void *sheet)
{
    memset(sheet, 0, tamis__class_bytes(tamis__sheet_class(header->number)));
    tamis__sheet_encode(header, sheet);
    if (data != NULL) memcpy((char *)sheet + header->data_offset, data, (size_t)header->data_bytes);
}

int tamis__sheet_publish(const struct tamis__place *place,
                         const struct tamis__segment_header *header, const void *data)
{
    char what[PATH_BYTES];
    uint64_t sheet[TAMIS__SHEET_BYTES_MAX / 8];
    const uint64_t number = header->number;
    int fd, rc = open_drawer(place, tamis__sheet_drawer(number), O_RDWR, what, &fd);
    if (rc < 0) return rc;
    encode(header, data, sheet);
    rc = tamis__write_at(fd, sheet, tamis__class_bytes(tamis__sheet_class(number)),
                         tamis__sheet_offset(number), what);
    tamis__close(fd);
    TAMIS__POINT(TAMIS__POINT_RENAMED);
    return rc;
}

int tamis__sheet_sync(const struct tamis__place *place, uint64_t number)
{
    char what[PATH_BYTES];
    int fd, rc = open_drawer(place, tamis__sheet_drawer(number), O_RDWR, what, &fd);
    if (rc == 0) rc = tamis__sync_data(fd, what);
    tamis__close(fd);
    return rc;
}

int tamis__sheet_withdraw(const struct tamis__place *place, uint64_t number)
{
    static const uint64_t nothing[TAMIS__SHEET_BYTES_MAX / 8];
    char what[PATH_BYTES];
    int fd, rc = open_drawer(place, tamis__sheet_drawer(number), O_RDWR, what, &fd);
    if (rc == TAMIS_ENOTFOUND) return 0;
    if (rc == 0)
        rc = tamis__write_at(fd, nothing, tamis__class_bytes(tamis__sheet_class(number)),
                             tamis__sheet_offset(number), what);
    tamis__close(fd);
    return rc;
}

/* Marks the sheet as gone.  Returns whether all sheets of its drawer are. */
static bool mark_gone(struct tamis__drawer_head *head, uint64_t number)
{
    const uint32_t index = tamis__sheet_index(number);
    bool empty = true;
    /* ORDER seq_cst: of two that remove the last two sheets, one finds the drawer empty. */
    (void)__atomic_fetch_or(&head->gone[index / 64], (uint64_t)1 << index % 64, __ATOMIC_SEQ_CST);
    for (size_t i = 0; i < sizeof head->gone / sizeof head->gone[0]; i++)
        empty = empty && __atomic_load_n(&head->gone[i], __ATOMIC_SEQ_CST) == UINT64_MAX;
    return empty;
}

int tamis__sheet_remove(const struct tamis__place *place, uint64_t number)
{
    struct tamis__hand hand = {.place = place};
    const int rc = tamis__hand_remove(&hand, number);
    tamis__hand_close(&hand);
    return rc;
}

/* ---- A drawer at hand ------------------------------------------------------------------------ */

void tamis__hand_close(struct tamis__hand *hand)
{
    tamis__unmap(hand->map, TAMIS__DRAWER_BYTES);
    hand->map = NULL;
    hand->drawer = 0;
}

/* Has a drawer such a sheet?  Damage may say otherwise. */
static bool is_place(uint64_t number)
{
    const uint32_t class = tamis__sheet_class(number), index = tamis__sheet_index(number);
    return index >= tamis__class_first(class) && index < tamis__class_end(class);
}

/* Maps the drawer of a sheet, if it is not at hand. */
static int take_in_hand(struct tamis__hand *hand, uint64_t number)
{
    struct tamis__file_info info = {0};
    const uint64_t drawer = tamis__sheet_drawer(number);
    if (hand->drawer == drawer) return 0;
    tamis__hand_close(hand);
    int fd, rc = open_drawer(hand->place, drawer, O_RDWR, hand->what, &fd);
    if (rc == 0) rc = tamis__file_info(fd, hand->what, &info);
    if (rc == 0 && info.bytes >= TAMIS__DRAWER_BYTES)
        rc = tamis__map(fd, TAMIS__DRAWER_BYTES, true, hand->what, &hand->map);
    tamis__close(fd);
    if (rc < 0 && rc != TAMIS_ENOTFOUND) return rc;
    hand->drawer = drawer;
    return 0;
}

int tamis__hand_live(struct tamis__hand *hand, uint64_t number, struct tamis__live **live)
{
    *live = NULL;
    const int rc = is_place(number) ? take_in_hand(hand, number) : 0;
    if (rc < 0 || !is_place(number) || hand->map == NULL) return rc;
    struct tamis__sheet *sheet =
        (struct tamis__sheet *)(void *)((char *)hand->map + tamis__sheet_offset(number));
    *live = &sheet->live;
    return 0;
}

int tamis__hand_remove(struct tamis__hand *hand, uint64_t number)
{
    int rc = is_place(number) ? take_in_hand(hand, number) : 0;
    if (rc < 0 || !is_place(number) || hand->map == NULL) return rc;
    const bool empty = mark_gone(hand->map, number);
    rc = tamis__map_check(hand->map, hand->what);
    if (rc < 0 || !empty) return rc;
    char path[PATH_BYTES];
    const char *name = drawer_path(hand->place, hand->drawer, path);
    rc = tamis__unlink(hand->place->segments_fd, name, path);
    tamis__unmap(hand->map, TAMIS__DRAWER_BYTES);
    hand->map = NULL;
    return rc;
}

/* Makes the drawer of a sheet if it is not there: all of its sheets are gone. */
static int make_for(const struct tamis__place *place, uint64_t number, uint64_t store_id)
{
    const uint64_t drawer = tamis__sheet_drawer(number);
    struct tamis__hand hand = {.place = place};
    struct tamis__drawer_head head;
    int rc = tamis__drawer_read(place, drawer, &head);
    if (rc != TAMIS_ENOTFOUND) return rc;
    rc = make_drawer(place, drawer, tamis__sheet_class(number), store_id);
    if (rc == 0) rc = take_in_hand(&hand, number);
    if (rc == 0 && hand.map != NULL)
        memset(((struct tamis__drawer_head *)hand.map)->gone, 0xFF, sizeof head.gone);
    tamis__hand_close(&hand);
    return rc;
}

int tamis__sheet_put_back(const struct tamis__place *place, uint64_t number, const void *sheet,
                          uint64_t store_id)
{
    char what[PATH_BYTES];
    const uint32_t index = tamis__sheet_index(number);
    struct tamis__hand hand = {.place = place};
    int fd = -1, rc = make_for(place, number, store_id);
    if (rc == 0) rc = open_drawer(place, tamis__sheet_drawer(number), O_RDWR, what, &fd);
    if (rc == 0) rc = tamis__sheet_is_there(fd, number, what);
    if (rc > 0)
        rc = tamis__fail(TAMIS_EEXIST, "%s has another sheet in the place of this one; it stays",
                         what);
    if (rc == 0)
        rc = tamis__write_at(fd, sheet, tamis__class_bytes(tamis__sheet_class(number)),
                             tamis__sheet_offset(number), what);
    if (rc == 0) rc = take_in_hand(&hand, number);
    if (rc == 0 && hand.map != NULL) {
        struct tamis__drawer_head *head = hand.map;
        /* ORDER seq_cst: as mark_gone(), which others may call for other sheets. */
        (void)__atomic_fetch_and(&head->gone[index / 64], ~((uint64_t)1 << index % 64),
                                 __ATOMIC_SEQ_CST);
        rc = tamis__map_check(hand.map, hand.what);
    }
    tamis__hand_close(&hand);
    tamis__close(fd);
    return rc == 0 ? tamis__sheet_sync(place, number) : rc;
}

/* ---- Many sheets ------------------------------------------------------------------------------
 */

/* Sheets of so many bytes are written by one call. */
#define FILLING_BYTES ((size_t)64 << 10)

void tamis__filling_close(struct tamis__filling *f)
{
    if (f->drawer != 0) tamis__close(f->fd);
    free(f->bytes);
    *f = (struct tamis__filling){.place = f->place};
}

int tamis__filling_flush(struct tamis__filling *f)
{
    const size_t count = f->count;
    f->count = 0;
    if (count == 0) return 0;
    const int rc = tamis__write_at(f->fd, f->bytes, count, f->offset, f->what);
    TAMIS__POINT(TAMIS__POINT_RENAMED);
    return rc;
}

/* Opens the drawer of a sheet, if it is not that which is open. */
static int turn_to(struct tamis__filling *f, uint64_t number)
{
    const uint64_t drawer = tamis__sheet_drawer(number);
    if (f->drawer == drawer) return 0;
    int rc = tamis__filling_flush(f);
    if (f->drawer != 0) tamis__close(f->fd);
    f->drawer = 0;
    if (f->bytes == NULL) f->bytes = malloc(FILLING_BYTES);
    if (rc == 0 && f->bytes == NULL) rc = tamis__fail(TAMIS_ENOMEM, "out of memory making filters");
    if (rc == 0) rc = open_drawer(f->place, drawer, O_RDWR, f->what, &f->fd);
    if (rc < 0) return rc;
    f->drawer = drawer;
    return tamis__read_at(f->fd, &f->head, sizeof f->head, 0, f->what);
}

int tamis__filling_is_free(struct tamis__filling *f, uint64_t number)
{
    uint64_t magic = 0;
    int rc = turn_to(f, number);
    if (rc == 0)
        rc = tamis__read_at(f->fd, &magic, sizeof magic, tamis__sheet_offset(number), f->what);
    if (rc < 0) return rc;
    return magic != TAMIS__MAGIC_WORD || is_gone(&f->head, tamis__sheet_index(number));
}

int tamis__filling_put(struct tamis__filling *f, const struct tamis__segment_header *header,
                       const void *data)
{
    const uint64_t offset = tamis__sheet_offset(header->number);
    const size_t bytes = tamis__class_bytes(tamis__sheet_class(header->number));
    int rc = turn_to(f, header->number);
    if (rc == 0 && (offset != f->offset + f->count || f->count + bytes > FILLING_BYTES))
        rc = tamis__filling_flush(f);
    if (rc < 0) return rc;
    if (f->count == 0) f->offset = offset;
    encode(header, data, f->bytes + f->count);
    f->count += bytes;
    return 0;
}

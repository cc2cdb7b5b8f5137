/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c: checks catalog.mdb before LMDB does: is it a file of the store alone, are its pages
 * sound, and does the path of the store lead to it?
 *
 * A writer needs all pages to be sound (pages.h).  The walk over all of them takes longer the more
 * filters there are, so it is done once, and its result goes from writer to writer:
 *
 *     begin     the note in catalog.lock is of the file's state:   no walk
 *               there is none, or one of another state:            walk, then write a note
 *     commit    all pages were sound, and so are those of LMDB:    write a note
 *
 * A note has the boot id, the file's device, inode, size and times, and the number of its last
 * transaction.  Only the holder of the exclusive lock reads or writes it.  A note is never synced,
 * as it is of no use after the next boot.
 *
 * Whoever else writes to the file changes its times.  On kernels before 6.13 two writes within
 * some milliseconds get the same time.  So the maker of a note first sets the time of the last
 * write to that of the clock, which counts nanoseconds.  If the file system keeps less than that,
 * no note is made.  Only the owner of the file may set its time.  Somebody else makes a note
 * without this, and that note does not show a foreign write in the same moment.
 */
#include <fcntl.h>

#include "catalog/lmdb.h"
#include "catalog/pages.h"
#include "catalog/points.h"
#include "os/inside.h"

#define NAME "catalog.mdb"

/* ---- Pages ----------------------------------------------------------------------------------- */

/* Turns a fault of a page into a sentence.  TAMIS_ECORRUPT too if a page could not be had. */
static int answer(struct tamis__catalog_txn *txn, int rc, const struct tamis__page_fault *fault)
{
    const char *what = txn->catalog->file_path;
    if (rc == TAMIS_ENOMEM)
        rc = tamis__fail_at(rc, what, "out of memory checking %s", what);
    else if (rc < 0)
        rc = tamis__fail_of(
            rc, &(struct tamis__fault){.what = what, .offset = fault->offset},
            "the catalog %s is damaged at byte %llu: %s; 'tamis repair' makes it anew", what,
            (unsigned long long)fault->offset, fault->reason);
    const int whole = tamis__map_check(txn->opened.view, what);
    if (whole < 0) rc = whole;
    if (rc < 0) txn->unsure = true;
    return rc;
}

int tamis__txn_check_key(struct tamis__catalog_txn *txn, MDB_val key, bool beside)
{
    struct tamis__page_fault fault = {0, ""};
    if (txn->opened.pages == NULL || txn->opened.is_checked) return 0;
    const int rc =
        tamis__pages_check_key(txn->opened.pages, key.mv_data, key.mv_size, beside, &fault);
    return answer(txn, rc, &fault);
}

int tamis__txn_check_pages(struct tamis__catalog_txn *txn)
{
    struct tamis__page_fault fault = {0, ""};
    if (txn->opened.pages == NULL || txn->opened.is_checked) return 0;
    txn->opened.is_checked = true;
    TAMIS__POINT(TAMIS__POINT_CATALOG_WALK);
    return answer(txn, tamis__pages_check_all(txn->opened.pages, &fault), &fault);
}

/* ---- The note -------------------------------------------------------------------------------- */

#define NOTE_MAGIC UINT64_C(0x315745495653494D) /* "MISVIEW1" */

struct note {
    uint64_t magic, device, inode, bytes, written_ns, changed_ns, transaction;
    uint8_t boot_id[TAMIS__BOOT_ID_BYTES];
};

/* Returns false if there can be no note: without a lock file, without a boot id. */
static bool make_note(const struct tamis__catalog_txn *txn, const struct tamis__file_info *info,
                      uint64_t transaction, struct note *note)
{
    *note = (struct note){.magic = NOTE_MAGIC,
                          .device = info->device,
                          .inode = info->inode,
                          .bytes = info->bytes,
                          .written_ns = (uint64_t)info->written_ns,
                          .changed_ns = (uint64_t)info->changed_ns,
                          .transaction = transaction};
    return txn->lock.fd >= 0 && tamis__boot_id(note->boot_id);
}

/* Gives the state of the file a time of its own, and tells the state.  Returns false if times are
 * too coarse for that. */
static bool set_apart(const struct tamis__catalog_txn *txn, int fd, struct tamis__file_info *info)
{
    const char *what = txn->catalog->file_path;
    const int64_t now = tamis__now_ns();
    const bool is_set = tamis__set_written(fd, now, what) == 0;
    return tamis__file_info(fd, what, info) == 0 && (!is_set || info->written_ns == now);
}

void tamis__txn_note(const struct tamis__catalog_txn *txn, int fd, uint64_t transaction)
{
    struct tamis__file_info info;
    struct note note;
    if (txn->lock.fd >= 0 && set_apart(txn, fd, &info) && make_note(txn, &info, transaction, &note))
        (void)tamis__write_hint(txn->lock.fd, &note, sizeof note, 0);
}

/* Checks all pages unless the note says that they are sound. */
static int check_all_once(struct tamis__catalog_txn *txn, int fd,
                          const struct tamis__file_info *info)
{
    const uint64_t transaction = tamis__pages_transaction(txn->opened.pages);
    struct tamis__file_info now;
    struct note note, there;
    if (make_note(txn, info, transaction, &note) &&
        tamis__read_hint(txn->lock.fd, &there, sizeof there, 0) &&
        memcmp(&note, &there, sizeof note) == 0)
        return 0;
    /* This comes before the walk: what somebody writes meanwhile is then not of the noted state. */
    const bool is_apart = txn->lock.fd >= 0 && set_apart(txn, fd, &now);
    const int rc = tamis__txn_check_pages(txn);
    if (rc == 0 && is_apart && make_note(txn, &now, transaction, &note))
        (void)tamis__write_hint(txn->lock.fd, &note, sizeof note, 0);
    return rc;
}

/* Maps the file, unless LMDB has it mapped, and checks the pages that LMDB begins with. */
static int check_first_pages(struct tamis__catalog_txn *txn, int fd,
                             const struct tamis__file_info *info)
{
    struct tamis__opened *o = &txn->opened;
    struct tamis__page_fault fault = {0, ""};
    if (o->pages != NULL) return 0;
    if (o->view == NULL) {
        const int rc = tamis__map(fd, info->bytes, false, txn->catalog->file_path, &o->view);
        if (rc < 0) return rc;
        o->is_own_view = true;
    }
    o->file = *info;
    return answer(txn, tamis__pages_open(o->view, (size_t)info->bytes, &o->pages, &fault), &fault);
}

/* Checks the pages that LMDB begins with, and to write, all. */
static int check_pages(struct tamis__catalog_txn *txn, int fd)
{
    struct tamis__file_info info;
    int rc = tamis__file_info(fd, txn->catalog->file_path, &info);
    if (rc < 0) return rc;
    tamis__txn_take_opened(txn, &info);
    rc = check_first_pages(txn, fd, &info);
    return rc < 0 || !txn->exclusive || txn->opened.is_checked ? rc
                                                               : check_all_once(txn, fd, &info);
}

/* ---- The file -------------------------------------------------------------------------------- */

/* Is it a file of ours alone, and the one that the caller's path leads to? */
static int check_file(const struct tamis__catalog *catalog, int fd)
{
    struct tamis__file_info info;
    int rc = tamis__file_info(fd, catalog->file_path, &info);
    if (rc < 0) return rc;
    if (!info.is_regular || info.bytes == 0)
        return tamis__fail(TAMIS_EFOREIGN, "%s is %s and no catalog; 'tamis repair' makes it anew",
                           catalog->file_path, info.is_regular ? "empty" : "not a regular file");
    return tamis__inside_check(catalog->root_fd, fd, catalog->file_path);
}

int tamis__catalog_file(const struct tamis__catalog *catalog, struct tamis__file_info *info)
{
    int fd = -1;
    int rc = tamis__open(catalog->root_fd, NAME, O_RDONLY, 0, catalog->file_path, &fd);
    if (rc == 0) rc = tamis__file_info(fd, catalog->file_path, info);
    tamis__close(fd);
    return rc;
}

int tamis__catalog_open_to_read(const struct tamis__catalog *catalog, int *fd)
{
    const char *what = catalog->file_path;
    int rc = tamis__open(catalog->root_fd, NAME, O_RDONLY, 0, what, fd);
    if (rc == TAMIS_ENOTFOUND)
        return tamis__fail_at(TAMIS_ENOSTORE, what,
                              "there is no store here: %s is missing; 'tamis create' makes a store",
                              what);
    if (rc < 0) return rc;
    rc = check_file(catalog, *fd);
    if (rc == 0) return 0;
    tamis__close(*fd);
    *fd = -1;
    return rc;
}

int tamis__catalog_open_file(struct tamis__catalog_txn *txn, int *fd)
{
    const char *what = txn->catalog->file_path;
    int rc = tamis__catalog_open_to_read(txn->catalog, fd);
    if (rc < 0) return rc;
    rc = check_pages(txn, *fd);
    if (rc == 0) rc = tamis__same_file(*fd, what);
    if (rc == 0)
        rc = tamis__fail_at(TAMIS_ENOSTORE, what,
                            "the store of %s was moved or replaced; open it again", what);
    if (rc > 0) return 0;
    tamis__close(*fd);
    *fd = -1;
    return rc;
}

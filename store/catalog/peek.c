/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peek.c: reads the record of a filter while somebody else has the catalog's lock.
 *
 * A handle that must know whether a publication was committed asks here when the lock is not free
 * (handle/follow.c), and so does who opens a filter or tells what it has.  LMDB is not asked: it
 * takes for granted that nobody writes meanwhile.  This reads pages by pread() into memory of its
 * own, and believes nothing that it reads:
 *
 *     1  read both meta pages; the one with the higher transaction number has the root
 *     2  read the pages on the path to the record, and the record; check its checksum
 *     3  read both meta pages again: they must have the same bytes as in 1
 *
 * docs/concurrency.md, "Without the lock", has the proof that such a record was in force at 1.
 * Whatever is not as it should be, be it damage or a writer that is too fast, makes the answer
 * TAMIS__PEEK_UNSURE: then the caller waits for the lock.
 *
 * The file stays open for the next look, in `peeked` (catalog.h), where the store allows that.  A
 * look begins with whether the path of the store still leads to this file.
 *
 * A server looks for the name of every filter that it makes.  Such looks have a file of their own
 * (`named`), and keep the branch pages that they have read.
 * They hold as long as both meta pages have the same bytes as when they were read.  So step 1 is
 * step 3 of the look before, and a look reads one leaf and the meta pages.
 *
 * pages.c has the layout of pages and nodes.
 */
#include <fcntl.h>

#include "catalog/lmdb.h"
#include "catalog/points.h"

#define PAGE_HEADER_BYTES 16u
#define NODE_HEADER_BYTES 8u
#define PAGE_BYTES_MAX 65536u
#define DEPTH_MAX 32
#define TRIES_MAX 5

enum { PAGE_BRANCH = 1, PAGE_LEAF = 2, NODE_OVERFLOW = 1 };

struct found {
    unsigned char *bytes;
    size_t room, count;
};

/* Branches of some ten million filters; the system gives memory for those that are kept. */
#define KEPT_PAGES 4096u

struct tamis__peek_kept {
    uint64_t numbers[KEPT_PAGES]; /* of the page at each place; 0: none */
    unsigned char pages[];
};

/* ---- Meta pages ------------------------------------------------------------------------------ */

static int read_bytes(const struct tamis__peek *p, void *bytes, size_t count, uint64_t offset)
{
    return tamis__read_at(p->fd, bytes, count, offset, p->what) < 0 ? TAMIS__PEEK_UNSURE : 0;
}

/* Makes room for pages as large as those of the file. */
static int make_room(struct tamis__peek *p)
{
    unsigned char first[PAGE_HEADER_BYTES + 28];
    if (p->page_bytes != 0) return 0;
    if (read_bytes(p, first, sizeof first, 0) != 0) return TAMIS__PEEK_UNSURE;
    const uint32_t page_bytes = tamis__get32(first + PAGE_HEADER_BYTES + 24);
    if (page_bytes < 512 || page_bytes > PAGE_BYTES_MAX) return TAMIS__PEEK_UNSURE;
    p->metas = malloc((size_t)page_bytes * 4);
    if (p->metas == NULL) return TAMIS__PEEK_UNSURE;
    p->room = p->metas + (size_t)page_bytes * 2;
    p->page_bytes = page_bytes;
    return 0;
}

/* From now on pages are kept; those that are have been of another commit. */
static void forget_kept(struct tamis__peek *p)
{
    if (p->keeps && p->kept == NULL) p->kept = malloc(sizeof *p->kept + KEPT_PAGES * p->page_bytes);
    if (p->kept != NULL) memset(p->kept->numbers, 0, sizeof p->kept->numbers);
}

/* Reads both meta pages, and finds the root that is in force.  Where pages are kept, those of the
 * look before will do: whether they are still in force is asked at the end. */
static int choose_root(struct tamis__peek *p)
{
    if (p->is_sure) return 0;
    if (make_room(p) != 0 || read_bytes(p, p->metas, p->page_bytes * 2, 0) != 0 ||
        tamis__pages_find_root(p->metas, p->page_bytes * 2, &p->root) < 0 ||
        p->root.page_bytes != p->page_bytes)
        return TAMIS__PEEK_UNSURE;
    forget_kept(p);
    return 0;
}

/* Has nobody committed since choose_root()? */
static bool is_current(struct tamis__peek *p)
{
    const size_t bytes = p->page_bytes * 2;
    const bool same =
        read_bytes(p, p->room, bytes, 0) == 0 && memcmp(p->room, p->metas, bytes) == 0;
    p->is_sure = same && p->kept != NULL;
    return same;
}

/* ---- The way to a key ------------------------------------------------------------------------ */

/* Returns node i of the page, and its key; NULL if it is not inside the page. */
static const unsigned char *node_at(const struct tamis__peek *p, unsigned i,
                                    struct tamis__bytes *key)
{
    const unsigned at = tamis__get16(p->page + PAGE_HEADER_BYTES + 2 * i);
    if (at < PAGE_HEADER_BYTES || at + NODE_HEADER_BYTES > p->root.page_bytes) return NULL;
    const unsigned char *node = p->page + at;
    *key = (struct tamis__bytes){node + NODE_HEADER_BYTES, tamis__get16(node + 6)};
    return at + NODE_HEADER_BYTES + key->count <= p->root.page_bytes ? node : NULL;
}

static int compare_bytes(struct tamis__bytes a, struct tamis__bytes b)
{
    const size_t shorter = a.count < b.count ? a.count : b.count;
    const int order = shorter ? memcmp(a.data, b.data, shorter) : 0;
    return order != 0 ? order : (a.count > b.count) - (a.count < b.count);
}

/* Gets a page that is kept, or reads it. */
static int get_page(struct tamis__peek *p, uint64_t number)
{
    const size_t at = number % KEPT_PAGES, bytes = p->page_bytes;
    if (p->kept != NULL && p->kept->numbers[at] == number) {
        p->page = p->kept->pages + at * bytes;
        return 0;
    }
    p->page = p->room;
    return read_bytes(p, p->room, bytes, number * bytes);
}

static void keep_page(const struct tamis__peek *p, uint64_t number)
{
    const size_t at = number % KEPT_PAGES;
    struct tamis__peek_kept *kept = p->kept;
    if (kept == NULL || kept->numbers[at] == number) return;
    memcpy(kept->pages + at * p->page_bytes, p->page, p->page_bytes);
    kept->numbers[at] = number;
}

/* Gets a page of a tree, and tells how many nodes it has.  UNSURE if it is no page of a tree. */
static int read_page(struct tamis__peek *p, uint64_t number, unsigned *flags, unsigned *nodes)
{
    if (number < 2 || number > p->root.last_page || get_page(p, number) != 0)
        return TAMIS__PEEK_UNSURE;
    const unsigned lower = tamis__get16(p->page + 12);
    *flags = tamis__get16(p->page + 10);
    *nodes = (lower - PAGE_HEADER_BYTES) / 2;
    return tamis__get64(p->page) == number && lower > PAGE_HEADER_BYTES &&
                   lower <= p->root.page_bytes
               ? 0
               : TAMIS__PEEK_UNSURE;
}

/* The last node whose key is not above `key`; in a branch the first node stands for all below. */
static const unsigned char *last_up_to(const struct tamis__peek *p, unsigned nodes, bool is_branch,
                                       struct tamis__bytes key, struct tamis__bytes *its_key)
{
    const unsigned char *last = NULL;
    unsigned first = 0, end = nodes; /* those before `first` are not above the key */
    while (first < end) {
        const unsigned middle = first + (end - first) / 2;
        struct tamis__bytes node_key;
        const unsigned char *node = node_at(p, middle, &node_key);
        if (node == NULL) return NULL;
        if (!(is_branch && middle == 0) && compare_bytes(node_key, key) > 0) {
            end = middle;
        } else {
            last = node;
            *its_key = node_key;
            first = middle + 1;
        }
    }
    return last;
}

static int read_value(const struct tamis__peek *p, const unsigned char *node, size_t key_bytes,
                      struct found *found)
{
    const unsigned char *data = node + NODE_HEADER_BYTES + key_bytes;
    const size_t left = (size_t)(p->page + p->root.page_bytes - data);
    const bool overflows = (tamis__get16(node + 4) & NODE_OVERFLOW) != 0;
    found->count = tamis__get16(node) | (size_t)tamis__get16(node + 2) << 16;
    if (found->count > found->room || (overflows ? 8 : found->count) > left)
        return TAMIS__PEEK_UNSURE;
    if (!overflows) {
        memcpy(found->bytes, data, found->count);
        return 0;
    }
    const uint64_t number = tamis__get64(data);
    if (number < 2 || number > p->root.last_page) return TAMIS__PEEK_UNSURE;
    return read_bytes(p, found->bytes, found->count,
                      number * p->root.page_bytes + PAGE_HEADER_BYTES);
}

/* Reads the value of a key.  0, TAMIS_ENOTFOUND or TAMIS__PEEK_UNSURE. */
static int find_value(struct tamis__peek *p, struct tamis__bytes key, struct found *found)
{
    uint64_t number = p->root.root;
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        struct tamis__bytes its_key = {NULL, 0};
        unsigned flags, nodes;
        if (read_page(p, number, &flags, &nodes) != 0) return TAMIS__PEEK_UNSURE;
        const bool is_branch = flags == PAGE_BRANCH;
        if (!is_branch && flags != PAGE_LEAF) return TAMIS__PEEK_UNSURE;
        const unsigned char *node = last_up_to(p, nodes, is_branch, key, &its_key);
        if (!is_branch && (node == NULL || compare_bytes(its_key, key) != 0))
            return TAMIS_ENOTFOUND;
        if (node == NULL) return TAMIS__PEEK_UNSURE;
        if (!is_branch) return read_value(p, node, its_key.count, found);
        keep_page(p, number);
        number = tamis__get16(node) | (uint64_t)tamis__get16(node + 2) << 16 |
                 (uint64_t)tamis__get16(node + 4) << 32;
    }
    return TAMIS__PEEK_UNSURE;
}

/* ---- The record ------------------------------------------------------------------------------ */

/* The name of the filter with that id, as the key of its record. */
static int find_name(struct tamis__peek *p, uint64_t filter_id, struct tamis__key *name)
{
    const struct tamis__key id = tamis__number_key('i', filter_id);
    unsigned char bytes[TAMIS_NAME_MAX + 8];
    struct found found = {.bytes = bytes, .room = sizeof bytes};
    const int rc = find_value(p, tamis__key_bytes(&id), &found);
    if (rc != 0) return rc;
    const MDB_val value = {.mv_size = found.count, .mv_data = bytes};
    if (found.count <= 8 || !tamis__matches_sum(tamis__key_val(&id), value))
        return TAMIS__PEEK_UNSURE;
    name->bytes[0] = 'f';
    name->count = 1 + found.count - 8;
    memcpy(name->bytes + 1, bytes, found.count - 8);
    return 0;
}

/* What is looked for: the record of the filter with an id or a name, or whether a filter has a
 * name. */
struct sought {
    int (*find)(struct tamis__peek *p, const struct sought *sought);
    uint64_t filter_id;
    struct tamis__record *record;
    struct tamis__trouble *trouble; /* NULL: not looked for */
    struct tamis__key name;
};

/* The record under that key.  0, TAMIS_ENOTFOUND or TAMIS__PEEK_UNSURE. */
static int read_record(struct tamis__peek *p, const struct tamis__key *name,
                       struct tamis__record *record)
{
    unsigned char bytes[TAMIS__RECORD_BYTES_MAX];
    struct found found = {.bytes = bytes, .room = sizeof bytes};
    const char *reason;
    const int rc = find_value(p, tamis__key_bytes(name), &found);
    if (rc != 0) return rc;
    if (tamis__record_decode(tamis__key_bytes(name),
                             (struct tamis__bytes){found.bytes, found.count}, record, &reason) < 0)
        return TAMIS__PEEK_UNSURE;
    memcpy(record->name, name->bytes + 1, name->count - 1);
    record->name[name->count - 1] = '\0';
    return 0;
}

/* What is wrong with a filter.  All 0 if the catalog says nothing of it. */
static int find_trouble(struct tamis__peek *p, uint64_t filter_id, struct tamis__trouble *trouble)
{
    const struct tamis__key key = tamis__number_key('u', filter_id);
    unsigned char bytes[5 * 8]; /* two words to four, and the checksum */
    struct found found = {.bytes = bytes, .room = sizeof bytes};
    const int rc = find_value(p, tamis__key_bytes(&key), &found);
    *trouble = (struct tamis__trouble){0};
    if (rc == TAMIS_ENOTFOUND) return 0;
    const MDB_val value = {.mv_size = found.count, .mv_data = bytes};
    if (rc != 0 || found.count < 3 * 8 || found.count % 8 != 0 ||
        !tamis__matches_sum(tamis__key_val(&key), value))
        return TAMIS__PEEK_UNSURE;
    trouble->unclean_since = (int64_t)tamis__get64(bytes);
    trouble->degraded_since = (int64_t)tamis__get64(bytes + 8);
    if (found.count >= 4 * 8) trouble->damaged_since = (int64_t)tamis__get64(bytes + 16);
    if (found.count >= 5 * 8) trouble->missing_keys = tamis__get64(bytes + 24);
    return 0;
}

/* The record of a name that the filter with the id has. */
static int find_record(struct tamis__peek *p, const struct sought *sought)
{
    struct tamis__key name;
    const int rc = find_name(p, sought->filter_id, &name);
    if (rc != 0) return rc;
    if (read_record(p, &name, sought->record) != 0 ||
        sought->record->filter_id != sought->filter_id)
        return TAMIS__PEEK_UNSURE;
    return sought->trouble == NULL ? 0 : find_trouble(p, sought->filter_id, sought->trouble);
}

static int find_record_named(struct tamis__peek *p, const struct sought *sought)
{
    return read_record(p, &sought->name, sought->record);
}

/* `name` is the key of the id. */
static int find_tagged(struct tamis__peek *p, const struct sought *sought)
{
    unsigned char bytes[2 * 8]; /* the number of the filter, and the checksum */
    struct found found = {.bytes = bytes, .room = sizeof bytes};
    int rc = find_value(p, tamis__key_bytes(&sought->name), &found);
    if (rc != 0) return rc;
    const MDB_val value = {.mv_size = found.count, .mv_data = bytes};
    if (found.count != sizeof bytes || !tamis__matches_sum(tamis__key_val(&sought->name), value))
        return TAMIS__PEEK_UNSURE;
    rc = find_record(p,
                     &(struct sought){.filter_id = tamis__get64(bytes), .record = sought->record});
    return rc == 0 ? 0 : TAMIS__PEEK_UNSURE;
}

/* Has a filter the name?  0, TAMIS_ENOTFOUND or TAMIS__PEEK_UNSURE. */
static int find_named(struct tamis__peek *p, const struct sought *sought)
{
    unsigned char bytes[TAMIS__RECORD_BYTES_MAX];
    struct found found = {.bytes = bytes, .room = sizeof bytes};
    return find_value(p, tamis__key_bytes(&sought->name), &found);
}

static int peek_once(struct tamis__peek *p, const struct sought *sought)
{
    int rc = choose_root(p);
    if (rc != 0) return rc;
    TAMIS__POINT(TAMIS__POINT_PEEK_META);
    rc = sought->find(p, sought);
    return is_current(p) ? rc : TAMIS__PEEK_UNSURE;
}

/* ---- The file -------------------------------------------------------------------------------- */

static bool is_same(const struct tamis__file_info *a, const struct tamis__file_info *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* Does the path lead to the open file?  The program may have closed the descriptor, and opened
 * something else that has got its number: then that is not ours to close. */
static bool is_current_file(const struct tamis__catalog *catalog, struct tamis__peek *p)
{
    struct tamis__file_info now, named;
    int rc = tamis__file_info(p->fd, p->what, &now);
    if (rc < 0)
        rc = tamis__file_info(p->fd, p->what, &now); /* the system was short of memory, say */
    if (rc < 0 || !is_same(&now, &p->file)) {
        p->fd = -1;
        return false;
    }
    return tamis__named_info(catalog->root_fd, "catalog.mdb", p->what, &named) == 0 &&
           is_same(&named, &p->file) && named.links == 1;
}

static struct tamis__peek *open_peek(const struct tamis__catalog *catalog)
{
    struct tamis__peek *p = calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    p->what = catalog->file_path;
    p->fd = -1;
    if (tamis__catalog_open_to_read(catalog, &p->fd) == 0 &&
        tamis__file_info(p->fd, p->what, &p->file) == 0)
        return p;
    tamis__peek_close(p);
    return NULL;
}

/* `place` is one of those in which the catalog has what the last look left. */
static struct tamis__peek *begin_peek(const struct tamis__catalog *catalog,
                                      struct tamis__peek **place)
{
    struct tamis__peek *p = __atomic_exchange_n(place, NULL, __ATOMIC_ACQ_REL);
    if (p != NULL && is_current_file(catalog, p)) return p;
    tamis__peek_close(p);
    p = open_peek(catalog);
    if (p != NULL) p->keeps = place == catalog->named;
    return p;
}

/* Leaves the file open if it was sound. */
static void end_peek(const struct tamis__catalog *catalog, struct tamis__peek **place,
                     struct tamis__peek *p, int rc)
{
    if (rc != TAMIS__PEEK_UNSURE && catalog->stays_open)
        p = __atomic_exchange_n(place, p, __ATOMIC_ACQ_REL); /* another thread's */
    tamis__peek_close(p);
}

/* What is kept may be of a commit before. */
static int peek_kept(struct tamis__peek *p, const struct sought *sought)
{
    const bool was_sure = p->is_sure;
    const int rc = peek_once(p, sought);
    if (rc != TAMIS__PEEK_UNSURE || !was_sure) return rc;
    p->is_sure = false;
    return peek_once(p, sought);
}

static int peek(const struct tamis__catalog *catalog, struct tamis__peek **place,
                const struct sought *sought)
{
    int rc = TAMIS__PEEK_UNSURE;
    for (int tries = 0; rc == TAMIS__PEEK_UNSURE && tries < TRIES_MAX; tries++) {
        struct tamis__peek *p = begin_peek(catalog, place);
        if (p == NULL) return TAMIS__PEEK_UNSURE;
        rc = peek_kept(p, sought);
        end_peek(catalog, place, p, rc);
    }
    return rc;
}

int tamis__catalog_peek(const struct tamis__catalog *catalog, uint64_t filter_id,
                        struct tamis__record *record, struct tamis__trouble *trouble)
{
    return peek(
        catalog, catalog->peeked,
        &(struct sought){
            .find = find_record, .filter_id = filter_id, .record = record, .trouble = trouble});
}

int tamis__catalog_peek_named(const struct tamis__catalog *catalog, const char *name,
                              struct tamis__record *record)
{
    return peek(catalog, catalog->peeked,
                &(struct sought){
                    .find = find_record_named, .record = record, .name = tamis__name_key(name)});
}

int tamis__catalog_peek_tagged(const struct tamis__catalog *catalog,
                               const uint8_t tag[TAMIS_ID_BYTES], struct tamis__record *record)
{
    return peek(
        catalog, catalog->peeked,
        &(struct sought){.find = find_tagged, .record = record, .name = tamis__tag_key(tag)});
}

int tamis__catalog_peek_name(const struct tamis__catalog *catalog, const char *name)
{
    return peek(catalog, catalog->named,
                &(struct sought){.find = find_named, .name = tamis__name_key(name)});
}

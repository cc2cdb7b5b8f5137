/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.c: a reader of LMDB 0.9's file format (data version 1), for checking only.
 *
 *     page 0, 1   meta pages, written in turn; the one with the higher transaction id holds
 *     meta        magic, version, address, map size, free tree, main tree, last page,
 *                 transaction id
 *     page        number (8 bytes), pad (2), flags (2), lower (2), upper (2), pointers (2 each) ...
 *     node        lo (2), hi (2), flags (2), key size (2), key, then the data or the page it is on
 *     free tree   transaction id -> count, then that many page numbers, falling
 *
 * These facts are from LMDB's mdb.c.  The catalog uses neither sub-databases nor duplicates, so a
 * page that says it has some is damaged.
 */
#include "catalog/pages.h"

#define PAGE_HEADER_BYTES 16u
#define NODE_HEADER_BYTES 8u
#define META_MAGIC 0xBEEFC0DEu
#define META_VERSION 1u
#define NO_PAGE UINT64_MAX
#define DEPTH_MAX 32

enum { PAGE_BRANCH = 1, PAGE_LEAF = 2, PAGE_OVERFLOW = 4, PAGE_META = 8 };
/* The free tree has integer keys, and MDB_NOSUBDIR, which LMDB keeps there; the main
 * tree is plain. */
enum { TREE_FLAGS_FREE = 0x4008, TREE_FLAGS_MAIN = 0 };
enum { NODE_OVERFLOW = 1 };

struct tree {
    uint16_t flags, depth;
    uint64_t entries, root;
};

struct meta {
    uint32_t page_bytes;
    struct tree free_tree, main_tree;
    uint64_t last_page, transaction;
};

struct text {
    const unsigned char *bytes;
    size_t count;
};

/* Which part of a subtree is walked: all of it; the path to a key; that and the leaves beside it;
 * or the way down along one edge. */
enum extent { ALL, PATH, PATH_BESIDE, FIRST_EDGE, LAST_EDGE };

struct tamis__pages {
    const unsigned char *file;
    size_t bytes;
    struct meta meta;
    unsigned char *seen;  /* a bit for each page: free ones, and after ALL every one in use */
    unsigned char *known; /* a bit for each page of the main tree whose nodes were checked */
};

struct walk {
    const unsigned char *file;
    size_t bytes;
    struct meta meta;
    unsigned char *seen, *known;
    bool is_free_tree;
    enum extent extent;
    struct text key;      /* the key of a path */
    struct text last_key; /* of the leaf node before this one */
    struct text floor;    /* separator that the next leaf key must not be below */
    uint64_t entries;     /* leaf nodes of this tree so far */
    struct tamis__page_fault *fault;
};

static int fault_at(struct walk *w, uint64_t offset, const char *reason)
{
    *w->fault = (struct tamis__page_fault){.offset = offset, .reason = reason};
    return TAMIS_ECORRUPT;
}

static struct tree read_tree(const unsigned char *p)
{
    return (struct tree){.flags = tamis__get16(p + 4),
                         .depth = tamis__get16(p + 6),
                         .entries = tamis__get64(p + 32),
                         .root = tamis__get64(p + 40)};
}

static int read_meta(struct walk *w, uint64_t page, uint32_t page_bytes, struct meta *meta)
{
    const uint64_t at = page * page_bytes;
    if (at + PAGE_HEADER_BYTES + 136 > w->bytes) return fault_at(w, at, "the file is truncated");
    const unsigned char *p = w->file + at;
    const unsigned char *m = p + PAGE_HEADER_BYTES;
    if (!(tamis__get16(p + 10) & PAGE_META) || tamis__get32(m) != META_MAGIC) {
        (void)fault_at(w, at, "it is not an LMDB file");
        return TAMIS_EFOREIGN;
    }
    if (tamis__get32(m + 4) != META_VERSION)
        return fault_at(w, at + 20, "its LMDB data version is unknown");
    *meta = (struct meta){.page_bytes = tamis__get32(m + 24),
                          .free_tree = read_tree(m + 24),
                          .main_tree = read_tree(m + 72),
                          .last_page = tamis__get64(m + 120),
                          .transaction = tamis__get64(m + 128)};
    if (meta->page_bytes < 512 || meta->page_bytes > 65536 ||
        (meta->page_bytes & (meta->page_bytes - 1)) != 0)
        return fault_at(w, at + 40, "its page size is impossible");
    if (meta->free_tree.flags != TREE_FLAGS_FREE || meta->main_tree.flags != TREE_FLAGS_MAIN)
        return fault_at(w, at + 44, "a tree is of another type than the catalog's");
    if (meta->last_page < 1 || meta->last_page >= UINT64_MAX / meta->page_bytes)
        return fault_at(w, at + 136, "its last page is impossible");
    return 0;
}

static bool has_bit(const unsigned char *bits, uint64_t page)
{
    return bits[page / 8] >> (page % 8) & 1;
}

static void set_bit(unsigned char *bits, uint64_t page)
{
    bits[page / 8] |= (unsigned char)(1u << (page % 8));
}

/* Takes a run of pages: they must be inside the file, and nobody else's.  A walk of a part only
 * looks: the pages that it meets must not be free. */
static int claim(struct walk *w, uint64_t page, uint64_t count, uint64_t referrer)
{
    if (page < 2 || page > w->meta.last_page || count > w->meta.last_page - page + 1)
        return fault_at(w, referrer, "a page number leads outside the file");
    for (uint64_t i = page; i < page + count; i++) {
        if (has_bit(w->seen, i)) return fault_at(w, referrer, "a page is used twice");
        if (w->extent == ALL) set_bit(w->seen, i);
    }
    return 0;
}

/* Compares keys as LMDB orders them: the free tree by number, the main tree by bytes. */
static int compare_tree_keys(const struct walk *w, struct text a, struct text b)
{
    if (w->is_free_tree) {
        const uint64_t x = tamis__get64(a.bytes), y = tamis__get64(b.bytes);
        return (x > y) - (x < y);
    }
    const size_t shorter = a.count < b.count ? a.count : b.count;
    const int order = shorter ? memcmp(a.bytes, b.bytes, shorter) : 0;
    return order != 0 ? order : (a.count > b.count) - (a.count < b.count);
}

/* Checks the list of free pages that a transaction left. */
static int check_free_list(struct walk *w, struct text key, const unsigned char *data,
                           size_t data_bytes)
{
    const uint64_t at = (uint64_t)(data - w->file), transaction = tamis__get64(key.bytes);
    /* LMDB takes 0 for "no list was read yet", and would hand out the pages of this one twice. */
    if (transaction == 0) return fault_at(w, at, "the free list is of no transaction");
    if (transaction > w->meta.transaction)
        return fault_at(w, at, "the free list is of a transaction to come");
    if (data_bytes < 8) return fault_at(w, at, "a free list is too short");
    const uint64_t count = tamis__get64(data);
    if (count > data_bytes / 8 - 1) return fault_at(w, at, "a free list is longer than its record");
    uint64_t before = UINT64_MAX;
    for (uint64_t i = 1; i <= count; i++) {
        const uint64_t page = tamis__get64(data + 8 * i);
        if (page >= before) return fault_at(w, at + 8 * i, "a free list is out of order");
        before = page;
        const int rc = claim(w, page, 1, at + 8 * i);
        if (rc < 0) return rc;
    }
    return 0;
}

/* Checks data that did not fit the page: they are a run of overflow pages. */
static int find_overflow(struct walk *w, const unsigned char *pointer, size_t data_bytes,
                         const unsigned char **data)
{
    const uint64_t at = (uint64_t)(pointer - w->file);
    const uint64_t page = tamis__get64(pointer);
    int rc = claim(w, page, 1, at);
    if (rc < 0) return rc;
    const uint64_t start = page * w->meta.page_bytes;
    if (start + w->meta.page_bytes > w->bytes)
        return fault_at(w, at, "a page number leads outside the file");
    const unsigned char *p = w->file + start;
    const uint64_t pages = tamis__get32(p + 12);
    if (tamis__get64(p) != page || tamis__get16(p + 10) != PAGE_OVERFLOW)
        return fault_at(w, start, "a page is not the overflow page it should be");
    if (pages == 0 || pages > w->bytes / w->meta.page_bytes ||
        start + pages * w->meta.page_bytes > w->bytes ||
        PAGE_HEADER_BYTES + data_bytes > pages * w->meta.page_bytes)
        return fault_at(w, start + 12, "an overflow page has an impossible length");
    rc = pages > 1 ? claim(w, page + 1, pages - 1, at) : 0;
    *data = p + PAGE_HEADER_BYTES;
    return rc;
}

static int check_leaf_node(struct walk *w, const unsigned char *node, const unsigned char *page)
{
    const uint64_t at = (uint64_t)(node - w->file);
    const size_t data_bytes = tamis__get16(node) | (size_t)tamis__get16(node + 2) << 16;
    const unsigned flags = tamis__get16(node + 4);
    const struct text key = {node + NODE_HEADER_BYTES, tamis__get16(node + 6)};
    const unsigned char *data = key.bytes + key.count;
    const size_t left =
        (size_t)(page + w->meta.page_bytes - data); /* the caller has checked the key */
    int rc;
    if (flags & ~(unsigned)NODE_OVERFLOW) return fault_at(w, at + 4, "a node has unknown flags");
    if ((flags & NODE_OVERFLOW ? 8 : data_bytes) > left)
        return fault_at(w, at, "a record leads outside its page");
    if (w->last_key.bytes != NULL && compare_tree_keys(w, key, w->last_key) <= 0)
        return fault_at(w, at, "keys are out of order");
    if (w->floor.bytes != NULL && compare_tree_keys(w, key, w->floor) < 0)
        return fault_at(w, at, "a key is on the wrong page");
    w->last_key = key;
    w->floor = (struct text){NULL, 0};
    w->entries++;
    if (flags & NODE_OVERFLOW) {
        rc = find_overflow(w, data, data_bytes, &data);
        if (rc < 0) return rc;
    }
    return w->is_free_tree ? check_free_list(w, key, data, data_bytes) : 0;
}

static int check_page(struct walk *w, uint64_t number, unsigned depth, uint64_t referrer);

static struct text node_key(const unsigned char *node)
{
    return (struct text){node + NODE_HEADER_BYTES, tamis__get16(node + 6)};
}

static const unsigned char *node_of(const unsigned char *page, unsigned i)
{
    return page + tamis__get16(page + PAGE_HEADER_BYTES + 2 * i);
}

/* Returns the child of a branch in which a search for the key goes on.  All nodes are
 * inside the page. */
static unsigned child_of_key(const struct walk *w, const unsigned char *page, unsigned nodes)
{
    unsigned low = 1, high = nodes;
    while (low < high) { /* the first separator that is above the key */
        const unsigned middle = low + (high - low) / 2;
        if (compare_tree_keys(w, node_key(node_of(page, middle)), w->key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* Returns which part of child i is walked, or -1 for nothing.  `goal` is the child on the path or
 * on the edge. */
static int extent_of_child(enum extent extent, unsigned i, unsigned goal)
{
    if (extent == ALL) return ALL;
    if (extent == PATH_BESIDE && i + 1 == goal) return LAST_EDGE;
    if (extent == PATH_BESIDE && i == goal + 1) return FIRST_EDGE;
    return i == goal ? (int)extent : -1;
}

static int check_branch_node(struct walk *w, const unsigned char *node, bool first, unsigned depth,
                             int extent)
{
    const uint64_t at = (uint64_t)(node - w->file);
    const struct text separator = node_key(node);
    const uint64_t child = tamis__get16(node) | (uint64_t)tamis__get16(node + 2) << 16 |
                           (uint64_t)tamis__get16(node + 4) << 32;
    if (!first) { /* the first separator of a page stands for "everything below" */
        if (w->last_key.bytes != NULL && compare_tree_keys(w, separator, w->last_key) <= 0)
            return fault_at(w, at, "a branch is out of order");
        w->floor = separator;
    }
    if (extent < 0) { /* a child that is passed by is known not to begin before that key */
        if (!first) w->last_key = separator;
        w->floor = (struct text){NULL, 0};
        return 0;
    }
    const enum extent before = w->extent;
    w->extent = (enum extent)extent;
    const int rc = check_page(w, child, depth - 1, at);
    w->extent = before;
    return rc;
}

/* Checks the order of the separators, and the children that are walked.  If the separators are
 * `known`, those beside these children do. */
static int check_branch(struct walk *w, const unsigned char *page, unsigned nodes, unsigned depth,
                        bool known)
{
    const enum extent extent = w->extent;
    const unsigned goal = extent == FIRST_EDGE  ? 0
                          : extent == LAST_EDGE ? nodes - 1
                          : extent == ALL       ? 0
                                                : child_of_key(w, page, nodes);
    const unsigned from = known && goal > 0 ? goal - 1 : 0;
    const unsigned to = known && goal + 3 < nodes ? goal + 3 : nodes;
    int rc = 0;
    for (unsigned i = from; rc == 0 && i < to; i++)
        rc =
            check_branch_node(w, node_of(page, i), i == 0, depth, extent_of_child(extent, i, goal));
    return rc;
}

/* Checks node i: it is inside its page, and has a key that its tree can have.  *bytes
 * gets its size. */
static int check_node(struct walk *w, const unsigned char *page, unsigned i, unsigned upper,
                      bool is_leaf, unsigned *bytes)
{
    const unsigned at = tamis__get16(page + PAGE_HEADER_BYTES + 2 * i);
    const uint64_t start = (uint64_t)(page - w->file), pointer = start + PAGE_HEADER_BYTES + 2 * i;
    if (at < upper || at % 2 != 0 || at + NODE_HEADER_BYTES > w->meta.page_bytes)
        return fault_at(w, pointer, "a node leads outside its page");
    const unsigned char *node = page + at;
    const unsigned key_bytes = tamis__get16(node + 6);
    *bytes = NODE_HEADER_BYTES + key_bytes;
    if (is_leaf && (tamis__get16(node + 4) & NODE_OVERFLOW))
        *bytes += 8;
    else if (is_leaf)
        *bytes += tamis__get16(node) | (unsigned)tamis__get16(node + 2) << 16;
    *bytes += *bytes % 2;
    if (key_bytes > w->meta.page_bytes || *bytes > w->meta.page_bytes - at)
        return fault_at(w, start + at, "a record leads outside its page");
    if (w->is_free_tree && key_bytes != 8 && (is_leaf || i > 0))
        return fault_at(w, start + at + 6, "a key of the free tree has another size");
    return 0;
}

static int check_nodes(struct walk *w, const unsigned char *page, unsigned nodes, unsigned upper,
                       bool is_leaf)
{
    unsigned used = 0;
    for (unsigned i = 0; i < nodes; i++) {
        unsigned bytes = 0;
        int rc = check_node(w, page, i, upper, is_leaf, &bytes);
        if (rc == 0 && is_leaf) rc = check_leaf_node(w, node_of(page, i), page);
        if (rc < 0) return rc;
        used += bytes;
    }
    /* LMDB keeps pages compact: if the nodes do not fill the page up, one was lost. */
    if (used == w->meta.page_bytes - upper) return 0;
    return fault_at(w, (uint64_t)(page - w->file) + 14, "a page has lost a node");
}

/* Checks a leaf whose nodes are known: it is where it belongs. */
static int check_place(struct walk *w, const unsigned char *page, unsigned nodes)
{
    const int rc = check_leaf_node(w, node_of(page, 0), page);
    w->last_key = node_key(node_of(page, nodes - 1));
    w->entries += nodes - 1;
    return rc;
}

static int check_page(struct walk *w, uint64_t number, unsigned depth, uint64_t referrer)
{
    int rc = claim(w, number, 1, referrer);
    if (rc < 0) return rc;
    const uint64_t start = number * w->meta.page_bytes;
    if (start + w->meta.page_bytes > w->bytes)
        return fault_at(w, w->bytes, "the file is truncated");
    const unsigned char *page = w->file + start;
    const unsigned lower = tamis__get16(page + 12), upper = tamis__get16(page + 14);
    const bool is_leaf = depth == 1;
    if (tamis__get64(page) != number ||
        tamis__get16(page + 10) != (is_leaf ? PAGE_LEAF : PAGE_BRANCH))
        return fault_at(w, start, "a page is not what its place in the tree demands");
    if (lower < PAGE_HEADER_BYTES || lower % 2 != 0 || lower > upper || upper > w->meta.page_bytes)
        return fault_at(w, start + 12, "a page's free space is impossible");
    const unsigned nodes = (lower - PAGE_HEADER_BYTES) / 2;
    if (nodes < (is_leaf || w->is_free_tree ? 1u : 2u))
        return fault_at(w, start + 12, "a page has too few nodes");
    const bool known = w->extent != ALL && has_bit(w->known, number);
    if (!known)
        rc = check_nodes(w, page, nodes, upper, is_leaf);
    else if (is_leaf)
        rc = check_place(w, page, nodes);
    if (rc == 0 && !is_leaf) rc = check_branch(w, page, nodes, depth, known);
    if (rc == 0 && w->extent != ALL) set_bit(w->known, number);
    return rc;
}

static int check_tree(struct walk *w, const struct tree *tree, bool is_free_tree)
{
    w->is_free_tree = is_free_tree;
    w->last_key = w->floor = (struct text){NULL, 0};
    w->entries = 0;
    if (tree->root != NO_PAGE) {
        if (tree->depth == 0 || tree->depth > DEPTH_MAX)
            return fault_at(w, 0, "a tree has an impossible depth");
        const int rc = check_page(w, tree->root, tree->depth, 0);
        if (rc < 0) return rc;
    }
    const bool is_whole = w->extent == ALL || tree->depth <= 1;
    return !is_whole || w->entries == tree->entries ? 0 : fault_at(w, 0, "a tree has lost entries");
}

static int later_meta(struct walk *w)
{
    struct meta metas[2];
    int rc = read_meta(w, 0, 0, &metas[0]);
    if (rc == 0) rc = read_meta(w, 1, metas[0].page_bytes, &metas[1]);
    if (rc < 0) return rc;
    if (metas[0].page_bytes != metas[1].page_bytes)
        return fault_at(w, 40, "its meta pages contradict each other");
    /* Transaction t writes meta page t % 2, and the other meta page is of the transaction before.
     * A wrong number would put an older state in force.  Both are 0 in a file without a commit. */
    const uint64_t first = metas[0].transaction, second = metas[1].transaction;
    if ((first != 0 || second != 0) &&
        (first % 2 != 0 || second % 2 != 1 || (first + 1 != second && second + 1 != first)))
        return fault_at(w, PAGE_HEADER_BYTES + 128,
                        "its transaction numbers contradict each other");
    w->meta = metas[first < second];
    return 0;
}

/* Finds the meta page that is in force. */
static int choose_meta(struct walk *w)
{
    const int rc = later_meta(w);
    if (rc < 0) return rc;
    /* Pages that were handed out and given back within one transaction may lie past the end. */
    if (w->meta.last_page > w->bytes / w->meta.page_bytes + 65536)
        return fault_at(w, w->bytes, "the file is truncated");
    return 0;
}

int tamis__pages_open(const void *file, size_t bytes, struct tamis__pages **pages,
                      struct tamis__page_fault *fault)
{
    struct walk w = {.file = file, .bytes = bytes, .fault = fault};
    int rc = choose_meta(&w);
    if (rc < 0) return rc;
    struct tamis__pages *p = calloc(1, sizeof *p);
    const size_t bits_bytes = (size_t)(w.meta.last_page / 8 + 1);
    w.seen = calloc(2, bits_bytes);
    rc = p && w.seen ? check_tree(&w, &w.meta.free_tree, true) : TAMIS_ENOMEM;
    if (rc < 0) {
        free(p);
        free(w.seen);
        return rc;
    }
    *p = (struct tamis__pages){file, bytes, w.meta, w.seen, w.seen + bits_bytes};
    *pages = p;
    return 0;
}

void tamis__pages_close(struct tamis__pages *pages)
{
    if (pages == NULL) return;
    free(pages->seen); /* and known */
    free(pages);
}

static bool is_same_tree(const struct tree *a, const struct tree *b)
{
    return a->depth == b->depth && a->entries == b->entries && a->root == b->root;
}

bool tamis__pages_are_current(const struct tamis__pages *pages)
{
    struct tamis__page_fault fault;
    struct walk w = {.file = pages->file, .bytes = pages->bytes, .fault = &fault};
    return choose_meta(&w) == 0 && w.meta.page_bytes == pages->meta.page_bytes &&
           w.meta.last_page == pages->meta.last_page &&
           w.meta.transaction == pages->meta.transaction &&
           is_same_tree(&w.meta.free_tree, &pages->meta.free_tree) &&
           is_same_tree(&w.meta.main_tree, &pages->meta.main_tree);
}

void tamis__pages_move(struct tamis__pages *pages, const void *file)
{
    pages->file = file;
}

uint64_t tamis__pages_transaction(const struct tamis__pages *pages)
{
    return pages->meta.transaction;
}

static int check_main_tree(const struct tamis__pages *p, enum extent extent, struct text key,
                           struct tamis__page_fault *fault)
{
    struct walk w = {.file = p->file,
                     .bytes = p->bytes,
                     .meta = p->meta,
                     .seen = p->seen,
                     .known = p->known,
                     .extent = extent,
                     .key = key,
                     .fault = fault};
    return check_tree(&w, &w.meta.main_tree, false);
}

int tamis__pages_check_key(const struct tamis__pages *pages, const void *key, size_t key_bytes,
                           bool beside, struct tamis__page_fault *fault)
{
    return check_main_tree(pages, beside ? PATH_BESIDE : PATH, (struct text){key, key_bytes},
                           fault);
}

int tamis__pages_check_all(struct tamis__pages *pages, struct tamis__page_fault *fault)
{
    return check_main_tree(pages, ALL, (struct text){NULL, 0}, fault);
}

int tamis__pages_find_root(const void *file, size_t bytes, struct tamis__pages_root *root)
{
    struct tamis__page_fault fault;
    struct walk w = {.file = file, .bytes = bytes, .fault = &fault};
    const int rc = later_meta(&w);
    *root = (struct tamis__pages_root){.page_bytes = w.meta.page_bytes,
                                       .root = w.meta.main_tree.root,
                                       .last_page = w.meta.last_page};
    return rc;
}

int tamis__pages_check(const void *file, size_t bytes, struct tamis__page_fault *fault)
{
    struct tamis__pages *pages = NULL;
    int rc = tamis__pages_open(file, bytes, &pages, fault);
    if (rc == 0) rc = tamis__pages_check_all(pages, fault);
    tamis__pages_close(pages);
    return rc;
}

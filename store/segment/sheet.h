/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sheet.h: small segments that share a file, a drawer (docs/format.md, "Drawers").
 *
 *     segments/<drawer>.drw    256 KiB: a page with the drawer's head, then sheets of one size
 *     sheet                     512 bytes to 4 KiB, never across a page: constant part, live words,
 *                              one item counter, the name, the data
 *
 * A sheet is a segment as any other: it has a number, which says where it is, and whoever opens it
 * sees the header that a file of its own would have.  Sheets are given in order, and none is given
 * twice.  A drawer's file goes when all of its sheets were given and are gone.
 *
 * sheet.c makes and checks the bytes of a sheet, and does no I/O; drawer.c has the files.
 */
#pragma once

#include "segment/segment.h"

#define TAMIS__DRAWER_BYTES ((uint64_t)256 << 10)
#define TAMIS__DRAWER_HEAD_BYTES 4096u
#define TAMIS__SHEET_BYTES_MIN 512u
#define TAMIS__SHEET_BYTES_MAX 4096u
#define TAMIS__SHEET_CLASSES 4u /* 512, 1024, 2048 and 4096 bytes */
#define TAMIS__SHEETS_MAX (TAMIS__DRAWER_BYTES / TAMIS__SHEET_BYTES_MIN)
#define TAMIS__DRAWER_MAGIC "TAMISDR\n"

/*
 * The number of a sheet: a bit that no number of a file has, the drawer, the class, the sheet. JSON
 * readers with doubles have it exactly.
 */
#define TAMIS__SHEET_MARK ((uint64_t)1 << 48)
#define TAMIS__DRAWER_MAX (((uint64_t)1 << 36) - 1)

static inline bool tamis__is_sheet(uint64_t number)
{
    return number >> 48 == 1;
}

/*
 * Numbers in the order in which segments of one filter were made.  Files are numbered in the order
 * of their making, and a sheet is the first segment that its filter had.
 */
static inline uint64_t tamis__number_age(uint64_t number)
{
    return tamis__is_sheet(number) ? 0 : number;
}

static inline uint64_t tamis__sheet_number(uint64_t drawer, uint32_t class, uint32_t index)
{
    return TAMIS__SHEET_MARK | drawer << 12 | (uint64_t) class << 10 | index;
}

static inline uint64_t tamis__sheet_drawer(uint64_t number)
{
    return (number & (TAMIS__SHEET_MARK - 1)) >> 12;
}

static inline uint32_t tamis__sheet_class(uint64_t number)
{
    return (uint32_t)(number >> 10) & (TAMIS__SHEET_CLASSES - 1);
}

static inline uint32_t tamis__sheet_index(uint64_t number)
{
    return (uint32_t)number & 1023u;
}

static inline uint32_t tamis__class_bytes(uint32_t class)
{
    return TAMIS__SHEET_BYTES_MIN << class;
}

/* The first sheet of a drawer is behind the head, and one after the last sheet is where it ends. */
static inline uint32_t tamis__class_first(uint32_t class)
{
    return TAMIS__DRAWER_HEAD_BYTES / tamis__class_bytes(class);
}

static inline uint32_t tamis__class_end(uint32_t class)
{
    return (uint32_t)(TAMIS__DRAWER_BYTES / tamis__class_bytes(class));
}

/* Where a sheet begins in the file of its drawer. */
static inline uint64_t tamis__sheet_offset(uint64_t number)
{
    return (uint64_t)tamis__sheet_index(number) * tamis__class_bytes(tamis__sheet_class(number));
}

/* clang-format off */
struct tamis__sheet {
    uint8_t magic[8];          /*    0    8  TAMIS__SEGMENT_MAGIC: the sheet was given            */
    uint64_t number;           /*    8    8  of the sheet                                         */
    uint64_t filter_id;        /*   16    8  here and below: as in struct tamis__segment_header  */
    uint64_t store_id;         /*   24    8                                                      */
    uint64_t seed;             /*   32    8                                                      */
    uint64_t fp_rate;          /*   40    8                                                      */
    uint64_t filter_rate;      /*   48    8                                                      */
    int64_t created_at;        /*   56    8                                                      */
    uint32_t capacity;         /*   64    4                                                      */
    uint32_t filter_capacity;  /*   68    4                                                      */
    uint32_t generation;       /*   72    4                                                      */
    uint32_t publication;      /*   76    4                                                      */
    uint16_t m_bits;           /*   80    2                                                      */
    uint16_t data_offset;      /*   82    2  in the sheet; a multiple of 64                       */
    uint16_t keep;             /*   84    2                                                      */
    uint8_t k;                 /*   86    1                                                      */
    uint8_t words;             /*   87    1                                                      */
    uint8_t kind;              /*   88    1                                                      */
    uint8_t hash_set;          /*   89    1                                                      */
    uint8_t bit_order;         /*   90    1                                                      */
    uint8_t on_full;           /*   91    1                                                      */
    uint8_t flags;             /*   92    1                                                      */
    uint8_t version;           /*   93    1  TAMIS__SHEET_*; readers refuse a greater one         */
    uint16_t reserved;         /*   94    2  0                                                   */
    uint64_t checksum;         /*   96    8  XXH3-64 of the 96 bytes before                      */
    struct tamis__live live;   /*  104  136  the live words                                      */
    uint64_t items;            /*  240    8  the only item counter                               */
    uint64_t quota;            /*  248    8  room of this counter                                */
    uint64_t label_checksum;   /*  256    8  XXH3-64 of what follows, up to the name's end       */
    uint64_t name_sequence;    /*  264    8  0: there is no name                                 */
    uint16_t name_bytes;       /*  272    2  length of the name; 0: it does not fit              */
    char name[46];             /*  274       UTF-8; it goes on up to the data, or kept           */
};
/* clang-format on */
#define TAMIS__SHEET_FIRST 1u
#define TAMIS__SHEET_KEEPS 2u /* `kept` stands before the data, and is in checksum */
#define TAMIS__SHEET_LABEL offsetof(struct tamis__sheet, label_checksum) /* up to the data */
TAMIS__AT(struct tamis__sheet, number, 8);
TAMIS__AT(struct tamis__sheet, capacity, 64);
TAMIS__AT(struct tamis__sheet, m_bits, 80);
TAMIS__AT(struct tamis__sheet, k, 86);
TAMIS__AT(struct tamis__sheet, bit_order, 90);
TAMIS__AT(struct tamis__sheet, checksum, 96);
TAMIS__AT(struct tamis__sheet, live, 104);
TAMIS__AT(struct tamis__sheet, items, 240);
TAMIS__AT(struct tamis__sheet, label_checksum, 256);
TAMIS__AT(struct tamis__sheet, name, 274);
TAMIS__SIZE(struct tamis__sheet, 320);

/*
 * How many bytes of data the smallest sheet has that has at least `least` of them, if the name of
 * the filter is not longer than usual; 0 if none has as many.
 */
uint64_t tamis__sheet_room(uint64_t least);
/*
 * Can a segment with this header and name be a sheet?  Then its data_offset and file_bytes become
 * those of one, and *class is the class of the sheet.
 */
bool tamis__sheet_fit(struct tamis__segment_header *header, const char *name, uint32_t *class);
/* Writes the bytes of a new sheet, up to its data.  `sheet` has data_offset bytes. */
void tamis__sheet_encode(const struct tamis__segment_header *header, void *sheet);
/* Is this a whole sheet with that number?  `sheet` has the bytes of its class.  Returns 0, or an
 * error as tamis__header_check() does. */
int tamis__sheet_check(const void *sheet, uint64_t number, struct tamis__refusal *refusal);
/* Makes the header of a sheet that is sound, with its live words, its items and its name. */
void tamis__sheet_decode(const void *sheet, struct tamis__segment_header *header);
/* The same, but only the constant part. */
void tamis__sheet_decode_constant(const void *sheet, struct tamis__segment_header *header);
/* The same, but of the constant part only what tells where a key goes, and no checksum: enough to
 * ask for a key, and quick. */
void tamis__sheet_decode_geometry(const void *sheet, struct tamis__segment_header *header);
/* Is the segment a sheet whose name is too long for it? */
bool tamis__sheet_lacks_room(const struct tamis__segment *segment);
/* Writes the name of a sheet, or that it has none if it does not fit. */
void tamis__sheet_relabel(struct tamis__sheet *sheet, uint64_t sequence, const char *name);

/* The sheet of an open segment that is one. */
static inline struct tamis__sheet *tamis__sheet_of(const struct tamis__segment *segment)
{
    return (struct tamis__sheet *)(void *)segment->magic;
}

/* ---- drawer.c -------------------------------------------------------------------------------- */

/* What a drawer's file begins with. */
struct tamis__drawer_head {
    uint8_t magic[8];   /*   0    8  TAMIS__DRAWER_MAGIC                                  */
    uint32_t version;   /*   8    4  1; readers refuse a greater one                      */
    uint32_t class;     /*  12    4  sheets of 512 << class bytes                          */
    uint64_t number;    /*  16    8  of the drawer, as in its name                        */
    uint64_t store_id;  /*  24    8  random, the same in the catalog                      */
    int64_t created_at; /*  32    8  ns since 1970 UTC                                    */
    uint64_t checksum;  /*  40    8  XXH3-64 of the 40 bytes before                       */
    uint64_t gone[TAMIS__SHEETS_MAX / 64]; /* a bit for each sheet that is gone; atomic     */
};
TAMIS__AT(struct tamis__drawer_head, store_id, 24);
TAMIS__AT(struct tamis__drawer_head, gone, 48);

/* segment_name.c has the names. */
#define TAMIS__DRAWER_NAME_BYTES 32
void tamis__drawer_name(uint64_t drawer, char name[TAMIS__DRAWER_NAME_BYTES]);
/* The number in the name of a drawer's file; 0 if it is not one. */
uint64_t tamis__drawer_number(const char *name);

/*
 * Sees to it that there is a drawer with that number and class.  Returns 1; 0 if there is something
 * else under its name, so that another number must be taken; or an error.  The caller holds the
 * catalog's exclusive lock.
 */
int tamis__drawer_ensure(const struct tamis__place *place, uint64_t drawer, uint32_t class,
                         uint64_t store_id);
/* Opens the drawer of a copy of the store, after it was made without sheets if it is not there. */
int tamis__drawer_copy(const struct tamis__place *from, const struct tamis__place *to,
                       uint64_t drawer, int *fd);
/* Reads the head of a drawer, and checks it.  TAMIS_ENOTFOUND if there is no file. */
int tamis__drawer_read(const struct tamis__place *place, uint64_t drawer,
                       struct tamis__drawer_head *head);
/* Was the sheet given, and is it not gone?  `fd` is its drawer's file.  Returns 1, 0 or an error.
 */
int tamis__sheet_is_there(int fd, uint64_t number, const char *what);

typedef int tamis__sheet_fn(void *context, uint64_t number);
/* Calls fn for each sheet of a drawer that was given and is not gone; a value other than 0 ends
 * this. */
int tamis__drawer_each(const struct tamis__place *place, uint64_t drawer, tamis__sheet_fn *fn,
                       void *context);

/* What segment.c does with a sheet where a segment has a file of its own.  `data` has
 * header->data_bytes bytes, or is NULL: no bit is set. */
int tamis__sheet_publish(const struct tamis__place *place,
                         const struct tamis__segment_header *header, const void *data);
/*
 * The drawer that somebody puts many sheets into: its file is opened once, and sheets that are
 * beside each other are written by one call.  Begins as zeros with `place`.  Only under the
 * catalog's exclusive lock.
 */
struct tamis__filling {
    const struct tamis__place *place;
    uint64_t drawer; /* 0: none is open */
    int fd;
    struct tamis__drawer_head head; /* as it was when the drawer was opened */
    char what[TAMIS__SEGMENT_PATH_BYTES];
    unsigned char *bytes; /* of sheets that are not written yet; owned */
    size_t count;         /* of these bytes */
    uint64_t offset;      /* where in the file they begin */
};
/* Was this sheet never given?  1, 0 or an error. */
int tamis__filling_is_free(struct tamis__filling *filling, uint64_t number);
/* As tamis__sheet_publish(), once the next call of tamis__filling_flush() has come back. */
int tamis__filling_put(struct tamis__filling *filling, const struct tamis__segment_header *header,
                       const void *data);
int tamis__filling_flush(struct tamis__filling *filling);
void tamis__filling_close(struct tamis__filling *filling);
/* Brings the drawer of a sheet to the disk. */
int tamis__sheet_sync(const struct tamis__place *place, uint64_t number);
/* Takes back what was published and is in no catalog: the next one gets the sheet. */
int tamis__sheet_withdraw(const struct tamis__place *place, uint64_t number);
/* Writes a sheet that was gone where it was, after its drawer was made again if that is gone too.
 * `sheet` has the bytes of its class, and has passed tamis__sheet_check().  TAMIS_EEXIST if there
 * is a sheet.  Durable when it returns 0. */
int tamis__sheet_put_back(const struct tamis__place *place, uint64_t number, const void *sheet,
                          uint64_t store_id);
/* Marks the sheet as gone; 0 too if it is.  The file goes with its last sheet. */
int tamis__sheet_remove(const struct tamis__place *place, uint64_t number);

/*
 * A drawer that somebody changes many sheets of: it is opened and mapped once, and not for each of
 * them.  Begins as zeros with `place`; to close it twice does no harm.  A drawer that is gone is no
 * error: then so are its sheets.
 */
struct tamis__hand {
    const struct tamis__place *place;
    uint64_t drawer; /* 0: none is open */
    void *map;       /* NULL: that drawer is gone */
    char what[TAMIS__SEGMENT_PATH_BYTES];
};
/* The live words of a sheet, until the next call; NULL: it is gone. */
int tamis__hand_live(struct tamis__hand *hand, uint64_t number, struct tamis__live **live);
/* As tamis__sheet_remove(). */
int tamis__hand_remove(struct tamis__hand *hand, uint64_t number);
void tamis__hand_close(struct tamis__hand *hand);

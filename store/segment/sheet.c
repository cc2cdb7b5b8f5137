/* SPDX-License-Identifier: BSD-2-Clause */
/* sheet.c: the bytes of a sheet; see sheet.h. */
#include "segment/sheet.h"

#define NAME_OFFSET offsetof(struct tamis__sheet, name)
#define DATA_ALIGN 64u
#define FIELD(field) offsetof(struct tamis__sheet, field)

/* ---- Which segments can be sheets -------------------------------------------------------------
 */

/* A sheet has no place for what these segments need more. */
static bool is_plain(const struct tamis__segment_header *h)
{
    return h->counter_bits == 0 && h->fingerprint_bits == 0 && h->pieces == 0 && h->slices == 0 &&
           h->window_ns == 0 && h->window_items == 0 && h->slice == 0 && h->slice_start == 0 &&
           h->step == 0 && h->durable == 0 && h->window_from == 0 && h->incompat_flags == 0 &&
           h->data_checksum == 0 && h->imported_at == 0 &&
           tamis__is_zero(h->parameters, sizeof h->parameters) &&
           tamis__is_zero(h->key_digest, sizeof h->key_digest) && h->capacity <= UINT32_MAX &&
           h->filter_capacity <= UINT32_MAX && h->generation <= UINT32_MAX &&
           h->publication <= UINT32_MAX && h->m_bits <= UINT16_MAX && h->keep <= UINT16_MAX &&
           h->k <= UINT8_MAX && h->words <= UINT8_MAX && h->flags <= UINT8_MAX &&
           tamis__header_items(h) <= TAMIS__ITEMS_MAX; /* it has one counter */
}

/* Where the data of a sheet begin, if its name and what is kept have so many bytes. */
static uint64_t data_offset(uint64_t name_bytes, uint64_t kept_bytes)
{
    const uint64_t usual = sizeof(((struct tamis__sheet *)0)->name);
    const uint64_t end = NAME_OFFSET + (name_bytes > usual ? name_bytes : usual) + kept_bytes;
    return (end + DATA_ALIGN - 1) / DATA_ALIGN * DATA_ALIGN;
}

/* The class of the smallest sheet with so many bytes; TAMIS__SHEET_CLASSES if there is none. */
static uint32_t class_for(uint64_t bytes)
{
    uint32_t class = 0;
    while (class < TAMIS__SHEET_CLASSES && tamis__class_bytes(class) < bytes)
        class ++;
    return class;
}

uint64_t tamis__sheet_room(uint64_t least)
{
    const uint64_t offset = data_offset(0, 0);
    const uint32_t class =
        least > TAMIS__SHEET_BYTES_MAX ? TAMIS__SHEET_CLASSES : class_for(offset + least);
    return class < TAMIS__SHEET_CLASSES ? tamis__class_bytes(class) - offset : 0;
}

static bool keeps(const struct tamis__segment_header *h)
{
    return !tamis__is_zero(h->kept, sizeof h->kept);
}

bool tamis__sheet_fit(struct tamis__segment_header *h, const char *name, uint32_t *class)
{
    const uint64_t offset = data_offset(strlen(name), keeps(h) ? TAMIS__KEPT_BYTES : 0);
    if (!is_plain(h) || h->data_bytes > TAMIS__SHEET_BYTES_MAX) return false;
    *class = class_for(offset + h->data_bytes);
    if (*class == TAMIS__SHEET_CLASSES) return false;
    h->data_offset = offset;
    h->file_bytes = tamis__class_bytes(*class);
    return true;
}

/* ---- The name -------------------------------------------------------------------------------- */

static uint64_t label_checksum(const struct tamis__sheet *sheet)
{
    return tamis__checksum(&sheet->name_sequence,
                           NAME_OFFSET - FIELD(name_sequence) + sheet->name_bytes);
}

/* What the sheet keeps of where it came from, between the name and the data; NULL: it keeps
 * nothing, or has an impossible layout. */
static const unsigned char *kept_of(const struct tamis__sheet *sheet)
{
    const uint32_t bytes = tamis__class_bytes(tamis__sheet_class(sheet->number));
    if (sheet->version != TAMIS__SHEET_KEEPS || sheet->data_offset > bytes ||
        sheet->data_offset < NAME_OFFSET + TAMIS__KEPT_BYTES)
        return NULL;
    return (const unsigned char *)sheet + sheet->data_offset - TAMIS__KEPT_BYTES;
}

/* The bytes that a name can have in this sheet. */
static size_t name_room(const struct tamis__sheet *sheet)
{
    return sheet->data_offset - NAME_OFFSET - (kept_of(sheet) != NULL ? TAMIS__KEPT_BYTES : 0);
}

void tamis__sheet_relabel(struct tamis__sheet *sheet, uint64_t sequence, const char *name)
{
    const size_t bytes = strlen(name);
    sheet->name_sequence = sequence;
    sheet->name_bytes = bytes <= name_room(sheet) ? (uint16_t)bytes : 0;
    memset((char *)sheet + NAME_OFFSET, 0, name_room(sheet));
    memcpy((char *)sheet + NAME_OFFSET, name, sheet->name_bytes);
    sheet->label_checksum = label_checksum(sheet);
}

bool tamis__sheet_lacks_room(const struct tamis__segment *segment)
{
    if (!tamis__is_sheet(segment->number)) return false;
    const struct tamis__sheet *sheet = tamis__sheet_of(segment);
    return sheet->name_sequence != 0 && sheet->name_bytes == 0 &&
           sheet->label_checksum == label_checksum(sheet);
}

static void decode_label(const struct tamis__sheet *sheet, struct tamis__name_label *label)
{
    char name[TAMIS_NAME_MAX + 1] = "";
    if (sheet->name_sequence == 0 || sheet->name_bytes == 0 || sheet->name_bytes > TAMIS_NAME_MAX ||
        sheet->name_bytes > name_room(sheet) || sheet->label_checksum != label_checksum(sheet))
        return;
    memcpy(name, (const char *)sheet + NAME_OFFSET, sheet->name_bytes);
    tamis__label_write(label, sheet->name_sequence, name);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Of the constants, and of what is kept if the version has it. */
static uint64_t constants_checksum(const struct tamis__sheet *sheet)
{
    unsigned char bytes[FIELD(checksum) + TAMIS__KEPT_BYTES];
    const unsigned char *kept = kept_of(sheet);
    if (kept == NULL) return tamis__checksum(sheet, FIELD(checksum));
    memcpy(bytes, sheet, FIELD(checksum));
    memcpy(bytes + FIELD(checksum), kept, TAMIS__KEPT_BYTES);
    return tamis__checksum(bytes, sizeof bytes);
}

void tamis__sheet_encode(const struct tamis__segment_header *h, void *bytes)
{
    struct tamis__sheet *sheet = bytes;
    memset(sheet, 0, (size_t)h->data_offset);
    memcpy(sheet->magic, TAMIS__SEGMENT_MAGIC, sizeof sheet->magic);
    sheet->number = h->number;
    sheet->filter_id = h->filter_id;
    sheet->store_id = h->store_id;
    sheet->seed = h->seed;
    sheet->fp_rate = h->fp_rate;
    sheet->filter_rate = h->filter_rate;
    sheet->created_at = h->created_at;
    sheet->capacity = (uint32_t)h->capacity;
    sheet->filter_capacity = (uint32_t)h->filter_capacity;
    sheet->generation = (uint32_t)h->generation;
    sheet->publication = (uint32_t)h->publication;
    sheet->m_bits = (uint16_t)h->m_bits;
    sheet->data_offset = (uint16_t)h->data_offset;
    sheet->keep = (uint16_t)h->keep;
    sheet->k = (uint8_t)h->k;
    sheet->words = (uint8_t)h->words;
    sheet->kind = (uint8_t)h->kind;
    sheet->hash_set = (uint8_t)h->hash_set;
    sheet->bit_order = (uint8_t)h->bit_order;
    sheet->on_full = (uint8_t)h->on_full;
    sheet->flags = (uint8_t)h->flags;
    sheet->version = keeps(h) ? TAMIS__SHEET_KEEPS : TAMIS__SHEET_FIRST;
    if (keeps(h))
        memcpy((char *)bytes + h->data_offset - TAMIS__KEPT_BYTES, h->kept, TAMIS__KEPT_BYTES);
    sheet->checksum = constants_checksum(sheet);
    sheet->live = h->live;
    sheet->items = sheet->quota = tamis__header_items(h);
    const struct tamis__name_label *label = tamis__label_current(h);
    if (label != NULL) tamis__sheet_relabel(sheet, label->sequence, label->name);
}

void tamis__sheet_decode_geometry(const void *bytes, struct tamis__segment_header *h)
{
    const struct tamis__sheet *sheet = bytes;
    memset(h, 0, TAMIS__GUARD_KEPT_BYTES);
    h->kind = sheet->kind;
    h->hash_set = sheet->hash_set;
    h->seed = sheet->seed;
    h->m_bits = sheet->m_bits;
    h->k = sheet->k;
    h->words = sheet->words;
    h->bit_order = sheet->bit_order;
    h->data_offset = sheet->data_offset;
    h->data_bytes = tamis__data_bytes(sheet->m_bits);
}

void tamis__sheet_decode_constant(const void *bytes, struct tamis__segment_header *h)
{
    const struct tamis__sheet *sheet = bytes;
    tamis__sheet_decode_geometry(sheet, h);
    memcpy(h->magic, TAMIS__SEGMENT_MAGIC, sizeof h->magic);
    h->format_version = TAMIS__FORMAT_VERSION;
    h->compat_flags = TAMIS__COMPAT_ROOM;
    h->header_bytes = TAMIS__HEADER_BYTES;
    h->number = sheet->number;
    h->filter_id = sheet->filter_id;
    h->store_id = sheet->store_id;
    h->capacity = sheet->capacity;
    h->fp_rate = sheet->fp_rate;
    h->file_bytes = tamis__class_bytes(tamis__sheet_class(sheet->number));
    h->created_at = sheet->created_at;
    h->stripes = TAMIS__STRIPES;
    h->generation = sheet->generation;
    h->flags = sheet->flags;
    h->filter_capacity = sheet->filter_capacity;
    h->filter_rate = sheet->filter_rate;
    h->on_full = sheet->on_full;
    h->publication = sheet->publication;
    h->keep = sheet->keep;
    h->list_start = 1;
    const unsigned char *kept = kept_of(sheet);
    if (kept != NULL) memcpy(h->kept, kept, sizeof h->kept);
    tamis__header_seal(h);
}

void tamis__sheet_decode(const void *bytes, struct tamis__segment_header *h)
{
    const struct tamis__sheet *sheet = bytes;
    memset(h, 0, sizeof *h);
    tamis__sheet_decode_constant(sheet, h);
    h->live = sheet->live;
    h->items[0].items = sheet->items;
    h->items[0].quota = sheet->quota;
    decode_label(sheet, &h->labels[0]);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static int check_fields(const struct tamis__sheet *sheet, struct tamis__refusal *why)
{
    struct tamis__segment_header header;
    const uint32_t bytes = tamis__class_bytes(tamis__sheet_class(sheet->number));
    if (sheet->data_offset < NAME_OFFSET || sheet->data_offset % DATA_ALIGN != 0 ||
        (sheet->version == TAMIS__SHEET_KEEPS && kept_of(sheet) == NULL) || sheet->m_bits == 0 ||
        sheet->data_offset > bytes || tamis__data_bytes(sheet->m_bits) > bytes - sheet->data_offset)
        return tamis__refuse(why, TAMIS_ECORRUPT, FIELD(data_offset), "has an impossible layout");
    tamis__sheet_decode(sheet, &header);
    /* A file of its own has its data behind the header; all other fields are judged alike. */
    header.data_offset = TAMIS__HEADER_BYTES;
    header.file_bytes = (uint64_t)2 * TAMIS__HEADER_BYTES;
    tamis__header_seal(&header);
    return tamis__header_check(&header, sizeof header, header.file_bytes, why);
}

int tamis__sheet_check(const void *bytes, uint64_t number, struct tamis__refusal *why)
{
    const struct tamis__sheet *sheet = bytes;
    if (memcmp(sheet->magic, TAMIS__SEGMENT_MAGIC, sizeof sheet->magic) != 0)
        return tamis__refuse(why, TAMIS_EFOREIGN, 0, "has no segment (wrong first bytes)");
    if (sheet->version > TAMIS__SHEET_KEEPS)
        return tamis__refuse(why, TAMIS_EVERSION, FIELD(version),
                             "has sheet version %u, this library reads up to %u; use a newer Tamis",
                             sheet->version, TAMIS__SHEET_KEEPS);
    if (sheet->version == 0 || sheet->checksum != constants_checksum(sheet))
        return tamis__refuse(why, TAMIS_ECORRUPT, FIELD(checksum),
                             "has a damaged header (its checksum does not match)");
    if (sheet->number != number)
        return tamis__refuse(why, TAMIS_EFOREIGN, FIELD(number),
                             "says that it is segment %llu; it was copied over another one",
                             (unsigned long long)sheet->number);
    return check_fields(sheet, why);
}

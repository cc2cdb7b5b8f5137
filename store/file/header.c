/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * header.c: building and judging segment headers.
 *
 * A header is judged in the order of what can be trusted: magic, then version and flags (so that a
 * newer file is called newer and not damaged), then the checksum, then each field against the
 * layout that it must follow from.  After that no field can lead outside the file.
 */
#include "file/header.h"

#include <stdarg.h>
#include <stdio.h>

#include "hash/digest.h"

static int refuse(struct tamis__refusal *refusal, int code, size_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int refuse(struct tamis__refusal *refusal, int code, size_t offset, const char *format, ...)
{
    va_list arguments;
    refusal->offset = offset;
    va_start(arguments, format);
    (void)vsnprintf(refusal->reason, sizeof refusal->reason, format, arguments);
    va_end(arguments);
    return code;
}

#define FIELD(field) offsetof(struct tamis__segment_header, field)

static uint64_t constant_checksum(const struct tamis__segment_header *header)
{
    return tamis__checksum(header, FIELD(checksum));
}

void tamis__header_seal(struct tamis__segment_header *header)
{
    header->checksum = constant_checksum(header);
}

/* The fields that must follow from each other. */
static int check_fields(const struct tamis__segment_header *h, uint64_t file_bytes,
                        struct tamis__refusal *why)
{
    struct tamis__layout layout;
    if (h->header_bytes != TAMIS__HEADER_BYTES || h->stripes != TAMIS__STRIPES)
        return refuse(why, TAMIS_ECORRUPT, FIELD(header_bytes), "has a header of another shape");
    if (h->m_bits == 0 || h->m_bits > TAMIS__M_BITS_MAX)
        return refuse(why, TAMIS_ECORRUPT, FIELD(m_bits), "has an impossible m of %llu bits",
                      (unsigned long long)h->m_bits);
    if (h->k == 0 || h->k > TAMIS_K_MAX)
        return refuse(why, TAMIS_ECORRUPT, FIELD(k), "has an impossible k of %u", h->k);
    if (h->bit_order != TAMIS__BITS_LSB_FIRST && h->bit_order != TAMIS__BITS_MSB_FIRST)
        return refuse(why, TAMIS_EVERSION, FIELD(bit_order), "has an unknown bit order");
    const double fp_rate = tamis__double_from_bits(h->fp_rate);
    if (h->capacity == 0 || !(fp_rate > 0 && fp_rate <= 1))
        return refuse(why, TAMIS_ECORRUPT, FIELD(capacity), "has an impossible capacity or rate");
    tamis__layout(h->m_bits, &layout);
    if (h->data_offset != layout.data_offset || h->data_bytes != layout.data_bytes ||
        h->file_bytes != layout.file_bytes)
        return refuse(why, TAMIS_ECORRUPT, FIELD(data_offset),
                      "has a layout that its m contradicts");
    if (file_bytes != h->file_bytes)
        return refuse(why, TAMIS_ECORRUPT, file_bytes < h->file_bytes ? file_bytes : h->file_bytes,
                      "is %s: %llu bytes where its header says %llu",
                      file_bytes < h->file_bytes ? "truncated" : "too long",
                      (unsigned long long)file_bytes, (unsigned long long)h->file_bytes);
    return 0;
}

int tamis__header_check(const void *buffer, size_t bytes, uint64_t file_bytes,
                        struct tamis__refusal *refusal)
{
    struct tamis__segment_header h;
    if (bytes < sizeof h.magic || memcmp(buffer, TAMIS__SEGMENT_MAGIC, sizeof h.magic) != 0)
        return refuse(refusal, TAMIS_EFOREIGN, 0, "is not a segment of Tamis (wrong first bytes)");
    if (bytes < sizeof h)
        return refuse(refusal, TAMIS_ECORRUPT, bytes, "is truncated inside its header");
    memcpy(&h, buffer, sizeof h);
    if (h.format_version > TAMIS__FORMAT_VERSION)
        return refuse(refusal, TAMIS_EVERSION, FIELD(format_version),
                      "has format version %u, this library reads up to %u; use a newer Tamis",
                      h.format_version, TAMIS__FORMAT_VERSION);
    if (h.incompat_flags & ~TAMIS__INCOMPAT_KNOWN)
        return refuse(
            refusal, TAMIS_EVERSION, FIELD(incompat_flags),
            "uses features (flags %#x) that this library does not have; use a newer Tamis",
            h.incompat_flags & ~TAMIS__INCOMPAT_KNOWN);
    if (h.checksum != constant_checksum(&h) || h.format_version == 0)
        return refuse(refusal, TAMIS_ECORRUPT, FIELD(checksum),
                      "has a damaged header (its checksum does not match)");
    return check_fields(&h, file_bytes, refusal);
}

struct tamis__hashing tamis__header_hashing(const struct tamis__segment_header *header)
{
    return (struct tamis__hashing){.set = tamis__hash_set_by_id(header->hash_set),
                                   .parameters = header->parameters,
                                   .seed = header->seed,
                                   .m_bits = header->m_bits,
                                   .k = header->k};
}

void tamis__header_set_items(struct tamis__segment_header *header, uint64_t items)
{
    for (uint64_t i = 0; i < TAMIS__STRIPES; i++)
        header->items[i].items = items / TAMIS__STRIPES + (i < items % TAMIS__STRIPES);
}

uint64_t tamis__header_items(const struct tamis__segment_header *header)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < TAMIS__STRIPES; i++)
        sum += header->items[i].items;
    return sum;
}

void tamis__label_write(struct tamis__name_label *label, uint64_t sequence, const char *name)
{
    const size_t bytes = strlen(name);
    memset(label, 0, sizeof *label);
    label->sequence = sequence;
    label->bytes = (uint32_t)bytes;
    memcpy(label->name, name, bytes);
    label->checksum = tamis__checksum(label, offsetof(struct tamis__name_label, checksum));
}

static int label_is_whole(const struct tamis__name_label *label)
{
    return label->sequence != 0 && label->bytes > 0 && label->bytes <= TAMIS_NAME_MAX &&
           label->name[label->bytes] == '\0' &&
           label->checksum == tamis__checksum(label, offsetof(struct tamis__name_label, checksum));
}

const struct tamis__name_label *tamis__label_current(const struct tamis__segment_header *header)
{
    const struct tamis__name_label *best = NULL;
    for (size_t i = 0; i < 2; i++) {
        const struct tamis__name_label *label = &header->labels[i];
        if (label_is_whole(label) && (best == NULL || label->sequence > best->sequence))
            best = label;
    }
    return best;
}

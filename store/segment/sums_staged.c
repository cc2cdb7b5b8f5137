/* SPDX-License-Identifier: BSD-2-Clause */
/* sums_staged.c: the table of checksums of a file that is being made; see sums.h. */
#include "hash/sum.h"
#include "os/io.h"
#include "segment/stage.h"
#include "segment/sums.h"

bool tamis__sums_have_room(const struct tamis__segment_header *h)
{
    return h->fingerprint_bits == 0 && h->data_checksum == 0 &&
           tamis__sums_at(h) + tamis__sums_bytes(h->data_offset, h->data_bytes) <=
               tamis__sums_end(h);
}

uint64_t tamis__sums_fixed(const struct tamis__segment_header *header)
{
    struct tamis__sum64 sum;
    tamis__sum64_init(&sum);
    tamis__sum64_add(&sum, &header->attachment, sizeof header->attachment);
    for (size_t i = 0; i < tamis__header_stripes(header); i++)
        tamis__sum64_add(&sum, header->items[i].key_rule, sizeof header->items[i].key_rule);
    /* The rest of a key rule, in a file of one page. */
    const size_t locks = tamis__header_block_locks(header);
    tamis__sum64_add(&sum, &header->block_locks[locks],
                     (TAMIS__BLOCK_LOCKS - locks) * sizeof header->block_locks[0]);
    return tamis__sum64_finish(&sum);
}

uint64_t tamis__sums_overflow_bytes(const struct tamis__segment_header *h)
{
    return tamis__header_file_bytes(h) - h->file_bytes;
}

uint64_t *tamis__sums_buffer(size_t bytes)
{
    uint64_t *buffer = malloc(bytes);
    if (buffer == NULL) (void)tamis__fail(TAMIS_ENOMEM, "out of memory for checksums");
    return buffer;
}

void tamis__sums_close_head(struct tamis__sums_head *head)
{
    memcpy(head->magic, TAMIS__SUMS_MAGIC, sizeof head->magic);
    head->checksum = tamis__checksum(&head->magic, sizeof *head - sizeof head->checksum);
}

/* ---- A staged file --------------------------------------------------------------------------- */

/* Sums the overflow of a staged file. */
static int stage_overflow(const struct tamis__staged *staged, uint64_t at, const char *what,
                          struct tamis__staged_sums *made, char *buffer)
{
    struct tamis__sum64 sum;
    int rc = 0;
    tamis__sum64_init(&sum);
    for (uint64_t done = 0; rc == 0 && done < made->overflow_bytes;
         done += TAMIS__SUM_BLOCK_BYTES) {
        const uint64_t left = made->overflow_bytes - done;
        const size_t now = (size_t)(left < TAMIS__SUM_BLOCK_BYTES ? left : TAMIS__SUM_BLOCK_BYTES);
        rc = tamis__read_at(staged->file.fd, buffer, now, at + done, what);
        if (rc == 0) tamis__sum64_add(&sum, buffer, now);
    }
    made->overflow = made->overflow_bytes > 0 ? tamis__sum64_finish(&sum) : 0;
    return rc;
}

static int stage_blocks(const struct tamis__staged *staged, const struct tamis__segment_header *h,
                        const char *what, uint64_t *sums, char *buffer)
{
    const uint64_t count = tamis__sums_count(h);
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < count; i++) {
        const size_t now = tamis__sums_block_bytes(h, i);
        rc = tamis__read_at(staged->file.fd, buffer, now, tamis__sums_block_at(h, i), what);
        if (rc == 0) sums[i] = tamis__checksum(buffer, now);
    }
    return rc;
}

int tamis__sums_stage(struct tamis__staged *staged, const struct tamis__segment_header *h,
                      const char *what)
{
    struct tamis__staged_sums made = {.overflow_bytes = tamis__sums_overflow_bytes(h)};
    if (!tamis__sums_have_room(h)) return 0;
    uint64_t *sums = tamis__sums_buffer(tamis__sums_bytes_of(h) + TAMIS__SUM_BLOCK_BYTES);
    if (sums == NULL) return TAMIS_ENOMEM;
    char *buffer = (char *)sums + tamis__sums_bytes_of(h);
    int rc = stage_blocks(staged, h, what, sums, buffer);
    if (rc == 0) rc = stage_overflow(staged, h->file_bytes, what, &made, buffer);
    if (rc == 0)
        rc = tamis__write_at(staged->file.fd, sums, tamis__sums_bytes_of(h),
                             tamis__sums_at(h) + TAMIS__SUMS_HEAD_BYTES, what);
    made.sums = tamis__checksum(sums, tamis__sums_bytes_of(h));
    made.are_made = true;
    if (rc == 0) staged->sums = made;
    free(sums);
    return rc;
}

int tamis__sums_stage_head(const struct tamis__staged *staged, struct tamis__segment_header *header,
                           const char *what)
{
    const struct tamis__staged_sums *made = &staged->sums;
    if (!made->are_made || made->overflow_bytes != tamis__sums_overflow_bytes(header)) return 0;
    header->live.mark |= TAMIS__MARK_SEALED;
    struct tamis__sums_head head = {.mark = header->live.mark,
                                    .items = tamis__header_items(header),
                                    .fixed = tamis__sums_fixed(header),
                                    .overflow_bytes = made->overflow_bytes,
                                    .overflow = made->overflow,
                                    .sums = made->sums};
    tamis__sums_close_head(&head);
    return tamis__write_at(staged->file.fd, &head, sizeof head, tamis__sums_at(header), what);
}

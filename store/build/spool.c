/* SPDX-License-Identifier: BSD-2-Clause */
/* spool.c: see spool.h. */
#include "build/spool.h"

#define LENGTH_BYTES_MAX 10u /* 64 bits, 7 in each byte */
#define FIRST_BYTES ((size_t)4 << 10)
#define BLOCK_BYTES ((size_t)1 << 20)

static int fail_spool_memory(size_t bytes)
{
    char text[TAMIS__SIZE_BYTES];
    return tamis__fail(TAMIS_ENOMEM, "out of memory: the build wants %s for keys; free some",
                       tamis__size_text(text, (double)bytes));
}

void tamis__spool_init(struct tamis__spool *spool, const struct tamis__place *place,
                       size_t memory_bytes)
{
    *spool = (struct tamis__spool){.most = memory_bytes < FIRST_BYTES ? FIRST_BYTES : memory_bytes};
    tamis__temporary_init(&spool->file, place);
}

void tamis__spool_clear(struct tamis__spool *spool)
{
    free(spool->buffer);
    tamis__temporary_clear(&spool->file);
    *spool = (struct tamis__spool){.keys = 0};
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static int write_out(struct tamis__spool *spool, const void *bytes, size_t count)
{
    uint64_t offset = 0;
    if (count == 0) return 0;
    const int rc = tamis__temporary_extend(&spool->file, count, &offset);
    return rc < 0 ? rc : tamis__temporary_write(&spool->file, offset, bytes, count);
}

static int write_spooled(struct tamis__spool *spool)
{
    const int rc = write_out(spool, spool->buffer, spool->used);
    if (rc == 0) spool->used = 0;
    return rc;
}

/* Makes room for `bytes` bytes, at most spool->most, behind those in memory. */
static int make_room_in_buffer(struct tamis__spool *spool, size_t bytes)
{
    if (bytes <= spool->room - spool->used) return 0;
    if (bytes > spool->most - spool->used) {
        const int rc = write_spooled(spool);
        if (rc < 0 || bytes <= spool->room) return rc;
    }
    size_t room = spool->room < FIRST_BYTES ? FIRST_BYTES : spool->room;
    while (room < spool->used + bytes)
        room *= 2;
    if (room > spool->most) room = spool->most;
    unsigned char *buffer = realloc(spool->buffer, room);
    if (buffer == NULL) return fail_spool_memory(room);
    spool->buffer = buffer;
    spool->room = room;
    return 0;
}

static int spool_bytes(struct tamis__spool *spool, const void *bytes, size_t count)
{
    if (count > spool->most) {
        const int rc = write_spooled(spool);
        return rc < 0 ? rc : write_out(spool, bytes, count);
    }
    const int rc = make_room_in_buffer(spool, count);
    if (rc < 0) return rc;
    if (count > 0) memcpy(spool->buffer + spool->used, bytes, count);
    spool->used += count;
    return 0;
}

int tamis__spool_add(struct tamis__spool *spool, const struct tamis_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char length[LENGTH_BYTES_MAX];
        size_t used = 0;
        for (size_t left = keys[i].bytes;; left >>= 7) {
            length[used++] = (unsigned char)((left & 0x7F) | (left > 0x7F ? 0x80 : 0));
            if (left <= 0x7F) break;
        }
        int rc = spool_bytes(spool, length, used);
        if (rc == 0) rc = spool_bytes(spool, keys[i].data, keys[i].bytes);
        if (rc < 0) return rc;
        spool->keys++;
    }
    return 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

int tamis__spool_open(struct tamis__spool *spool, struct tamis__spool_reader *reader)
{
    const bool has_file = spool->file.bytes > 0;
    const int rc = has_file ? write_spooled(spool) : 0;
    reader->spool = spool;
    reader->buffer = NULL;
    reader->begin = reader->end = reader->room = 0;
    reader->offset = 0;
    if (!has_file) reader->end = spool->used;
    return rc;
}

void tamis__spool_close(struct tamis__spool_reader *reader)
{
    free(reader->buffer);
    reader->buffer = NULL;
}

/* Looks at the key at `begin` of what was read.  Returns the bytes that it takes.  If that is more
 * than there are, it is the least that it takes. */
static size_t measure_key(const unsigned char *bytes, size_t count, struct tamis_key *key)
{
    size_t length = 0, used = 0;
    do {
        if (used == count) return used + 1;
        length |= (size_t)(bytes[used] & 0x7F) << (7 * used);
    } while (bytes[used++] & 0x80);
    *key = (struct tamis_key){.data = bytes + used, .bytes = length};
    return used + length;
}

/* Reads on until the buffer has `wanted` bytes from `begin` on. */
static int read_on(struct tamis__spool_reader *reader, size_t wanted)
{
    const size_t kept = reader->end - reader->begin;
    if (wanted > reader->room) {
        const size_t room = wanted + BLOCK_BYTES;
        unsigned char *buffer = malloc(room);
        if (buffer == NULL) return fail_spool_memory(room);
        if (reader->buffer != NULL) memcpy(buffer, reader->buffer + reader->begin, kept);
        free(reader->buffer);
        reader->buffer = buffer;
        reader->room = room;
    } else if (reader->buffer != NULL) {
        memmove(reader->buffer, reader->buffer + reader->begin, kept);
    }
    reader->begin = 0;
    reader->end = kept;
    const uint64_t left = reader->spool->file.bytes - reader->offset;
    const size_t room = reader->room - kept, now = left < room ? (size_t)left : room;
    const int rc =
        tamis__temporary_read(&reader->spool->file, reader->offset, reader->buffer + kept, now);
    if (rc < 0) return rc;
    reader->offset += now;
    reader->end += now;
    return 0;
}

int tamis__spool_next(struct tamis__spool_reader *reader)
{
    unsigned found = 0;
    while (found < TAMIS__SPOOL_BATCH) {
        const unsigned char *bytes =
            reader->buffer != NULL ? reader->buffer : reader->spool->buffer;
        const size_t left = reader->end - reader->begin;
        if (left == 0 && reader->offset == reader->spool->file.bytes) break;
        const size_t takes =
            left == 0 ? 1 : measure_key(bytes + reader->begin, left, &reader->keys[found]);
        if (takes <= left) {
            reader->begin += takes;
            found++;
            continue;
        }
        if (found > 0) break; /* the next keys would be put over their bytes */
        const int rc = read_on(reader, takes);
        if (rc < 0) return rc;
    }
    return (int)found;
}

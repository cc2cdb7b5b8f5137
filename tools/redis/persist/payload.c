/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * payload.c: see payload.h.
 *
 * A number, a double or a string stands behind a length that says which of them it is.  A length
 * has 6 or 14 bits in its first bytes, or 32 or 64 in those behind the first, the highest first.
 * The server writes a string as it is, or compressed by LZF:
 *
 *     000lllll                    the next l + 1 bytes
 *     lllooooo oooooooo           l + 2 bytes of what came before, o + 1 bytes back; l is 1 to 6
 *     111ooooo llllllll oooooooo  the same, for l + 9
 */
#include "persist/payload.h"

#include <pthread.h>
#include <string.h>

#include "server/redis_api.h"

enum { SAYS_NUMBER = 2, SAYS_DOUBLE = 4, SAYS_STRING = 5 };

#define MODULE_VALUE 7
#define LENGTH_32 0x80
#define LENGTH_64 0x81
#define IS_COMPRESSED 0xC3
#define NO_VALUE 0x7F /* no server has values of this type */

/* ---- The checksum ---------------------------------------------------------------------------- */

#define POLYNOMIAL UINT64_C(0x95ac9329ac4bc9b5) /* of Jones, its bits reversed */

static uint64_t crc_table[256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void make_crc_table(void)
{
    for (unsigned i = 0; i < 256; i++) {
        uint64_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        crc_table[i] = crc;
    }
}

static uint64_t crc_of(const unsigned char *bytes, size_t count)
{
    uint64_t crc = 0;
    (void)pthread_once(&crc_once, make_crc_table);
    for (size_t i = 0; i < count; i++)
        crc = crc_table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
    return crc;
}

bool payload_is_whole(const void *payload, size_t bytes)
{
    uint64_t crc;
    if (bytes < PAYLOAD_TAIL_BYTES) return false;
    memcpy(&crc, (const char *)payload + bytes - sizeof crc, sizeof crc);
    return crc == crc_of(payload, bytes - sizeof crc);
}

void payload_write_empty(unsigned rdb_version, unsigned char payload[PAYLOAD_EMPTY_BYTES])
{
    payload[0] = NO_VALUE;
    payload[1] = (unsigned char)rdb_version;
    payload[2] = (unsigned char)(rdb_version >> 8);
    const uint64_t crc = crc_of(payload, 3);
    memcpy(payload + 3, &crc, sizeof crc);
}

/* ---- Its parts ------------------------------------------------------------------------------- */

/* The next bytes; NULL: there are not so many. */
static const unsigned char *take(struct payload *payload, uint64_t bytes)
{
    const unsigned char *at = payload->at;
    if (payload->failed || bytes > (uint64_t)(payload->end - at)) {
        payload->failed = true;
        return NULL;
    }
    payload->at += bytes;
    return at;
}

static uint64_t take_big_endian(struct payload *payload, unsigned bytes)
{
    const unsigned char *at = take(payload, bytes);
    uint64_t number = 0;
    for (unsigned i = 0; at != NULL && i < bytes; i++)
        number = number << 8 | at[i];
    return number;
}

/* A length whose first byte was read. */
static uint64_t take_length_behind(struct payload *payload, unsigned first)
{
    if (first >> 6 == 0) return first;
    if (first >> 6 == 1) return (uint64_t)(first & 63) << 8 | take_big_endian(payload, 1);
    if (first == LENGTH_32) return take_big_endian(payload, 4);
    if (first == LENGTH_64) return take_big_endian(payload, 8);
    payload->failed = true;
    return 0;
}

static uint64_t take_length(struct payload *payload)
{
    const unsigned char *first = take(payload, 1);
    return first == NULL ? 0 : take_length_behind(payload, *first);
}

/* Says the payload that such a thing follows? */
static bool says(struct payload *payload, uint64_t what)
{
    if (take_length(payload) != what) payload->failed = true;
    return !payload->failed;
}

uint64_t payload_number(struct payload *payload)
{
    return says(payload, SAYS_NUMBER) ? take_length(payload) : 0;
}

double payload_double(struct payload *payload)
{
    double number = 0;
    const unsigned char *at = says(payload, SAYS_DOUBLE) ? take(payload, sizeof number) : NULL;
    if (at != NULL) memcpy(&number, at, sizeof number);
    return number;
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* Copies bytes that were written before; the copy may overlap what it writes. */
static bool repeat(unsigned char *to, size_t written, size_t room, size_t back, size_t count)
{
    if (back > written || count > room - written) return false;
    for (size_t i = 0; i < count; i++)
        to[written + i] = to[written - back + i];
    return true;
}

static bool expand(struct payload from, unsigned char *to, size_t room)
{
    size_t written = 0;
    while (from.at < from.end) {
        const unsigned control = *from.at++;
        size_t count = control >> 5, back;
        if (count == 0) {
            count = control + 1u;
            const unsigned char *literal = take(&from, count);
            if (literal == NULL || count > room - written) return false;
            memcpy(to + written, literal, count);
        } else {
            if (count == 7) count += take_big_endian(&from, 1);
            count += 2;
            back = ((size_t)(control & 31) << 8 | take_big_endian(&from, 1)) + 1;
            if (from.failed || !repeat(to, written, room, back, count)) return false;
        }
        written += count;
    }
    return written == room;
}

/* Three bytes of LZF stand for 264 at most. */
#define EXPANDS_AT_MOST 88

static char *take_compressed(struct payload *payload, size_t *bytes)
{
    const uint64_t compressed = take_length(payload), expanded = take_length(payload);
    const unsigned char *at = take(payload, compressed);
    if (at == NULL || expanded / EXPANDS_AT_MOST > compressed) {
        payload->failed = true;
        return NULL;
    }
    char *string = RedisModule_Alloc((size_t)expanded + 1);
    const struct payload from = {.at = at, .end = at + compressed};
    *bytes = (size_t)expanded;
    if (expand(from, (unsigned char *)string, *bytes)) return string;
    RedisModule_Free(string);
    payload->failed = true;
    return NULL;
}

char *payload_string(struct payload *payload, size_t *bytes)
{
    const unsigned char *first = says(payload, SAYS_STRING) ? take(payload, 1) : NULL;
    *bytes = 0;
    if (first == NULL) return NULL;
    if (*first == IS_COMPRESSED) return take_compressed(payload, bytes);
    const uint64_t count = take_length_behind(payload, *first);
    const unsigned char *at = take(payload, count);
    if (at == NULL) return NULL;
    char *string = RedisModule_Alloc((size_t)count + 1);
    memcpy(string, at, (size_t)count);
    *bytes = (size_t)count;
    return string;
}

/* ---- All of it ------------------------------------------------------------------------------- */

#define ENCODING_BITS 10

static void name_of(uint64_t id, char name[10])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    id >>= ENCODING_BITS;
    for (int i = 8; i >= 0; i--, id >>= 6)
        name[i] = letters[id & 63];
    name[9] = '\0';
}

bool payload_has_head(const void *payload, size_t bytes, struct payload_head *head)
{
    const unsigned char *at = payload;
    if (bytes <= PAYLOAD_HEAD_BYTES + PAYLOAD_TAIL_BYTES || at[0] != MODULE_VALUE ||
        at[1] != LENGTH_64)
        return false;
    struct payload number = {.at = at + 1, .end = at + PAYLOAD_HEAD_BYTES};
    const uint64_t id = take_length(&number);
    name_of(id, head->type);
    head->encoding = (int)(id & ((1u << ENCODING_BITS) - 1));
    const unsigned char *tail = at + bytes - PAYLOAD_TAIL_BYTES;
    head->rdb_version = tail[0] | (unsigned)tail[1] << 8;
    return true;
}

struct payload payload_value(const void *payload, size_t bytes)
{
    const unsigned char *at = payload;
    return (struct payload){.at = at + PAYLOAD_HEAD_BYTES, .end = at + bytes - PAYLOAD_TAIL_BYTES};
}

bool payload_is_read(const struct payload *payload)
{
    return !payload->failed && payload->end - payload->at == 1 && *payload->at == 0;
}

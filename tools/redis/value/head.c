/* SPDX-License-Identifier: BSD-2-Clause */
/* head.c: see head.h. */
#include "value/head.h"

#include <string.h>

#include "server/config.h"

/* Our stream: magic, 96 bytes of the filter, 224 of each segment, in version 6 the text of the key
 * rule, a checksum.  In a dump the EXPANSION that the filter was made with follows, as u32: the
 * filter itself does not know it. */
#define TAMIS_MAGIC "TAMISX\r\n"
#define TAMIS_HEAD 96u
#define TAMIS_SEGMENT 224u
#define TAMIS_VERSION_AT 8u
#define TAMIS_VERSION_KEY_RULE 6u
#define TAMIS_KEY_RULE_BYTES 512u
#define TAMIS_SEGMENTS_AT 12u
#define TAMIS_DATA_BYTES_AT 56u

/* In the container of docs/exchange.md the first frame has iterator 1, and a length. */
static const char framed_magic[8] = {'S', 'C', 'A', 'N', 'D', 'U', 'M', 'P'};

static uint64_t get64(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint32_t get32(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

bool head_is_tamis(const void *head, size_t bytes)
{
    return bytes >= 8 && memcmp(head, TAMIS_MAGIC, 8) == 0;
}

uint64_t head_data_bytes(const void *head, size_t bytes)
{
    const bool tamis = head_is_tamis(head, bytes);
    const unsigned char *at = head;
    const size_t first = tamis ? TAMIS_HEAD : BLOOM_HEAD_BYTES;
    const size_t each = tamis ? TAMIS_SEGMENT : BLOOM_LAYER_BYTES;
    uint64_t sum = 0;
    if (bytes < first) return UINT64_MAX;
    const uint32_t count = get32(at + (tamis ? TAMIS_SEGMENTS_AT : 8));
    if (count > LAYERS_MAX || bytes < first + count * each) return UINT64_MAX;
    for (uint32_t i = 0; i < count; i++)
        if (__builtin_add_overflow(
                sum, get64(at + first + i * each + (tamis ? TAMIS_DATA_BYTES_AT : 0)), &sum))
            return UINT64_MAX;
    return sum;
}

size_t head_without_seed(const void *head, size_t bytes, size_t at, size_t word_bytes,
                         uint64_t usual, unsigned char plain[HEAD_ROOM])
{
    const size_t flag = at + word_bytes - 1;
    uint64_t seed;
    if (bytes < flag + 1 + sizeof seed || bytes > HEAD_ROOM) return 0;
    memcpy(plain, head, bytes);
    memcpy(&seed, plain + bytes - sizeof seed, sizeof seed);
    if ((plain[flag] & 0x80) == 0 || seed != usual) return 0;
    plain[flag] &= 0x7F;
    return bytes - sizeof seed;
}

bool head_is_too_large(const void *head, size_t bytes)
{
    return head_data_bytes(head, bytes) > config_max_bytes();
}

size_t head_frame(const void *head, size_t bytes,
                  unsigned char framed[HEAD_FRAME_BYTES + HEAD_ROOM])
{
    const uint64_t frame[2] = {1, bytes};
    memcpy(framed, framed_magic, sizeof framed_magic);
    memcpy(framed + 8, frame, sizeof frame);
    memcpy(framed + HEAD_FRAME_BYTES, head, bytes);
    return HEAD_FRAME_BYTES + bytes;
}

size_t head_split(const unsigned char *head, size_t bytes, uint32_t *expansion)
{
    if (bytes < TAMIS_HEAD + sizeof *expansion) return 0;
    memcpy(expansion, head + bytes - sizeof *expansion, sizeof *expansion);
    return bytes - sizeof *expansion;
}

int64_t memory_read(void *context, void *buffer, size_t bytes)
{
    struct memory_source *memory = context;
    const size_t now = bytes < memory->left ? bytes : memory->left;
    memcpy(buffer, memory->at, now);
    memory->at += now;
    memory->left -= now;
    return (int64_t)now;
}

/* ---- The head of a filter -------------------------------------------------------------------- */

struct capture {
    unsigned char *to;
    size_t got;
};

/* The write call of a sink: keeps the beginning of a stream, and ends the export by an error. */
static int take_beginning(void *context, const void *data, size_t bytes)
{
    struct capture *capture = context;
    capture->got = bytes < HEAD_ROOM ? bytes : HEAD_ROOM;
    memcpy(capture->to, data, capture->got);
    return TAMIS_EBUSY;
}

/* How many bytes of a stream are its head. */
static size_t stream_head_bytes(const unsigned char *stream)
{
    const bool has_rule = get32(stream + TAMIS_VERSION_AT) == TAMIS_VERSION_KEY_RULE;
    return TAMIS_HEAD + get32(stream + TAMIS_SEGMENTS_AT) * TAMIS_SEGMENT +
           (has_rule ? TAMIS_KEY_RULE_BYTES : 0) + 8;
}

int64_t head_of_filter(tamis_filter *filter, bool exact, uint32_t expansion,
                       unsigned char head[HEAD_ROOM])
{
    struct capture capture = {.to = head};
    const struct tamis_sink sink = {
        .size = sizeof sink, .write = take_beginning, .context = &capture};
    const int rc =
        tamis_filter_export(filter, exact ? "redisbloom" : "tamis",
                            TAMIS_EXPORT_WITH_KEY | TAMIS_EXPORT_WITHOUT_EXCEPTIONS, &sink);
    if (capture.got == 0) return rc;
    if (exact) {
        const size_t bytes = (size_t)get64(head + 16);
        memmove(head, head + HEAD_FRAME_BYTES, bytes);
        return (int64_t)bytes;
    }
    const size_t bytes = stream_head_bytes(head);
    memcpy(head + bytes, &expansion, sizeof expansion);
    return (int64_t)(bytes + sizeof expansion);
}

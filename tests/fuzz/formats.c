/* SPDX-License-Identifier: BSD-2-Clause */
/* formats.c: one input through a format of the command; see formats.h. */
#include "formats.h"

#include <string.h>

#include "fuzz.h"
#include "input/format.h"

#define MOST_KEYS 7 /* of a batch, so that records of several keys exceed it */

/* What was found: a sum over all keys, in their order, and their number. */
struct found {
    uint64_t keys;
    uint64_t sum;
    uint64_t records;
};

static void add_keys(struct found *found, const struct taking *taking, const char *limit)
{
    for (size_t i = 0; i < taking->count; i++) {
        const struct tamis_key *key = &taking->keys[i], *record = &taking->records[i];
        const unsigned char *data = key->data;
        const char *text = record->data;
        FUZZ_CHECK(text >= taking->buffer && text + record->bytes <= limit);
        FUZZ_CHECK(key->bytes <= record->bytes);
        for (size_t at = 0; at < key->bytes; at++) /* each byte may be read */
            found->sum = found->sum * 31 + data[at];
        found->sum = found->sum * 31 + key->bytes + 1;
        found->keys++;
    }
}

static struct taking taking_of(const struct format *format, const char *field)
{
    struct taking taking = {.format = format, .field = field, .line_end = '\n'};
    taking.separator = format->separator;
    taking.header_is_next = format->separator != 0 && field != NULL;
    return taking;
}

/* The whole text, in batches; a first piece ends at `cut`, as where more is still to be read. */
static struct found take_all(const struct format *format, const char *field, const char *text,
                             size_t bytes, size_t cut)
{
    struct taking taking = taking_of(format, field);
    struct found found = {0};
    const char *at = text;
    for (int last = 0; last < 2; last++) {
        const char *limit = last ? text + bytes : text + cut, *before;
        do {
            before = at;
            taking_begin(&taking, text, bytes);
            at = taking_take(&taking, at, limit, last, MOST_KEYS);
            FUZZ_CHECK(at >= before && at <= limit);
            add_keys(&found, &taking, limit);
        } while (at > before && taking.why == NULL);
        if (taking.why != NULL) break;
        FUZZ_CHECK(!last || at == text + bytes);
    }
    FUZZ_CHECK(taking.counts.keys == found.keys);
    FUZZ_CHECK(taking.counts.foreign + taking.counts.lacking + taking.counts.others <=
               taking.counts.records);
    found.records = taking.counts.records;
    taking_clear(&taking);
    return found;
}

void fuzz_format(const struct format *format, const char *field, const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1); /* exactly so large: what is read beyond it is seen */
    FUZZ_CHECK(text != NULL);
    if (bytes > 0) memcpy(text, data, bytes);
    const struct found whole = take_all(format, field, text, bytes, 0);
    const struct found parted = take_all(format, field, text, bytes, bytes / 2);
    FUZZ_CHECK(whole.keys == parted.keys && whole.sum == parted.sum);
    FUZZ_CHECK(whole.records == parted.records);
    free(text);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* loaders.c: see loaders.h. */
#include "loaders.h"

#include <string.h>
#include <xxhash.h>

#include "scratch.h"
#include "server/thread.h"
#include "tamis.h"

/* A segment of no keys takes some pages; a filter has at most 64. */
#define DISK_LEAST ((uint64_t)2 << 20)
/* A counter of 4 bits that is marked as full gets a slot of 16 bytes in a table half empty. */
#define DISK_PER_BYTE 64u
/* Room for heads and pieces that are there whatever the payload is. */
#define HEAP_LEAST ((uint64_t)128 << 10)
#define HEAP_PER_BYTE 4u

unsigned loaders_loaded;

static bool begun_loading;
static uint64_t held_before;
static unsigned files_before;

/* ---- The store and the key ------------------------------------------------------------------- */

/* The store has a filter of others before the module is loaded. */
static void make_stored(void)
{
    char path[4096];
    tamis_store *store = NULL;
    tamis_filter *filter = NULL;
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 100};
    scratch_in_memory();
    (void)snprintf(path, sizeof path, "%s/store", scratch_directory());
    FUZZ_CHECK(tamis_store_open(path, TAMIS_OPEN_CREATE, &store) == 0);
    FUZZ_CHECK(tamis_filter_create(store, "stored", &spec, &filter) == 0);
    FUZZ_CHECK(tamis_filter_add(filter, "x", 1) == 1);
    FUZZ_CHECK(tamis_filter_close(filter) == 0);
    tamis_store_close(store);
}

static void use(void)
{
    const struct fake_word commands[][3] = {
        {FAKE_WORD("bf.info")},
        {FAKE_WORD("bf.debug")},
        {FAKE_WORD("bf.card")},
        {FAKE_WORD("bf.exists"), FAKE_WORD("x")},
        {FAKE_WORD("bf.add"), FAKE_WORD("x")},
        {FAKE_WORD("bf.madd"), FAKE_WORD("y"), FAKE_WORD("")},
        {FAKE_WORD("bf.mexists"), FAKE_WORD("x"), FAKE_WORD("z")},
        {FAKE_WORD("bf.scandump"), FAKE_WORD("0")},
        {FAKE_WORD("bf.scandump"), FAKE_WORD("1")},
        {FAKE_WORD("cf.info")},
        {FAKE_WORD("cf.debug")},
        {FAKE_WORD("cf.add"), FAKE_WORD("x")},
        {FAKE_WORD("cf.count"), FAKE_WORD("x")},
        {FAKE_WORD("cf.del"), FAKE_WORD("x")},
        {FAKE_WORD("cf.del"), FAKE_WORD("y")},
        {FAKE_WORD("cf.compact")},
        {FAKE_WORD("cf.scandump"), FAKE_WORD("0")},
        {FAKE_WORD("cf.scandump"), FAKE_WORD("1")},
        {FAKE_WORD("tamis.info")},
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        int count = 1;
        while (count < 3 && commands[i][count].data != NULL)
            count++;
        (void)fake_command(commands[i], count);
    }
    (void)fake_save();
}

/* What the module allocates once, such as the room for a batch. */
static void warm(void)
{
    const struct fake_word add[] = {FAKE_WORD("bf.madd"), FAKE_WORD("x")};
    FUZZ_CHECK(fake_command(add, 2) && fake_has_key());
    use();
    fake_set_loading(false);
    fake_delete();
    fake_cron();
}

void loaders_begin(bool loading)
{
    static bool begun;
    char most[32];
    const char *const arguments[] = {"max-bytes", most};
    if (!begun) {
        (void)snprintf(most, sizeof most, "%llu", (unsigned long long)LOADERS_MAX_BYTES);
        if (loading) make_stored();
        fake_set_loading(loading);
        begun_loading = loading;
        fake_load_module(arguments, 2);
        warm();
        fake_set_loading(loading);
        held_before = fake_held_bytes();
        files_before = fake_files();
        begun = true;
    }
    fake_account_begin();
}

void loaders_judge(size_t bytes, uint64_t more)
{
    FUZZ_CHECK(fake_most_bytes() - held_before <= HEAP_LEAST + HEAP_PER_BYTE * bytes + more);
    FUZZ_CHECK(fake_disk_bytes() <= DISK_LEAST + DISK_PER_BYTE * bytes + more);
}

/* The module's own is not linked.  A thread cannot be had here, so the module does at once what it
 * would leave to one, and what an input leaves behind can be judged. */
bool thread_start(void *(*run)(void *context), void *context)
{
    (void)run;
    (void)context;
    return false;
}

void loaders_end(bool loaded)
{
    loaders_loaded += loaded;
    fake_set_loading(false); /* clients use it, whose filters have limits */
    if (fake_has_key()) use();
    fake_delete();
    fake_cron();
    fake_set_loading(begun_loading);
    FUZZ_CHECK(fake_held_bytes() == held_before);
    FUZZ_CHECK(fake_files() == files_before);
}

/* ---- Checksums ------------------------------------------------------------------------------- */

void loaders_seal(uint8_t *stream, size_t bytes, bool head_only)
{
    enum { HEAD = 96, SEGMENT = 224, SEGMENTS_AT = 12, SEGMENTS_MAX = 64 };
    uint32_t count;
    XXH128_canonical_t sum;
    if (bytes < HEAD + 8) return;
    memcpy(&count, stream + SEGMENTS_AT, sizeof count);
    const size_t head = HEAD + (size_t)(count % (SEGMENTS_MAX + 1)) * SEGMENT;
    if (bytes < head + 8) return;
    const uint64_t checksum = XXH3_64bits(stream, head);
    memcpy(stream + head, &checksum, sizeof checksum);
    if (head_only || bytes < head + 8 + sizeof sum) return;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(stream, bytes - sizeof sum));
    memcpy(stream + bytes - sizeof sum, &sum, sizeof sum);
}

/* ---- Payloads -------------------------------------------------------------------------------- */

/* A place in the body of a payload. */
struct place {
    uint8_t *data;
    size_t bytes, at;
};

/* The length that stands there; UINT64_MAX: none. */
static uint64_t length_at(struct place *place)
{
    if (place->at == place->bytes) return UINT64_MAX;
    const uint8_t first = place->data[place->at++];
    const unsigned more = first < 0x40 ? 0 : first < 0x80 ? 1 : first == 0x80 ? 4 : 8;
    uint64_t number = first < 0x80 ? first & 0x3F : 0;
    if (place->bytes - place->at < more) return UINT64_MAX;
    for (unsigned i = 0; i < more; i++)
        number = number << 8 | place->data[place->at++];
    return number;
}

/* The stream is in pieces: they are put together, sealed, and put back. */
static void seal_pieces(struct place body)
{
    uint8_t *stream = malloc(body.bytes + 1), *pieces[256];
    size_t lengths[256], count = 0, bytes = 0;
    FUZZ_CHECK(stream != NULL);
    while (count < 256 && length_at(&body) == 5) {
        const uint64_t length = length_at(&body);
        if (length == 0 || length > body.bytes - body.at) break;
        pieces[count] = body.data + body.at;
        lengths[count++] = (size_t)length;
        memcpy(stream + bytes, body.data + body.at, (size_t)length);
        bytes += (size_t)length;
        body.at += (size_t)length;
    }
    loaders_seal(stream, bytes, false);
    for (size_t i = 0, at = 0; i < count; at += lengths[i++])
        memcpy(pieces[i], stream + at, lengths[i]);
    free(stream);
}

/* The next number of the body; UINT64_MAX: there is none. */
static uint64_t number_at(struct place *body)
{
    return length_at(body) == 2 ? length_at(body) : UINT64_MAX;
}

/* What is ours begins with four numbers; the third says what follows (persist/rdb.c). */
static void mend_own(uint8_t *data, size_t bytes, unsigned flags)
{
    enum { FLAG_ID = 1, FLAG_STREAM = 4 };
    struct place body = {data, bytes, 0};
    (void)number_at(&body);
    (void)number_at(&body);
    const uint64_t said = number_at(&body);
    if (number_at(&body) == UINT64_MAX || said == UINT64_MAX || (flags & LOADERS_SEAL) == 0) return;
    if ((said & FLAG_ID) != 0) {
        const uint64_t length = length_at(&body) == 5 ? length_at(&body) : UINT64_MAX;
        if (length > body.bytes - body.at) return;
        body.at += (size_t)length;
        if (number_at(&body) == UINT64_MAX) return;
    }
    if ((said & FLAG_STREAM) != 0) seal_pieces(body);
}

void loaders_payload(const uint8_t *data, size_t bytes, bool loading)
{
    loaders_begin(loading);
    if (bytes < 3) return;
    const unsigned flags = data[0];
    const int encoding = (data[1] | data[2] << 8) % 1024;
    uint8_t *body = malloc(bytes);
    FUZZ_CHECK(body != NULL);
    memcpy(body, data + 3, bytes - 3);
    const enum fake_type type = (flags & LOADERS_VALKEY) != 0   ? FAKE_VALKEY
                                : (flags & LOADERS_CUCKOO) != 0 ? FAKE_CUCKOO
                                                                : FAKE_BLOOM;
    /* In a value of valkey-bloom's type, a 0 stands before what is ours. */
    const size_t before = type == FAKE_VALKEY ? 2 : 0;
    if (bytes - 3 > before) mend_own(body + before, bytes - 3 - before, flags);
    const bool loaded = fake_restore(type, encoding, body, bytes - 3);
    FUZZ_CHECK(loaded == fake_has_key());
    loaders_judge(bytes, 0);
    free(body);
    loaders_end(loaded);
}

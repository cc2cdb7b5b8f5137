/* SPDX-License-Identifier: BSD-2-Clause */
/* race.c: the modes race and found: the same keys as those of the other runners, in an order of the
 * seed. */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runner.h"

#define TEXT_BYTES 32
#define FOUND_BATCH 4096

static tamis_filter *opened(const char *path, const char *name)
{
    tamis_store *store;
    tamis_filter *filter;
    if (tamis_store_open(path, 0, &store) < 0 || tamis_filter_open(store, name, 0, &filter) < 0)
        errx(1, "%s", tamis_last_error());
    tamis_store_close(store);
    return filter;
}

struct batch {
    size_t count;
    uint64_t *numbers;
    char (*texts)[TEXT_BYTES];
    struct tamis_key *keys;
    uint8_t *answers;
};

static struct batch batch_new(size_t room)
{
    const struct batch batch = {.numbers = calloc(room, sizeof(uint64_t)),
                                .texts = calloc(room, TEXT_BYTES),
                                .keys = calloc(room, sizeof(struct tamis_key)),
                                .answers = calloc(room, 1)};
    if (!batch.numbers || !batch.texts || !batch.keys || !batch.answers) errx(1, "out of memory");
    return batch;
}

static void batch_free(struct batch *batch)
{
    free(batch->numbers);
    free(batch->texts);
    free(batch->keys);
    free(batch->answers);
}

static void batch_put(struct batch *batch, uint64_t number)
{
    char *words = batch->texts[batch->count];
    const int bytes = snprintf(words, TEXT_BYTES, "key-%ju", (uintmax_t)number);
    batch->numbers[batch->count] = number;
    batch->keys[batch->count++] = (struct tamis_key){words, (size_t)bytes};
}

static void add(tamis_filter *filter, struct batch *batch, FILE *out)
{
    int64_t rc;
    if (batch->count == 1) {
        rc = tamis_filter_add(filter, batch->keys[0].data, batch->keys[0].bytes);
        batch->answers[0] = rc == 1;
    } else {
        rc = tamis_filter_add_batch(filter, batch->keys, batch->count, batch->answers);
    }
    if (rc < 0) errx(1, "%s", tamis_last_error());
    for (size_t i = 0; i < batch->count; i++)
        if (batch->answers[i] == 1) fprintf(out, "%ju\n", (uintmax_t)batch->numbers[i]);
    if (fflush(out) != 0) err(1, "write");
    batch->count = 0;
}

int race(char **words)
{
    static const uint64_t strides[] = {7368787,  15485863, 32452843, 49979687,
                                       67867967, 86028121, 104395301};
    const uint64_t first = strtoull(words[2], NULL, 10), count = strtoull(words[3], NULL, 10),
                   seed = strtoull(words[4], NULL, 10), room = strtoull(words[5], NULL, 10);
    tamis_filter *filter = opened(words[0], words[1]);
    struct batch batch = batch_new(room);
    FILE *out = fopen(words[6], "ae");
    if (out == NULL) {
        err(1, "%s", words[6]);
        return 1; /* for cppcheck, which does not know err() */
    }
    /* A batch is one write: it fits the buffer. */
    char *buffer = malloc(room * TEXT_BYTES);
    setvbuf(out, buffer, _IOFBF, room * TEXT_BYTES);
    puts("ready");
    fflush(stdout);
    getchar();
    for (uint64_t i = 0; i < count; i++) {
        batch_put(&batch, first + (seed * 104729 + i * strides[seed % 7]) % count);
        if (batch.count == room || i + 1 == count) add(filter, &batch, out);
    }
    fclose(out);
    free(buffer);
    batch_free(&batch);
    return tamis_filter_close(filter) < 0;
}

int found(char **words)
{
    const uint64_t first = strtoull(words[2], NULL, 10), count = strtoull(words[3], NULL, 10);
    tamis_filter *filter = opened(words[0], words[1]);
    struct batch batch = batch_new(FOUND_BATCH);
    int64_t hits = 0;
    for (uint64_t i = 0; i < count; i++) {
        batch_put(&batch, first + i);
        if (batch.count < FOUND_BATCH && i + 1 < count) continue;
        const int64_t rc =
            tamis_filter_contains_batch(filter, batch.keys, batch.count, batch.answers);
        if (rc < 0) errx(1, "%s", tamis_last_error());
        hits += rc;
        batch.count = 0;
    }
    printf("%jd\n", (intmax_t)hits);
    batch_free(&batch);
    return tamis_filter_close(filter) < 0;
}

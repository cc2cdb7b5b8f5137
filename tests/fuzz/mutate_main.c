/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mutate_main.c COUNT DIRECTORY: runs a fuzz target over COUNT mutated inputs of a corpus
 * ($TAMIS_FUZZ_COUNT instead, if it is set), from a seed that it prints.  A plain program for every
 * build.
 */
#include <dirent.h>
#include <err.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "random.h"

#define INPUTS_MAX 512
#define BYTES_MAX ((size_t)1 << 20)

static struct input {
    uint8_t *data;
    size_t bytes;
} inputs[INPUTS_MAX];
static size_t input_count;

static void read_input(const char *path)
{
    struct stat st;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &st) != 0) err(1, "%s", path);
    struct input *input = &inputs[input_count++];
    input->bytes = (size_t)st.st_size;
    input->data = malloc(input->bytes + 1);
    if (input->data == NULL || fread(input->data, 1, input->bytes, file) != input->bytes)
        err(1, "%s", path);
    (void)fclose(file);
}

static int by_content(const void *a, const void *b)
{
    const struct input *one = a, *other = b;
    if (one->bytes != other->bytes) return one->bytes < other->bytes ? -1 : 1;
    return memcmp(one->data, other->data, one->bytes);
}

static void read_corpus(const char *name)
{
    DIR *directory = opendir(name);
    if (directory == NULL) err(1, "%s", name);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char path[4096];
        if (entry->d_name[0] == '.' || input_count == INPUTS_MAX) continue;
        (void)snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
        read_input(path);
    }
    (void)closedir(directory);
    if (input_count == 0) errx(1, "%s has no inputs", name);
    qsort(inputs, input_count, sizeof inputs[0], by_content); /* one seed, one run */
}

/* Overwrites some bytes with a number that is often wrong. */
static void put_number(uint8_t *data, size_t bytes, uint64_t *state)
{
    static const uint64_t numbers[] = {0,           1,           0x7F,         0x80,    0xFF,
                                       0x100,       0x7FFF,      0xFFFF,       1 << 16, 0x7FFFFFFF,
                                       0x80000000u, 0xFFFFFFFFu, 0x100000000u, 1u << 20};
    uint64_t number = numbers[random_below(state, sizeof numbers / sizeof numbers[0])];
    if (random_below(state, 4) == 0) number = ~number;
    if (random_below(state, 4) == 0) number = random_next(state);
    size_t width = (size_t)1 << random_below(state, 4);
    if (width > bytes) width = bytes;
    memcpy(data + random_below(state, bytes - width + 1), &number, width);
}

/* Takes out, or puts in twice, a part; returns the bytes then. */
static size_t shift_part(uint8_t *data, size_t bytes, bool twice, uint64_t *state)
{
    const size_t at = (size_t)random_below(state, bytes);
    const size_t most = bytes - at < 300 ? bytes - at : 300;
    const size_t part = 1 + (size_t)random_below(state, most);
    if (!twice) {
        memmove(data + at, data + at + part, bytes - at - part);
        return bytes - part;
    }
    if (bytes + part > BYTES_MAX) return bytes;
    memmove(data + at + part, data + at, bytes - at);
    return bytes + part;
}

/* Copies a part of another input over this one. */
static void splice(uint8_t *data, size_t bytes, uint64_t *state)
{
    const struct input *other = &inputs[random_below(state, input_count)];
    const size_t least = other->bytes < bytes ? other->bytes : bytes;
    if (least == 0) return;
    const size_t part = 1 + (size_t)random_below(state, least);
    memcpy(data + random_below(state, bytes - part + 1),
           other->data + random_below(state, other->bytes - part + 1), part);
}

static size_t mutate(uint8_t *data, size_t bytes, uint64_t *state)
{
    switch (bytes == 0 ? 99 : random_below(state, 12)) {
    case 0:
        return (size_t)random_below(state, bytes);
    case 1:
    case 2:
        return shift_part(data, bytes, random_below(state, 2) == 0, state);
    case 3:
        splice(data, bytes, state);
        return bytes;
    case 4:
    case 5:
    case 6:
        data[random_below(state, bytes)] ^= (uint8_t)(1u << random_below(state, 8));
        return bytes;
    case 99:
        return 0;
    default:
        put_number(data, bytes, state);
        return bytes;
    }
}

int main(int argc, char **argv)
{
    static uint8_t data[BYTES_MAX];
    const char *count_text = getenv("TAMIS_FUZZ_COUNT");
    if (argc != 3) errx(2, "two arguments: how many inputs, and the directory of the corpus");
    const unsigned long count = strtoul(count_text != NULL ? count_text : argv[1], NULL, 10);
    uint64_t state = random_seed();
    read_corpus(argv[2]);
    for (unsigned long i = 0; i < count; i++) {
        const struct input *input = &inputs[random_below(&state, input_count)];
        size_t bytes = input->bytes < BYTES_MAX ? input->bytes : BYTES_MAX;
        memcpy(data, input->data, bytes);
        for (uint64_t turns = 1 + random_below(&state, 4); turns > 0; turns--)
            bytes = mutate(data, bytes, &state);
        /* A copy of just these bytes, so that a sanitizer sees what is read past them. */
        uint8_t *copy = malloc(bytes > 0 ? bytes : 1);
        if (copy == NULL) err(1, "malloc");
        memcpy(copy, data, bytes);
        (void)LLVMFuzzerTestOneInput(copy, bytes);
        free(copy);
    }
    (void)printf("%lu mutated inputs of %zu\n", count, input_count);
    for (size_t i = 0; i < input_count; i++)
        free(inputs[i].data);
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* make_segment_seeds.c CORPUS: a sound segment of each sort to CORPUS/segment. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "riches.h"

static const char *corpus;

static void write_seed(const char *name, const char *file)
{
    char path[4096];
    const size_t bytes = (size_t)fixture_size(file);
    unsigned char *all = malloc(bytes);
    (void)snprintf(path, sizeof path, "%s/segment/%s", corpus, name);
    FILE *out = fopen(path, "wb");
    if (all == NULL || out == NULL) err(1, "%s", path);
    fixture_peek(file, 0, all, bytes);
    if (fwrite(all, 1, bytes, out) != bytes || fclose(out) != 0) err(1, "%s", path);
    free(all);
}

/* The smallest file of that kind, and of a name that its label has. */
static void seed(const char *store, uint32_t kind, const char *label)
{
    uint64_t best = 0, least = UINT64_MAX;
    struct tamis__segment_header header;
    for (uint64_t number = 1; number < 100; number++) {
        const char *file = fixture_segment_path(store, number);
        if (access(file, F_OK) != 0) continue;
        fixture_peek(file, 0, &header, sizeof header);
        const struct tamis__name_label *current = tamis__label_current(&header);
        if (header.kind != kind || current == NULL || strcmp(current->name, label) != 0) continue;
        const uint64_t bytes = fixture_size(file);
        if (bytes >= least) continue;
        least = bytes;
        best = number;
    }
    if (best == 0) errx(1, "no segment of '%s'", label);
    char name[64];
    (void)snprintf(name, sizeof name, "%s-%u", label, kind);
    write_seed(name, fixture_segment_path(store, best));
}

int main(int argc, char **argv)
{
    char *path;
    if (argc != 2) errx(1, "use: make_segment_seeds CORPUS");
    corpus = argv[1];
    riches_make(&path);
    seed(path, TAMIS_KIND_BLOCKED, "plain");
    seed(path, TAMIS_KIND_BLOCKED, "window");
    seed(path, TAMIS_KIND_BLOOM, "foreign");
    seed(path, TAMIS_KIND_COUNTING, "counting");
    seed(path, TAMIS_KIND_FUSE, "static");
    seed(path, TAMIS_KIND_FUSE, "empty");
    seed(path, TAMIS__KIND_EXCEPTIONS, "list");
    free(path);
    return 0;
}

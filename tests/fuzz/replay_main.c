/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay_main.c DIRECTORY...: run a fuzz target over each file of a corpus, and over each cut short
 * at some lengths.  A plain program for every build, also where there is no libFuzzer.
 *
 * With TAMIS_FUZZ_LOADED=n, so many files at least must be loaded: a seed that is refused, as its
 * format is another one by now, leads the fuzzer nowhere.
 */
#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

extern unsigned loaders_loaded __attribute__((weak)); /* of the targets that have it */

static unsigned files_loaded;

static void run(const char *path)
{
    struct stat st;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &st) != 0) err(1, "%s", path);
    const size_t bytes = (size_t)st.st_size;
    uint8_t *data = malloc(bytes + 1);
    if (data == NULL || fread(data, 1, bytes, file) != bytes) err(1, "%s", path);
    (void)fclose(file);
    const unsigned before = &loaders_loaded != NULL ? loaders_loaded : 0;
    (void)LLVMFuzzerTestOneInput(data, bytes);
    if (&loaders_loaded != NULL) files_loaded += loaders_loaded - before;
    for (size_t cut = 0; cut < bytes; cut += 1 + cut / 16)
        (void)LLVMFuzzerTestOneInput(data, cut);
    free(data);
}

int main(int argc, char **argv)
{
    unsigned files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *directory = opendir(argv[i]);
        if (directory == NULL) err(1, "%s", argv[i]);
        for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
            char path[4096];
            if (entry->d_name[0] == '.') continue;
            (void)snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            run(path);
            files++;
        }
        (void)closedir(directory);
    }
    (void)printf("%u inputs, %u of them are loaded\n", files, files_loaded);
    const char *wanted = getenv("TAMIS_FUZZ_LOADED");
    if (wanted != NULL && strtoul(wanted, NULL, 10) > files_loaded)
        errx(1, "%s inputs were loaded once: a seed is refused by now", wanted);
    return files == 0; /* an empty corpus tests nothing */
}

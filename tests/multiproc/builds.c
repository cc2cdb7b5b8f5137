/* SPDX-License-Identifier: BSD-2-Clause */
#include "builds.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/publish.h"
#include "spawn.h"
#include "txn/files.h"

#define AT_ONCE 256u

static int add_all(tamis_build *build, const uint64_t *keys, size_t count)
{
    struct tamis_key some[AT_ONCE];
    int rc = 0;
    for (size_t done = 0; rc == 0 && done < count; done += AT_ONCE) {
        const size_t now = count - done < AT_ONCE ? count - done : AT_ONCE;
        for (size_t i = 0; i < now; i++)
            some[i] = (struct tamis_key){&keys[done + i], sizeof keys[0]};
        rc = tamis_build_add(build, some, now);
    }
    return rc;
}

int builds_publish(tamis_store *store, const char *name, const struct tamis_build_spec *spec,
                   const uint64_t *keys, size_t count, struct tamis_build_result *result)
{
    tamis_build *build;
    int rc = tamis_build_begin(store, name, spec, &build);
    if (rc < 0) return rc;
    rc = add_all(build, keys, count);
    if (rc == 0) rc = tamis_build_publish(build, result);
    tamis_build_close(build);
    return rc;
}

unsigned builds_mapped_files(void)
{
    char line[512];
    unsigned count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    SPAWN_CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        if (strstr(line, ".seg") == NULL) continue;
        SPAWN_CHECK(strstr(line, "(deleted)") == NULL);
        count++;
    }
    (void)fclose(maps);
    return count;
}

int builds_print_problem(void *context, const struct tamis_problem *problem)
{
    (void)context;
    printf("%s at %" PRIu64 ": %s\n", problem->file, problem->offset, problem->reason);
    return 0;
}

static int count_files(void *context, const struct tamis__record *record)
{
    void *const *txn_and_numbers = context;
    return tamis__list_files(txn_and_numbers[0], record, txn_and_numbers[1]);
}

static unsigned entries_of(const char *path, const char *directory)
{
    char name[4096];
    unsigned count = 0;
    (void)snprintf(name, sizeof name, "%s/%s", path, directory);
    DIR *dir = opendir(name);
    for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.';
    if (dir != NULL) (void)closedir(dir);
    return count;
}

static int count_garbage(void *context, uint64_t number)
{
    void *const *store_and_count = context;
    const tamis_store *store = store_and_count[0];
    *(unsigned *)store_and_count[1] += tamis__segment_exists(&store->place, number) > 0;
    return 0;
}

/* Returns how many files the catalog's garbage still has. */
static unsigned check_files(tamis_store *store, const char *path)
{
    struct tamis__numbers files = {0};
    struct tamis__catalog_txn *txn = NULL;
    unsigned garbage = 0;
    SPAWN_CHECK(tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn) == 0);
    void *context[] = {txn, &files}, *counting[] = {store, &garbage};
    SPAWN_CHECK(tamis__catalog_each(txn, "", count_files, context) == 0);
    SPAWN_CHECK(tamis__catalog_each_garbage(txn, count_garbage, counting) == 0);
    tamis__catalog_end(txn);
    SPAWN_CHECK(entries_of(path, "segments") == files.count + garbage);
    SPAWN_CHECK(entries_of(path, "staging") == 0);
    SPAWN_CHECK(tamis_store_verify(store, NULL, builds_print_problem, NULL) == 0);
    free(files.list);
    return garbage;
}

void builds_check_no_leak(tamis_store *store, const char *path)
{
    SPAWN_CHECK(check_files(store, path) == 0);
}

void builds_check_no_stray(tamis_store *store, const char *path)
{
    (void)check_files(store, path);
}

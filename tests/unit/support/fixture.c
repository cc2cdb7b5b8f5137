/* SPDX-License-Identifier: BSD-2-Clause */
/* fixture.c: see fixture.h.  What cannot happen unless the machine is out of order ends the
 * program. */
#include "fixture.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "segment/live.h"
#include "sizing/sizing.h"
#include "spawn.h"

int64_t fixture_done(int64_t result, const char *call, const char *file, int line)
{
    if (result >= 0) return result;
    print_error("%s: %s: %s\n", call, tamis_error_name((int)result), tamis_last_error());
    _fail(file, line);
    return result;
}

void fixture_refused(int code, const char *words, int64_t result, const char *call,
                     const char *file, int line)
{
    if (result != code) {
        print_error("%s: %" PRId64 " (%s) and not %s; last sentence: %s\n", call, result,
                    tamis_error_name((int)result), tamis_error_name(code), tamis_last_error());
        _fail(file, line);
    } else if (strstr(tamis_last_error(), words) == NULL) {
        print_error("%s: no '%s' in the sentence: %s\n", call, words, tamis_last_error());
        _fail(file, line);
    }
}

tamis_store *fixture_open(const char *path, unsigned flags)
{
    tamis_store *store = NULL;
    assert_done(tamis_store_open(path, flags, &store));
    return store;
}

tamis_store *fixture_store(char **path)
{
    char *own = scratch_path("store");
    tamis_store *store = fixture_open(own, TAMIS_OPEN_CREATE);
    if (path != NULL)
        *path = own;
    else
        free(own);
    return store;
}

void fixture_with_store(void (*body)(tamis_store *store, char *path), bool sound)
{
    char *path;
    tamis_store *store = fixture_store(&path);
    body(store, path);
    tamis_store_close(store);
    if (sound) assert_int_equal(fixture_problems(path), 0);
    if (sound) assert_int_equal(fixture_files(path, "staging"), 0);
    free(path);
}

tamis_filter *fixture_create(tamis_store *store, const char *name,
                             const struct tamis_filter_spec *spec)
{
    tamis_filter *filter = NULL;
    assert_done(tamis_filter_create(store, name, spec, &filter));
    return filter;
}

tamis_filter *fixture_opened(tamis_store *store, const char *name, unsigned flags)
{
    tamis_filter *filter = NULL;
    assert_done(tamis_filter_open(store, name, flags, &filter));
    return filter;
}

tamis_filter *fixture_filter(tamis_store *store, const char *name, uint64_t capacity)
{
    return fixture_create(
        store, name, SPEC(.capacity = capacity, .on_full = TAMIS_ON_FULL_WARN, .fp_rate = 0.01));
}

struct tamis_filter_stat fixture_stat(tamis_filter *filter)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    assert_done(tamis_filter_stat(filter, &stat));
    return stat;
}

struct tamis_segment_stat fixture_segment_stat(tamis_filter *filter, uint32_t index)
{
    struct tamis_segment_stat stat = {.size = sizeof stat};
    assert_done(tamis_filter_segment(filter, index, &stat));
    return stat;
}

static int print_problem(void *context, const struct tamis_problem *problem)
{
    ++*(int64_t *)context;
    print_error("problem: filter '%s' file %s byte %" PRIu64 " %s: %s\n", problem->filter,
                problem->file, problem->offset, tamis_error_name(problem->error), problem->reason);
    return 0;
}

/* The problems that are counted; *findings has those that are told. */
static int64_t verify_all(const char *path, int64_t *findings)
{
    tamis_store *store;
    int64_t problems = tamis_store_open(path, TAMIS_OPEN_READ_ONLY, &store);
    *findings = 0;
    if (problems == 0) {
        problems = tamis_store_verify(store, NULL, print_problem, findings);
        tamis_store_close(store);
    }
    if (problems < 0) print_error("verify: %s\n", tamis_last_error());
    return problems;
}

int64_t fixture_problems(const char *path)
{
    int64_t findings;
    return verify_all(path, &findings);
}

int64_t fixture_findings(const char *path)
{
    int64_t findings;
    const int64_t problems = verify_all(path, &findings);
    return problems < 0 ? problems : findings;
}

const char *fixture_join(const char *path, const char *rest)
{
    static char joined[4096];
    (void)snprintf(joined, sizeof joined, "%s/%s", path, rest);
    return joined;
}

const char *fixture_segment_path(const char *path, uint64_t number)
{
    char name[TAMIS__SEGMENT_NAME_BYTES], below[TAMIS__SEGMENT_NAME_BYTES + 16];
    tamis__segment_name(number, name);
    (void)snprintf(below, sizeof below, "segments/%s", name);
    return fixture_join(path, below);
}

/* Is the file a segment that offers a spare which is there? */
static bool offers_spare(const char *path, const char *file)
{
    struct tamis__segment_header header;
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    const bool read = fd >= 0 && pread(fd, &header, sizeof header, 0) == sizeof header;
    if (fd >= 0) (void)close(fd);
    const uint64_t spare = read ? tamis__next_spare(header.live.next) : 0;
    return spare != 0 && access(fixture_segment_path(path, spare), F_OK) == 0;
}

static int count_filter(void *context, const struct tamis_filter_stat *stat)
{
    (void)stat;
    ++*(int *)context;
    return 0;
}

int fixture_filters(tamis_store *store)
{
    int filters = 0;
    assert_done(tamis_store_list(store, NULL, count_filter, &filters));
    return filters;
}

int fixture_files(const char *path, const char *directory)
{
    char folder[4096];
    (void)snprintf(folder, sizeof folder, "%s", fixture_join(path, directory));
    const bool segments = strcmp(directory, "segments") == 0;
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int count = 0;
    if (dir == NULL) return -1;
    while ((entry = readdir(dir)) != NULL) {
        char file[8192];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        (void)snprintf(file, sizeof file, "%s/%s", folder, entry->d_name);
        count += segments && offers_spare(path, file) ? 0 : 1;
    }
    (void)closedir(dir);
    return count;
}

int fixture_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *entry;
    int count = 0;
    if (dir == NULL) err(1, "opendir");
    while ((entry = readdir(dir)) != NULL) {
        char target[4096] = "";
        if (readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1) > 0)
            count += strstr(target, "/catalog.mdb") == NULL;
    }
    (void)closedir(dir);
    return count;
}

static int open_file(const char *file, int flags)
{
    const int fd = open(file, flags | O_CLOEXEC);
    if (fd < 0) err(1, "open %s", file);
    return fd;
}

void fixture_peek(const char *file, uint64_t offset, void *bytes, size_t count)
{
    const int fd = open_file(file, O_RDONLY);
    if (pread(fd, bytes, count, (off_t)offset) != (ssize_t)count) err(1, "read %s", file);
    (void)close(fd);
}

void fixture_poke(const char *file, uint64_t offset, const void *bytes, size_t count)
{
    const int fd = open_file(file, O_WRONLY);
    if (pwrite(fd, bytes, count, (off_t)offset) != (ssize_t)count) err(1, "write %s", file);
    (void)close(fd);
}

uint64_t fixture_size(const char *file)
{
    struct stat st;
    if (stat(file, &st) != 0) err(1, "stat %s", file);
    return (uint64_t)st.st_size;
}

struct tamis__segment_header fixture_header_of(const char *file)
{
    struct tamis__segment_header header;
    fixture_peek(file, 0, &header, sizeof header);
    return header;
}

void fixture_reseal(const char *file, struct tamis__segment_header *header)
{
    tamis__header_seal(header);
    fixture_poke(file, 0, header, sizeof *header);
}

int fixture_lock_catalog(const char *path)
{
    const int fd = open_file(fixture_join(path, "catalog.lock"), O_RDWR);
    if (flock(fd, LOCK_EX) != 0) err(1, "lock %s", path);
    return fd;
}

void fixture_header(struct tamis__segment_header *header, uint32_t kind, uint64_t m_bits,
                    uint32_t k)
{
    struct tamis__layout layout;
    /* Wide ones never overflow: a segment in plain memory has no table for that. */
    const uint32_t counter_bits = kind == TAMIS_KIND_COUNTING ? 32 : 0;
    tamis__layout(tamis__data_bits(m_bits, counter_bits), &layout);
    memset(header, 0, sizeof *header);
    memcpy(header->magic, TAMIS__SEGMENT_MAGIC, sizeof header->magic);
    header->format_version = 1;
    tamis__header_set_layout(header, &layout);
    header->number = 7;
    header->filter_id = 3;
    header->store_id = 0x1122334455667788;
    header->kind = kind;
    header->hash_set = 1;
    header->seed = 99;
    header->m_bits = m_bits;
    header->k = k;
    header->words = kind == TAMIS_KIND_BLOOM ? 0 : tamis__blocked_words(k);
    header->counter_bits = counter_bits;
    header->capacity = 1000;
    header->fp_rate = tamis__double_to_bits(0.01);
    header->created_at = 1700000000000000000;
    header->generation = 1;
    header->filter_capacity = 1000;
    header->filter_rate = tamis__double_to_bits(0.01);
    header->publication = header->live.in_force = 1;
    header->keep = TAMIS_KEEP_DEFAULT;
    header->list_start = 1;
    tamis__label_write(&header->labels[0], 1, "fixture");
    tamis__header_seal(header);
}

void fixture_segment(struct tamis__segment *segment, uint32_t kind, uint64_t m_bits, uint32_t k)
{
    struct tamis__segment_header header;
    fixture_header(&header, kind, m_bits, k);
    char *memory = aligned_alloc(4096, (size_t)header.file_bytes);
    if (memory == NULL) err(1, "aligned_alloc");
    memset(memory, 0, (size_t)header.file_bytes);
    memcpy(memory, &header, sizeof header);
    *segment = tamis__segment_at(memory, memory + header.data_offset);
    segment->map_bytes = header.file_bytes;
    segment->writable = true;
}

int fixture_child(fixture_body *body, void *context)
{
    (void)fflush(NULL); /* else the child's buffers hold, and may print, what is ours */
    const pid_t parent = getpid(), pid = fork();
    if (pid < 0) err(1, "fork");
    if (pid == 0) {
        spawn_settle(parent);
        body(context);
        _exit(0);
    }
    return spawn_end(pid);
}

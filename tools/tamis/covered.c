/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * covered.c: see covered.h.
 *
 * Names are known by 63 bits of a hash, as the library's builds know their keys by 64.  Of ten
 * million names, one in 180,000 lists has two that are taken for one.
 */
#include "covered.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "command.h"
#include "form.h"
#include "interrupt.h"

#define BATCH 1024
#define SLOTS_MIN ((size_t)1 << 10)
#define COUNTED (UINT64_C(1) << 63) /* of a slot: the name was met in covered_each() */

/* A set of hashes: open addressing.  0 is an empty slot. */
struct hashes {
    uint64_t *slots;
    size_t room; /* a power of two, or 0 */
    size_t count;
};

struct covered {
    struct hashes names, exceptions;
    FILE *spool; /* each form: its length, a size_t, and its bytes */
};

/* ---- Sets ----------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *form, size_t bytes)
{
    const uint64_t hash = XXH3_64bits(form, bytes) & ~COUNTED;
    return hash != 0 ? hash : 1;
}

/* Returns the slot of the hash, or the empty one where it would be. */
static uint64_t *find(const struct hashes *set, uint64_t hash)
{
    size_t at = hash & (set->room - 1);
    while (set->slots[at] != 0 && (set->slots[at] & ~COUNTED) != hash)
        at = (at + 1) & (set->room - 1);
    return &set->slots[at];
}

static bool has(const struct hashes *set, uint64_t hash)
{
    return set->count > 0 && *find(set, hash) != 0;
}

/* Doubles the room where three quarters of it would be taken. */
static void make_room(struct hashes *set)
{
    if (set->count < set->room / 4 * 3) return;
    const struct hashes old = *set;
    set->room = old.room > 0 ? 2 * old.room : SLOTS_MIN;
    set->slots = cli_alloc(set->room * sizeof *set->slots);
    memset(set->slots, 0, set->room * sizeof *set->slots);
    for (size_t i = 0; i < old.room; i++)
        if (old.slots[i] != 0) *find(set, old.slots[i]) = old.slots[i];
    free(old.slots);
}

static void put(struct hashes *set, uint64_t hash)
{
    make_room(set);
    uint64_t *slot = find(set, hash);
    set->count += *slot == 0;
    *slot = hash;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* A file without a name; where the file system has none of these, one of /tmp. */
static FILE *open_spool(const char *directory)
{
    const int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : tmpfile();
    if (file == NULL && fd >= 0) (void)close(fd);
    return file;
}

struct covered *covered_new(const char *directory)
{
    struct covered *covered = cli_alloc(sizeof *covered);
    *covered = (struct covered){.spool = open_spool(directory)};
    if (covered->spool != NULL) return covered;
    (void)cli_fail("no temporary file can be made in %s: %s; free some room or descriptors",
                   directory, strerror(errno));
    covered_free(covered);
    return NULL;
}

void covered_free(struct covered *covered)
{
    if (covered == NULL) return;
    if (covered->spool != NULL) (void)fclose(covered->spool);
    free(covered->names.slots);
    free(covered->exceptions.slots);
    free(covered);
}

static bool fail_spool(void)
{
    (void)cli_fail("the temporary file of the names cannot be written or read: %s; free some room "
                   "on the disk of the store",
                   strerror(errno));
    return false;
}

bool covered_add(struct covered *covered, const char *key_rule, const struct tamis_key *keys,
                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct form form;
        form_init(&form, key_rule, &keys[i]);
        const size_t bytes = form.key.bytes;
        put(&covered->names, hash_of(form.key.data, bytes));
        const bool good = fwrite(&bytes, sizeof bytes, 1, covered->spool) == 1 &&
                          fwrite(form.key.data, 1, bytes, covered->spool) == bytes;
        form_clear(&form);
        if (!good) return fail_spool();
    }
    return true;
}

void covered_except(struct covered *covered, const char *key_rule, const struct tamis_key *keys,
                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct form form;
        form_init(&form, key_rule, &keys[i]);
        put(&covered->exceptions, hash_of(form.key.data, form.key.bytes));
        form_clear(&form);
    }
}

/* ---- Going over them ------------------------------------------------------------------------ */

/* The nearest parent that is listed or an exception decides, as in tamis_filter_contains_name(). */
static bool is_covered(const struct covered *covered, const struct tamis_key *form)
{
    uint8_t starts[FORM_LABELS_MAX];
    const size_t count = form_suffixes(form, starts);
    for (size_t i = 1; i < count; i++) {
        const uint64_t hash =
            hash_of((const char *)form->data + starts[i], form->bytes - starts[i]);
        if (has(&covered->exceptions, hash)) return false;
        if (has(&covered->names, hash)) return true;
    }
    return false;
}

/* Forms that are handed over together. */
struct batch {
    struct tamis_key keys[BATCH];
    char *texts[BATCH]; /* of the keys */
    size_t count;
};

/* Reads the next form.  1; 0 at the end; -1: it cannot be read. */
static int read_form(struct covered *covered, char **text, size_t *bytes)
{
    if (fread(bytes, sizeof *bytes, 1, covered->spool) != 1) return ferror(covered->spool) ? -1 : 0;
    *text = cli_realloc(*text, *bytes + 1);
    return fread(*text, 1, *bytes, covered->spool) == *bytes ? 1 : -1;
}

/* Fills the batch with forms that are not covered.  false after a message. */
static bool fill(struct covered *covered, struct batch *batch, struct covered_counts *counts)
{
    size_t bytes;
    for (batch->count = 0; batch->count < BATCH;) {
        char **text = &batch->texts[batch->count];
        const int rc = read_form(covered, text, &bytes);
        if (rc <= 0) return rc == 0 || fail_spool();
        const struct tamis_key form = {.data = *text, .bytes = bytes};
        const bool is_left_out = is_covered(covered, &form);
        uint64_t *slot = find(&covered->names, hash_of(*text, bytes));
        counts->names += (*slot & COUNTED) == 0;
        counts->covered += (*slot & COUNTED) == 0 && is_left_out;
        *slot |= COUNTED;
        if (!is_left_out) batch->keys[batch->count++] = form;
    }
    return true;
}

int covered_each(struct covered *covered, covered_fn *take, void *context,
                 struct covered_counts *counts)
{
    struct batch *batch = cli_alloc(sizeof *batch);
    int status = CLI_DONE;
    *batch = (struct batch){.count = 0};
    *counts = (struct covered_counts){.names = 0};
    if (fseek(covered->spool, 0, SEEK_SET) != 0 && !fail_spool()) status = CLI_ERROR;
    while (status == CLI_DONE) {
        if (interrupt_signal() || !fill(covered, batch, counts)) status = CLI_ERROR;
        if (status != CLI_DONE || batch->count == 0) break;
        const size_t count = batch->count;
        if (take != NULL) status = take(context, batch->keys, count);
        if (count < BATCH) break;
    }
    for (size_t i = 0; i < BATCH; i++)
        free(batch->texts[i]);
    free(batch);
    return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "catalogs.h"
#include "repairs.h"

static int note_step(void *context, const struct tamis_repair_step *step)
{
    struct repairs_said *said = context;
    const size_t used = strlen(said->text);
    if (step->error == 0)
        said->done++;
    else
        said->failed++;
    assert_true(*step->what != '\0' && *step->file != '\0');
    (void)snprintf(said->text + used, sizeof said->text - used, "[%s] %s: %s: %s\n", step->filter,
                   step->file, step->error ? tamis_error_name(step->error) : "done", step->what);
    return 0;
}

const struct repairs_said *repairs_done_from(const char *path, unsigned flags, const char *backup)
{
    static struct repairs_said said;
    said = (struct repairs_said){.done = 0};
    const struct tamis_repair_options options = {
        .size = sizeof options, .flags = flags, .fn = note_step, .context = &said, .from = backup};
    const int64_t done = assert_done(tamis_store_repair_with(path, &options));
    assert_int_equal(done, said.done);
    return &said;
}

const struct repairs_said *repairs_done(const char *path, unsigned flags)
{
    return repairs_done_from(path, flags, NULL);
}

void repairs_assert_said(const struct repairs_said *said, int failed, const char *words)
{
    if (strstr(said->text, words) == NULL) fail_msg("no '%s' in:\n%s", words, said->text);
    if (said->failed != failed) fail_msg("%d and not %d:\n%s", said->failed, failed, said->text);
}

void repairs_unlink(const char *path, const char *name)
{
    if (unlink(fixture_join(path, name)) != 0) fail_msg("no file %s", name);
}

void repairs_lose(const char *path)
{
    repairs_unlink(path, "catalog.mdb");
}

void repairs_zero(const char *path)
{
    static const unsigned char zero[65536];
    const char *file = fixture_join(path, "catalog.mdb");
    fixture_poke(file, 0, zero,
                 fixture_size(file) < sizeof zero ? fixture_size(file) : sizeof zero);
}

uint64_t repairs_index_of(const char *path)
{
    struct tamis__record record;
    AUTO_STORE *store = fixture_open(path, 0);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_SHARED);
    assert_done(tamis__catalog_get(txn, "list", &record));
    tamis__catalog_end(txn);
    return record.exceptions;
}

char *repairs_copy_segment(const char *path, uint64_t from, uint64_t to)
{
    AUTO_FREE char *source = strdup(fixture_segment_path(path, from));
    char *copy = strdup(fixture_segment_path(path, to));
    scratch_copy(source, copy);
    struct tamis__segment_header header = fixture_header_of(copy);
    header.number = to;
    fixture_reseal(copy, &header);
    return copy;
}

void repairs_set_counters(const char *path, uint64_t next_segment, uint64_t passed)
{
    AUTO_STORE *store = fixture_open(path, 0);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    tamis__catalog_store(txn)->next_segment = next_segment;
    tamis__catalog_store(txn)->passed = passed;
    catalogs_commit(txn);
}

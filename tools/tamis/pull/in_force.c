/* SPDX-License-Identifier: BSD-2-Clause */
/* in_force.c: is what a pull noted still what is in force?  See in_force.h. */
#include "pull/in_force.h"

/* What is known of the filter.  false: it cannot be opened, or its bytes are damaged. */
static bool look(tamis_store *store, const char *name, struct tamis_filter_stat *stat)
{
    tamis_filter *filter = NULL;
    *stat = (struct tamis_filter_stat){.size = sizeof *stat};
    if (tamis_filter_open(store, name, TAMIS_OPEN_READ_ONLY, &filter) < 0) return false;
    const bool known = tamis_filter_stat(filter, stat) == 0;
    const bool closed = tamis_filter_close(filter) == 0;
    return known && closed && (stat->state & TAMIS_STATE_DAMAGED) == 0;
}

static void note(const struct tamis_filter_stat *stat, struct notes *notes)
{
    (void)snprintf(notes->digest, sizeof notes->digest, "%s", stat->imported_digest);
    notes->items = stat->items;
    notes->exceptions = stat->exceptions;
}

/* Is it what the publication has put in force, or has found in force? */
static bool is_result(const struct tamis_filter_stat *stat,
                      const struct tamis_publish_result *result)
{
    char digest[2 * sizeof result->digest + 1];
    for (size_t i = 0; i < sizeof result->digest; i++)
        (void)snprintf(digest + 2 * i, 3, "%02x", result->digest[i]);
    /* Where the head of the stream has told that it is in force, its digest may not be known. */
    return stat->generation == result->generation &&
           (strspn(digest, "0") == sizeof digest - 1 || strcmp(stat->imported_digest, digest) == 0);
}

bool in_force_note(tamis_store *store, const struct publishing *publishing, struct notes *notes)
{
    struct tamis_filter_stat stat;
    if (!look(store, publishing->call->args[0], &stat) || !is_result(&stat, &publishing->result))
        return false;
    note(&stat, notes);
    return true;
}

/* ---- Exceptions ------------------------------------------------------------------------------ */

static int compare_keys(const void *a, const void *b)
{
    const struct tamis_key *one = a, *other = b;
    const size_t bytes = one->bytes < other->bytes ? one->bytes : other->bytes;
    const int rc = bytes > 0 ? memcmp(one->data, other->data, bytes) : 0;
    if (rc != 0) return rc;
    return (one->bytes > other->bytes) - (one->bytes < other->bytes);
}

/* The keys of --except, in order; those before `next` are exceptions. */
struct sought {
    struct tamis_key *keys;
    size_t count, next;
};

/* Exceptions come in order, too: one that is past the next key that is sought shows that this key
 * is none. */
static int seek(void *context, const struct tamis_key *key, uint64_t generation)
{
    struct sought *sought = context;
    while (sought->next < sought->count) {
        const int rc = compare_keys(&sought->keys[sought->next], key);
        if (rc != 0 || generation != 0) return rc < 0 || (rc == 0 && generation != 0);
        sought->next++;
    }
    return 1;
}

/* Are all keys of --except exceptions that were set by hand? */
static bool has_exceptions(tamis_store *store, const struct publishing *publishing)
{
    struct sought sought = {.count = publishing->except.count};
    if (sought.count == 0) return true;
    sought.keys = pile_keys(&publishing->except);
    qsort(sought.keys, sought.count, sizeof *sought.keys, compare_keys);
    const int rc = tamis_filter_exceptions(store, publishing->call->args[0], seek, &sought);
    free(sought.keys);
    return rc >= 0 && sought.next == sought.count;
}

bool in_force_is(tamis_store *store, const struct publishing *publishing, const struct notes *notes)
{
    const struct options *options = &publishing->call->options;
    struct tamis_filter_stat stat;
    struct notes now = {.items = 0};
    if (notes->digest[0] == '\0' || !look(store, publishing->call->args[0], &stat)) return false;
    note(&stat, &now);
    if (strcmp(now.digest, notes->digest) != 0 || now.items != notes->items ||
        now.exceptions != notes->exceptions)
        return false;
    if (options_have(options, TAKES(KEEP)) && options->keep != stat.keep) return false;
    /* A list whose bytes have changed on the disk is loaded anew. */
    return has_exceptions(store, publishing) &&
           tamis_store_verify(store, publishing->call->args[0], NULL, NULL) == 0;
}

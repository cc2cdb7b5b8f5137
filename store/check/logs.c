/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logs.c: is every file in logs/ a readable log of an existing filter?
 *
 * The catalog is locked, so no filter is made or dropped meanwhile.  The lock of a log is tried
 * only if its filter is gone: a process that opens a filter takes a log with a held lock for the
 * log of a live owner.  A log that is being made (.new) is skipped: if its maker is dead, the next
 * maker removes it.
 */
#include "check/check.h"

struct look {
    struct tamis__logs logs;
    struct tamis__catalog_txn *txn;
    uint64_t filter_id;
    tamis__log_finding_fn *fn;
    void *context;
    bool in_directory; /* the directory could be read up to its first name */
};

static int note_log_problem(const struct look *look, const struct tamis__record *filter,
                            const char *file, int error, const char *reason)
{
    const struct tamis__log_finding finding = {.filter = filter ? filter->name : "",
                                               .file = file,
                                               .error = error,
                                               .filter_id = filter ? filter->filter_id : 0,
                                               .reason = reason};
    return look->fn(look->context, &finding);
}

static int tell_unreadable(const struct look *look, const struct tamis__record *filter,
                           const char *file, int error, const char *reason)
{
    char longer[400];
    if (error != TAMIS_ECORRUPT) return note_log_problem(look, filter, file, error, reason);
    (void)snprintf(longer, sizeof longer,
                   filter
                       ? "%s; open the filter for writing ('tamis sync'): this adds the keys that "
                         "can be read from the log, and marks the filter unclean"
                       : "%s, and belongs to no filter of the catalog; remove the file",
                   reason);
    return note_log_problem(look, filter, file, error, longer);
}

/* Looks at a sound log whose filter is gone. */
static int look_at_orphan(const struct look *look, const struct tamis__log *log, const char *file)
{
    if (log->filter_id >= tamis__catalog_store(look->txn)->next_filter_id)
        return note_log_problem(
            look, NULL, file, TAMIS_EFOREIGN,
            "belongs to a filter that the catalog does not have, as the catalog may be older than "
            "the log; restore both from one copy, or remove the file");
    const int rc = tamis__log_try_lock(&look->logs, log);
    if (rc <= 0) return rc; /* a process that has the dropped filter open removes its log */
    const struct tamis__log_finding finding = {
        .filter = "",
        .file = file,
        .error = TAMIS_EFOREIGN,
        .orphan = log,
        .reason = "belongs to no filter of the catalog; 'tamis repair' puts it aside"};
    return look->fn(look->context, &finding);
}

static int look_at_log(const struct look *look, const struct tamis__log *log,
                       const struct tamis__record *filter, const char *file)
{
    const char *reason;
    const int rc = tamis__log_judge(&look->logs, log, &reason);
    if (rc < 0) return tell_unreadable(look, filter, file, rc, reason);
    return filter ? 0 : look_at_orphan(look, log, file);
}

static bool is_being_made(const char *name)
{
    char as_log[TAMIS__LOG_NAME_BYTES];
    uint64_t filter_id, nonce;
    const char *end = strrchr(name, '.');
    if (end == NULL || strcmp(end, ".new") != 0 || strlen(name) >= sizeof as_log) return false;
    (void)snprintf(as_log, sizeof as_log, "%.*s.log", (int)(end - name), name);
    return tamis__log_parse_name(as_log, &filter_id, &nonce);
}

static int look_at_name(void *context, const char *name)
{
    struct look *look = context;
    struct tamis__record filter;
    struct tamis__log log;
    char file[TAMIS__FILE_BYTES];
    uint64_t filter_id, nonce;
    look->in_directory = true;
    (void)snprintf(file, sizeof file, "logs/%s", name);
    if (!tamis__log_parse_name(name, &filter_id, &nonce)) {
        if (look->filter_id != 0 || is_being_made(name)) return 0;
        return note_log_problem(look, NULL, file, TAMIS_EFOREIGN,
                                "is not a log's name; remove the file");
    }
    if (look->filter_id != 0 && look->filter_id != filter_id) return 0;
    const int found = tamis__catalog_get_by_id(look->txn, filter_id, &filter);
    if (found < 0 && found != TAMIS_ENOTFOUND) return found;
    const struct tamis__record *known = found == 0 ? &filter : NULL;
    int rc = tamis__log_look(&look->logs, name, &log);
    if (rc == TAMIS_ENOTFOUND) return 0; /* its owner has closed it meanwhile */
    if (rc < 0) return note_log_problem(look, known, file, rc, tamis__check_reason(file, NULL));
    rc = look_at_log(look, &log, known, file);
    tamis__log_close(&log);
    return rc;
}

int tamis__check_logs(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                      uint64_t filter_id, tamis__log_finding_fn *fn, void *context)
{
    struct look look = {.logs = tamis__store_logs(store),
                        .txn = txn,
                        .filter_id = filter_id,
                        .fn = fn,
                        .context = context};
    look.logs.store_id = tamis__catalog_store(txn)->store_id;
    const int rc = tamis__logs_each_name(&look.logs, look_at_name, &look);
    if (rc >= 0 || look.in_directory || rc == TAMIS_ENOMEM || rc == TAMIS_ELIMIT) return rc;
    char reason[400];
    (void)snprintf(reason, sizeof reason, "%s", tamis__check_reason("/logs", NULL));
    return note_log_problem(&look, NULL, "logs", rc, reason);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* findings.c: what needs attention in a filter, and what to do about it; see findings.h. */
#include "findings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json.h"
#include "memory.h"
#include "text.h"

/* The name, quoted as one word for a shell.  One that looks like an option has -- before it if it
 * is no argument of an option, which may begin with anything.  The caller frees it. */
static char *quote(const char *name, bool is_argument)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/-+@%";
    char *word = cli_alloc(4 * strlen(name) + 3), *to = word;
    if (*name != '-' && name[strspn(name, plain)] == '\0') return strcpy(word, name);
    if (*name == '-' && !is_argument) to = stpcpy(to, "-- ");
    *to++ = '\'';
    for (; *name; name++) {
        if (*name == '\'')
            to = stpcpy(to, "'\\''");
        else
            *to++ = *name;
    }
    (void)strcpy(to, "'");
    return word;
}

char *finding_command(const char *format, const char *name)
{
    const char *at = strstr(format, "NAME"), *rest = at != NULL ? at + 4 : "";
    char *word = quote(name, *rest != '\0');
    const int before = (int)(at != NULL ? (size_t)(at - format) : strlen(format));
    char *text = cli_format("%.*s%s%s", before, format, at != NULL ? word : "", rest);
    free(word);
    return text;
}

struct teller {
    const struct tamis_filter_stat *stat;
    finding_fn *fn;
    void *context;
};

/* `command` has NAME for the name; NULL: there is none. */
static void tell_finding(const struct teller *teller, const char *state, const char *what,
                         const char *advice, const char *command)
{
    char *line = command != NULL ? finding_command(command, teller->stat->name) : NULL;
    const struct finding finding = {.filter = teller->stat->name,
                                    .state = state,
                                    .what = what,
                                    .advice = advice,
                                    .command = line};
    teller->fn(teller->context, &finding);
    free(line);
}

/* ---- Too many keys, or no room --------------------------------------------------------------- */

static void tell_lack_of_disk(const struct teller *teller)
{
    char what[256], size[32];
    text_size(size, sizeof size, (double)teller->stat->lacks_bytes);
    (void)snprintf(what, sizeof what,
                   "it takes no more keys: the disk has no room for %s, about %s more is needed",
                   teller->stat->room > 0 ? "the log of a durable filter" : "its next segment",
                   size);
    tell_finding(teller, "full", what, "free some room on its disk; the next add then goes on",
                 NULL);
}

static void tell_lost_room(const struct teller *teller)
{
    const struct tamis_filter_stat *stat = teller->stat;
    char what[256];
    (void)snprintf(what, sizeof what,
                   "it holds %" PRIu64 " of the %" PRIu64
                   " keys that it was made for, and refuses more: adders that were killed, or are "
                   "stopped, have taken room for the others",
                   stat->items, stat->capacity);
    tell_finding(teller, "full", what,
                 "end the processes that add to it, then get back what room the bits show to be "
                 "free (if it stays full, make a larger filter by --like, and add the keys there):",
                 "tamis sync NAME");
}

#define LARGER_BYTES 64

static void larger_format(const struct tamis_filter_stat *stat, char format[LARGER_BYTES])
{
    (void)snprintf(format, LARGER_BYTES, "tamis create LARGER --like NAME -n %" PRIu64,
                   2 * (stat->items > stat->capacity ? stat->items : stat->capacity));
}

char *finding_larger(const struct tamis_filter_stat *stat)
{
    char format[LARGER_BYTES];
    larger_format(stat, format);
    return finding_command(format, stat->name);
}

static void tell_full(const struct teller *teller, const char *state, const char *what)
{
    char command[LARGER_BYTES];
    larger_format(teller->stat, command);
    tell_finding(teller, state, what, "make a larger one, and add the keys there:", command);
}

/* Of a window, the newest slice is full, which has its share of the keys. */
static void say_full(const struct tamis_filter_stat *stat, char *what, size_t bytes)
{
    const bool refuses = stat->on_full == TAMIS_ON_FULL_REFUSE;
    if (stat->slices > 0)
        (void)snprintf(what, bytes,
                       "its newest slice holds its share of %" PRIu64 " of the %" PRIu64
                       " keys of a window, and %s until the next slice begins",
                       (stat->capacity + stat->slices - 1) / stat->slices, stat->capacity,
                       refuses ? "refuses more" : "its rate rises with every further key");
    else
        (void)snprintf(what, bytes, "it holds the %" PRIu64 " keys that it was made for, and %s",
                       stat->capacity,
                       refuses ? "refuses more" : "its rate rises with every further key");
}

/* A filter that holds too many keys, or will with the next ones, or takes no more. */
static void tell_fullness(const struct teller *teller)
{
    const struct tamis_filter_stat *stat = teller->stat;
    const bool refuses = stat->on_full == TAMIS_ON_FULL_REFUSE;
    char what[256];
    if (stat->state & TAMIS_STATE_OVER) {
        (void)snprintf(what, sizeof what,
                       "it holds %" PRIu64
                       " keys, too many for its rate: of keys that were never added "
                       "%.3g %% seem present, not %.3g %%",
                       stat->items, 100 * stat->predicted_rate, 100 * stat->fp_rate);
        tell_full(teller, "over", what);
    }
    if (!(stat->state & TAMIS_STATE_FULL)) return;
    if (stat->lacks_bytes > 0)
        tell_lack_of_disk(teller);
    else if (refuses && stat->room == 0 && stat->slices == 0 && stat->items < stat->capacity)
        tell_lost_room(teller);
    else if (!(stat->state & TAMIS_STATE_OVER)) {
        say_full(stat, what, sizeof what);
        tell_full(teller, "full", what);
    }
}

/* ---- Orphans ------------------------------------------------------------------------------- */

/* The module for Redis gives an orphan such a name when a new key wants the old one.  Of its other
 * filters only the server knows whether a key has them. */
static void tell_orphan(const struct teller *teller)
{
    static const char apart[] = "redis:orphan:";
    const struct tamis_filter_stat *stat = teller->stat;
    char advice[2 * TAMIS_NAME_MAX + 256];
    if ((stat->flags & TAMIS_FILTER_OWNED) == 0 ||
        strncmp(stat->name, apart, sizeof apart - 1) != 0)
        return;
    (void)snprintf(advice, sizeof advice,
                   "TAMIS.ORPHANS LIST tells what it was called; TAMIS.ATTACH KEY %s makes it a "
                   "key's again, and TAMIS.ORPHANS DROP %s drops it",
                   stat->name, stat->name);
    tell_finding(
        teller, "orphan",
        "a Redis server made it for a key; no key has it now, and another key has its name", advice,
        NULL);
}

/* ---- A filter -------------------------------------------------------------------------------- */

void say_missing(const struct tamis_filter_stat *stat, char *text, size_t bytes)
{
    *text = '\0';
    if (stat->missing_keys > 0)
        (void)snprintf(text, bytes, ", and %" PRIu64 " that were counted %s", stat->missing_keys,
                       stat->missing_keys == 1 ? "is" : "are");
}

void findings_of_stat(const struct tamis_filter_stat *stat, finding_fn *fn, void *context)
{
    const struct teller teller = {.stat = stat, .fn = fn, .context = context};
    char what[512], since[32], missing[MISSING_BYTES];
    if (stat->state & TAMIS_STATE_UNCLEAN) {
        text_time(since, sizeof since, stat->unclean_since);
        say_missing(stat, missing, sizeof missing);
        (void)snprintf(what, sizeof what,
                       "the machine went down while the filter was written to, or a file of it "
                       "was lost or is an older copy: keys that were added since %s may be "
                       "missing%s",
                       since, missing);
        tell_finding(&teller, "unclean", what,
                     "add them again, then say that this was done:", "tamis sync --accept NAME");
    }
    if (stat->state & TAMIS_STATE_DEGRADED) {
        text_time(since, sizeof since, stat->degraded_since);
        (void)snprintf(what, sizeof what, "a sync failed at %s: a power cut may lose keys", since);
        tell_finding(
            &teller, "degraded", what,
            "look at the disk (dmesg), then write the filter to it again:", "tamis sync NAME");
    }
    tell_fullness(&teller);
    tell_orphan(&teller);
}

/* The clock of this machine may have been put right by this much. */
#define CLOCK_SLACK_NS INT64_C(60000000000)

static int64_t newest_slice_start(tamis_store *store, const struct tamis_filter_stat *stat)
{
    struct tamis_segment_stat segment = TAMIS_INIT(struct tamis_segment_stat);
    tamis_filter *filter;
    if (tamis_filter_open(store, stat->name, TAMIS_OPEN_READ_ONLY, &filter) < 0) return 0;
    const int rc = tamis_filter_segment(filter, stat->segment_count - 1, &segment);
    tamis_filter_release(filter);
    return rc < 0 ? 0 : segment.slice_start;
}

void findings_of_newest_slice(const struct tamis_filter_stat *stat, int64_t begins, finding_fn *fn,
                              void *context)
{
    const struct teller teller = {.stat = stat, .fn = fn, .context = context};
    char what[256], start[32];
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (stat->window_ns == 0 || begins <= (int64_t)now.tv_sec * 1000000000 + CLOCK_SLACK_NS) return;
    text_time(start, sizeof start, begins);
    (void)snprintf(
        what, sizeof what,
        "its newest slice begins in the future, at %s: the clock was ahead; the slice takes "
        "all keys until then, and none of them is forgotten",
        start);
    tell_finding(&teller, "future", what,
                 "see that the clock is right now, then begin another slice:", "tamis rotate NAME");
}

void findings_of_window(tamis_store *store, const struct tamis_filter_stat *stat, finding_fn *fn,
                        void *context)
{
    if (stat->window_ns == 0) return;
    findings_of_newest_slice(stat, newest_slice_start(store, stat), fn, context);
}

/* ---- Pages ----------------------------------------------------------------------------------- */

void findings_of_pages(const struct tamis_filter_stat *stat,
                       const struct tamis_filter_mapped *mapped, finding_fn *fn, void *context)
{
    const struct teller teller = {.stat = stat, .fn = fn, .context = context};
    char huge[24], present[24], advice[512];
    if (stat->pages != TAMIS_PAGES_HUGE || mapped->obstacle == NULL) return;
    text_size(huge, sizeof huge, (double)mapped->huge_bytes);
    text_size(present, sizeof present, (double)mapped->present);
    char *what = cli_format("it is set to have huge pages, and %s of %s in memory are in such: %s",
                            huge, present, mapped->obstacle);
    (void)snprintf(advice, sizeof advice, "%s%s", mapped->mend,
                   mapped->mend_command != NULL ? ":" : "");
    tell_finding(&teller, "small", what, advice, mapped->mend_command);
    free(what);
}

void findings_of_mapping(tamis_store *store, const struct tamis_filter_stat *stat, finding_fn *fn,
                         void *context)
{
    struct tamis_filter_mapped mapped = TAMIS_INIT(struct tamis_filter_mapped);
    tamis_filter *filter;
    if (stat->pages != TAMIS_PAGES_HUGE ||
        tamis_filter_open(store, stat->name, TAMIS_OPEN_READ_ONLY, &filter) < 0)
        return;
    const int rc = tamis_filter_mapped(filter, &mapped);
    tamis_filter_release(filter);
    if (rc == 0) findings_of_pages(stat, &mapped, fn, context);
}

json_t *finding_json(const struct finding *finding)
{
    json_t *object = json_new();
    json_put(object, "filter", json_text(finding->filter));
    json_put(object, "state", json_text(finding->state));
    json_put(object, "file", finding->file != NULL ? json_text(finding->file) : json_null());
    json_put(object, "offset",
             finding->file != NULL ? json_unsigned(finding->offset) : json_null());
    json_put(object, "what", json_text(finding->what));
    json_put(object, "advice", json_text(finding->advice));
    json_put(object, "command",
             finding->command != NULL ? json_text(finding->command) : json_null());
    return object;
}

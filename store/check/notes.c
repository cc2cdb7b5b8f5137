/* SPDX-License-Identifier: BSD-2-Clause */
/* notes.c: see notes.h. */
#include "check/notes.h"

#include <stdarg.h>

__attribute__((format(printf, 6, 0))) static int add(struct tamis__findings *findings,
                                                     const char *filter, const char *file,
                                                     uint64_t offset, int error, const char *format,
                                                     va_list arguments)
{
    struct tamis__finding *finding = calloc(1, sizeof *finding);
    if (finding == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory checking the store");
    finding->offset = offset;
    finding->error = error;
    (void)snprintf(finding->filter, sizeof finding->filter, "%s", filter);
    (void)snprintf(finding->file, sizeof finding->file, "%s", file);
    (void)vsnprintf(finding->text, sizeof finding->text, format, arguments);
    *(findings->first == NULL ? &findings->first : &findings->last->next) = finding;
    findings->last = finding;
    return 0;
}

int tamis__findings_add(struct tamis__findings *findings, const char *filter, const char *file,
                        uint64_t offset, int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int rc = add(findings, filter, file, offset, error, format, arguments);
    va_end(arguments);
    return rc;
}

int tamis__say_damage(struct tamis__damage *damage, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(damage->reason, sizeof damage->reason, format, arguments);
    va_end(arguments);
    return 1;
}

struct tamis__finding *tamis__findings_take(struct tamis__findings *findings)
{
    struct tamis__finding *finding = findings->first;
    if (finding != NULL) findings->first = finding->next;
    return finding;
}

int tamis__meter_tell(const struct tamis__meter *meter, uint64_t segment_bytes)
{
    if (meter == NULL || meter->progress == NULL) return 0;
    const uint64_t done = meter->done_bytes + segment_bytes;
    const int rc = meter->progress(
        meter->context, done < meter->all_bytes ? done : meter->all_bytes, meter->all_bytes);
    return rc < 0 ? rc : 0;
}

int tamis__repair_tell(struct tamis__repair *repair, const char *filter, const char *file,
                       int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int rc = add(&repair->notes, filter, file, 0, error, format, arguments);
    va_end(arguments);
    repair->done += rc == 0 && error == 0;
    return rc;
}

int tamis__repair_tell_aside(struct tamis__repair *repair, const char *filter, const char *file,
                             int rc, const char *why)
{
    if (rc < 0) return tamis__repair_tell(repair, filter, file, rc, "%s", tamis_last_error());
    return tamis__repair_tell(repair, filter, file, 0, "%s put aside in lost/: %s",
                              repair->dry ? "would be" : "is", why);
}

int tamis__repair_tell_notes(struct tamis__repair *repair, int rc, tamis_repair_fn *fn,
                             void *context)
{
    struct tamis__finding *note;
    while ((note = tamis__findings_take(&repair->notes)) != NULL) {
        const char *mend = strstr(note->text, TAMIS__MENDS);
        const struct tamis_repair_step step = {.size = sizeof step,
                                               .filter = note->filter,
                                               .file = note->file,
                                               .error = note->error,
                                               .what = note->text,
                                               .mend = mend ? mend + strlen(TAMIS__MENDS) : NULL};
        if (rc == 0 && fn != NULL) rc = fn(context, &step);
        free(note);
    }
    return rc;
}

bool tamis__repair_has_told_of(const struct tamis__repair *repair, const char *file)
{
    for (const struct tamis__finding *note = repair->notes.first; note != NULL; note = note->next)
        if ((note->error != 0 || repair->dry) && strcmp(note->file, file) == 0) return true;
    return false;
}

bool tamis__repair_has_told(const struct tamis__repair *repair,
                            const struct tamis__finding *problem)
{
    /* A dry rebuild leaves the catalog as it is, so there any step that told of the filter is
     * enough. */
    const bool stays = repair->dry && (repair->flags & TAMIS_REPAIR_REBUILD) != 0;
    for (const struct tamis__finding *note = repair->notes.first; note != NULL; note = note->next) {
        if (strcmp(note->file, problem->file) == 0 && (!note->of_count || problem->of_count))
            return true;
        if (*note->filter && strcmp(note->filter, problem->filter) == 0 &&
            (stays || (note->error != 0 && !note->of_count)))
            return true;
    }
    return false;
}

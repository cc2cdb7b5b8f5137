/* SPDX-License-Identifier: BSD-2-Clause */
/* notes.c: see notes.h. */
#include "check/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct tamis__repair_note {
    struct tamis__repair_note *next;
    int error;
    char filter[TAMIS_NAME_MAX + 1], file[TAMIS__FILE_BYTES], what[1024];
};

int tamis__repair_tell(struct tamis__repair *repair, const char *filter, const char *file,
                       int error, const char *format, ...)
{
    struct tamis__repair_note *note = calloc(1, sizeof *note);
    va_list arguments;
    if (note == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory repairing the store");
    va_start(arguments, format);
    (void)vsnprintf(note->what, sizeof note->what, format, arguments);
    va_end(arguments);
    note->error = error;
    (void)snprintf(note->filter, sizeof note->filter, "%s", filter);
    (void)snprintf(note->file, sizeof note->file, "%s", file);
    *repair->end = note;
    repair->end = &note->next;
    repair->done += error == 0;
    return 0;
}

int tamis__repair_tell_notes(struct tamis__repair *repair, int rc, tamis_repair_fn *fn,
                             void *context)
{
    struct tamis__repair_note *next;
    for (struct tamis__repair_note *note = repair->notes; note != NULL; note = next) {
        const struct tamis_repair_step step = {.size = sizeof step,
                                               .filter = note->filter,
                                               .file = note->file,
                                               .error = note->error,
                                               .what = note->what};
        if (rc == 0 && fn != NULL) rc = fn(context, &step);
        next = note->next;
        free(note);
    }
    return rc;
}

bool tamis__repair_has_told(const struct tamis__repair *repair, const struct tamis_problem *problem)
{
    /* A dry run leaves things as they are, so there any step that told of the filter is enough. */
    for (const struct tamis__repair_note *note = repair->notes; note != NULL; note = note->next) {
        if (strcmp(note->file, problem->file) == 0) return true;
        if (*note->filter && strcmp(note->filter, problem->filter) == 0 &&
            (repair->dry || note->error != 0))
            return true;
    }
    return false;
}

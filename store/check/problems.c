/* SPDX-License-Identifier: BSD-2-Clause */
/* problems.c: tamis_store_verify(), which tells the caller what verify.c finds. */
#include "check/notes.h"

static int tell_caller(void *context, const struct tamis__finding *finding)
{
    const struct tamis_verify_options *options = context;
    const struct tamis_problem problem = {.size = sizeof problem,
                                          .filter = finding->filter,
                                          .file = finding->file,
                                          .offset = finding->offset,
                                          .error = finding->error,
                                          .reason = finding->text};
    return options->fn(options->context, &problem);
}

static int tell_caller_progress(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    const struct tamis_verify_options *options = context;
    return options->progress(options->context, done_bytes, all_bytes);
}

TAMIS_API int64_t tamis_store_verify_with(tamis_store *store, const char *name,
                                          const struct tamis_verify_options *options)
{
    struct tamis_verify_options own = {.size = sizeof own};
    TAMIS__REFUSE_NULL(store, "store");
    const int rc = options == NULL ? 0
                                   : tamis__take_struct(options, &own, sizeof own,
                                                        "struct tamis_verify_options");
    if (rc < 0) return rc;
    const struct tamis__verifying how = {.fn = own.fn != NULL ? tell_caller : NULL,
                                         .progress =
                                             own.progress != NULL ? tell_caller_progress : NULL,
                                         .context = &own};
    return tamis__verify(store, name, &how);
}

TAMIS_API int64_t tamis_store_verify(tamis_store *store, const char *name, tamis_problem_fn *fn,
                                     void *context)
{
    const struct tamis_verify_options options = {
        .size = sizeof options, .fn = fn, .context = context};
    return tamis_store_verify_with(store, name, &options);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* filters.c: calls on filters as a whole. */
#include <string.h>

#include "runner.h"

static struct tamis_filter_spec *spec(struct step *step)
{
    return spec_of(step, json_object_get(step->with, "spec"));
}

static json_t *do_tamis_filter_check(struct step *step)
{
    return status(tamis_filter_check(text(step, "path"), text(step, "name"), spec(step)));
}

/* ---- Making and opening ---------------------------------------------------------------------- */

static json_t *do_tamis_filter_create(struct step *step)
{
    tamis_filter *filter = NULL;
    const int rc = tamis_filter_create(on_store(step), text(step, "name"), spec(step), &filter);
    return made(step, IS_FILTER, filter, rc);
}

static json_t *do_tamis_filter_open_or_create(struct step *step)
{
    tamis_filter *filter = NULL;
    const int rc =
        tamis_filter_open_or_create(on_store(step), text(step, "name"), spec(step), &filter);
    return made(step, IS_FILTER, filter, rc);
}

static json_t *do_tamis_filter_create_many(struct step *step)
{
    static const struct flag many_flags[] = {{"IF_MISSING", TAMIS_MANY_IF_MISSING}, {NULL, 0}};
    size_t count;
    const char **all = names(step, "names", &count);
    return counted(
        tamis_filter_create_many(on_store(step), all, count, spec(step),
                                 flags_of(json_object_get(step->with, "flags"), many_flags)));
}

static uint32_t open_flags_of(const struct step *step)
{
    static const struct flag open_flags[] = {{"READ_ONLY", TAMIS_OPEN_READ_ONLY},
                                             {"NO_SYNC", TAMIS_OPEN_NO_SYNC},
                                             {"POPULATE", TAMIS_OPEN_POPULATE},
                                             {NULL, 0}};
    return flags_of(json_object_get(step->with, "flags"), open_flags);
}

static json_t *do_tamis_filter_open(struct step *step)
{
    tamis_filter *filter = NULL;
    const int rc =
        tamis_filter_open(on_store(step), text(step, "name"), open_flags_of(step), &filter);
    return made(step, IS_FILTER, filter, rc);
}

static json_t *do_tamis_filter_open_at(struct step *step)
{
    tamis_filter *filter = NULL;
    const int rc = tamis_filter_open_at(text(step, "path"), NULL, text(step, "name"),
                                        open_flags_of(step), &filter);
    return made(step, IS_FILTER, filter, rc);
}

static json_t *do_tamis_filter_exists(struct step *step)
{
    return counted(tamis_filter_exists(on_store(step), text(step, "name")));
}

static json_t *do_tamis_filter_store(struct step *step)
{
    return made(step, IS_BORROWED_STORE, tamis_filter_store(on_filter(step)), 0);
}

static json_t *do_tamis_filter_created_at(struct step *step)
{
    return gives(json_integer(tamis_filter_created_at(on_filter(step))));
}

static json_t *do_tamis_filter_close(struct step *step)
{
    const int rc = tamis_filter_close(on_filter(step));
    on_is_closed(step);
    return status(rc);
}

static json_t *do_tamis_filter_release(struct step *step)
{
    tamis_filter_release(on_filter(step));
    on_is_closed(step);
    return status(0);
}

/* ---- Waiting, checkpoints -------------------------------------------------------------------- */

static json_t *do_tamis_filter_may_wait(struct step *step)
{
    return counted(tamis_filter_may_wait(on_filter(step), (size_t)number(step, "keys")));
}

static json_t *do_tamis_filter_prepare(struct step *step)
{
    return status(tamis_filter_prepare(on_filter(step), (uint64_t)number(step, "keys")));
}

static json_t *do_tamis_filter_rotate(struct step *step)
{
    return status(tamis_filter_rotate(on_filter(step)));
}

static json_t *do_tamis_filter_sync(struct step *step)
{
    return status(tamis_filter_sync(on_filter(step)));
}

static json_t *do_tamis_filter_set_sync_interval(struct step *step)
{
    return status(tamis_filter_set_sync_interval(on_filter(step), number(step, "interval_ns")));
}

static json_t *do_tamis_filter_accept(struct step *step)
{
    return status(tamis_filter_accept(on_filter(step)));
}

/* ---- Names and pages ------------------------------------------------------------------------- */

static json_t *do_tamis_filter_drop(struct step *step)
{
    return status(tamis_filter_drop(on_store(step), text(step, "name")));
}

static json_t *do_tamis_filter_drop_many(struct step *step)
{
    size_t count, times = 0;
    const char **all = names(step, "names", &count);
    tamis_filter **of = filters(step, "created_at_of", &times);
    int64_t *created_at = step_memory(step, times * sizeof *created_at);
    for (size_t i = 0; i < times; i++)
        created_at[i] = tamis_filter_created_at(of[i]);
    return counted(
        tamis_filter_drop_many(on_store(step), all, times > 0 ? created_at : NULL, count));
}

static json_t *do_tamis_filter_rename(struct step *step)
{
    return status(
        tamis_filter_rename(on_store(step), text(step, "old_name"), text(step, "new_name")));
}

static json_t *do_tamis_filter_set_owned(struct step *step)
{
    return status(
        tamis_filter_set_owned(on_store(step), text(step, "name"), (int)number(step, "owned")));
}

static json_t *do_tamis_filter_set_pages(struct step *step)
{
    uint32_t pages = 0;
    while (tamis_pages_name(pages) != NULL &&
           json_string_length(json_object_get(step->with, "pages")) > 0 &&
           strcmp(tamis_pages_name(pages), text(step, "pages")) != 0)
        pages++;
    return status(tamis_filter_set_pages(on_store(step), text(step, "name"), pages));
}

static json_t *do_tamis_filter_mapped(struct step *step)
{
    struct tamis_filter_mapped mapped = TAMIS_INIT(struct tamis_filter_mapped);
    const int rc = tamis_filter_mapped(on_filter(step), &mapped);
    if (rc < 0) return failed(rc);
    return gives(json_pack("{s:I, s:I, s:I, s:s, s:s?}", "bytes", (json_int_t)mapped.bytes,
                           "present", (json_int_t)mapped.present, "huge_bytes",
                           (json_int_t)mapped.huge_bytes, "wanted", tamis_pages_name(mapped.wanted),
                           "obstacle", mapped.obstacle));
}

static json_t *do_tamis_filter_plan(struct step *step)
{
    struct tamis_sizing sizing = TAMIS_INIT(struct tamis_sizing);
    const int rc = tamis_filter_plan(spec(step), (uint32_t)number(step, "step"), &sizing);
    if (rc < 0) return status(rc);
    if (rc == 0) return gives(json_null());
    return gives(json_pack("{s:s, s:I, s:I, s:i, s:f}", "kind", tamis_kind_name(sizing.kind),
                           "capacity", (json_int_t)sizing.capacity, "m_bits",
                           (json_int_t)sizing.m_bits, "k", (int)sizing.k, "fp_rate",
                           sizing.fp_rate));
}

const struct call filter_calls[] = {CALL(tamis_filter_check),
                                    CALL(tamis_filter_plan),
                                    CALL(tamis_filter_create),
                                    CALL(tamis_filter_open_or_create),
                                    CALL(tamis_filter_create_many),
                                    CALL(tamis_filter_open),
                                    CALL(tamis_filter_open_at),
                                    CALL(tamis_filter_exists),
                                    CALL(tamis_filter_store),
                                    CALL(tamis_filter_created_at),
                                    CALL(tamis_filter_close),
                                    CALL(tamis_filter_release),
                                    CALL(tamis_filter_may_wait),
                                    CALL(tamis_filter_prepare),
                                    CALL(tamis_filter_rotate),
                                    CALL(tamis_filter_sync),
                                    CALL(tamis_filter_set_sync_interval),
                                    CALL(tamis_filter_accept),
                                    CALL(tamis_filter_drop),
                                    CALL(tamis_filter_drop_many),
                                    CALL(tamis_filter_rename),
                                    CALL(tamis_filter_set_owned),
                                    CALL(tamis_filter_set_pages),
                                    CALL(tamis_filter_mapped),
                                    {NULL, NULL}};

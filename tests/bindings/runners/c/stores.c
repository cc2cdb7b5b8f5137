/* SPDX-License-Identifier: BSD-2-Clause */
/* stores.c: calls on stores. */
#include "runner.h"

static const struct flag store_flags[] = {{"CREATE", TAMIS_OPEN_CREATE},
                                          {"READ_ONLY", TAMIS_OPEN_READ_ONLY},
                                          {"FORCE_NETWORK_FS", TAMIS_OPEN_FORCE_NETWORK_FS},
                                          {NULL, 0}};

static uint32_t flags_of_store(const struct step *step)
{
    return flags_of(json_object_get(step->with, "flags"), store_flags);
}

static json_t *do_tamis_store_open(struct step *step)
{
    tamis_store *store = NULL;
    const int rc = tamis_store_open(text(step, "path"), flags_of_store(step), &store);
    return made(step, IS_STORE, store, rc);
}

static json_t *do_tamis_store_open_with(struct step *step)
{
    struct tamis_store_options options = TAMIS_INIT(struct tamis_store_options);
    tamis_store *store = NULL;
    options.flags = flags_of_store(step);
    options.mode = (uint32_t)number(step, "mode");
    options.busy_timeout_ms = number(step, "busy_timeout_ms");
    const int rc = tamis_store_open_with(text(step, "path"), &options, &store);
    return made(step, IS_STORE, store, rc);
}

static json_t *do_tamis_store_set_busy_timeout(struct step *step)
{
    return status(tamis_store_set_busy_timeout(on_store(step), number(step, "milliseconds")));
}

static int give_up(void *context, int64_t waited_ms, int64_t holder)
{
    int64_t *times = context;
    (void)waited_ms, (void)holder;
    return --*times <= 0;
}

static json_t *do_tamis_store_set_busy_callback(struct step *step)
{
    static int64_t times; /* outlives the step, as the callback does */
    times = number(step, "give_up_after");
    return status(tamis_store_set_busy_callback(on_store(step), give_up, &times));
}

static json_t *do_tamis_descriptors_set_least(struct step *step)
{
    return status(tamis_descriptors_set_least((int)number(step, "number")));
}

static json_t *do_tamis_store_close(struct step *step)
{
    tamis_store_close(on_store(step));
    on_is_closed(step);
    return status(0);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static int list_one(void *context, const struct tamis_filter_stat *stat)
{
    json_array_append_new(context, stat_json(stat));
    return 0;
}

static json_t *listed(int rc, json_t *list)
{
    if (rc >= 0) return gives(list);
    json_decref(list);
    return failed(rc);
}

static json_t *do_tamis_store_list(struct step *step)
{
    json_t *list = json_array();
    return listed(tamis_store_list(on_store(step), text(step, "prefix"), list_one, list), list);
}

static json_t *do_tamis_store_list_live(struct step *step)
{
    json_t *list = json_array();
    return listed(tamis_store_list_live(on_store(step), text(step, "prefix"), list_one, list),
                  list);
}

static json_t *do_tamis_watch_new(struct step *step)
{
    tamis_watch *watch = NULL;
    const int rc = tamis_watch_new(on_store(step), text(step, "prefix"), &watch);
    return made(step, IS_WATCH, watch, rc);
}

static json_t *do_tamis_watch_look(struct step *step)
{
    json_t *list = json_array();
    return listed(tamis_watch_look(on_kind(step, IS_WATCH), list_one, list), list);
}

static json_t *do_tamis_watch_free(struct step *step)
{
    tamis_watch_free(on_kind(step, IS_WATCH));
    on_is_closed(step);
    return status(0);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

struct told {
    int64_t problems, looks;
};

static int tell_problem(void *context, const struct tamis_problem *problem)
{
    struct told *told = context;
    told->problems += problem->error != 0;
    return 0;
}

static int tell_progress(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    struct told *told = context;
    told->looks += done_bytes <= all_bytes;
    return 0;
}

static json_t *checked(int64_t rc, const struct told *told)
{
    if (rc >= 0 && rc != told->problems)
        return json_pack("{s:s}", "error", "the number returned is not that of the problems told");
    return counted(rc);
}

static json_t *do_tamis_store_verify(struct step *step)
{
    struct told told = {0, 0};
    return checked(tamis_store_verify(on_store(step), text(step, "name"), tell_problem, &told),
                   &told);
}

static json_t *do_tamis_store_verify_with(struct step *step)
{
    struct told told = {0, 0};
    struct tamis_verify_options options = TAMIS_INIT(struct tamis_verify_options);
    options.fn = tell_problem;
    options.progress = tell_progress;
    options.context = &told;
    return checked(tamis_store_verify_with(on_store(step), text(step, "name"), &options), &told);
}

static json_t *do_tamis_store_backup(struct step *step)
{
    struct told told = {0, 0};
    return counted(tamis_store_backup(on_store(step), text(step, "path"), tell_progress, &told));
}

/* ---- Repair ---------------------------------------------------------------------------------- */

static const struct flag repair_flags[] = {{"DRY_RUN", TAMIS_REPAIR_DRY_RUN},
                                           {"REBUILD", TAMIS_REPAIR_REBUILD},
                                           {"FORCE_NETWORK_FS", TAMIS_REPAIR_FORCE_NETWORK_FS},
                                           {NULL, 0}};

static int tell_repair(void *context, const struct tamis_repair_step *repaired)
{
    struct told *told = context;
    told->problems += repaired->error == 0;
    return 0;
}

static json_t *do_tamis_store_repair(struct step *step)
{
    struct told told = {0, 0};
    const uint32_t flags = flags_of(json_object_get(step->with, "flags"), repair_flags);
    return checked(tamis_store_repair(text(step, "path"), flags, tell_repair, &told), &told);
}

static json_t *do_tamis_store_repair_with(struct step *step)
{
    struct told told = {0, 0};
    struct tamis_repair_options options = TAMIS_INIT(struct tamis_repair_options);
    options.flags = flags_of(json_object_get(step->with, "flags"), repair_flags);
    options.fn = tell_repair;
    options.progress = tell_progress;
    options.context = &told;
    return checked(tamis_store_repair_with(text(step, "path"), &options), &told);
}

const struct call store_calls[] = {CALL(tamis_store_open),
                                   CALL(tamis_store_open_with),
                                   CALL(tamis_store_set_busy_timeout),
                                   CALL(tamis_store_set_busy_callback),
                                   CALL(tamis_descriptors_set_least),
                                   CALL(tamis_store_close),
                                   CALL(tamis_store_list),
                                   CALL(tamis_store_list_live),
                                   CALL(tamis_watch_new),
                                   CALL(tamis_watch_look),
                                   CALL(tamis_watch_free),
                                   CALL(tamis_store_verify),
                                   CALL(tamis_store_verify_with),
                                   CALL(tamis_store_backup),
                                   CALL(tamis_store_repair),
                                   CALL(tamis_store_repair_with),
                                   {NULL, NULL}};

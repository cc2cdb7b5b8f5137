/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c: the modes of the runner, its handles, and the loop that answers steps. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

static const struct call *const tables[] = {
    store_calls, filter_calls, key_calls, inside_calls, exchange_calls, build_calls, library_calls};
#define TABLES (sizeof tables / sizeof tables[0])

/* ---- Handles --------------------------------------------------------------------------------- */

static struct named {
    char *name;
    struct handle handle;
} * handles;
static size_t handle_count;

static void handle_close(const struct handle *handle)
{
    if (handle->pointer == NULL) return;
    switch (handle->kind) {
    case IS_STORE:
        tamis_store_close(handle->pointer);
        break;
    case IS_FILTER:
        tamis_filter_release(handle->pointer);
        break;
    case IS_BUILD:
        tamis_build_close(handle->pointer);
        break;
    case IS_WATCH:
        tamis_watch_free(handle->pointer);
        break;
    case IS_BORROWED_STORE:
        break;
    }
}

static struct handle *handle_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < handle_count; i++)
        if (strcmp(handles[i].name, name) == 0) return &handles[i].handle;
    return NULL;
}

void *handle_of(const char *name, enum handle_kind kind)
{
    const struct handle *handle = handle_find(name);
    if (handle == NULL) return NULL;
    if (handle->kind != kind) errx(3, "%s is a handle of another kind", name);
    return handle->pointer;
}

void handle_keep(const struct step *step, enum handle_kind kind, void *pointer)
{
    const struct handle handle = {.kind = kind, .pointer = pointer};
    struct handle *there = handle_find(step->as);
    if (step->as == NULL) {
        handle_close(&handle);
        return;
    }
    if (there == NULL) {
        struct named *more = realloc(handles, (handle_count + 1) * sizeof *more);
        if (more == NULL) errx(3, "out of memory");
        handles = more;
        handles[handle_count].name = strdup(step->as);
        there = &handles[handle_count++].handle;
    } else {
        handle_close(there);
    }
    *there = handle;
}

void handles_close(void)
{
    for (size_t i = 0; i < handle_count; i++) {
        handle_close(&handles[i].handle);
        free(handles[i].name);
    }
    free(handles);
    handles = NULL;
    handle_count = 0;
}

void *on_kind(const struct step *step, enum handle_kind kind)
{
    if (step->on->kind == IS_BORROWED_STORE && kind == IS_STORE) return step->on->pointer;
    if (step->on->kind != kind) errx(3, "the step is on a handle of another kind");
    return step->on->pointer;
}

tamis_store *on_store(const struct step *step)
{
    return on_kind(step, IS_STORE);
}

tamis_filter *on_filter(const struct step *step)
{
    return on_kind(step, IS_FILTER);
}

tamis_build *on_build(const struct step *step)
{
    return on_kind(step, IS_BUILD);
}

void on_is_closed(const struct step *step)
{
    step->on->pointer = NULL;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static const struct call *call_find(const char *name)
{
    for (size_t i = 0; i < TABLES; i++)
        for (const struct call *call = tables[i]; call->name != NULL; call++)
            if (strcmp(call->name, name) == 0) return call;
    return NULL;
}

static json_t *answer_to(json_t *message)
{
    const char *name = json_string_value(json_object_get(message, "call"));
    const char *on = json_string_value(json_object_get(message, "on"));
    if (json_object_get(message, "case") != NULL) {
        handles_close();
        return status(0);
    }
    const struct call *call = call_find(name);
    if (call == NULL) return json_pack("{s:s}", "lacks", name);
    struct step step = {.with = json_object_get(message, "with"),
                        .as = json_string_value(json_object_get(message, "as")),
                        .on = handle_find(on)};
    if (on != NULL && step.on == NULL) return json_pack("{s:s}", "error", "no such handle");
    if (on != NULL && step.on->pointer == NULL)
        return json_pack("{s:s}", "cannot", "a handle that is closed is no longer one in C");
    json_t *answer = call->call(&step);
    for (size_t i = 0; i < step.kept_count; i++)
        free(step.kept[i]);
    free(step.kept);
    return answer; // cppcheck-suppress returnDanglingLifetime
}

static int steps(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        json_error_t error;
        json_t *message = json_loads(line, JSON_ALLOW_NUL, &error);
        if (message == NULL) errx(3, "%s", error.text);
        json_t *answer = answer_to(message);
        json_dumpf(answer, stdout, JSON_COMPACT);
        puts("");
        fflush(stdout);
        json_decref(answer);
        json_decref(message);
    }
    free(line);
    return 0;
}

static int functions(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < TABLES; i++)
        for (const struct call *call = tables[i]; call->name != NULL; call++)
            json_array_append_new(list, json_string(call->name));
    json_dumpf(list, stdout, 0);
    puts("");
    json_decref(list);
    return 0;
}

int main(int count, char **words)
{
    if (count == 1) return steps();
    if (count == 2 && strcmp(words[1], "functions") == 0) return functions();
    if (count == 9 && strcmp(words[1], "race") == 0) return race(words + 2);
    if (count == 6 && strcmp(words[1], "found") == 0) return found(words + 2);
    errx(2, "usage: tests/bindings/README.md");
}

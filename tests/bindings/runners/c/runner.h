/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runner.h: the runner of C in the suite of all bindings: what its files share.  ../../README.md
 * says what a runner is.
 *
 * Each function of tamis.h has one here, which takes a step and returns the answer.  They are in
 * the tables at the end.
 */
#ifndef TAMIS_TESTS_BINDINGS_RUNNER_H
#define TAMIS_TESTS_BINDINGS_RUNNER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

/* ---- Handles and steps ----------------------------------------------------------------------- */

enum handle_kind {
    IS_STORE = 1,
    IS_BORROWED_STORE, /* of a filter; not ours to close */
    IS_FILTER,
    IS_BUILD,
    IS_WATCH,
};

struct handle {
    enum handle_kind kind;
    void *pointer; /* NULL: closed */
};

/* A step that is carried out. */
struct step {
    json_t *with;
    const char *as;
    struct handle *on;
    void **kept; /* memory that is freed with the step */
    size_t kept_count;
};

/* The handle of that name, NULL if there is none; the program ends if it is of another kind. */
void *handle_of(const char *name, enum handle_kind kind);
/* Gives a handle a name, that of step->as; without a name it is closed. */
void handle_keep(const struct step *step, enum handle_kind kind, void *pointer);
void handles_close(void);
/* What the step is on. */
tamis_store *on_store(const struct step *step);
tamis_filter *on_filter(const struct step *step);
tamis_build *on_build(const struct step *step);
void *on_kind(const struct step *step, enum handle_kind kind);
/* Marks it as closed. */
void on_is_closed(const struct step *step);

/* ---- What a step gives ----------------------------------------------------------------------- */

/* Memory for as long as the step lasts; the program ends where there is none. */
void *step_memory(struct step *step, size_t bytes);
/* Text, NULL if there is none, or if it has a NUL in it, which C cannot say. */
const char *text(const struct step *step, const char *name);
int64_t number(const struct step *step, const char *name);
/* All words of a list of flags, by what they are worth. */
struct flag {
    const char *word;
    uint32_t value;
};
uint32_t flags_of(json_t *list, const struct flag *known);
struct tamis_key key_of(struct step *step, json_t *value);
struct tamis_key key(struct step *step, const char *name);
struct tamis_key *keys_of(struct step *step, json_t *list, size_t *count);
const char **names(struct step *step, const char *name, size_t *count);
uint32_t kind_of(json_t *word);
/* NULL if the step gives none. */
struct tamis_filter_spec *spec_of(struct step *step, json_t *object);
tamis_filter **filters(struct step *step, const char *name, size_t *count);

/* ---- Answers --------------------------------------------------------------------------------- */

json_t *gives(json_t *value);
json_t *failed(int64_t rc);
/* null, or an error. */
json_t *status(int64_t rc);
json_t *counted(int64_t rc);
/* Text, or null. */
json_t *word(const char *text);
/* Answers of a batch, or an error with them. */
json_t *answered(int64_t rc, const uint8_t *answers, size_t count);
/* A handle, or an error. */
json_t *made(const struct step *step, enum handle_kind kind, void *pointer, int rc);
json_t *hex(const void *data, size_t bytes);
/* All fields that the table of tamis_fields.h has of a struct. */
json_t *fields_json(uint32_t of, uint32_t shown_by, const void *record);
json_t *field_json(const struct tamis_field *field, const void *record);
json_t *stat_json(const struct tamis_filter_stat *stat);

/* ---- The tables ------------------------------------------------------------------------------ */

struct call {
    const char *name;
    json_t *(*call)(struct step *step);
};
#define CALL(name)                                                                                 \
    {                                                                                              \
#name, do_##name                                                                           \
    }
extern const struct call store_calls[], filter_calls[], key_calls[], inside_calls[],
    exchange_calls[], build_calls[], library_calls[];

/* race.c: the modes race and found; they return the exit status. */
int race(char **words);
int found(char **words);

#endif

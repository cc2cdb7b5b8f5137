/* SPDX-License-Identifier: BSD-2-Clause */
/* run_cli.h: the executor that carries operations out by command lines of `tamis`, and hands those
 * that no command line can express to run_api.h.  A command is another process with a handle of its
 * own, so the model judges it as it judges a child (CHILD_ANEW). */
#pragma once

#include "run_api.h"

struct model;

struct cli {
    struct executor api;
    struct world *world;
    const char *command; /* the program */
    bool says;           /* prints each command line */
};

void cli_init(struct cli *cli, struct world *world, const char *command, bool says);
void cli_executor(struct cli *cli, struct executor *executor);
/* Makes of an operation one that a command line can express, if that is possible. */
void cli_choose(const struct model *model, struct op *op);
/* What cli_texts.py finds wrong in what the command shows of this store.  NULL: nothing. */
const char *cli_texts(struct cli *cli, const char *script, uint64_t seed);

/* ---- Between the files of this executor: run_cli.c, cli_line.c, cli_keys.c, cli_shown.c --------
 */

/* A command line, and what came of it. */
struct line {
    struct cli *cli;
    const struct op *op;
    struct outcome *out;
    const char *name, *source; /* the filters of the handles, or that of the name */
    const char *word;          /* behind the name: add, remove */
    uint64_t random;           /* how it is put, by the operation alone */
    const char *argv[400];
    unsigned argc;
    bool hex, nul; /* how keys are written and printed */
    int status;
    char *printed, *said; /* standard output and error */
    size_t bytes, at;     /* of what was printed; up to where it was read */
};

bool one_in(struct line *line, uint64_t range);
bool trouble_of(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* cli_line.c.  Words with bars between them; NAME, SOURCE and OTHER stand for filters. */
void put(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Put at one of `range` times, or only if there is something to put. */
void may_put(struct line *line, uint64_t range, const char *words);
void put_number(struct line *line, const char *option, uint64_t number);
/* The filter and the keys of the operation: as arguments, from standard input, or from files. */
void put_keys(struct line *line);
/* Keys in hexadecimal, in the file behind this option, or in a file alone; NULL: standard input. */
void put_file(struct line *line, const char *option, const struct op_keys *keys,
              const struct tamis_key *list);
const char *path_of(const struct line *line, const char *name);
char *read_all(const char *path, size_t *bytes);
void line_begin(struct line *line, const char *command);
void line_run(struct line *line);
void line_clear(struct line *line);

/* The next key or line that was printed; false: there is none. */
bool next_piece(struct line *line, char end, const char **piece, size_t *bytes);
bool is_key(const struct line *line, const char *piece, size_t bytes, const struct tamis_key *key);
/* Keys that were printed get the one answer, the others the other. */
bool answers_by_keys(struct line *line, uint8_t printed, uint8_t not );

/* cli_keys.c: carry out what takes keys. */
void line_add(struct line *line);
void line_ask(struct line *line);
void line_remove(struct line *line);
void line_count(struct line *line);
void line_except(struct line *line);

/* cli_shown.c: what is told of a filter, of the list and so on is what the library tells. */
bool shows_filter(struct line *line, tamis_filter *filter);
bool shows_synced(struct line *line, tamis_filter *filter);
bool shows_list(struct line *line);
bool shows_generations(struct line *line);
bool shows_comparison(struct line *line);
bool reads_built(struct line *line);
bool reads_published(struct line *line);
double number_of(struct line *line, const char *member); /* of the one object that was printed */
/* An object was printed for each key, with this member. */
bool values_by_json(struct line *line, const char *member, uint64_t *values);

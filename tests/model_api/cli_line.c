/* SPDX-License-Identifier: BSD-2-Clause */
/* cli_line.c: one command line: its words, its keys, its run, and what it printed. */
#include <ctype.h>
#include <err.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random.h"
#include "run_cli.h"

bool one_in(struct line *line, uint64_t range)
{
    return random_below(&line->random, range) == 0;
}

bool trouble_of(struct line *line, const char *format, ...)
{
    char what[300];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (*line->out->trouble == '\0')
        (void)snprintf(line->out->trouble, sizeof line->out->trouble, "tamis %s: %.300s",
                       line->argv[3], what);
    return false;
}

void put(struct line *line, const char *format, ...)
{
    va_list arguments;
    char *word = NULL;
    va_start(arguments, format);
    if (vasprintf(&word, format, arguments) < 0) err(1, "vasprintf");
    va_end(arguments);
    if (line->argc + 1 >= sizeof line->argv / sizeof line->argv[0]) errx(1, "too many words");
    line->argv[line->argc++] = word;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static bool have_byte(const struct op_keys *keys, const struct tamis_key *list, int byte)
{
    for (uint32_t i = 0; i < keys->count; i++)
        if (list[i].bytes > 0 && memchr(list[i].data, byte, list[i].bytes) != NULL) return true;
    return false;
}

static void write_key(FILE *to, const struct line *line, const struct tamis_key *key)
{
    const unsigned char *bytes = key->data;
    for (size_t i = 0; i < key->bytes; i++)
        if (line->hex)
            (void)fprintf(to, "%02x", bytes[i]);
        else
            (void)fputc(bytes[i], to);
}

static void write_keys(const struct line *line, const char *path, const struct tamis_key *list,
                       uint32_t from, uint32_t to)
{
    FILE *file = fopen(path, "we");
    if (file == NULL) err(1, "%s", path);
    for (uint32_t i = from; i < to; i++) {
        write_key(file, line, &list[i]);
        (void)fputc(line->nul ? '\0' : '\n', file);
    }
    if (fclose(file) != 0) err(1, "%s", path);
}

static char *path_of(const struct line *line, const char *name)
{
    static char paths[4][600];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s.%s", line->cli->world->path, name);
    return path;
}

/* How keys are written, which all keys of a line share: lines only where no key has a newline. */
static void choose_form(struct line *line, const struct op_keys *keys, const struct tamis_key *list)
{
    line->nul = one_in(line, 3);
    line->hex = !one_in(line, 3) || have_byte(keys, list, line->nul ? '\0' : '\n');
    if (line->nul) put(line, one_in(line, 2) ? "-z" : "--null");
    if (line->hex) put(line, "--hex");
    if (!line->hex) put(line, "--raw"); /* bytes that begin as a packed file does */
}

static void put_filter(struct line *line)
{
    put(line, "%s", line->name);
    if (line->word != NULL) put(line, "%s", line->word);
}

/* The keys of the operation: as arguments, from standard input, or from files. */
void put_keys(struct line *line, const struct op_keys *keys, const struct tamis_key *list)
{
    choose_form(line, keys, list);
    const uint32_t half = keys->count / 2;
    if (line->hex && keys->count > 0 && keys->count < 300 && one_in(line, 3)) {
        put(line, "--");
        put_filter(line);
        for (uint32_t i = 0; i < keys->count; i++) {
            char *word = NULL;
            size_t bytes;
            FILE *to = open_memstream(&word, &bytes);
            if (to == NULL) err(1, "open_memstream");
            write_key(to, line, &list[i]);
            (void)fclose(to);
            put(line, "%s", word);
            free(word);
        }
    } else if (one_in(line, 3)) {
        write_keys(line, path_of(line, "in1"), list, 0, half);
        write_keys(line, path_of(line, "in2"), list, half, keys->count);
        put(line, "--file");
        put(line, "%s", path_of(line, "in1"));
        put(line, "--file=%s", path_of(line, "in2"));
        put_filter(line);
    } else {
        write_keys(line, path_of(line, "in"), list, 0, keys->count);
        put_filter(line);
    }
}

/* Keys of an option that names a file; of a file that is named alone; of standard input. */
void put_file(struct line *line, const char *option, const struct op_keys *keys,
              const struct tamis_key *list)
{
    const bool alone = option != NULL && *option == '\0';
    const char *path = path_of(line, option == NULL ? "in" : alone ? "keys" : option + 2);
    write_keys(line, path, list, 0, keys->count);
    if (option != NULL && !alone) put(line, "%s", option);
    if (option != NULL) put(line, "%s", path);
}

/* ---- The run --------------------------------------------------------------------------------- */

void line_begin(struct line *line, const char *command)
{
    line->argc = 0;
    line->at = 0;
    put(line, "tamis");
    put(line, "--store");
    put(line, "%s", line->cli->world->path);
    put(line, "%s", command);
    if (line->op != NULL) write_keys(line, path_of(line, "in"), NULL, 0, 0);
}

void line_clear(struct line *line)
{
    for (unsigned i = 0; i < line->argc; i++)
        free((char *)(uintptr_t)line->argv[i]);
    free(line->printed);
    free(line->said);
    line->argc = 0;
    line->printed = line->said = NULL;
}

static char *read_all(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) err(1, "%s", path);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*bytes + 1);
    if (text == NULL || fread(text, 1, *bytes, file) != *bytes) err(1, "%s", path);
    text[*bytes] = '\0';
    (void)fclose(file);
    return text;
}

static void become(const struct line *line)
{
    char now[40];
    const int in = open(path_of(line, "in"), O_RDONLY | O_CLOEXEC),
              out = open(path_of(line, "out"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
              said = open(path_of(line, "err"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (in < 0 || out < 0 || said < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(said, 2) < 0)
        _exit(126);
    (void)snprintf(now, sizeof now, "%lld", (long long)*line->cli->world->now);
    (void)setenv("TAMIS_MODEL_CLOCK", now, 1);
    (void)execv(line->cli->command, (char *const *)(uintptr_t)line->argv);
    _exit(127);
}

void line_run(struct line *line)
{
    int status = 0;
    size_t said = 0;
    line->argv[line->argc] = NULL;
    free(line->printed);
    free(line->said);
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) become(line);
    if (child < 0 || waitpid(child, &status, 0) != child) err(1, "fork");
    line->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    line->printed = read_all(path_of(line, "out"), &line->bytes);
    line->said = read_all(path_of(line, "err"), &said);
    line->at = 0;
    if (line->cli->says) {
        for (unsigned i = 0; i < line->argc; i++)
            (void)printf(i == 0 ? "%s" : " '%s'", line->argv[i]);
        (void)printf("    # %d %s", line->status, said > 0 ? line->said : "\n");
        (void)fflush(stdout);
    }
    if (line->status > 2) (void)trouble_of(line, "status %d: %s", line->status, line->said);
}

/* ---- What was printed ------------------------------------------------------------------------ */

bool next_piece(struct line *line, const char **piece, size_t *bytes)
{
    const char end = line->nul && !line->json ? '\0' : '\n';
    if (line->at >= line->bytes) return false;
    *piece = line->printed + line->at;
    const char *stop = memchr(*piece, end, line->bytes - line->at);
    if (stop == NULL) return trouble_of(line, "the last line has no end");
    *bytes = (size_t)(stop - *piece);
    line->at += *bytes + 1;
    return true;
}

static int digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static bool is_hex(const char *piece, size_t bytes, const struct tamis_key *key)
{
    const unsigned char *b = key->data;
    for (size_t i = 0; i < key->bytes && bytes == 2 * key->bytes; i++)
        if (digit(piece[2 * i]) * 16 + digit(piece[2 * i + 1]) != b[i]) return false;
    return bytes == 2 * key->bytes;
}

bool is_key(const struct line *line, const char *piece, size_t bytes, const struct tamis_key *key)
{
    if (line->hex) return is_hex(piece, bytes, key);
    return bytes == key->bytes && (bytes == 0 || memcmp(piece, key->data, bytes) == 0);
}

bool answers_by_keys(struct line *line, const struct op_keys *keys, uint8_t printed, uint8_t not )
{
    const char *piece = NULL;
    size_t bytes = 0;
    bool more = next_piece(line, &piece, &bytes);
    for (uint32_t i = 0; i < keys->count; i++) {
        const bool is = more && is_key(line, piece, bytes, &lists[0][i]);
        line->out->answers[i] = is ? printed : not ;
        if (is) more = next_piece(line, &piece, &bytes);
    }
    return !more || trouble_of(line, "'%.60s' is none of the keys, or not in their order", piece);
}

bool values_by_json(struct line *line, const struct op_keys *keys, const char *member,
                    uint64_t *values)
{
    const char *piece = NULL;
    size_t bytes = 0;
    line->json = true;
    for (uint32_t i = 0; i < keys->count; i++) {
        if (!next_piece(line, &piece, &bytes)) return trouble_of(line, "%u lines only", i);
        json_t *object = json_loadb(piece, bytes, JSON_ALLOW_NUL, NULL);
        const json_t *hex = json_object_get(object, "key_hex"),
                     *key = json_object_get(object, "key");
        const json_t *value = json_object_get(object, member);
        const bool is =
            hex != NULL
                ? is_hex(json_string_value(hex), json_string_length(hex), &lists[0][i])
                : json_string_length(key) == lists[0][i].bytes && json_is_string(key) &&
                      (lists[0][i].bytes == 0 ||
                       memcmp(json_string_value(key), lists[0][i].data, lists[0][i].bytes) == 0);
        const bool fits =
            is && json_object_size(object) == 2 && value != NULL && (hex != NULL || !line->hex);
        values[i] =
            json_is_boolean(value) ? json_is_true(value) : (uint64_t)json_integer_value(value);
        json_decref(object);
        if (!fits) return trouble_of(line, "line %u is %.*s", i, (int)bytes, piece);
    }
    return !next_piece(line, &piece, &bytes) || trouble_of(line, "more lines than keys");
}

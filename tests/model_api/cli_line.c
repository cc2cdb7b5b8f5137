/* SPDX-License-Identifier: BSD-2-Clause */
/* cli_line.c: one command line: its words, its keys, its run, and what it printed. */
#include <ctype.h>
#include <err.h>
#include <fcntl.h>
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
    char what[300], *to = line->out->trouble;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (*to == '\0')
        (void)snprintf(to, sizeof line->out->trouble, "tamis %s: %.300s", line->argv[3], what);
    return false;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void put_word(struct line *line, const char *word)
{
    if (line->argc + 1 >= sizeof line->argv / sizeof line->argv[0]) errx(1, "too many words");
    line->argv[line->argc] = strdup(word);
    if (line->argv[line->argc++] == NULL) err(1, "strdup");
}

void put(struct line *line, const char *format, ...)
{
    char words[2000], *rest = NULL;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    for (const char *word = strtok_r(words, "|", &rest); word; word = strtok_r(NULL, "|", &rest))
        put_word(line, strcmp(word, "NAME") == 0     ? line->name
                       : strcmp(word, "SOURCE") == 0 ? line->source
                       : strcmp(word, "OTHER") == 0  ? names[line->op->other]
                                                     : word);
}

void may_put(struct line *line, uint64_t range, const char *words)
{
    if (one_in(line, range)) put(line, "%s", words);
}

void put_number(struct line *line, const char *option, uint64_t number)
{
    if (number != 0) put(line, "%s=%llu", option, (unsigned long long)number);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static bool have_byte(const struct op_keys *keys, int byte)
{
    for (uint32_t i = 0; i < keys->count; i++)
        if (lists[0][i].bytes > 0 && memchr(lists[0][i].data, byte, lists[0][i].bytes) != NULL)
            return true;
    return false;
}

static void write_key(FILE *to, bool hex, const struct tamis_key *key)
{
    const unsigned char *bytes = key->data;
    for (size_t i = 0; i < key->bytes; i++)
        if (hex)
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
        write_key(file, line->hex, &list[i]);
        (void)fputc(line->nul ? '\0' : '\n', file);
    }
    if (fclose(file) != 0) err(1, "%s", path);
}

const char *path_of(const struct line *line, const char *name)
{
    static char paths[8][600];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s.%s", line->cli->world->path, name);
    return path;
}

static void put_filter(struct line *line)
{
    put(line, "NAME|%s", line->word != NULL ? line->word : "");
}

static void put_hex_keys(struct line *line)
{
    put(line, "--");
    put_filter(line);
    for (uint32_t i = 0; i < line->op->keys.count; i++) {
        char word[2 * KEY_BYTES_MAX + 1];
        FILE *to = fmemopen(word, sizeof word, "w");
        if (to == NULL) err(1, "fmemopen");
        write_key(to, true, &lists[0][i]);
        (void)fputc('\0', to);
        (void)fclose(to);
        put_word(line, word);
    }
}

/* Keys are written as lines only if no key has the byte that ends a line. */
void put_keys(struct line *line)
{
    const struct op_keys *keys = &line->op->keys;
    line->nul = one_in(line, 3);
    line->hex = !one_in(line, 3) || have_byte(keys, line->nul ? '\0' : '\n');
    if (line->nul) put(line, one_in(line, 2) ? "-z" : "--null");
    put(line, line->hex ? "--hex" : "--raw"); /* raw: bytes that begin as a packed file does */
    if (line->hex && keys->count > 0 && keys->count < 300 && one_in(line, 3)) {
        put_hex_keys(line);
    } else if (one_in(line, 3)) {
        const char *one = path_of(line, "in1"), *two = path_of(line, "in2");
        write_keys(line, one, lists[0], 0, keys->count / 2);
        write_keys(line, two, lists[0], keys->count / 2, keys->count);
        put(line, "--file|%s|--file=%s", one, two);
        put_filter(line);
    } else {
        write_keys(line, path_of(line, "in"), lists[0], 0, keys->count);
        put_filter(line);
    }
}

void put_file(struct line *line, const char *option, const struct op_keys *keys,
              const struct tamis_key *list)
{
    const char *path = path_of(line, option == NULL ? "in" : "keys");
    if (option != NULL && *option != '\0') path = path_of(line, option + 2);
    line->hex = true;
    write_keys(line, path, list, 0, keys->count);
    if (option != NULL) put(line, "%s|%s", option, path);
}

/* ---- The run --------------------------------------------------------------------------------- */

void line_begin(struct line *line, const char *command)
{
    line->nul = line->hex = false;
    put(line, "tamis|--store|%s|%s", line->cli->world->path, command);
    write_keys(line, path_of(line, "in"), NULL, 0, 0);
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

char *read_all(const char *path, size_t *bytes)
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
    const int made = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    const int in = open(path_of(line, "in"), O_RDONLY | O_CLOEXEC),
              out = open(path_of(line, "out"), made, 0600),
              said = open(path_of(line, "err"), made, 0600);
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

bool next_piece(struct line *line, char end, const char **piece, size_t *bytes)
{
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

bool is_key(const struct line *line, const char *piece, size_t bytes, const struct tamis_key *key)
{
    const unsigned char *b = key->data;
    if (!line->hex)
        return bytes == key->bytes && (bytes == 0 || memcmp(piece, key->data, bytes) == 0);
    for (size_t i = 0; i < key->bytes && bytes == 2 * key->bytes; i++)
        if (digit(piece[2 * i]) * 16 + digit(piece[2 * i + 1]) != b[i]) return false;
    return bytes == 2 * key->bytes;
}

bool answers_by_keys(struct line *line, uint8_t printed, uint8_t not )
{
    const char *piece = NULL, end = line->nul ? '\0' : '\n';
    size_t bytes = 0;
    bool more = next_piece(line, end, &piece, &bytes);
    for (uint32_t i = 0; i < line->op->keys.count; i++) {
        const bool is = more && is_key(line, piece, bytes, &lists[0][i]);
        line->out->answers[i] = is ? printed : not ;
        if (is) more = next_piece(line, end, &piece, &bytes);
    }
    return !more || trouble_of(line, "'%.60s' is none of the keys, or not in their order", piece);
}

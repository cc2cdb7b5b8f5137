/* SPDX-License-Identifier: BSD-2-Clause */
/* run_cli.c: operations as command lines; see run_cli.h. */
#include "run_cli.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model.h"

#define SECOND INT64_C(1000000000)

/* ---- Filters --------------------------------------------------------------------------------- */

static void put_name(struct line *line)
{
    put(line, "--");
    put(line, "%s", line->name);
}

static void run_create(struct line *line)
{
    static const char *const full[] = {"", "grow", "refuse", "warn"}, *const pages[] = {"", "small",
                                                                                        "huge"};
    const struct op_spec *s = &line->op->spec;
    const bool own_bits = s->m_bits != 0;
    if (line->op->kind == OP_OPEN_OR_CREATE) put(line, "--if-missing");
    if (s->capacity != 0 && s->window_items == 0)
        put(line, "-n%llu", (unsigned long long)s->capacity);
    if (s->rate != 0) put(line, "-p"), put(line, "%.17g", s->rate);
    if (own_bits) put(line, "--bits=%llu", (unsigned long long)s->m_bits);
    if (s->k != 0) put(line, "-k"), put(line, "%u", s->k);
    if (s->kind != 0) put(line, "--kind=%s", tamis_kind_name(s->kind));
    if (s->counter_bits != 0) put(line, "--counter-bits=%u", s->counter_bits);
    if (s->set != 0) put(line, "--hash-set"), put(line, "%s", hash_sets[s->set]);
    if (s->seed != 0) put(line, "--seed=%llu", (unsigned long long)s->seed);
    if (s->on_full != 0) put(line, "--on-full=%s", full[s->on_full]);
    if (s->window_items != 0) put(line, "--window=%llukeys", (unsigned long long)s->window_items);
    if (s->window_ns != 0) put(line, "--window=%llds", (long long)(s->window_ns / SECOND));
    if (s->slices != 0) put(line, "--slices=%u", s->slices);
    if ((s->flags & TAMIS_FILTER_FROM_FIRST) != 0) put(line, "--window-from=first");
    if ((s->flags & TAMIS_FILTER_DURABLE) != 0) put(line, "--durable");
    if (s->pages != 0) put(line, "--pages=%s", pages[s->pages]);
    put_name(line);
    line_run(line);
}

static void run_named(struct line *line)
{
    if (line->op->kind == OP_REPAIR && (line->op->flags & 1u) != 0)
        put(line, one_in(line, 2) ? "-n" : "--dry-run");
    else if (line->op->kind != OP_REPAIR &&
             (line->op->kind != OP_VERIFY || (line->op->flags & 1u) != 0))
        put_name(line);
    line_run(line);
}

static void run_rename(struct line *line)
{
    put(line, "%s", line->name);
    put(line, "%s", names[line->op->other]);
    line_run(line);
}

static void run_rollback(struct line *line)
{
    put(line, "--json");
    put(line, "%s", line->name);
    if (line->op->number != 0) put(line, "%llu", (unsigned long long)line->op->number);
    line_run(line);
    if (line->status == 0 && line->op->number != 0 &&
        number_of(line, "generation") != (double)line->op->number)
        (void)trouble_of(line, "%s", line->printed);
}

static void run_pages(struct line *line)
{
    static const char *const words[] = {"auto", "small", "huge"};
    put(line, "%s", line->name);
    put(line, "%s", words[line->op->number % 3]);
    line_run(line);
}

static void run_sync(struct line *line)
{
    put(line, "--json");
    put(line, "%s", line->name);
    line_run(line);
    if (line->status == 0) line->out->counts[0] = (uint64_t)number_of(line, "items");
}

static void run_merge_line(struct line *line)
{
    const bool anew = line->op->kind == OP_MERGED;
    if ((line->op->flags & TAMIS_MERGE_INTERSECT) != 0) put(line, "--intersect");
    put(line, "--");
    if (anew) put(line, "%s", names[line->op->name]);
    put(line, "%s", line->name);
    put(line, "%s", line->source);
    if (anew) put(line, "%s", line->name);
    line_run(line);
}

static void run_compare(struct line *line)
{
    put(line, "--json");
    put(line, "--");
    put(line, "%s", line->name);
    put(line, "%s", line->source);
    line_run(line);
    if (line->status == 0) (void)shows_comparison(line);
}

/* ---- What is made of files ------------------------------------------------------------------- */

static void stream_path(const struct line *line, char path[700])
{
    (void)snprintf(path, 700, "%s.files", line->cli->world->path);
    (void)mkdir(path, 0700);
    (void)snprintf(path, 700, "%s.files/a stream", line->cli->world->path);
}

static void run_export_line(struct line *line)
{
    char path[700];
    struct world *w = line->cli->world;
    const struct op *op = line->op;
    stream_path(line, path);
    put(line, "--force");
    put(line, "--to=%s", tamis_format_name(op->format));
    if ((op->flags & TAMIS_EXPORT_WITH_KEY) != 0) put(line, "--with-key");
    if ((op->flags & TAMIS_EXPORT_WITH_DIGEST) != 0) put(line, "--digest");
    put(line, "--");
    put(line, "%s", line->name);
    put(line, "%s", path);
    line_run(line);
    w->streams[op->stream].bytes = 0;
    if (line->status != 0) return;
    FILE *file = fopen(path, "re");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        (void)trouble_of(line, "no file");
        return;
    }
    const size_t bytes = (size_t)ftell(file);
    unsigned char *data = realloc(w->streams[op->stream].data, bytes + 1);
    rewind(file);
    if (data == NULL || fread(data, 1, bytes, file) != bytes) err(1, "%s", path);
    (void)fclose(file);
    w->streams[op->stream].data = data;
    w->streams[op->stream].bytes = bytes;
    w->streams[op->stream].format = op->format;
    w->streams[op->stream].like.size = sizeof w->streams[op->stream].like;
    if (tamis_filter_segment(w->filters[op->slot], 0, &w->streams[op->stream].like) < 0)
        err(1, "%s", tamis_last_error());
}

static void run_import_line(struct line *line)
{
    char path[700];
    const struct op *op = line->op;
    const struct world *w = line->cli->world;
    const struct tamis_segment_stat *like = &w->streams[op->stream].like;
    const char *format = tamis_format_name(w->streams[op->stream].format);
    stream_path(line, path);
    FILE *file = fopen(path, "we");
    if (file == NULL || fwrite(w->streams[op->stream].data, 1, w->streams[op->stream].bytes,
                               file) != w->streams[op->stream].bytes)
        err(1, "%s", path);
    (void)fclose(file);
    put(line, "--from=%s", format);
    if (strcmp(format, "redis-bitmap") == 0) {
        put(line, "--hash-set=%s", like->hash_set);
        put(line, "--bits=%llu", (unsigned long long)like->m_bits);
        put(line, "--hashes=%u", like->k);
    }
    if (op->kind == OP_IMPORT) {
        if ((op->flags & TAMIS_IMPORT_DURABLE) != 0) put(line, "--durable");
    } else {
        put(line, "--publish");
        put(line, "--json");
        if ((op->flags & TAMIS_PUBLISH_IF_CHANGED) != 0) put(line, "--if-changed");
        if ((op->flags & TAMIS_PUBLISH_NEWER) != 0) put(line, "--newer-than-mine");
        if ((op->flags & TAMIS_PUBLISH_KEEP) != 0)
            put(line, "--keep=%llu", (unsigned long long)op->number);
        line->hex = true;
        put(line, "--hex");
        put_file(line, "--except", &op->except, lists[2]);
    }
    put(line, "--");
    put(line, "%s", line->name);
    put(line, "%s", path);
    line_run(line);
    if (line->status == 0 && op->kind == OP_PUBLISH) (void)reads_published(line);
}

static void run_build_line(struct line *line)
{
    const struct op *op = line->op;
    const struct op_spec *s = &op->spec;
    put(line, "--json");
    put(line, "--hex");
    put(line, "--allow-empty");
    put(line, "--memory=1MiB");
    put(line, "--threads=%u", 1 + op->keys.count % 2);
    line->hex = true;
    if (s->rate != 0) put(line, "-p%.17g", s->rate);
    if (s->kind != 0) put(line, "--kind=%s", tamis_kind_name(s->kind));
    if (s->capacity != 0) put(line, "-n%llu", (unsigned long long)s->capacity);
    if (s->set != 0) put(line, "--hash-set=%s", hash_sets[s->set]);
    if (s->seed != 0) put(line, "--seed=%llu", (unsigned long long)s->seed);
    if ((op->flags & TAMIS_BUILD_IF_CHANGED) != 0) put(line, "--if-changed");
    if ((op->flags & TAMIS_BUILD_KEEP) != 0)
        put(line, "--keep=%llu", (unsigned long long)op->number);
    if (op->except.count > 0) put_file(line, "--except", &op->except, lists[2]);
    if (op->against.count > 0) put_file(line, "--against", &op->against, lists[1]);
    put(line, "%s", line->name);
    put_file(line, one_in(line, 2) ? "" : NULL, &op->keys, lists[0]);
    line_run(line);
    if (line->status != 0 || !reads_built(line)) return;
    const struct op look = {.kind = OP_EXCEPTIONS, .name = op->name};
    const int64_t rc = line->out->rc;
    struct outcome *out = line->out;
    const struct tamis_build_result built = out->built;
    const int64_t began = out->began;
    line->cli->api.run(line->cli->api.self, &look, out);
    out->rc = rc;
    out->built = built;
    out->began = began;
}

/* ---- What is shown: the calls say it too, and the model judges them ----------------------------
 */

static void run_info(struct line *line)
{
    put(line, "--json");
    put_name(line);
    line_run(line);
    if (line->status == 0) (void)shows_filter(line, line->cli->world->filters[line->op->slot]);
}

static void run_list_line(struct line *line)
{
    put(line, "--json");
    put(line, (line->op->flags & 1u) != 0 ? "--live" : "--recorded");
    if ((line->op->flags & 2u) != 0) put(line, "%c", names[line->op->name][0]);
    line_run(line);
    if (line->status != (line->out->listed == 0 ? 1 : 0))
        (void)trouble_of(line, "status %d, %u listed", line->status, line->out->listed);
    line->status = 0;
    (void)shows_list(line);
}

static void run_generations_line(struct line *line)
{
    put(line, "--json");
    put_name(line);
    line_run(line);
    if (line->status == 0) (void)shows_generations(line);
}

static void run_exceptions_line(struct line *line)
{
    const struct outcome *out = line->out;
    const char *piece = NULL;
    size_t bytes = 0;
    line->hex = true;
    put(line, "--hex");
    put(line, "%s", line->name);
    put(line, "list");
    line_run(line);
    for (uint32_t i = 0; line->status == 0 && i < out->exceptions; i++) {
        unsigned char data[KEY_BYTES_MAX];
        const struct tamis_key key = {data, key_of(out->exception[i].key, data)};
        if (!next_piece(line, &piece, &bytes) || !is_key(line, piece, bytes, &key)) {
            (void)trouble_of(line, "exception %u", i);
            return;
        }
    }
    if (line->status == 0 && next_piece(line, &piece, &bytes)) (void)trouble_of(line, "more");
}

/* ---- One operation --------------------------------------------------------------------------- */

/* SHOWS: the call is made too, before it.  HANDLE: the name is that of the handle's filter. */
enum { SHOWS = 1, HANDLE = 2 };
static const struct {
    const char *command, *word; /* word: the one behind the name */
    void (*run)(struct line *line);
    unsigned is;
} commands[OP_COUNT_OF] = {
    [OP_CREATE] = {"create", NULL, run_create, 0},
    [OP_OPEN_OR_CREATE] = {"create", NULL, run_create, 0},
    [OP_ADD] = {"add", NULL, line_add, HANDLE},
    [OP_ADD_BATCH] = {"add", NULL, line_add, HANDLE},
    [OP_ASK] = {"check", NULL, line_ask, HANDLE},
    [OP_ASK_BATCH] = {"check", NULL, line_ask, HANDLE},
    [OP_REMOVE] = {"remove", NULL, line_remove, HANDLE},
    [OP_REMOVE_BATCH] = {"remove", NULL, line_remove, HANDLE},
    [OP_COUNT] = {"count", NULL, line_count, HANDLE},
    [OP_COUNT_BATCH] = {"count", NULL, line_count, HANDLE},
    [OP_SYNC] = {"sync", NULL, run_sync, HANDLE},
    [OP_ROTATE] = {"rotate", NULL, run_named, HANDLE},
    [OP_STAT] = {"info", NULL, run_info, SHOWS | HANDLE},
    [OP_COMPARE] = {"compare", NULL, run_compare, SHOWS | HANDLE},
    [OP_MERGE] = {"merge", NULL, run_merge_line, HANDLE},
    [OP_MERGED] = {"merge", NULL, run_merge_line, HANDLE},
    [OP_EXPORT] = {"export", NULL, run_export_line, HANDLE},
    [OP_IMPORT] = {"import", NULL, run_import_line, 0},
    [OP_PUBLISH] = {"import", NULL, run_import_line, 0},
    [OP_BUILD] = {"build", NULL, run_build_line, 0},
    [OP_GENERATIONS] = {"generations", NULL, run_generations_line, SHOWS},
    [OP_ROLLBACK] = {"rollback", NULL, run_rollback, 0},
    [OP_EXCEPT] = {"except", "add", line_except, 0},
    [OP_UNEXCEPT] = {"except", "remove", line_remove, 0},
    [OP_EXCEPTIONS] = {"except", NULL, run_exceptions_line, SHOWS},
    [OP_RENAME] = {"rename", NULL, run_rename, 0},
    [OP_DROP] = {"drop", NULL, run_named, 0},
    [OP_SET_PAGES] = {"pages", NULL, run_pages, 0},
    [OP_LIST] = {"list", NULL, run_list_line, SHOWS},
    [OP_VERIFY] = {"verify", NULL, run_named, SHOWS},
    [OP_REPAIR] = {"repair", NULL, run_named, SHOWS},
};

/* What no command line says; the calls do it. */
static bool is_expressible(const struct op *op, const struct world *w)
{
    const unsigned owned = op->kind == OP_IMPORT ? TAMIS_IMPORT_OWNED : 0;
    const bool makes = op->kind == OP_CREATE || op->kind == OP_OPEN_OR_CREATE;
    if (commands[op->kind].run == NULL || op->where != CHILD_ANEW || op->fault != NO_FAULT ||
        op->store == STORES - 1 || (op->kind == OP_BUILD && op->spec.on_full != 0))
        return false;
    if (makes && ((op->spec.flags & TAMIS_FILTER_OWNED) != 0 || op->spec.secret != 0 ||
                  op->spec.window_ns % SECOND != 0))
        return false;
    if (op->kind == OP_MERGE && op->flags != 0) return false;
    if (op->kind == OP_MERGED && tamis_filter_exists(w->stores[op->store], names[op->name]) == 1)
        return false; /* the command merges into it */
    if (op->kind == OP_EXPORT && (op->flags & TAMIS_EXPORT_WITHOUT_EXCEPTIONS) != 0) return false;
    if ((op->kind == OP_IMPORT || op->kind == OP_PUBLISH) && (op->flags & 0x4000u) != 0)
        return false;
    return (op->flags & owned) == 0;
}

/* The command has failed.  The call must fail too, and the model judges its code; the sentence is
 * the command's. */
static void judge_failure(struct line *line)
{
    char said[sizeof line->out->sentence];
    struct outcome *out = line->out;
    (void)snprintf(said, sizeof said, "%s", line->said);
    const bool sentence =
        strncmp(said, "tamis: ", 7) == 0 && said[strlen(said) - 1] == '\n' && strlen(said) > 20;
    if (commands[line->op->kind].is & SHOWS) {
        if (out->rc >= 0) (void)trouble_of(line, "it fails, and the call does not: %s", said);
    } else {
        line->cli->api.run(line->cli->api.self, line->op, out);
        if (out->ran && out->rc >= 0)
            (void)trouble_of(line, "it fails, and the call does not: %s", said);
    }
    if (!sentence ||
        (line->bytes > 0 && strchr(said, '\n')[1] == '\0' && line->op->kind == OP_DROP))
        (void)trouble_of(line, "status 2, and the sentence is '%s'", said);
    (void)snprintf(out->sentence, sizeof out->sentence, "%s", said);
}

static const char *filter_name(tamis_filter *filter, struct tamis_filter_stat *stat)
{
    stat->size = sizeof *stat;
    return filter != NULL && tamis_filter_stat(filter, stat) == 0 ? stat->name : NULL;
}

static uint64_t mixed(const struct op *op)
{
    uint64_t x = op->kind + 64u * (op->name + 8u * (op->keys.from + 70000ull * op->keys.count));
    x = (x ^ op->number ^ op->flags ^ op->spec.m_bits ^ op->spec.capacity) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 31;
}

/* Also where nothing was asked about it: what is shown of the filter now. */
static void look_again(struct line *line)
{
    struct world *w = line->cli->world;
    tamis_filter *filter = NULL;
    if (!one_in(line, 4)) return;
    const char *name = line->op->kind == OP_RENAME ? names[line->op->other] : line->name;
    char copy[300];
    (void)snprintf(copy, sizeof copy, "%s", name);
    line->name = copy;
    if (tamis_filter_open(w->beside, copy, TAMIS_READ_ONLY, &filter) < 0) return;
    line_clear(line);
    line_begin(line, "info");
    put(line, "--json");
    put_name(line);
    line->nul = line->hex = false;
    line_run(line);
    if (line->status != 0)
        (void)trouble_of(line, "status %d: %s", line->status, line->said);
    else
        (void)shows_filter(line, filter);
    (void)tamis_filter_close(filter);
}

static void run_command(struct cli *cli, const struct op *op, struct outcome *out)
{
    struct tamis_filter_stat stat, other;
    struct world *w = cli->world;
    struct line line = {
        .cli = cli, .op = op, .out = out, .name = names[op->name], .random = mixed(op)};
    const unsigned is = commands[op->kind].is;
    if ((is & HANDLE) != 0) line.name = filter_name(w->filters[op->slot], &stat);
    if (op->kind == OP_MERGE || op->kind == OP_MERGED || op->kind == OP_COMPARE)
        line.source = filter_name(w->filters[op->source], &other);
    else
        line.source = "";
    if (line.name == NULL || line.source == NULL || (is & SHOWS) != 0)
        cli->api.run(cli->api.self, op, out); /* dropped, or to be compared */
    if (line.name == NULL || line.source == NULL || ((is & SHOWS) != 0 && !out->ran)) return;
    if ((is & SHOWS) == 0) {
        memset(out->answers, 77, op->keys.count);
        out->has = HAS_SENTENCE | HAS_ANSWERS | HAS_TIMES;
        out->began = world_now();
        out->rc = 0;
    }
    world_keys(op);
    line_begin(&line, commands[op->kind].command);
    line.word = commands[op->kind].word;
    commands[op->kind].run(&line);
    if (line.status == 2) judge_failure(&line);
    if (line.status == 0 && op->kind != OP_REMOVE && *line.said != '\0' &&
        strncmp(line.said, "tamis: ", 7) != 0 && strstr(line.said, "new") == NULL)
        (void)trouble_of(&line, "it says %s", line.said);
    if ((is & SHOWS) != 0 && line.status != 2 && out->rc < 0)
        (void)trouble_of(&line, "the call fails (%s), and it does not", out->sentence);
    out->ended = world_now();
    if (op->kind == OP_ADD || op->kind == OP_ASK || op->kind == OP_REMOVE)
        out->rc = out->rc < 0 ? out->rc : out->answers[0];
    if (w->beside != NULL && line.status == 0) look_again(&line);
    line_clear(&line);
}

static void run(void *self, const struct op *op, struct outcome *out)
{
    struct cli *cli = self;
    world_begin(cli->world, op, out);
    if (out->ran && is_expressible(op, cli->world))
        run_command(cli, op, out);
    else
        cli->api.run(cli->api.self, op, out);
}

static void look(void *self, uint32_t name, struct outcome *out)
{
    const struct cli *cli = self;
    cli->api.look(cli->api.self, name, out);
}

static uint32_t positions(void *self, uint32_t name, const struct tamis_segment_stat *segment,
                          uint32_t key, uint64_t *to)
{
    const struct cli *cli = self;
    return cli->api.positions(cli->api.self, name, segment, key, to);
}

void cli_init(struct cli *cli, struct world *world, const char *command, bool says)
{
    *cli = (struct cli){.world = world, .command = command, .says = says};
    world_executor(world, &cli->api);
}

void cli_executor(struct cli *cli, struct executor *executor)
{
    *executor = (struct executor){.self = cli, .run = run, .look = look, .positions = positions};
}

/* The command takes batches of its own size, which matters where a filter refuses keys in the
 * middle of one, and where a window of keys goes on. */
static bool takes_one_key(const struct model *model, const struct op *op)
{
    const struct filter *f = op->slot < SLOTS ? model->handles[op->slot].filter : NULL;
    if (op->kind != OP_ADD_BATCH || f == NULL) return false;
    const struct policy *p = &f->now.policy;
    return p->window_items != 0 || p->on_full == TAMIS_ON_FULL_REFUSE ||
           (p->slices > 0 && p->on_full != TAMIS_ON_FULL_GROW);
}

void cli_choose(const struct model *model, struct op *op)
{
    if (commands[op->kind].run == NULL || op->store == STORES - 1) return;
    if (op->kind == OP_BUILD && op->spec.kind != TAMIS_KIND_FUSE &&
        model->filters[op->name] != NULL)
        return; /* what happens when it is full is that of the one before */
    op->where = CHILD_ANEW;
    op->inner = 0;
    op->spec.secret = 0;
    if (op->kind == OP_BUILD) op->spec.on_full = 0;
    op->spec.flags &= ~TAMIS_FILTER_OWNED;
    op->spec.window_ns = (op->spec.window_ns + SECOND - 1) / SECOND * SECOND;
    if (op->kind == OP_IMPORT || op->kind == OP_PUBLISH) op->flags &= ~0x5000u;
    if (op->kind == OP_IMPORT) op->flags &= ~(uint32_t)TAMIS_IMPORT_OWNED;
    if (op->kind == OP_EXPORT) op->flags &= ~(uint32_t)TAMIS_EXPORT_WITHOUT_EXCEPTIONS;
    if ((commands[op->kind].is & HANDLE) == 0) op->slot = SLOTS; /* a command leaves no handle */
    if (takes_one_key(model, op)) op->keys.count = 1;
    if (op->keys.count > 3000) op->keys.count = 3000;
}

const char *cli_texts(struct cli *cli, const char *script, uint64_t seed)
{
    static char said[900];
    char line[1500];
    size_t used = 0;
    (void)snprintf(line, sizeof line, "TAMIS_MODEL_CLOCK=%lld python3 -B '%s' '%s' '%s' %llu 2>&1",
                   (long long)*cli->world->now, script, cli->command, cli->world->path,
                   (unsigned long long)seed);
    FILE *from = popen(line, "re"); // NOLINT(cert-env33-c): a fixed command
    if (from == NULL) err(1, "%s", line);
    for (int c; (c = fgetc(from)) != EOF;)
        if (used + 1 < sizeof said) said[used++] = (char)c;
    said[used] = '\0';
    return pclose(from) == 0 ? NULL : said;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* run_cli.c: operations as command lines; see run_cli.h. */
#include "run_cli.h"
#include "auto.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define SECOND INT64_C(1000000000)

/* ---- Filters --------------------------------------------------------------------------------- */

static void put_spec(struct line *line)
{
    const struct op_spec *s = &line->op->spec;
    if (s->window_items == 0) put_number(line, "--capacity", s->capacity);
    if (s->rate != 0) put(line, "-p|%.17g", s->rate);
    if (s->kind != 0) put(line, "--kind=%s", tamis_kind_name(s->kind));
    if (s->set != 0) put(line, "--hash-set=%s", hash_sets[s->set]);
    put_number(line, "--seed", s->seed);
}

static void run_create(struct line *line)
{
    static const char *const pages[] = {"", "--pages=small", "--pages=huge"};
    const struct op_spec *s = &line->op->spec;
    put_spec(line);
    put_number(line, "--bits", s->m_bits);
    put_number(line, "--hashes", s->k);
    put_number(line, "--counter-bits", s->counter_bits);
    put_number(line, "--slices", s->slices);
    if (s->on_full != 0) put(line, "--on-full=%s", tamis_on_full_name(s->on_full));
    if (s->window_items != 0) put(line, "--window=%llukeys", (unsigned long long)s->window_items);
    if (s->window_ns != 0) put(line, "--window=%llds", (long long)(s->window_ns / SECOND));
    put(line, "%s|%s|%s|%s|--|NAME", line->op->kind == OP_OPEN_OR_CREATE ? "--if-missing" : "",
        (s->flags & TAMIS_FILTER_FROM_FIRST) != 0 ? "--window-from=first" : "",
        (s->flags & TAMIS_FILTER_DURABLE) != 0 ? "--durable" : "", pages[s->pages]);
    line_run(line);
}

static void run_store(struct line *line)
{
    const bool is_repair = line->op->kind == OP_REPAIR,
               flag = (line->op->flags & (is_repair ? TAMIS_REPAIR_DRY_RUN : 1u)) != 0;
    if (flag) put(line, is_repair ? "--dry-run" : "--|NAME");
    line_run(line);
}

static void run_rollback(struct line *line)
{
    char number[24] = "";
    if (line->op->number != 0)
        (void)snprintf(number, sizeof number, "%llu", (unsigned long long)line->op->number);
    put(line, "--json|NAME|%s", number);
    line_run(line);
    if (line->status == 0 && *number != '\0' &&
        number_of(line, "generation") != (double)line->op->number)
        (void)trouble_of(line, "%s", line->printed);
}

static void run_pages(struct line *line)
{
    static const char *const words[] = {"auto", "small", "huge"};
    put(line, "NAME|%s", words[line->op->number % 3]);
    line_run(line);
}

static void run_merge_line(struct line *line)
{
    const bool anew = line->op->kind == OP_MERGED;
    if ((line->op->flags & TAMIS_MERGE_INTERSECT) != 0) put(line, "--intersect");
    put(line, "--|%s|NAME|SOURCE|%s", anew ? names[line->op->name] : "", anew ? line->name : "");
    line_run(line);
}

/* ---- What is made of files ------------------------------------------------------------------- */

static void run_export_line(struct line *line)
{
    struct world *w = line->cli->world;
    const struct op *op = line->op;
    const char *path = path_of(line, "a stream");
    size_t bytes = 0;
    put(line, "--force|--to=%s|%s|%s", tamis_format_name(op->format),
        (op->flags & TAMIS_EXPORT_WITH_KEY) != 0 ? "--with-key" : "",
        (op->flags & TAMIS_EXPORT_WITH_DIGEST) != 0 ? "--digest" : "");
    may_put(line, 2, "--json");
    put(line, "--|NAME|%s", path);
    line_run(line);
    w->streams[op->stream].bytes = 0;
    if (line->status != 0) return;
    free(w->streams[op->stream].data);
    w->streams[op->stream].data = (unsigned char *)read_all(path, &bytes);
    w->streams[op->stream].bytes = bytes;
    w->streams[op->stream].format = op->format;
    w->streams[op->stream].like.size = sizeof w->streams[op->stream].like;
    if (tamis_filter_segment(w->filters[op->slot], 0, &w->streams[op->stream].like) < 0)
        err(1, "%s", tamis_last_error());
    if (line->bytes > 0 && number_of(line, "bytes") != (double)bytes)
        (void)trouble_of(line, "%zu bytes are written: %s", bytes, line->printed);
}

/* `pull` is `import --publish --if-changed` of a URL. */
static void run_import_line(struct line *line)
{
    const struct op *op = line->op;
    const struct world *w = line->cli->world;
    const struct tamis_segment_stat *like = &w->streams[op->stream].like;
    const char *format = tamis_format_name(w->streams[op->stream].format);
    const bool publishes = op->kind == OP_PUBLISH;
    const bool pulls =
        PULLS && publishes && (op->flags & TAMIS_PUBLISH_IF_CHANGED) != 0 && one_in(line, 2);
    const char *path = path_of(line, pulls ? "stream" : "a stream"); /* a URL has no blank */
    FILE *file = fopen(path, "we");
    if (file == NULL || fwrite(w->streams[op->stream].data, 1, w->streams[op->stream].bytes,
                               file) != w->streams[op->stream].bytes)
        err(1, "%s", path);
    (void)fclose(file);
    if (pulls) {
        line_clear(line);
        line_begin(line, "pull");
    }
    put(line, "--from=%s", format);
    if (strcmp(format, "redis-bitmap") == 0)
        put(line, "--hash-set=%s|--bits=%llu|--hashes=%u", like->hash_set,
            (unsigned long long)like->m_bits, like->k);
    if (!publishes && (op->flags & TAMIS_IMPORT_DURABLE) != 0) put(line, "--durable");
    if (publishes) {
        put(line, "--json|--hex|%s|%s|%s", pulls ? "" : "--publish",
            !pulls && (op->flags & TAMIS_PUBLISH_IF_CHANGED) != 0 ? "--if-changed" : "",
            (op->flags & TAMIS_PUBLISH_NEWER) != 0 ? "--newer-than-mine" : "");
        if ((op->flags & TAMIS_PUBLISH_KEEP) != 0)
            put(line, "--keep=%llu", (unsigned long long)op->number);
        put_file(line, "--except", &op->except, lists[2]);
    }
    put(line, pulls ? "--|NAME|file://%s" : "--|NAME|%s", path);
    line_run(line);
    if (line->status == 0 && publishes) (void)reads_published(line);
}

static void run_build_line(struct line *line)
{
    const struct op *op = line->op;
    put(line, "--json|--hex|--allow-empty|--memory=1MiB|--threads=%u|%s", 1 + op->keys.count % 2,
        (op->flags & TAMIS_BUILD_IF_CHANGED) != 0 ? "--if-changed" : "");
    put_spec(line);
    if ((op->flags & TAMIS_BUILD_KEEP) != 0)
        put(line, "--keep=%llu", (unsigned long long)op->number);
    if (op->except.count > 0) put_file(line, "--except", &op->except, lists[2]);
    if (op->against.count > 0) put_file(line, "--against", &op->against, lists[1]);
    put(line, "NAME");
    put_file(line, one_in(line, 2) ? "" : NULL, &op->keys, lists[0]);
    line_run(line);
    if (line->status != 0 || !reads_built(line)) return;
    line->cli->world->out = line->out; /* the model wants the exceptions that it found */
    if (tamis_filter_exceptions(line->cli->world->stores[op->store], line->name, tell_exception,
                                line->cli->world) < 0)
        (void)trouble_of(line, "%s", tamis_last_error());
}

/* ---- What is shown: the calls say it too, and the model judges them ----------------------------
 */

static bool shows_handle(struct line *line)
{
    return shows_filter(line, line->cli->world->filters[line->op->slot]);
}

static bool shows_sync(struct line *line)
{
    return shows_synced(line, line->cli->world->filters[line->op->slot]);
}

static void run_list_line(struct line *line)
{
    put(line, (line->op->flags & 1u) != 0 ? "--live" : "--recorded");
    if ((line->op->flags & 2u) != 0) put(line, "%c", names[line->op->name][0]);
    line_run(line);
    if (line->status != (line->out->listed == 0 ? 1 : 0))
        (void)trouble_of(line, "status %d, %u listed", line->status, line->out->listed);
    line->status = 0;
}

static bool shows_exceptions(struct line *line)
{
    const struct outcome *out = line->out;
    const char *piece = NULL;
    size_t bytes = 0;
    line->hex = true;
    for (uint32_t i = 0; i < out->exceptions; i++) {
        unsigned char data[KEY_BYTES_MAX];
        const struct tamis_key key = {data, key_of(out->exception[i].key, data)};
        if (!next_piece(line, '\n', &piece, &bytes) || !is_key(line, piece, bytes, &key))
            return trouble_of(line, "exception %u", i);
    }
    return !next_piece(line, '\n', &piece, &bytes) || trouble_of(line, "more");
}

/* ---- One operation --------------------------------------------------------------------------- */

/* SHOWS: the call is made too, before it.  HANDLE: the name is that of the handle's filter. */
enum { SHOWS = 1, HANDLE = 2 };
static const struct {
    const char *command, *words;    /* the words are put first */
    void (*run)(struct line *line); /* puts more words; NULL: there are none */
    unsigned is;
    bool (*shows)(struct line *line); /* is what was printed right? */
    const char *word;                 /* the one behind the name */
} commands[OP_COUNT_OF] = {
    [OP_CREATE] = {.command = "create", .run = run_create},
    [OP_OPEN_OR_CREATE] = {.command = "create", .run = run_create},
    [OP_ADD] = {.command = "add", .run = line_add, .is = HANDLE},
    [OP_ADD_BATCH] = {.command = "add", .run = line_add, .is = HANDLE},
    [OP_ASK] = {.command = "check", .run = line_ask, .is = HANDLE},
    [OP_ASK_BATCH] = {.command = "check", .run = line_ask, .is = HANDLE},
    [OP_REMOVE] = {.command = "remove", .run = line_remove, .is = HANDLE},
    [OP_REMOVE_BATCH] = {.command = "remove", .run = line_remove, .is = HANDLE},
    [OP_COUNT] = {.command = "count", .run = line_count, .is = HANDLE},
    [OP_COUNT_BATCH] = {.command = "count", .run = line_count, .is = HANDLE},
    [OP_SYNC] = {.command = "sync", .words = "--json|NAME", .is = HANDLE, .shows = shows_sync},
    [OP_ROTATE] = {.command = "rotate", .words = "--|NAME", .is = HANDLE},
    [OP_STAT] = {.command = "info",
                 .words = "--json|--|NAME",
                 .is = SHOWS | HANDLE,
                 .shows = shows_handle},
    [OP_COMPARE] = {.command = "compare",
                    .words = "--json|--|NAME|SOURCE",
                    .is = SHOWS | HANDLE,
                    .shows = shows_comparison},
    [OP_MERGE] = {.command = "merge", .run = run_merge_line, .is = HANDLE},
    [OP_MERGED] = {.command = "merge", .run = run_merge_line, .is = HANDLE},
    [OP_EXPORT] = {.command = "export", .run = run_export_line, .is = HANDLE},
    [OP_IMPORT] = {.command = "import", .run = run_import_line},
    [OP_PUBLISH] = {.command = "import", .run = run_import_line},
    [OP_BUILD] = {.command = "build", .run = run_build_line},
    [OP_GENERATIONS] = {.command = "generations",
                        .words = "--json|--|NAME",
                        .is = SHOWS,
                        .shows = shows_generations},
    [OP_ROLLBACK] = {.command = "rollback", .run = run_rollback},
    [OP_EXCEPT] = {.command = "except", .run = line_except, .word = "add"},
    [OP_UNEXCEPT] = {.command = "except", .run = line_remove, .word = "remove"},
    [OP_EXCEPTIONS] = {.command = "except",
                       .words = "--hex|NAME|list",
                       .is = SHOWS,
                       .shows = shows_exceptions},
    [OP_RENAME] = {.command = "rename", .words = "NAME|OTHER"},
    [OP_DROP] = {.command = "drop", .words = "--|NAME"},
    [OP_SET_PAGES] = {.command = "pages", .run = run_pages},
    [OP_LIST] = {.command = "list",
                 .words = "--json",
                 .run = run_list_line,
                 .is = SHOWS,
                 .shows = shows_list},
    [OP_VERIFY] = {.command = "verify", .run = run_store, .is = SHOWS},
    [OP_REPAIR] = {.command = "repair", .run = run_store, .is = SHOWS},
};

/* What cli_choose() has made expressible; the calls do the rest. */
static bool is_expressible(const struct op *op, const struct world *w)
{
    return commands[op->kind].command != NULL && op->where == CHILD_ANEW && op->fault == NO_FAULT &&
           op->store != STORES - 1 &&
           (op->kind != OP_MERGED || /* the command would merge into it */
            tamis_filter_exists(w->stores[op->store], names[op->name]) != 1);
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
    if (line->op->kind == OP_RENAME) line->name = names[line->op->other];
    if (tamis_filter_open(w->beside, line->name, TAMIS_OPEN_READ_ONLY, &filter) < 0) return;
    line_clear(line);
    line_begin(line, "info");
    put(line, "--json|--|NAME");
    line_run(line);
    if (line->status != 0)
        (void)trouble_of(line, "status %d: %s", line->status, line->said);
    else
        (void)shows_filter(line, filter);
    close_anyhow(filter);
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
    if (commands[op->kind].words != NULL) put(&line, "%s", commands[op->kind].words);
    if (commands[op->kind].run != NULL)
        commands[op->kind].run(&line);
    else
        line_run(&line);
    if (line.status == 0 && commands[op->kind].shows != NULL) (void)commands[op->kind].shows(&line);
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

/* A build without --on-full has the policy of the filter in force, where that has one to take and
 * either was built or refuses (build.c).  false: the model does not know. */
static bool takes_policy(const struct model *model, struct op *op)
{
    const struct filter *f = model->filters[op->name];
    op->spec.on_full = 0;
    if (f == NULL || op->spec.kind == TAMIS_KIND_FUSE) return true;
    const struct tamis_segment_stat *newest = &f->now.list.segments[f->now.list.count - 1]->is;
    if (newest->kind == TAMIS_KIND_FUSE || newest->counter_bits != 0) return true;
    if (f->now.built || f->now.policy.on_full == TAMIS_ON_FULL_REFUSE)
        op->spec.on_full = f->now.policy.on_full;
    return !f->now.maybe_built;
}

void cli_choose(const struct model *model, struct op *op)
{
    if (commands[op->kind].command == NULL || op->store == STORES - 1) return;
    op->where = CHILD_ANEW;
    op->inner = 0;
    op->spec.secret = 0;
    op->spec.flags &= ~(uint32_t)TAMIS_FILTER_OWNED;
    op->spec.window_ns = (op->spec.window_ns + SECOND - 1) / SECOND * SECOND;
    if (op->kind == OP_BUILD && !takes_policy(model, op)) op->where = HERE;
    if (op->kind == OP_IMPORT || op->kind == OP_PUBLISH) op->flags &= ~(OF_A_DATE | WITH_NOTES);
    if (op->kind == OP_IMPORT) op->flags &= ~(uint32_t)TAMIS_IMPORT_OWNED;
    if (op->kind == OP_EXPORT) op->flags &= ~(uint32_t)TAMIS_EXPORT_WITHOUT_EXCEPTIONS;
    if (op->kind == OP_MERGE) op->flags = 0;
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * create.c: tamis create NAME|--names FILE -n CAPACITY [-p RATE] | -m BITS -k HASHES | --like OTHER
 *
 * The one command that makes the store if it is not there, but only for a filter that it can then
 * make: name, parameters and room are checked first, so that bad input leaves nothing behind.
 *
 * Which of -n, -p, -m and -k a hash set needs the library knows; here only what holds for all.
 */
#include "command.h"
#include "fields.h"
#include "name_list.h"
#include "planned.h"
#include "remote/remote.h"

#define TAKES_SHAPE                                                                                \
    (TAKES(CAPACITY) | TAKES(RATE) | TAKES(BITS) | TAKES(HASHES) | TAKES(KIND) | TAKES(HASH_SET) | \
     TAKES(SEED) | TAKES(COUNTER_BITS) | TAKES(ON_FULL) | TAKES(WINDOW) | TAKES(WINDOW_FROM) |     \
     TAKES(SLICES) | TAKES(DURABLE) | TAKES(PAGES) | TAKES(KEY_RULE))

/* What --like may be given beside: the new filter is of another size. */
#define TAKES_SIZE (TAKES(CAPACITY) | TAKES(RATE))

/* Do the options say what to make? */
static bool create_options_suffice(const struct invocation *call)
{
    const struct options *options = &call->options;
    bool bits = options_have(options, TAKES(BITS));
    bool hashes = options_have(options, TAKES(HASHES));
    bool set = options_have(options, TAKES(HASH_SET)); /* may say what k is */
    const bool many = options_have(options, TAKES(NAMES));
    if (!many && options_have(options, TAKES(ZERO))) {
        (void)cli_fail_usage(call->command, "-z goes with --names");
    } else if (many && call->arg_count > 0) {
        (void)cli_fail_usage(call->command, "give NAME or --names, not both");
    } else if (many && options_have(options, TAKES(JSON))) {
        (void)cli_fail_usage(call->command,
                             "--json prints one new filter; with --names leave it out, and use "
                             "list --json");
    } else if (!many && call->arg_count == 0) {
        (void)cli_fail_usage(call->command, "arguments are missing: create takes NAME");
    } else if (options_have(options, TAKES(LIKE))) {
        if (!options_have(options, TAKES_SHAPE & ~TAKES_SIZE)) return true;
        (void)cli_fail_usage(call->command,
                             "--like takes everything but -n and -p from '%s'; leave the other "
                             "parameters out",
                             options->like);
    } else if (bits != hashes && !set) {
        (void)cli_fail_usage(call->command, "-m BITS and -k HASHES go together; %s is missing",
                             bits ? "-k" : "-m");
    } else if (options->window_items != 0 && options_have(options, TAKES(CAPACITY)) &&
               options->window_items != options->capacity) {
        (void)cli_fail_usage(
            call->command,
            "--window of %ju key%s contradicts -n %ju: the window of a filter by "
            "keys is its capacity; leave one of them out, or give --window a time, "
            "such as 30m",
            (uintmax_t)options->window_items, text_plural(options->window_items),
            (uintmax_t)options->capacity);
    } else if (!bits && !options_have(options, TAKES(CAPACITY)) && options->window_items == 0) {
        (void)cli_fail_usage(call->command,
                             "give -n CAPACITY, or -m BITS and -k HASHES, or --like OTHER");
    } else {
        return true;
    }
    return false;
}

static struct tamis_filter_spec spec_from_options(const struct options *options)
{
    return (struct tamis_filter_spec){
        .size = sizeof(struct tamis_filter_spec),
        .capacity = options->capacity,
        .fp_rate = options->fp_rate,
        .kind = options->kind,
        .k = options->k,
        .m_bits = options->m_bits,
        .hash_set = options->hash_set,
        .seed = options->seed,
        .flags = (options_have(options, TAKES(DURABLE)) ? TAMIS_FILTER_DURABLE : 0) |
                 (options->window_from ? TAMIS_FILTER_FROM_FIRST : 0),
        .counter_bits = options->counter_bits,
        .on_full = options->on_full,
        .slices = options->slices,
        .window_ns = options->window_ns,
        .window_items = options->window_items,
        .pages = options->pages,
        .key_rule = options->key_rule};
}

/* What a spec points to. */
struct spec_texts {
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    char key_rule[TAMIS_KEY_RULE_MAX + 1];
};

/* Fills *spec so that it makes a filter like the one of that name, of the size that the options
 * give. */
static bool spec_from_filter(tamis_store *store, const struct options *options,
                             struct tamis_filter_spec *spec, struct spec_texts *texts)
{
    tamis_filter *filter = cli_filter_open(store, options->like, TAMIS_OPEN_READ_ONLY);
    if (filter == NULL) return false;
    int rc = tamis_filter_like(filter, spec, texts->hash_set);
    if (rc < 0) (void)cli_fail_library();
    if (rc == 0 && spec->key_rule != NULL) {
        (void)snprintf(texts->key_rule, sizeof texts->key_rule, "%s", spec->key_rule);
        spec->key_rule = texts->key_rule;
    }
    if (options_have(options, TAKES_SIZE)) spec->m_bits = spec->k = 0; /* they follow */
    if (options_have(options, TAKES(CAPACITY))) spec->capacity = options->capacity;
    if (options_have(options, TAKES(CAPACITY)) && spec->window_items != 0)
        spec->window_items = options->capacity;
    if (options_have(options, TAKES(RATE))) spec->fp_rate = options->fp_rate;
    return cli_filter_close(filter, CLI_DONE) == CLI_DONE && rc == 0;
}

/* ---- --dry-run ------------------------------------------------------------------------------ */

static int print_plan(const struct invocation *call, const struct planned *planned,
                      const char *name)
{
    json_t *line = json_new();
    json_put(line, "name", json_text(name));
    json_put(line, "kind", json_text(tamis_kind_name(planned->first.kind)));
    planned_put(planned, line);
    if (cli_given(call, TAKES(JSON))) {
        json_print(call->out, line);
        return CLI_DONE;
    }
    const char *field;
    json_t *value;
    json_object_foreach(line, field, value)
    {
        out_format(call->out, "%s: ", field);
        if (json_is_string(value))
            out_text(call->out, json_string_value(value));
        else
            json_write(call->out, value);
        out_char(call->out, '\n');
    }
    json_decref(line);
    char *growth = planned_growth(planned);
    if (growth != NULL) out_format(call->out, "growth: %s\n", growth);
    free(growth);
    return CLI_DONE;
}

/* Shows what would be made of each name, and makes nothing.  `store` is NULL if there is none. */
static int show_plans(const struct invocation *call, tamis_store *store, const char *path,
                      const struct tamis_filter_spec *spec, const struct names *names)
{
    struct planned planned;
    if (planned_of(spec, &planned) < 0) return cli_fail_library();
    if (spec->m_bits == 0) /* what was asked for, of which the first segment has a share */
        planned.first.fp_rate = spec->fp_rate != 0 ? spec->fp_rate : TAMIS_FP_RATE_DEFAULT;
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->names[i];
        const int there = store != NULL ? tamis_filter_exists(store, name) : 0;
        if (there < 0) return cli_fail_library();
        if (there > 0 && !cli_given(call, TAKES(IF_MISSING)))
            return cli_fail("the filter '%s' exists already; choose another name", name);
        if (there > 0) continue;
        if (tamis_filter_check(path, name, spec) < 0) return cli_fail_library();
        if (print_plan(call, &planned, name) != CLI_DONE) return CLI_ERROR;
    }
    return CLI_DONE;
}

static int show_planned(const struct invocation *call, const struct names *names)
{
    struct tamis_filter_spec spec = spec_from_options(&call->options);
    struct spec_texts texts;
    tamis_store *store = NULL;
    char *path = cli_store_path(call);
    if (path == NULL) return CLI_ERROR;
    const struct tamis_store_options options = cli_store_options(call, TAMIS_OPEN_READ_ONLY);
    const int rc = tamis_store_open_with(path, &options, &store);
    int status = CLI_DONE;
    if (rc < 0 && (rc != TAMIS_ENOSTORE || cli_given(call, TAKES(LIKE))))
        status = cli_fail_library();
    else if (cli_given(call, TAKES(LIKE)) &&
             !spec_from_filter(store, &call->options, &spec, &texts))
        status = CLI_ERROR;
    if (status == CLI_DONE) status = show_plans(call, store, path, &spec, names);
    tamis_store_close(store);
    free(path);
    return status;
}

/* ---- Making --------------------------------------------------------------------------------- */

/* Opens the store. If there is no store, makes one, but only if the filter could then be made in
 * it. */
static tamis_store *open_store(const struct invocation *call, const char *name,
                               const struct tamis_filter_spec *spec)
{
    tamis_store *store = NULL;
    char *path = cli_store_path(call);
    if (path == NULL) return NULL;
    struct tamis_store_options options = cli_store_options(call, 0);
    options.mode = call->options.mode;
    int rc = tamis_store_open_with(path, &options, &store);
    if (rc == TAMIS_ENOSTORE && !cli_given(call, TAKES(LIKE))) {
        rc = tamis_filter_check(path, name, spec);
        options.flags |= TAMIS_OPEN_CREATE;
        if (rc == 0) rc = tamis_store_open_with(path, &options, &store);
    }
    if (rc < 0) (void)cli_fail_library();
    free(path);
    return store;
}

static int create(const struct invocation *call, tamis_store *store,
                  const struct tamis_filter_spec *spec)
{
    tamis_filter *filter = NULL;
    const char *name = call->args[0];
    int rc = cli_given(call, TAKES(IF_MISSING))
                 ? tamis_filter_open_or_create(store, name, spec, &filter)
                 : tamis_filter_create(store, name, spec, &filter);
    if (rc < 0) return cli_fail_library();
    int status = CLI_DONE;
    if (cli_given(call, TAKES(JSON))) status = view_show_json(call->out, filter, 0);
    if (spec->hash_set != NULL) cli_tell_weakness(spec->hash_set);
    return cli_say_done(cli_filter_close(filter, status), name, "is there");
}

/* After an error those are there that the library had made before, and with --if-missing those that
 * were there. */
static int fail_many(tamis_store *store, const struct names *names)
{
    size_t there;
    char *sentence = cli_strdup(tamis_last_error());
    int status = name_list_count(names, store, &there);
    if (status == CLI_DONE)
        status = cli_fail("%s (filters that are there: %zu of %zu)", sentence, there, names->count);
    free(sentence);
    return status;
}

static int create_many(const struct invocation *call, tamis_store *store,
                       const struct tamis_filter_spec *spec, const struct names *names)
{
    const bool if_missing = cli_given(call, TAKES(IF_MISSING));
    if (!if_missing && name_list_check_absent(names, store) != CLI_DONE) return CLI_ERROR;
    if (tamis_filter_create_many(store, (const char *const *)names->names, names->count, spec,
                                 if_missing ? TAMIS_MANY_IF_MISSING : 0) < 0)
        return fail_many(store, names);
    if (spec->hash_set != NULL) cli_tell_weakness(spec->hash_set);
    return CLI_DONE;
}

/* `names` are those of --names, or there is one, which is the argument. */
static int create_named(const struct invocation *call, const struct names *names)
{
    struct tamis_filter_spec spec = spec_from_options(&call->options);
    struct spec_texts texts;
    tamis_store *store = open_store(call, names->names[0], &spec);
    if (store == NULL) return CLI_ERROR;
    int status = CLI_ERROR;
    if (!cli_given(call, TAKES(LIKE)) || spec_from_filter(store, &call->options, &spec, &texts))
        status = cli_given(call, TAKES(NAMES)) ? create_many(call, store, &spec, names)
                                               : create(call, store, &spec);
    tamis_store_close(store);
    return status;
}

static int run_create(struct invocation *call)
{
    struct names names = {0};
    int status = CLI_DONE;
    if (!create_options_suffice(call)) return CLI_ERROR;
    if (cli_given(call, TAKES(NAMES)))
        status = name_list_read(&names, call);
    else
        names_add(&names, call->args[0]);
    if (status == CLI_DONE && names.count > 0)
        status = cli_given(call, TAKES(DRY_RUN)) ? show_planned(call, &names)
                                                 : create_named(call, &names);
    names_clear(&names);
    return status;
}

static int show_created_remote(struct invocation *call)
{
    struct filter_view view;
    if (view_of_call(call, 0, &view) != CLI_DONE) return CLI_ERROR;
    json_print(call->out, view_json(&view));
    return CLI_DONE;
}

/* That of the filter that it is like. */
static int tell_weakness(struct invocation *call)
{
    struct tamis_filter_stat stat;
    if (cli_stat(call, &stat) != CLI_DONE) return CLI_ERROR;
    cli_tell_weakness(stat.hash_set);
    return CLI_DONE;
}

static int run_create_remote(struct invocation *call)
{
    const struct remote_spec spec = {.spec = spec_from_options(&call->options),
                                     .like =
                                         cli_given(call, TAKES(LIKE)) ? call->options.like : NULL,
                                     .shards = call->options.shards,
                                     .if_missing = cli_given(call, TAKES(IF_MISSING))};
    if (!create_options_suffice(call)) return CLI_ERROR;
    if (cli_given(call, TAKES(DRY_RUN)))
        return cli_fail_usage(call->command, "a server makes no plan; leave --dry-run out, or "
                                             "--store redis://...");
    if (cli_given(call, TAKES(LIKE)) && cli_given(call, TAKES(SHARDS)))
        return cli_fail_usage(call->command, "--like takes the shards too; leave --shards out");
    if (cli_given(call, TAKES(LIKE)) && cli_given(call, TAKES_SIZE))
        return cli_fail_usage(call->command,
                              "on a server --like takes everything from '%s'; leave -n and -p out",
                              call->options.like);
    if (remote_create(call->remote_store, call->args[0], &spec) < 0) return CLI_ERROR;
    const int status =
        cli_given(call, TAKES(JSON)) ? cli_with_filter(call, 0, show_created_remote) : CLI_DONE;
    if (spec.spec.hash_set != NULL) cli_tell_weakness(spec.spec.hash_set);
    if (status == CLI_DONE && spec.like != NULL) return cli_with_filter(call, 0, tell_weakness);
    return status;
}

const struct command cli_command_create = {
    .name = "create",
    .summary = "make an empty filter",
    .operands = "NAME",
    .options = TAKES_SHAPE | TAKES(LIKE) | TAKES(IF_MISSING) | TAKES(JSON) | TAKES(MODE) |
               TAKES(SHARDS) | TAKES(NAMES) | TAKES(ZERO) | TAKES(DRY_RUN),
    .args_optional = true, /* --names may take its place */
    .run = run_create,
    .run_remote = run_create_remote,
};

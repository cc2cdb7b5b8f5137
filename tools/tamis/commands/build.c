/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build.c: tamis build NAME [FILE...]
 *
 * Before the first file is read, run_build_command() checks that all of them are there. All files
 * are read before anything is made, and the library publishes the result in one step. So whatever
 * fails or stops the command, the generation that was in force stays.
 */
#include <unistd.h>

#include "command.h"
#include "covered.h"
#include "form.h"
#include "input/input.h"
#include "input/keys.h"
#include "pile.h"
#include "record.h"

/* What is done with the lines of a file: one of the library's calls. */
typedef int take_fn(tamis_build *build, const struct tamis_key *keys, size_t count);

struct work {
    const struct invocation *call;
    const char *name;
    tamis_store *store;
    tamis_build *build;
    uint64_t keys;                         /* read so far, of files of every sort */
    uint64_t bytes;                        /* the same */
    char key_rule[TAMIS_KEY_RULE_MAX + 1]; /* of the filter; "": bytes */
    bool is_there;                         /* there is such a filter */
    bool rule_is_open;                     /* the first file that has keys says which rule */
    struct covered *covered;               /* the names of the list; NULL: none were read yet */
    struct covered_counts counts;
};

#define RULE_OF_NAMES "name"
#define LABELS 4 /* that a name has, about: so many questions are a question for it */

static const char *rule_of(const struct work *work)
{
    return work->key_rule[0] != '\0' ? work->key_rule : "bytes";
}

/* ---- What is built ------------------------------------------------------------------------- */

static int show_build_progress(void *context, uint32_t phase, uint64_t done, uint64_t all)
{
    static const char *const steps[] = {[TAMIS_BUILD_SORTING] = "sorting",
                                        [TAMIS_BUILD_MAKING] = "making",
                                        [TAMIS_BUILD_VERIFYING] = "verifying"};
    (void)context;
    if (interrupt_signal()) return TAMIS_EIO;
    if (phase < sizeof steps / sizeof *steps && steps[phase] != NULL)
        progress_update_step(steps[phase], done, all);
    return 0;
}

/* A shard has another seed than 0, if its hash set has a seed. */
static uint64_t seed_of(const struct options *options)
{
    const bool has_seed =
        !options_have(options, TAKES(HASH_SET)) || strcmp(options->hash_set, "xxh3") == 0;
    const bool is_chosen = options_have(options, TAKES(SEED));
    if (options_have(options, TAKES(SHARD)) && has_seed && !is_chosen) return TAMIS_SHARD_SEED;
    return options->seed;
}

static bool is_rule_of_names(const char *rule)
{
    const size_t bytes = strlen(RULE_OF_NAMES);
    return strncmp(rule, RULE_OF_NAMES, bytes) == 0 && (rule[bytes] == '\0' || rule[bytes] == ':');
}

/* The rate of one question, where the rate that is asked for is that of a name and its parents. */
static double rate_of(const struct work *work)
{
    const struct options *options = &work->call->options;
    const bool is_given = options_have(options, TAKES(RATE));
    if (!is_rule_of_names(rule_of(work)) || (work->is_there && !is_given)) return options->fp_rate;
    const double rate = (is_given ? options->fp_rate : TAMIS_FP_RATE_DEFAULT) / LABELS;
    return rate > TAMIS_FP_RATE_MIN ? rate : TAMIS_FP_RATE_MIN;
}

static struct tamis_filter_spec filter_of(const struct work *work)
{
    const struct options *options = &work->call->options;
    return (struct tamis_filter_spec){.size = sizeof(struct tamis_filter_spec),
                                      .capacity = options->capacity,
                                      .fp_rate = rate_of(work),
                                      .kind = options->kind,
                                      .hash_set = options->hash_set,
                                      .seed = seed_of(options),
                                      .key_rule = work->key_rule[0] ? work->key_rule : NULL};
}

static struct tamis_build_spec spec_of(const struct options *options,
                                       const struct tamis_filter_spec *filter)
{
    struct tamis_build_spec spec = {.size = sizeof spec,
                                    .filter = filter,
                                    .memory_bytes = options->memory_bytes,
                                    .threads = options->threads,
                                    .keep = options->keep,
                                    .progress = show_build_progress};
    if (options_have(options, TAKES(IF_CHANGED))) spec.flags |= TAMIS_BUILD_IF_CHANGED;
    if (options_have(options, TAKES(KEEP))) spec.flags |= TAMIS_BUILD_KEEP;
    if (options_have(options, TAKES(AT_LEAST))) spec.at_least = options->at_least;
    if (options_have(options, TAKES(MAX_SHRINK))) {
        spec.flags |= TAMIS_BUILD_MAX_SHRINK;
        spec.max_shrink = options->max_shrink;
    }
    return spec;
}

/* ---- The key rule ------------------------------------------------------------------------- */

/* Begins the build, or begins it anew with the key rule that is known now. */
static bool begin(struct work *work)
{
    const struct tamis_filter_spec filter = filter_of(work);
    const struct tamis_build_spec spec = spec_of(&work->call->options, &filter);
    tamis_build_close(work->build);
    work->build = NULL;
    if (tamis_build_begin(work->store, work->name, &spec, &work->build) == 0) return true;
    (void)cli_fail_library();
    return false;
}

static void set_rule(struct work *work, const char *rule)
{
    work->rule_is_open = false;
    (void)snprintf(work->key_rule, sizeof work->key_rule, "%s", rule);
}

/* A list of names makes a filter of names, if nothing else has said what its keys are.  The first
 * keys of the build are about to be taken.  false after a message. */
static bool settle_rule(struct work *work, const struct format *format)
{
    if (!work->rule_is_open) return true;
    work->rule_is_open = false;
    if (!format->has_names) return true;
    set_rule(work, RULE_OF_NAMES);
    return begin(work);
}

static int take_rule_in_force(void *context, const struct tamis_filter_stat *stat)
{
    struct work *work = context;
    if (strcmp(stat->name, work->name) != 0) return 1; /* the name itself would come first */
    work->is_there = true;
    if (work->call->options.key_rule == NULL) set_rule(work, stat->key_rule);
    return 1;
}

/* Looks for the filter in force.  One that cannot be opened is in the list of the store still. */
static bool look_in_force(struct work *work)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    tamis_filter *filter = NULL;
    int rc = tamis_filter_open(work->store, work->name, TAMIS_OPEN_READ_ONLY, &filter);
    if (rc == TAMIS_ENOTFOUND) return true;
    if (rc == 0) rc = tamis_filter_stat(filter, &stat);
    if (rc == 0)
        (void)take_rule_in_force(work, &stat);
    else
        rc = tamis_store_list(work->store, work->name, take_rule_in_force, work);
    tamis_filter_release(filter);
    if (rc < 0) (void)cli_fail_library();
    return rc >= 0;
}

/* Only who reads with Tamis makes forms: a set of another system is for others. */
static bool hash_set_is_own(const struct options *options)
{
    return !options_have(options, TAKES(HASH_SET)) || strcmp(options->hash_set, "xxh3") == 0 ||
           strcmp(options->hash_set, "sip") == 0;
}

/* The rule that is given, or that of the filter in force, or that of the format, if it is given. */
static bool find_rule(struct work *work)
{
    const struct options *options = &work->call->options;
    const struct format *format =
        cli_given(work->call, TAKES(FORMAT)) ? format_named(options->format) : NULL;
    work->rule_is_open = hash_set_is_own(options);
    if (options->key_rule != NULL) set_rule(work, options->key_rule);
    if (!look_in_force(work)) return false;
    if (work->rule_is_open && format != NULL)
        set_rule(work, format->has_names ? RULE_OF_NAMES : "");
    return true;
}

/* ---- The files ----------------------------------------------------------------------------- */

/* The files that hold the keys; standard input if no FILE is given. */
static struct option_files files_of_keys(const struct invocation *call)
{
    static const char *standard[] = {"-"};
    if (call->arg_count == 1) return (struct option_files){standard, 1};
    return (struct option_files){(const char **)(uintptr_t)(call->args + 1), call->arg_count - 1};
}

static bool build_options_suffice(const struct invocation *call, uint64_t *all_bytes)
{
    const struct option_files files = files_of_keys(call);
    unsigned standard = 0;
    *all_bytes = 0;
    if (!key_source_format_is_sound(call)) return false;
    if (!inputs_are_there(&files, all_bytes, &standard) ||
        !inputs_are_there(&call->options.except, all_bytes, &standard) ||
        !inputs_are_there(&call->options.against, all_bytes, &standard))
        return false;
    if (standard <= 1) return true;
    (void)cli_fail_usage(call->command,
                         "standard input can be read once only, and is named %u times", standard);
    return false;
}

/* ---- Names below a listed one --------------------------------------------------------------- */

static bool drops_covered(const struct work *work)
{
    return cli_given(work->call, TAKES(DROP_COVERED));
}

/* Notes names of the list, or such as are, or may become, exceptions.  false after a message. */
static bool note_names(struct work *work, take_fn *take, const struct tamis_key *keys, size_t count)
{
    if (work->covered == NULL) {
        char *directory = cli_store_path(work->call);
        if (directory != NULL) work->covered = covered_new(directory);
        free(directory);
        if (work->covered == NULL) return false;
    }
    if (take == tamis_build_add) return covered_add(work->covered, rule_of(work), keys, count);
    covered_except(work->covered, rule_of(work), keys, count);
    return true;
}

/* An exception that somebody made by hand stays when the list is built. */
static int note_exception(void *context, const struct tamis_key *key, uint64_t generation)
{
    struct work *work = context;
    if (generation == 0) covered_except(work->covered, rule_of(work), key, 1);
    return 0;
}

static int add_uncovered(void *context, struct tamis_key *keys, size_t count);

/* Counts the names below a listed one, and builds the others if those are to be dropped. */
static int settle_covered(struct work *work)
{
    if (drops_covered(work) && !is_rule_of_names(rule_of(work)))
        return cli_fail("--drop-covered leaves out names below a listed one, and here keys are not "
                        "names (key rule %s); leave it out, or give --key-rule name",
                        rule_of(work));
    if (work->covered == NULL) return CLI_DONE;
    if (work->is_there &&
        tamis_filter_exceptions(work->store, work->name, note_exception, work) < 0)
        return cli_fail_library();
    const int status = covered_each(work->covered, drops_covered(work) ? add_uncovered : NULL, work,
                                    &work->counts);
    covered_free(work->covered);
    work->covered = NULL;
    return status;
}

static void tell_covered(const struct work *work)
{
    char covered[TEXT_COUNT_BYTES], names[TEXT_COUNT_BYTES];
    text_count(covered, work->counts.covered);
    text_count(names, work->counts.names);
    if (work->counts.covered == 0 || cli_given(work->call, TAKES(QUIET))) return;
    if (drops_covered(work))
        cli_tell("note: %s of %s names were left out, as a parent of each is listed: check "
                 "--parents finds it",
                 covered, names);
    else
        cli_tell("note: %s of %s names have a listed parent, by which check --parents finds them; "
                 "--drop-covered leaves them out",
                 covered, names);
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* The keys of one file, and what is done with them. */
struct reading {
    struct work *work;
    struct key_source *source;
    take_fn *take;
};

/* Keeps the keys of the shard that --shard names, in their order; returns how many these are. */
static size_t keep_shard(const struct work *work, struct tamis_key *keys, size_t count)
{
    const struct option_shard *shard = &work->call->options.shard;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (form_shard(rule_of(work), &keys[i], shard->count) == shard->number)
            keys[kept++] = keys[i];
    return kept;
}

static int take_keys(struct work *work, take_fn *take, struct tamis_key *keys, size_t count)
{
    const struct options *options = &work->call->options;
    if (options_have(options, TAKES(SHARD))) count = keep_shard(work, keys, count);
    if (count == 0 || take(work->build, keys, count) >= 0) return CLI_DONE;
    return interrupt_signal() ? CLI_ERROR : cli_fail_library();
}

static int add_uncovered(void *context, struct tamis_key *keys, size_t count)
{
    return take_keys(context, tamis_build_add, keys, count);
}

static int take_batch(void *context, size_t count)
{
    const struct reading *reading = context;
    struct work *work = reading->work;
    struct tamis_key *keys = reading->source->keys;
    if (!settle_rule(work, reading->source->taking.format)) return CLI_ERROR;
    const bool of_names = is_rule_of_names(rule_of(work));
    if (of_names && !note_names(work, reading->take, keys, count)) return CLI_ERROR;
    if (of_names && reading->take == tamis_build_add && drops_covered(work))
        return CLI_DONE; /* settle_covered() adds the names that stay */
    return take_keys(work, reading->take, keys, count);
}

/* The exceptions that a list names itself (@@||name^). */
static int take_exceptions(struct work *work, const struct format *format,
                           const struct pile *exceptions)
{
    if (exceptions->count == 0) return CLI_DONE;
    if (!settle_rule(work, format)) return CLI_ERROR;
    struct tamis_key *keys = pile_keys(exceptions);
    const bool good = !is_rule_of_names(rule_of(work)) ||
                      note_names(work, tamis_build_except, keys, exceptions->count);
    const int rc = good ? tamis_build_except(work->build, keys, exceptions->count) : 0;
    free(keys);
    if (!good) return CLI_ERROR;
    return rc < 0 ? cli_fail_library() : CLI_DONE;
}

static int read_file(struct work *work, const char *path, take_fn *take, uint64_t *keys)
{
    struct input *input = input_open(path);
    if (input == NULL) return CLI_ERROR;
    if (input->fd == STDIN_FILENO && isatty(STDIN_FILENO) == 1)
        cli_tell("reading keys from the terminal, one a line; end with Ctrl-D");
    struct key_source *source = key_source_of(work->call, input);
    struct pile exceptions = {0};
    source->guesses |= !cli_given(work->call, TAKES(FORMAT));
    if (take == tamis_build_add) {
        source->taking.exceptions = &exceptions;
        source->rule_of_names = work->rule_is_open ? RULE_OF_NAMES : rule_of(work);
    }
    source->keys_before = work->keys;
    source->bytes_before = work->bytes;
    struct reading reading = {.work = work, .source = source, .take = take};
    int status = key_source_each(source, take_batch, &reading);
    if (status == CLI_DONE) status = take_exceptions(work, source->taking.format, &exceptions);
    pile_clear(&exceptions);
    *keys += source->keys_done;
    work->keys += source->keys_done;
    work->bytes += input->done_bytes;
    key_source_free(source);
    input_close(input);
    return interrupt_signal() ? CLI_ERROR : status;
}

static int read_files(struct work *work, const struct option_files *files, take_fn *take)
{
    uint64_t keys = 0;
    for (size_t i = 0; i < files->count; i++)
        if (read_file(work, files->paths[i], take, &keys) != CLI_DONE) return CLI_ERROR;
    return CLI_DONE;
}

/* A download that failed in the night leaves an empty list, and if that were published, everything
 * would pass. If one of several files is empty, a note says so; if all are empty, the build is
 * refused. */
static int read_keys(struct work *work)
{
    const struct option_files files = files_of_keys(work->call);
    uint64_t all = 0;
    for (size_t i = 0; i < files.count; i++) {
        uint64_t keys = 0;
        if (read_file(work, files.paths[i], tamis_build_add, &keys) != CLI_DONE) return CLI_ERROR;
        all += keys;
        if (keys == 0 && files.count > 1)
            cli_tell("note: there is no key in %s", input_name(files.paths[i]));
    }
    work->rule_is_open = false; /* files of exceptions do not say it */
    if (all > 0 || cli_given(work->call, TAKES(ALLOW_EMPTY))) return CLI_DONE;
    return cli_fail("there is no key in the input; if that is meant, give --allow-empty");
}

static int read_all(struct work *work)
{
    const struct options *options = &work->call->options;
    if (read_keys(work) != CLI_DONE ||
        read_files(work, &options->except, tamis_build_except) != CLI_DONE ||
        read_files(work, &options->against, tamis_build_against) != CLI_DONE)
        return CLI_ERROR;
    return settle_covered(work);
}

/* ---- Building ------------------------------------------------------------------------------ */

#define OF_RESULT(how, member) RECORD_MEMBER(how, tamis_build_result, member)

static const struct field FIELDS_OF_RESULT[] = {
    {"generation", OF_RESULT(U64, generation)}, {"keys", OF_RESULT(U64, keys)},
    {"distinct", OF_RESULT(U64, distinct)},     {"exceptions", OF_RESULT(U64, exceptions)},
    {"found", OF_RESULT(U64, found)},           {"conflicts", OF_RESULT(U64, conflicts)},
    {"sampled", OF_RESULT(U64, sampled)},       {"sampled_yes", OF_RESULT(U64, sampled_yes)},
    {"size_bytes", OF_RESULT(U64, size_bytes)}, {"key_digest", OF_RESULT(DIGEST, key_digest)},
};

static void print_build_json(const struct work *work, const struct tamis_build_result *result,
                             bool published, double seconds)
{
    json_t *line = json_new();
    json_put(line, "name", json_text(work->name));
    json_put(line, "published", json_boolean(published));
    record_put(line, FIELDS(FIELDS_OF_RESULT), 0, result);
    if (is_rule_of_names(rule_of(work)))
        json_put(line, "covered", json_unsigned(work->counts.covered));
    json_put(line, "seconds", json_rate(seconds));
    json_print(work->call->out, line);
}

static void print_stats(const struct tamis_build_result *result, double seconds)
{
    char size[32], line[320];
    text_size(size, sizeof size, (double)result->size_bytes);
    const int bytes =
        snprintf(line, sizeof line,
                 "%" PRIu64 " key%s, %" PRIu64 " distinct, generation %" PRIu64 ", %s, %" PRIu64
                 " exception%s (%" PRIu64 " found), %" PRIu64 " of %" PRIu64
                 " other keys answer present, %.3f s\n",
                 result->keys, text_plural(result->keys), result->distinct, result->generation,
                 size, result->exceptions, text_plural(result->exceptions), result->found,
                 result->sampled_yes, result->sampled, seconds);
    if (write(STDERR_FILENO, line, (size_t)bytes) < 0) return; /* nowhere to tell it */
}

static void tell_result(const struct work *work, const struct tamis_build_result *result,
                        bool published, double seconds)
{
    if (cli_given(work->call, TAKES(JSON))) print_build_json(work, result, published, seconds);
    tell_covered(work);
    const bool silent =
        !published && cli_given(work->call, TAKES(QUIET)); /* as it was told before */
    if (!published && !silent)
        cli_tell("'%s' has these keys already; generation %" PRIu64 " stays in force", work->name,
                 result->generation);
    if (result->conflicts > 0 && !silent)
        cli_tell("note: keys of --against are also keys of the filter (%" PRIu64
                 " of them), so they answer yes",
                 result->conflicts);
    if (cli_given(work->call, TAKES(STATS))) print_stats(result, seconds);
}

static int failed(void)
{
    if (interrupt_signal()) return cli_interrupted("; nothing was published");
    return cli_fail("nothing was published");
}

static int build(struct work *work, uint64_t all_bytes)
{
    const double start = progress_clock();
    struct tamis_build_result result = {.size = sizeof result};
    progress_start(&work->call->options, all_bytes);
    const int status = read_all(work);
    int rc = 0;
    if (status == CLI_DONE) rc = tamis_build_publish(work->build, &result);
    progress_end();
    if (rc < 0 && !interrupt_signal()) (void)cli_fail_library();
    if (status != CLI_DONE || rc < 0) return failed();
    tell_result(work, &result, rc > 0, progress_clock() - start);
    return CLI_DONE;
}

static int run_build_command(struct invocation *call)
{
    uint64_t all_bytes;
    struct work work = {.call = call, .name = call->args[0]};
    const struct tamis_filter_spec any = {.size = sizeof any, .capacity = 1};
    if (!build_options_suffice(call, &all_bytes)) return CLI_ERROR;
    if (tamis_filter_check(NULL, work.name, &any) < 0) return cli_fail_library();
    interrupt_catch();
    work.store = cli_store_open(call, TAMIS_OPEN_CREATE);
    if (work.store == NULL) return CLI_ERROR;
    int status = CLI_ERROR;
    if (find_rule(&work) && begin(&work)) status = build(&work, all_bytes);
    covered_free(work.covered);
    tamis_build_close(work.build);
    tamis_store_close(work.store);
    return status;
}

const struct command cli_command_build = {
    .name = "build",
    .summary = "make a filter anew from all its keys, and publish it",
    .operands = "NAME [FILE...]",
    .options = TAKES_KEYS | TAKES_PROGRESS | TAKES(RATE) | TAKES(KIND) | TAKES(CAPACITY) |
               TAKES(HASH_SET) | TAKES(SEED) | TAKES(EXCEPT) | TAKES(AGAINST) | TAKES(IF_CHANGED) |
               TAKES(KEEP) | TAKES(ALLOW_EMPTY) | TAKES(MEMORY) | TAKES(THREADS) | TAKES(STATS) |
               TAKES(QUIET) | TAKES(SHARD) | TAKES(KEY_RULE) | TAKES(DROP_COVERED) | TAKES_GUARDS,
    .run = run_build_command,
};

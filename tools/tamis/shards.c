/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shards.c: a sharded filter as a directory of streams; see shards.h.
 *
 * The directory is written under another name beside it, and gets its name when all is in it.
 */
#include "shards.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "private_store.h"
#include "remote/remote.h"
#include "stream.h"

#define DESCRIPTION "shards"
#define VERSION "1"
#define VERSION_KEY_RULE "2" /* a reader that does not know it would look into other shards */
#define SHARDS_MOST 65536u

static char *path_in(const char *directory, const char *name)
{
    return cli_format("%s/%s", directory, name);
}

static char *shard_path(const char *directory, uint32_t shard)
{
    return cli_format("%s/%u.tamis", directory, shard);
}

bool shards_are_there(const char *path)
{
    char *description = path_in(path, DESCRIPTION);
    const bool are = access(description, F_OK) == 0;
    free(description);
    return are;
}

/* ---- Out ------------------------------------------------------------------------------------- */

static bool describe_shards(const char *directory, const struct remote_shards *shards)
{
    char *path = path_in(directory, DESCRIPTION);
    const bool has_rule = shards->key_rule[0] != '\0';
    FILE *file = fopen(path, "wx");
    bool good = file != NULL &&
                fprintf(file,
                        "tamis %s\nshards %u\ncapacity %" PRIu64
                        "\nrate %.17g\nkind %s\nseed %" PRIu64 "\n",
                        has_rule ? VERSION_KEY_RULE : VERSION, shards->shards, shards->capacity,
                        shards->fp_rate, tamis_kind_name(shards->kind), shards->seed) > 0;
    if (good && has_rule) good = fprintf(file, "key_rule %s\n", shards->key_rule) > 0;
    if (file != NULL && fclose(file) != 0) good = false;
    if (!good) cli_tell("cannot write %s: %s", path, strerror(errno));
    free(path);
    return good;
}

static int export_shard(const struct invocation *call, uint32_t shard, const char *directory,
                        bool with_key)
{
    char *path = shard_path(directory, shard);
    struct stream *stream = stream_write_file(path, false);
    int rc = -1;
    if (stream != NULL) {
        const struct tamis_sink sink = stream_sink(stream);
        rc = remote_export(call->remote, shard, "tamis", with_key, &sink, &stream->all_bytes);
        if (rc == 0 && !stream_keep(stream)) rc = -1;
    }
    stream_close(stream);
    free(path);
    return rc;
}

/* The directory is whole and gets its name; one that has it goes, with --force. */
static int keep_directory(const char *temporary, const char *path, bool force)
{
    char *old = cli_format("%s.old", temporary);
    const bool there = access(path, F_OK) == 0;
    int rc = 0;
    if (there && !force)
        rc = stream_fail_exists(path);
    else if (there && !shards_are_there(path))
        rc = cli_fail("%s is there and is no export of shards; name another directory", path);
    else if ((there && rename(path, old) != 0) || rename(temporary, path) != 0)
        rc = cli_fail("cannot make %s: %s", path, strerror(errno));
    if (there && rc == 0) tree_remove(old);
    free(old);
    return rc;
}

static bool can_export(const struct invocation *call, const struct remote_shards *shards)
{
    const char *path = call->args[1];
    if (strcmp(call->options.peer, "tamis") != 0)
        (void)cli_fail(
            "'%s' is in shards, which only format tamis can hold; export it with --to tamis",
            call->args[0]);
    else if (strcmp(path, "-") == 0)
        (void)cli_fail("'%s' is in %u shards, which are exported to a directory; name one, not -",
                       call->args[0], shards->shards);
    else if (shards->seed > 1 && !cli_given(call, TAKES(WITH_KEY)))
        (void)cli_fail(
            "filter '%s': the streams would hold the seed of the filter, and anybody who "
            "has it can choose keys that seem present; if you want them all the same, give "
            "--with-key, and keep them as secret as the store",
            call->args[0]);
    else if (access(path, F_OK) == 0 && !cli_given(call, TAKES(FORCE)))
        (void)stream_fail_exists(path);
    else
        return true;
    return false;
}

int shards_export(const struct invocation *call)
{
    struct remote_shards shards;
    if (remote_tell_shards(call->remote, &shards) < 0 || !can_export(call, &shards))
        return CLI_ERROR;
    char *temporary = cli_format("%s.XXXXXX", call->args[1]);
    int status = CLI_ERROR;
    if (mkdtemp(temporary) == NULL) {
        cli_tell("cannot make %s: %s", call->args[1], strerror(errno));
    } else {
        progress_start(&call->options, 0);
        /* The usual seed of shards is no secret. */
        const bool with_key = shards.seed == 1 || cli_given(call, TAKES(WITH_KEY));
        int rc = describe_shards(temporary, &shards) ? 0 : -1;
        for (uint32_t i = 0; rc == 0 && i < shards.shards; i++)
            rc = export_shard(call, i, temporary, with_key);
        progress_end();
        if (rc == 0)
            status = keep_directory(temporary, call->args[1], cli_given(call, TAKES(FORCE)));
        else if (interrupt_signal())
            status = cli_interrupted(" while writing %s; nothing was replaced", call->args[1]);
        if (status != CLI_DONE) tree_remove(temporary);
    }
    free(temporary);
    return status;
}

/* ---- In -------------------------------------------------------------------------------------- */

static void take_line(struct remote_shards *shards, const char *name, const char *value)
{
    if (strcmp(name, "shards") == 0) shards->shards = (uint32_t)strtoul(value, NULL, 10);
    if (strcmp(name, "capacity") == 0) shards->capacity = strtoull(value, NULL, 10);
    if (strcmp(name, "rate") == 0) shards->fp_rate = strtod(value, NULL);
    if (strcmp(name, "seed") == 0) shards->seed = strtoull(value, NULL, 10);
    if (strcmp(name, "key_rule") == 0)
        (void)snprintf(shards->key_rule, sizeof shards->key_rule, "%s", value);
    if (strcmp(name, "kind") == 0 && tamis_kind_from_name(value, &shards->kind) < 0)
        shards->kind = 0;
}

static bool read_description(const char *directory, struct remote_shards *shards)
{
    char *path = path_in(directory, DESCRIPTION);
    char name[16], value[TAMIS_KEY_RULE_MAX + 1];
    bool is_ours = false;
    FILE *file = fopen(path, "r");
    *shards = (struct remote_shards){0};
    if (file == NULL) cli_tell("cannot read %s: %s", path, strerror(errno));
    while (file != NULL && fscanf(file, "%15s %511s", name, value) == 2) {
        is_ours = is_ours || (strcmp(name, "tamis") == 0 && (strcmp(value, VERSION) == 0 ||
                                                             strcmp(value, VERSION_KEY_RULE) == 0));
        take_line(shards, name, value);
    }
    const bool good = is_ours && shards->shards >= 2 && shards->shards <= SHARDS_MOST &&
                      shards->capacity > 0 && shards->fp_rate > 0 && shards->fp_rate < 1 &&
                      shards->kind != 0;
    if (file != NULL && !good)
        cli_tell("%s does not describe a filter in shards that this version knows; export the "
                 "filter again",
                 path);
    if (file != NULL) (void)fclose(file);
    free(path);
    return good;
}

/* Are all streams there?  Called before anything is made. */
static bool streams_are_there(const char *directory, uint32_t shards)
{
    bool good = true;
    for (uint32_t i = 0; good && i < shards; i++) {
        char *path = shard_path(directory, i);
        good = access(path, R_OK) == 0;
        if (!good)
            cli_tell("cannot read %s: %s; all %u shards must be there", path, strerror(errno),
                     shards);
        free(path);
    }
    return good;
}

static int import_shard(const struct invocation *call, struct remote_filter *filter, uint32_t shard)
{
    char *path = shard_path(call->args[1], shard);
    struct stream *stream = stream_read_file(path);
    int rc = -1;
    if (stream != NULL) {
        const struct tamis_source source = stream_source(stream);
        rc = remote_import_shard(filter, shard, &source, cli_given(call, TAKES(DURABLE)));
    }
    stream_close(stream);
    free(path);
    return rc;
}

/* With --force some shards may be replaced, and the others are as they were, or are still to come.
 */
static int fail_forced(const struct invocation *call, uint32_t done, uint32_t all)
{
    if (interrupt_signal())
        return cli_interrupted(" while reading %s; %u of %u shards of '%s' are those of it, so run "
                               "the command again",
                               call->args[1], done, all, call->args[0]);
    return cli_fail("%u of %u shards of '%s' are those of %s; when the others can be brought, run "
                    "the command again",
                    done, all, call->args[0], call->args[1]);
}

int shards_import(const struct invocation *call)
{
    struct remote_shards shards;
    if (strcmp(call->options.peer, "tamis") != 0)
        return cli_fail("%s has a filter in shards, of format tamis; import it --from tamis",
                        call->args[1]);
    if (!read_description(call->args[1], &shards)) return CLI_ERROR;
    if (!streams_are_there(call->args[1], shards.shards)) return CLI_ERROR;
    const bool force = cli_given(call, TAKES(FORCE));
    struct remote_filter *filter =
        remote_import_begin(call->remote_store, call->args[0], &shards, force);
    if (filter == NULL) return CLI_ERROR;
    uint32_t done = 0;
    progress_start(&call->options, 0);
    while (done < shards.shards && import_shard(call, filter, done) == 0)
        done++;
    progress_end();
    const int rc = done == shards.shards ? remote_import_end(filter) : -1;
    remote_filter_close(filter);
    if (rc == 0) return CLI_DONE;
    if (force) return fail_forced(call, done, shards.shards);
    if (interrupt_signal())
        return cli_interrupted(" while reading %s; 'tamis drop %s' takes away what was made",
                               call->args[1], call->args[0]);
    return cli_fail("'tamis drop %s' takes away the shards that were made", call->args[0]);
}

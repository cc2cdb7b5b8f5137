/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pull.c: tamis pull NAME URL - the list at a URL becomes the next generation of NAME.
 *
 *     spool       what a pull before has received (pull/spool.h); one pull of a name at a time
 *     ask         the server for the file, if it is another one than what is in force
 *     publish     as import --publish --if-changed does, from a stream that is still being received
 *     note        which file is in force now, for the next time
 *
 * The list in force stays until the last step of the library's publication.  The begin is made
 * again if the file on the server changes while it is read.
 */
#include "command.h"
#include "publish.h"
#include "pull/download.h"
#include "pull/in_force.h"
#include "pull/patch.h"
#include "pull/spool.h"
#include "pull/url.h"
#include "redis_url.h"
#include "stream.h"

#define FORMAT_DEFAULT "tamis"
/* A signed list that is less than half as long is more likely another list, or a mistake of its
 * maker, than true.  (One that is not signed has nobody who vouches for any length.) */
#define MAX_SHRINK_DEFAULT 50
#define BEGINS_MAX 3 /* a file that has changed so often in one pull is not at rest */

struct pull {
    const struct invocation *call;
    const char *url;
    char *shown; /* the URL without what is secret */
    tamis_store *store;
    struct spool spool;
    struct publishing publishing;
    struct notes last; /* of what was last published */
    bool last_is_in_force;
    struct verification *verification; /* of the file that is asked for; NULL: it is not signed */
    bool has_signature;                /* it has the signature, and no byte of the file yet */
    struct notes base;                 /* of the spool, if it is to become the base of patches */
    bool keeps_base;
    bool patched;         /* what the spool has was made by a patch */
    unsigned cuts;        /* transfers that were cut and could not go on */
    char *why_cut;        /* the last one; NULL: the file had changed */
    const char *why_anew; /* it could not go on */
};

/* ---- The options ----------------------------------------------------------------------------- */

/* Is what comes verified?  Then it does not matter who has brought it. */
static bool is_signed(const struct invocation *call)
{
    return cli_given(call, TAKES(VERIFY));
}

static bool signature_is_good(const struct invocation *call)
{
    const char *url = call->options.signature;
    if (is_signed(call) && !verification_is_built_in()) return false;
    if (!is_signed(call))
        return options_none(call, TAKES(SIGNATURE) | TAKES(EXPECT_COMMENT),
                            "belongs to --verify, which checks it");
    if (!cli_given(call, TAKES(SIGNATURE))) return true;
    if (url_scheme(url) != URL_OTHER) return true;
    (void)cli_fail_usage(call->command, "--signature is a URL here, as that of the list is");
    return false;
}

static bool names_a_file(const char *url)
{
    char *path = url_file(url);
    const bool named = path != NULL;
    free(path);
    return named;
}

static bool url_is_good(const struct invocation *call)
{
    const char *url = call->args[1];
    const enum url_scheme scheme = url_scheme(url);
    char *shown = url_shown(url);
    const bool bare_http =
        scheme == URL_HTTP && !is_signed(call) && !cli_given(call, TAKES(INSECURE));
    if (scheme == URL_OTHER)
        (void)cli_fail_usage(call->command,
                             "'%s' is no URL that can be pulled; it begins with "
                             "https://, http:// or file:///",
                             shown);
    else if (scheme == URL_FILE && !names_a_file(url))
        (void)cli_fail_usage(call->command,
                             "'%s' names no file of this machine; it is file://, "
                             "and then the path from / on",
                             shown);
    else if (strlen(shown) >= NOTES_URL_BYTES - 1)
        (void)cli_fail("the URL is longer than %zu bytes", NOTES_URL_BYTES - 2);
    else if (bare_http)
        (void)cli_fail("%s: whoever is on the way can change what comes by http; use https://, or "
                       "--verify KEY, or --insecure if the way is your own",
                       shown);
    else if (transfer_is_ready == NULL)
        (void)cli_fail(
            "this build of tamis is without libcurl, so it cannot pull; install the package "
            "libcurl4-openssl-dev and build Tamis with TAMIS_WITH_CURL=ON, or fetch the "
            "file by another program and take it by 'tamis import --publish'");
    else {
        free(shown);
        return true;
    }
    free(shown);
    return false;
}

static bool format_is_good(const struct invocation *call)
{
    if (!cli_given(call, TAKES(FROM))) return true;
    if (!stream_peer_is_given(call, "--from")) return false;
    if (!redis_is_url(call->options.peer)) return true;
    (void)cli_fail_usage(call->command, "--from names the format here; a server's key is taken by "
                                        "'tamis import'");
    return false;
}

static bool files_are_there(const struct invocation *call)
{
    uint64_t bytes = 0;
    unsigned standard = 0;
    if (!inputs_are_there(&call->options.except, &bytes, &standard)) return false;
    if (standard <= 1) return true;
    (void)cli_fail_usage(call->command,
                         "standard input can be read once only, and is named %u times", standard);
    return false;
}

/* ---- One pull -------------------------------------------------------------------------------- */

static void tell_unchanged(const struct pull *pull, uint64_t generation)
{
    if (cli_given(pull->call, TAKES(QUIET))) return;
    cli_tell("'%s' is unchanged; generation %" PRIu64 " stays in force", pull->call->args[0],
             generation);
}

/* The digest of a stream of format tamis, if its head tells it (docs/exchange.md). */
#define HEAD_BYTES ((size_t)32)
#define DIGEST_AT ((size_t)16)

/* A list that a patch has made came without an ETag.  Asks for that of the file at the URL, and for
 * its first bytes: if these have the digest of what is in force, and the length is the same, it is
 * that file, and the next pull can ask if there is a newer one. */
static void learn_etag(struct pull *pull, struct notes *notes)
{
    uint8_t head[HEAD_BYTES];
    char digest[2 * (HEAD_BYTES - DIGEST_AT) + 1];
    struct transfer_answer answer = {.all_bytes = UINT64_MAX};
    const struct download_request request = {.call = pull->call,
                                             .spool = &pull->spool,
                                             .url = pull->url,
                                             .signed_list = is_signed(pull->call)};
    if (spool_read(&pull->spool, 0, head, sizeof head) != (int64_t)sizeof head) return;
    for (size_t i = DIGEST_AT; i < sizeof head; i++)
        (void)snprintf(digest + 2 * (i - DIGEST_AT), 3, "%02x", head[i]);
    if (strcmp(digest, notes->digest) == 0 &&
        download_begins_with(&request, head, sizeof head, &answer) &&
        answer.all_bytes == pull->spool.bytes)
        memcpy(notes->etag, answer.etag, sizeof notes->etag);
}

/* Notes which file is in force now. */
static void note_published(struct pull *pull, const struct download *download)
{
    struct notes notes = pull->spool.notes;
    notes.key[0] = '\0';
    if (pull->verification != NULL)
        (void)snprintf(notes.key, sizeof notes.key, "%s", verification_key(pull->verification));
    if (!in_force_note(pull->store, &pull->publishing, &notes)) return;
    if (download->all_bytes != UINT64_MAX) notes.bytes = download->all_bytes;
    if (pull->patched) learn_etag(pull, &notes);
    spool_write_last(&pull->spool, &notes);
    /* A patch begins from the bytes that the server had, so these must be all there, as they were.
     */
    pull->keeps_base =
        cli_given(pull->call, TAKES(PATCHES)) && download->whole && download->input->format == NULL;
    pull->base = notes;
}

/* Tells why nothing was published.  What was received is of no use if its content was refused or if
 * the disk is full; it is if the store was locked for too long, or memory was short. */
static int fail_pull(struct pull *pull, const struct download *download, int rc)
{
    if (interrupt_signal())
        return cli_interrupted(
            " while reading %s; nothing was published%s", pull->shown,
            notes_etag_is_strong(pull->spool.notes.etag) ? ", and the next pull goes on" : "");
    const bool may_pass = rc == TAMIS_EBUSY || rc == TAMIS_ENOMEM;
    const bool keeps = may_pass || (download->stream.failed && !download->refused);
    const int status = publish_fail(&download->stream, rc);
    if (!keeps || spool_room(&pull->spool) == 0) (void)spool_empty(&pull->spool);
    return status;
}

/* May what was received before, in another process or by another transfer, be what is wrong? */
static bool is_worth_another(const struct download *download, int rc)
{
    const bool of_content = rc == TAMIS_ECORRUPT || rc == TAMIS_EFOREIGN;
    return of_content && !download->stream.failed && !interrupt_signal() && download->was_joined;
}

enum outcome { PULL_ENDED, PULL_AGAIN };

/* The server says that the file is the one that was published last.  Is that in force still, as it
 * was when the server was asked? */
static enum outcome end_unchanged(struct pull *pull, int *status)
{
    struct publishing *publishing = &pull->publishing;
    struct tamis_filter_stat stat = {.size = sizeof stat};
    pull->last_is_in_force = in_force_is(pull->store, publishing, &pull->last);
    if (!pull->last_is_in_force) return PULL_AGAIN;
    tamis_filter *filter = cli_filter_open(pull->store, pull->call->args[0], TAMIS_OPEN_READ_ONLY);
    *status = filter != NULL ? CLI_DONE : CLI_ERROR;
    if (filter == NULL) return PULL_ENDED;
    if (tamis_filter_stat(filter, &stat) < 0) *status = cli_fail_library();
    *status = cli_filter_close(filter, *status);
    if (*status != CLI_DONE) return PULL_ENDED;
    if (cli_given(pull->call, TAKES(AT_LEAST)) && stat.items < pull->call->options.at_least) {
        *status = cli_fail(
            "the list for '%s' is the one in force, which has %" PRIu64 " key%s, and at "
            "least %" PRIu64 " are asked for; look where the list comes from, or give a "
            "smaller --at-least if so few are right",
            pull->call->args[0], stat.items, text_plural(stat.items), pull->call->options.at_least);
        return PULL_ENDED;
    }
    publishing->result = (struct tamis_publish_result){.size = sizeof publishing->result,
                                                       .generation = stat.generation,
                                                       .exceptions = stat.exceptions,
                                                       .size_bytes = stat.size_bytes};
    if (cli_given(pull->call, TAKES(JSON))) publish_print_json(publishing, false);
    tell_unchanged(pull, stat.generation);
    return PULL_ENDED;
}

static enum outcome publish(struct pull *pull, struct download *download, int *status)
{
    struct publishing *publishing = &pull->publishing;
    publishing->stream = &download->stream;
    publishing->flags = TAMIS_PUBLISH_IF_CHANGED;
    const int rc = publish_run(publishing, pull->store);
    if (rc < 0 && is_worth_another(download, rc)) {
        *status = spool_empty(&pull->spool);
        return *status == CLI_DONE ? PULL_AGAIN : PULL_ENDED;
    }
    if (rc < 0 && pull->patched && !interrupt_signal()) { /* then without the patch */
        pull->patched = false;
        if (pull->verification != NULL) /* which has told what is wrong */
            cli_tell("what the patch makes is left out, and the list comes whole");
        *status = spool_empty(&pull->spool);
        return *status == CLI_DONE ? PULL_AGAIN : PULL_ENDED;
    }
    if (rc < 0 && download->anew) return PULL_AGAIN;
    if (rc < 0) {
        *status = fail_pull(pull, download, rc);
        return PULL_ENDED;
    }
    note_published(pull, download);
    if (cli_given(pull->call, TAKES(JSON))) publish_print_json(publishing, rc > 0);
    if (rc == 0) tell_unchanged(pull, publishing->result.generation);
    *status = CLI_DONE;
    return PULL_ENDED;
}

/* Tries to make the file of the list that was last pulled and a patch. */
static void try_patch(struct pull *pull)
{
    size_t base_bytes = 0, bytes = 0;
    char *patch = NULL;
    struct notes base;
    void *data = spool_read_base(&pull->spool, &base, &base_bytes);
    if (data == NULL || base.resource != download_resource(pull->call, pull->url) ||
        base.digest[0] == '\0') {
        free(data);
        return;
    }
    char *suffix = cli_format(".%s.zst", base.digest), *url = url_beside(pull->url, suffix);
    const struct download_request request = {.call = pull->call,
                                             .spool = &pull->spool,
                                             .url = url,
                                             .signed_list = is_signed(pull->call),
                                             .is_optional = true};
    if (download_small(&request, base_bytes, &patch, &bytes) == TRANSFER_DONE) {
        struct notes notes = base;
        notes.etag[0] = notes.digest[0] = notes.key[0] = '\0';
        notes.bytes = 0;
        pull->patched = patch_apply(patch, bytes, data, base_bytes, download_limit(&request),
                                    &pull->spool, &notes);
        if (!pull->patched) (void)spool_empty(&pull->spool);
    }
    free(patch);
    free(url);
    free(suffix);
    free(data);
}

static void see(void *context, const void *data, size_t bytes)
{
    const struct pull *pull = context;
    verification_add(pull->verification, data, bytes);
}

static bool agrees(void *context)
{
    const struct pull *pull = context;
    return verification_end(pull->verification, pull->shown);
}

#define SIGNATURE_BYTES_MAX ((size_t)16 * 1024)

/* Gets the signature, which comes before the list.  CLI_DONE, or the exit status after a message.
 */
static int get_signature(struct pull *pull)
{
    const struct invocation *call = pull->call;
    char *text = NULL;
    size_t bytes = 0;
    verification_free(pull->verification);
    pull->publishing.verification = pull->verification = verification_new(call);
    if (pull->verification == NULL) return CLI_ERROR;
    char *name = url_name(pull->url);
    verification_expect_file(pull->verification, name);
    free(name);
    char *url = cli_given(call, TAKES(SIGNATURE)) ? cli_strdup(call->options.signature)
                                                  : url_beside(pull->url, SIGNATURE_SUFFIX);
    char *shown = url_shown(url);
    const struct download_request request = {
        .call = call, .spool = &pull->spool, .url = url, .signed_list = true};
    const enum transfer_result result =
        download_small(&request, SIGNATURE_BYTES_MAX, &text, &bytes);
    if (result == TRANSFER_ABSENT)
        (void)cli_fail("%s is not there; --verify needs the signature of the list", shown);
    const bool taken =
        result == TRANSFER_DONE && verification_take(pull->verification, shown, text, bytes);
    free(text);
    free(url);
    free(shown);
    pull->has_signature = taken;
    if (interrupt_signal()) return cli_interrupted("; nothing was published");
    return taken ? CLI_DONE : CLI_ERROR;
}

/* Is the list that was last published in force, and would it be taken today? */
static bool may_ask_if_new(const struct pull *pull)
{
    return pull->last_is_in_force && pull->last.etag[0] != '\0' &&
           (pull->verification == NULL ||
            strcmp(pull->last.key, verification_key(pull->verification)) == 0);
}

/* Notes why the file is asked for from its begin once more. */
static void note_begin(struct pull *pull, const struct download *download)
{
    pull->cuts += download->was_cut;
    free(pull->why_cut);
    pull->why_cut = download->was_cut ? cli_strdup(download->why) : NULL;
    pull->why_anew = download_why_anew(download);
}

/* Asks for the file, and publishes it. */
static enum outcome begin(struct pull *pull, int *status)
{
    enum outcome outcome = PULL_ENDED;
    struct download *download = NULL;
    const struct witness witness = {.see = see, .agrees = agrees, .context = pull};
    *status = is_signed(pull->call) && !pull->has_signature ? get_signature(pull) : CLI_DONE;
    if (*status != CLI_DONE) return PULL_ENDED;
    pull->has_signature = false;
    const struct download_request request = {.call = pull->call,
                                             .spool = &pull->spool,
                                             .url = pull->url,
                                             .signed_list = is_signed(pull->call),
                                             .witness = is_signed(pull->call) ? &witness : NULL,
                                             .if_none_match =
                                                 may_ask_if_new(pull) ? pull->last.etag : NULL,
                                             .has_all = pull->patched};
    *status = download_open(&request, &download);
    pull->publishing.stream = &download->stream;
    download->stream.format =
        cli_given(pull->call, TAKES(FROM)) ? pull->call->options.peer : FORMAT_DEFAULT;
    if (*status == CLI_DONE && download->unchanged)
        outcome = end_unchanged(pull, status);
    else if (*status == CLI_DONE)
        outcome = publish(pull, download, status);
    else if (interrupt_signal())
        *status = fail_pull(pull, download, 0);
    else if (download->anew)
        outcome = PULL_AGAIN;
    if (outcome == PULL_AGAIN) note_begin(pull, download);
    stream_close(&download->stream);
    return outcome;
}

static int run_spooled(struct pull *pull)
{
    int status = CLI_DONE;
    pull->last_is_in_force = spool_read_last(&pull->spool, &pull->last) &&
                             strcmp(pull->last.name, pull->call->args[0]) == 0 &&
                             pull->last.resource == download_resource(pull->call, pull->url) &&
                             in_force_is(pull->store, &pull->publishing, &pull->last);
    if (cli_given(pull->call, TAKES(PATCHES)) && patch_apply != NULL && pull->spool.bytes == 0) {
        /* Nothing is unpacked before there is a signature for what comes of it. */
        if (is_signed(pull->call)) status = get_signature(pull);
        if (status != CLI_DONE) return status;
        try_patch(pull);
    }
    for (unsigned i = 0; i - pull->cuts < BEGINS_MAX && pull->cuts <= download_retries(pull->call);
         i++)
        if (begin(pull, &status) == PULL_ENDED) return status;
    if (pull->why_cut != NULL)
        return cli_fail(
            "cannot get %s: %s (%u tries); a transfer cannot go on where it was cut, as %s",
            pull->shown, pull->why_cut, pull->cuts, pull->why_anew);
    return cli_fail(
        "%s has changed each time while it was read, on the server or here; try again later",
        pull->shown);
}

static int run_in_store(struct pull *pull)
{
    char *path = cli_store_path(pull->call);
    int status =
        path != NULL ? spool_open(&pull->spool, pull->call, path, pull->call->args[0]) : CLI_ERROR;
    free(path);
    if (status != CLI_DONE) return status;
    status = run_spooled(pull);
    if (status == CLI_DONE && !cli_given(pull->call, TAKES(PATCHES)))
        spool_remove_base(&pull->spool);
    if (status == CLI_DONE && pull->keeps_base)
        spool_keep_base(&pull->spool, &pull->base);
    else if (status == CLI_DONE || pull->spool.bytes == 0 ||
             !notes_etag_is_strong(pull->spool.notes.etag)) /* nobody could go on with it */
        spool_remove(&pull->spool);
    else
        spool_close(&pull->spool);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int run_pull(struct invocation *call)
{
    if (!url_is_good(call) || !format_is_good(call) || !signature_is_good(call) ||
        !publish_options_suffice(call) || !files_are_there(call))
        return CLI_ERROR;
    if (!transfer_is_ready()) return CLI_ERROR;
    interrupt_catch();
    struct pull pull = {.call = call, .url = call->args[1], .shown = url_shown(call->args[1])};
    pull.publishing = (struct publishing){
        .call = call, .origin = pull.shown, .max_shrink = is_signed(call) ? MAX_SHRINK_DEFAULT : 0};
    int status = publish_read_except(&pull.publishing);
    if (status == CLI_DONE) {
        pull.store = cli_store_open(call, TAMIS_OPEN_CREATE);
        status = pull.store != NULL ? run_in_store(&pull) : CLI_ERROR;
    }
    tamis_store_close(pull.store);
    verification_free(pull.verification);
    free(pull.why_cut);
    publish_clear(&pull.publishing);
    free(pull.shown);
    return status;
}

const struct command cli_command_pull = {
    .name = "pull",
    .summary = "take the list at a URL as the next generation",
    .operands = "NAME URL",
    .options = TAKES(FROM) | TAKES_GEOMETRY | TAKES(CAPACITY) | TAKES(RATE) | TAKES(SEAL) |
               TAKES(DURABLE) | TAKES_PUBLISHED | TAKES(JSON) | TAKES_PROGRESS | TAKES(MAX_BYTES) |
               TAKES(NETRC) | TAKES(RETRY) | TAKES(PATCHES) | TAKES(VERIFY) | TAKES(SIGNATURE) |
               TAKES(EXPECT_COMMENT) | TAKES_CONNECTION,
    .run = run_pull,
};

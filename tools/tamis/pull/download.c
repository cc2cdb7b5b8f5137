/* SPDX-License-Identifier: BSD-2-Clause */
/* download.c: the file of a URL as a stream, through a spool; see download.h. */
#include "pull/download.h"

#include <unistd.h>

#include "pull/url.h"

#define RETRIES_DEFAULT 5
#define FIRST_WAIT_S 1 /* before the first try again; twice as long before each further one */
#define LONGEST_WAIT_S 60
/* A transfer that brings so much counts its tries anew: their number is bounded all the same, by
 * the length of the file. */
#define WORTH_A_TRY ((uint64_t)1024 * 1024)

static struct download *download_of(struct stream *stream)
{
    return (struct download *)stream; /* its first member */
}

uint64_t download_resource(const struct invocation *call, const char *url)
{
    return url_id(url) ^ cli_given(call, TAKES(INSECURE));
}

uint32_t download_retries(const struct invocation *call)
{
    return cli_given(call, TAKES(RETRY)) ? call->options.retry : RETRIES_DEFAULT;
}

/* ---- What comes ------------------------------------------------------------------------------ */

static int fail_room(const struct download *d, uint64_t needed, uint64_t room)
{
    char needs[32], has[32];
    text_size(needs, sizeof needs, (double)needed);
    text_size(has, sizeof has, (double)room);
    return cli_fail("%s needs %s of the store's disk, for the file and for the filter that it "
                    "becomes, and %s are free; free some space",
                    d->stream.name, needs, has);
}

/* What has come is of no use, and may have filled half of the disk. */
static int fail_too_long(struct download *d)
{
    char most[32];
    text_size(most, sizeof most, (double)d->limit);
    d->refused = true;
    (void)spool_empty(d->request.spool);
    if (d->limit == d->all_bytes)
        return cli_fail("%s: the server sends more than the %" PRIu64 " bytes that it has told; "
                        "try again later",
                        d->stream.name, d->all_bytes);
    if (cli_given(d->request.call, TAKES(MAX_BYTES)))
        return cli_fail("%s is longer than %s; if that is right, give --max-bytes more",
                        d->stream.name, most);
    return cli_fail("%s is longer than %s, half of the free disk, and the server does not tell how "
                    "long; free some space, or give --max-bytes",
                    d->stream.name, most);
}

uint64_t download_limit(const struct download_request *request)
{
    const struct invocation *call = request->call;
    const uint64_t room = spool_room(request->spool);
    if (cli_given(call, TAKES(MAX_BYTES))) return call->options.max_bytes;
    return room == UINT64_MAX ? room : request->spool->bytes + room / 2;
}

/* Is there room for what is still to come, and for the filter?  If the length is not known, half of
 * the room is for the file. */
static int check_room(struct download *d)
{
    const struct invocation *call = d->request.call;
    const struct spool *spool = d->request.spool;
    const uint64_t room = spool_room(spool);
    const bool bounded = cli_given(call, TAKES(MAX_BYTES));
    d->limit = download_limit(&d->request);
    if (room == UINT64_MAX || d->all_bytes == UINT64_MAX) return CLI_DONE;
    if (bounded && d->all_bytes > d->limit) return fail_too_long(d);
    const uint64_t left = d->all_bytes > spool->bytes ? d->all_bytes - spool->bytes : 0;
    if (d->all_bytes > room || left > room - d->all_bytes)
        return fail_room(d, d->all_bytes + left, room);
    d->limit = d->all_bytes;
    return CLI_DONE;
}

static int begin_file(struct download *d, const struct transfer_answer *answer)
{
    struct spool *spool = d->request.spool;
    struct notes notes = {.resource = download_resource(d->request.call, d->request.url)};
    const uint64_t known = answer->all_bytes != UINT64_MAX ? answer->all_bytes : 0;
    d->was_joined = false;
    notes.bytes = known;
    (void)snprintf(notes.name, sizeof notes.name, "%s", d->request.call->args[0]);
    (void)snprintf(notes.url, sizeof notes.url, "%s", d->stream.name);
    memcpy(notes.etag, answer->etag, sizeof notes.etag);
    d->anew = d->read_at > 0;
    /* The same file from its begin, where a part of it was asked for. */
    d->was_cut = d->anew && answer->etag[0] != '\0' && strcmp(answer->etag, spool->notes.etag) == 0;
    return d->anew ? CLI_ERROR : spool_begin(spool, &notes);
}

/* Does the part belong behind what is there? */
static bool part_fits(const struct download *d, const struct transfer_answer *answer)
{
    const struct notes *notes = &d->request.spool->notes;
    return (answer->etag[0] == '\0' || strcmp(answer->etag, notes->etag) == 0) &&
           (notes->bytes == 0 || answer->all_bytes == notes->bytes);
}

static int download_begin(void *context, const struct transfer_answer *answer)
{
    struct download *d = context;
    if (answer->from > 0) {
        d->other_part = !part_fits(d, answer);
        if (d->other_part) return CLI_ERROR;
    } else if (begin_file(d, answer) != CLI_DONE) {
        return CLI_ERROR;
    }
    d->all_bytes = answer->all_bytes;
    d->valid = true;
    return check_room(d);
}

static int download_take(void *context, const void *data, size_t bytes)
{
    struct download *d = context;
    struct spool *spool = d->request.spool;
    if (bytes > d->limit || spool->bytes > d->limit - bytes) return fail_too_long(d);
    return spool_append(spool, data, bytes);
}

/* ---- One transfer after the other ------------------------------------------------------------ */

static bool can_go_on(const struct download *d)
{
    const struct spool *spool = d->request.spool;
    return spool->bytes > 0 && !d->no_parts && notes_etag_is_strong(spool->notes.etag) &&
           spool->notes.resource == download_resource(d->request.call, d->request.url) &&
           (spool->notes.bytes == 0 || spool->bytes <= spool->notes.bytes);
}

static int open_transfer(struct download *d)
{
    struct spool *spool = d->request.spool;
    struct transfer_request request = {.url = d->request.url,
                                       .options = &d->request.call->options,
                                       .signed_list = d->request.signed_list};
    d->asked_part = d->asked_kept = d->other_part = false;
    if (can_go_on(d)) {
        d->asked_kept = spool->bytes == spool->notes.bytes;
        d->asked_part = !d->asked_kept;
        if (d->asked_kept) request.if_none_match = spool->notes.etag;
        if (d->asked_part) request.if_range = spool->notes.etag;
        request.from = spool->bytes;
        d->was_joined = true;
    } else {
        d->anew = d->was_cut = d->read_at > 0;
        if (d->anew || spool_empty(spool) != CLI_DONE) return CLI_ERROR;
        request.if_none_match = d->request.if_none_match;
    }
    d->transfer = transfer_open(&request, &d->sink);
    return CLI_DONE;
}

static void end_transfer(struct download *d)
{
    transfer_close(d->transfer);
    d->transfer = NULL;
}

static void keep_why(struct download *d, char *why)
{
    free(d->why);
    d->why = why;
}

const char *download_why_anew(const struct download *d)
{
    const char *etag = d->request.spool->notes.etag;
    if (etag[0] == '\0') return "the server gives no ETag";
    if (!notes_etag_is_strong(etag))
        return "the server's ETag is weak (W/), which says nothing of the bytes";
    return "the server sends the whole file where a part of it is asked for";
}

static int fail_transfer(const struct download *d)
{
    const struct spool *spool = d->request.spool;
    char had[32], tries[32] = "";
    if (d->tries > 0) (void)snprintf(tries, sizeof tries, " (%u tries)", d->tries + 1);
    if (spool->bytes == 0) return cli_fail("cannot get %s: %s%s", d->stream.name, d->why, tries);
    if (!can_go_on(d))
        return cli_fail("cannot get %s: %s%s; the next pull begins anew, as %s", d->stream.name,
                        d->why, tries, download_why_anew(d));
    text_size(had, sizeof had, (double)spool->bytes);
    return cli_fail("cannot get %s: %s%s; %s are kept, and the next pull goes on there",
                    d->stream.name, d->why, tries, had);
}

static bool tells_tries(const struct invocation *call)
{
    return cli_given(call, TAKES(PROGRESS)) ||
           (isatty(STDERR_FILENO) == 1 && !cli_given(call, TAKES(NO_PROGRESS)));
}

/* Waits before the next try.  CLI_DONE, or the exit status after a message. */
static int wait_for_try(struct download *d, int64_t asked_s)
{
    const struct invocation *call = d->request.call;
    const uint64_t bytes = d->request.spool->bytes;
    const uint32_t retries = download_retries(call);
    if (bytes >= d->kept_at + WORTH_A_TRY) {
        d->kept_at = bytes;
        d->tries = 0;
    }
    if (d->tries >= retries) return fail_transfer(d);
    int64_t seconds = LONGEST_WAIT_S;
    if (d->tries < 6) seconds = (int64_t)FIRST_WAIT_S << d->tries;
    if (seconds > LONGEST_WAIT_S) seconds = LONGEST_WAIT_S;
    if (seconds < asked_s) seconds = asked_s;
    d->tries++;
    if (tells_tries(call))
        cli_tell("%s: %s; trying again in %" PRId64 " s", d->stream.name, d->why, seconds);
    (void)interrupt_wait_ns(-1, 0, seconds * INT64_C(1000000000));
    return interrupt_signal() ? CLI_ERROR : CLI_DONE; /* the caller tells of a signal */
}

static int end_whole(struct download *d)
{
    const uint64_t bytes = d->request.spool->bytes;
    if (d->all_bytes == UINT64_MAX) d->all_bytes = bytes;
    if (bytes == d->all_bytes) {
        d->whole = true;
        return CLI_DONE;
    }
    keep_why(d, cli_format("it ended after %" PRIu64 " of %" PRIu64 " bytes", bytes, d->all_bytes));
    return wait_for_try(d, 0);
}

static int end_unchanged(struct download *d)
{
    d->whole = d->valid = d->asked_kept;
    d->unchanged = !d->asked_kept;
    d->all_bytes = d->request.spool->bytes;
    return CLI_DONE;
}

/* A part was asked for, and does not come: from now on the whole is asked for. */
static int do_without_parts(struct download *d)
{
    d->no_parts = true;
    d->anew = d->read_at > 0;
    return d->anew ? CLI_ERROR : spool_empty(d->request.spool);
}

/* Lets the transfer go on, or the next one, until there is more.  CLI_DONE, or an exit status after
 * a message; CLI_ERROR without one if `anew` is set, or after a signal. */
static int advance(struct download *d)
{
    if (d->transfer == NULL) return open_transfer(d);
    const enum transfer_result result = transfer_step(d->transfer);
    progress_update_bytes(d->request.spool->bytes, d->all_bytes != UINT64_MAX ? d->all_bytes : 0);
    if (result == TRANSFER_MORE) return CLI_DONE;
    const int64_t asked_s = transfer_retry_after(d->transfer);
    keep_why(d, cli_strdup(transfer_error(d->transfer)));
    end_transfer(d);
    switch (result) {
    case TRANSFER_DONE:
        return end_whole(d);
    case TRANSFER_UNCHANGED:
        return end_unchanged(d);
    case TRANSFER_NO_PART:
        return d->asked_part ? do_without_parts(d) : wait_for_try(d, 0);
    case TRANSFER_CUT:
        return wait_for_try(d, asked_s);
    case TRANSFER_ENDED:
        return d->other_part ? do_without_parts(d) : CLI_ERROR;
    default:
        return fail_transfer(d);
    }
}

/* ---- The stream ------------------------------------------------------------------------------ */

static bool is_at_end(const struct download *d)
{
    return d->unchanged || (d->whole && d->read_at == d->request.spool->bytes);
}

/* The bytes of the file as the server has them. */
static ssize_t read_file(void *context, void *buffer, size_t bytes)
{
    struct download *d = context;
    const struct witness *witness = d->request.witness;
    while (!is_at_end(d) && (!d->valid || d->read_at == d->request.spool->bytes))
        if (advance(d) != CLI_DONE) return -1;
    if (is_at_end(d)) {
        const bool asks = !d->unchanged && !d->agreed && witness != NULL;
        d->refused = d->refused || (asks && !witness->agrees(witness->context));
        d->agreed = !d->refused;
        return d->refused ? -1 : 0;
    }
    const int64_t got = spool_read(d->request.spool, d->read_at, buffer, bytes);
    if (got <= 0) return -1;
    if (witness != NULL) witness->see(witness->context, buffer, (size_t)got);
    d->read_at += (uint64_t)got;
    return (ssize_t)got;
}

/* Tells what the unpacker has found, if it was that. */
static int64_t fail_reading(struct download *d)
{
    d->stream.failed = !interrupt_signal();
    if (d->input->error == NULL) return TAMIS_EIO;
    d->refused = true;
    cli_tell("%s", d->input->error);
    return TAMIS_EIO;
}

static int64_t download_read(struct stream *stream, void *buffer, size_t bytes)
{
    struct download *d = download_of(stream);
    const ssize_t got = input_read(d->input, buffer, bytes);
    return got < 0 ? fail_reading(d) : got;
}

static void download_close(struct stream *stream)
{
    struct download *d = download_of(stream);
    end_transfer(d);
    input_close(d->input);
    free(d->why);
    free(stream->name);
    free(d);
}

static const struct stream_kind DOWNLOAD_KIND = {.read = download_read, .close = download_close};

int download_open(const struct download_request *request, struct download **download)
{
    struct download *d = cli_alloc(sizeof *d);
    *d = (struct download){.stream = {.kind = &DOWNLOAD_KIND, .name = url_shown(request->url)},
                           .request = *request,
                           .sink = {.begin = download_begin, .take = download_take, .context = d},
                           .all_bytes = UINT64_MAX,
                           .kept_at = request->spool->bytes};
    d->input = input_of(d->stream.name, read_file, d);
    if (request->has_all) {
        d->valid = d->whole = true;
        d->all_bytes = request->spool->bytes;
    }
    *download = d;
    progress_start(&request->call->options, 0);
    const bool begun = input_begin(d->input);
    progress_end();
    if (!begun) {
        (void)fail_reading(d);
        return d->stream.failed ? CLI_ERROR : 128 + interrupt_signal();
    }
    if (d->input->format == NULL && d->all_bytes != UINT64_MAX) d->stream.all_bytes = d->all_bytes;
    return CLI_DONE;
}

/* ---- The first bytes ------------------------------------------------------------------------- */

struct first {
    struct transfer_answer *answer;
    const char *data; /* that are still to come */
    size_t bytes;
    bool differs;
};

static int first_begin(void *context, const struct transfer_answer *answer)
{
    const struct first *first = context;
    *first->answer = *answer;
    return CLI_DONE;
}

/* A server that gives no parts sends all of the file, which ends here. */
static int first_take(void *context, const void *data, size_t bytes)
{
    struct first *first = context;
    const size_t now = bytes < first->bytes ? bytes : first->bytes;
    first->differs = first->differs || memcmp(first->data, data, now) != 0;
    first->data += now;
    first->bytes -= now;
    return first->bytes == 0 || first->differs ? CLI_ERROR : CLI_DONE;
}

bool download_begins_with(const struct download_request *request, const void *data, size_t bytes,
                          struct transfer_answer *answer)
{
    struct first first = {.answer = answer, .data = data, .bytes = bytes};
    const struct transfer_sink sink = {.begin = first_begin, .take = first_take, .context = &first};
    const struct transfer_request asked = {.url = request->url,
                                           .options = &request->call->options,
                                           .signed_list = request->signed_list,
                                           .first_bytes = bytes};
    struct transfer *transfer = transfer_open(&asked, &sink);
    while (transfer_step(transfer) == TRANSFER_MORE) {
    }
    transfer_close(transfer);
    return first.bytes == 0 && !first.differs;
}

/* ---- Small files ----------------------------------------------------------------------------- */

struct small {
    char *data;
    size_t bytes, most;
    const char *shown; /* NULL: no message */
};

static int small_begin(void *context, const struct transfer_answer *answer)
{
    (void)context;
    return answer->from == 0 ? CLI_DONE : CLI_ERROR;
}

static int small_take(void *context, const void *data, size_t bytes)
{
    struct small *small = context;
    if (bytes > small->most - small->bytes && small->shown == NULL) return CLI_ERROR;
    if (bytes > small->most - small->bytes)
        return cli_fail("%s is longer than %zu bytes", small->shown, small->most);
    small->data = cli_realloc(small->data, small->bytes + bytes + 1);
    memcpy(small->data + small->bytes, data, bytes);
    small->bytes += bytes;
    return CLI_DONE;
}

enum transfer_result download_small(const struct download_request *request, size_t most,
                                    char **data, size_t *bytes)
{
    struct download d = {.stream = {.name = url_shown(request->url)}, .request = *request};
    struct spool none = {.fd = -1};
    enum transfer_result result;
    struct small small = {.most = most, .shown = request->is_optional ? NULL : d.stream.name};
    const struct transfer_sink sink = {.begin = small_begin, .take = small_take, .context = &small};
    const struct transfer_request asked = {.url = request->url,
                                           .options = &request->call->options,
                                           .signed_list = request->signed_list};
    d.request.spool = &none;
    do {
        small.bytes = 0;
        d.transfer = transfer_open(&asked, &sink);
        do
            result = transfer_step(d.transfer);
        while (result == TRANSFER_MORE);
        keep_why(&d, cli_strdup(transfer_error(d.transfer)));
        const int64_t asked_s = transfer_retry_after(d.transfer);
        end_transfer(&d);
        if (request->is_optional) break;
        if (result == TRANSFER_CUT && wait_for_try(&d, asked_s) != CLI_DONE) break;
    } while (result == TRANSFER_CUT);
    if (!request->is_optional && (result == TRANSFER_REFUSED || result == TRANSFER_NO_PART))
        (void)fail_transfer(&d);
    if (result == TRANSFER_DONE) {
        *data = cli_realloc(small.data, small.bytes + 1);
        (*data)[small.bytes] = '\0';
        *bytes = small.bytes;
    } else {
        free(small.data);
    }
    free(d.why);
    free(d.stream.name);
    return result;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transfer.c: one request to a server, by libcurl; see transfer.h.
 *
 * No limit is on the time of the whole: a large list over a poor line may take hours.  The limits
 * are on connecting, and on less than SLOW_BYTES a second for the time of --timeout.
 *
 * libcurl is loaded by the first transfer.  With the libraries that it needs it would make the
 * start of every command longer, of which most are shorter than that.
 *
 * Nothing is unpacked here, and no packed form is asked for: what is noted, continued and verified
 * are the bytes of the file as the server has it.
 */
#include "pull/transfer.h"

#define CURL_DISABLE_TYPECHECK /* its macros would stand in the place of our names */
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pull/url.h"

#define LEAST_VERSION 0x075500u /* 7.85.0: CURLOPT_PROTOCOLS_STR */
#define TIMEOUT_MS 30000L       /* of --timeout, where it is not given */
#define SLOW_BYTES 1000L        /* a second */
#define REDIRECTS_MAX 10L       /* more is a circle */
#define POLL_MS 200             /* a signal is heeded so soon */
#define BUFFER_BYTES 65536      /* so much may come behind a head that says enough */
#define RETRY_AFTER_MAX INT64_C(300)

struct transfer {
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    const struct transfer_sink *sink;
    char *shown;
    bool is_file;
    bool asked_if_new;
    bool asked_part;
    uint64_t asked_from;
    enum transfer_result no_file; /* of file://: it is none that can be read; else TRANSFER_MORE */
    CURLcode not_set; /* an option that libcurl has not taken; CURLE_OK: it has taken all */
    char curl_error[CURL_ERROR_SIZE];
    char *error;
    bool begun; /* the sink has had the head */
    bool ended; /* by the sink */
    bool moved; /* bytes have come in this step */
    char etag[NOTES_ETAG_BYTES];
    char content_range[128];
    char date[48], retry_after[48];
};

/* ---- The library ----------------------------------------------------------------------------- */

/* clang-format off */
#define CALLS(X) \
    X(easy_cleanup) X(easy_getinfo) X(getdate) X(easy_init) X(easy_setopt) X(easy_strerror) \
    X(global_init) X(multi_add_handle) X(multi_cleanup) X(multi_info_read) X(multi_init) \
    X(multi_perform) X(multi_poll) X(multi_remove_handle) X(slist_append) X(slist_free_all) X(version_info)
/* clang-format on */
#define DECLARE_CALL(name) __typeof__(curl_##name) *name;
static struct {
    CALLS(DECLARE_CALL)
} curl;

/* A call as a pointer to void, which is how dlsym() has it. */
#define LOAD_CALL(name)                                                                            \
    found = dlsym(library, "curl_" #name);                                                         \
    if (found == NULL) return false;                                                               \
    memcpy(&curl.name, &found, sizeof found);

static bool load_calls(void *library)
{
    void *found;
    CALLS(LOAD_CALL)
    return true;
}

bool transfer_is_ready(void)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    static bool ready;
    for (size_t i = 0; !ready && i < sizeof names / sizeof *names; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        ready = library != NULL && load_calls(library) &&
                curl.version_info(CURLVERSION_NOW)->version_num >= LEAST_VERSION &&
                curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    }
    if (!ready)
        cli_tell(
            "libcurl 7.85 or later, by which lists are pulled, is not on this machine: install "
            "the package libcurl4");
    return ready;
}

/* ---- The head -------------------------------------------------------------------------------- */

/* The value of a header line, if it is that header: between blanks, in `value` if it fits there. */
static void take_header(const char *line, size_t bytes, const char *name, char *value,
                        size_t value_bytes)
{
    const size_t name_bytes = strlen(name);
    if (bytes <= name_bytes || strncasecmp(line, name, name_bytes) != 0) return;
    const char *begin = line + name_bytes, *end = line + bytes;
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (end > begin && (unsigned char)end[-1] <= ' ')
        end--;
    if ((size_t)(end - begin) >= value_bytes) return;
    memcpy(value, begin, (size_t)(end - begin));
    value[end - begin] = '\0';
}

static size_t on_header(char *line, size_t one, size_t bytes, void *context)
{
    struct transfer *t = context;
    if (bytes >= 5 && memcmp(line, "HTTP/", 5) == 0) { /* after a redirect, the next answer */
        t->etag[0] = t->content_range[0] = '\0';
        t->date[0] = t->retry_after[0] = '\0';
    }
    take_header(line, bytes, "ETag:", t->etag, sizeof t->etag);
    take_header(line, bytes, "Content-Range:", t->content_range, sizeof t->content_range);
    take_header(line, bytes, "Date:", t->date, sizeof t->date);
    take_header(line, bytes, "Retry-After:", t->retry_after, sizeof t->retry_after);
    return one * bytes;
}

static long status_of(const struct transfer *t)
{
    long status = 0;
    (void)curl.easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    return status == 0 && t->is_file ? 200 : status;
}

/* "bytes FROM-TO/ALL": is it the part that was asked for, of a file whose length is told? */
static bool part_is_right(const struct transfer *t, uint64_t *all_bytes)
{
    uint64_t from, to;
    int read = 0;
    if (sscanf(t->content_range, "bytes %" SCNu64 "-%" SCNu64 "/%" SCNu64 "%n", &from, &to,
               all_bytes, &read) < 3)
        return false;
    return t->content_range[read] == '\0' && t->asked_part && from == t->asked_from && to >= from &&
           to < *all_bytes;
}

static void keep_error(struct transfer *t, char *sentence)
{
    free(t->error);
    t->error = sentence;
}

/* The head is there.  false: nothing of this answer is taken. */
static bool begin(struct transfer *t)
{
    struct transfer_answer answer = {.all_bytes = UINT64_MAX};
    const long status = status_of(t);
    curl_off_t length = -1;
    if (status != 200 && status != 206) return false;
    if (status == 206 && !part_is_right(t, &answer.all_bytes)) {
        keep_error(t, cli_format("the server has sent another part of it than it was asked for "
                                 "(Content-Range: %s)",
                                 t->content_range[0] != '\0' ? t->content_range : "none"));
        return false;
    }
    if (status == 206) {
        answer.from = t->asked_from;
    } else {
        (void)curl.easy_getinfo(t->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        if (length >= 0) answer.all_bytes = (uint64_t)length;
    }
    memcpy(answer.etag, t->etag, sizeof answer.etag);
    t->begun = true;
    t->ended = t->sink->begin(t->sink->context, &answer) != CLI_DONE;
    return !t->ended;
}

static size_t on_data(char *data, size_t one, size_t bytes, void *context)
{
    struct transfer *t = context;
    if (!t->begun && !begin(t)) return CURL_WRITEFUNC_ERROR;
    t->moved = true;
    if (interrupt_signal())
        return CURL_WRITEFUNC_ERROR; /* libcurl reads a whole file:// in one step */
    t->ended = t->sink->take(t->sink->context, data, bytes) != CLI_DONE;
    return t->ended ? CURL_WRITEFUNC_ERROR : one * bytes;
}

/* ---- The request ----------------------------------------------------------------------------- */

/* libcurl has ways to fail at setting an option only when memory is short, or when it was built
 * without what the option is for. */
#define SET(t, option, value)                                                                      \
    do {                                                                                           \
        const CURLcode set = curl.easy_setopt((t)->easy, option, value);                           \
        if (set == CURLE_OUT_OF_MEMORY) cli_no_memory();                                           \
        if (set != CURLE_OK) (t)->not_set = set;                                                   \
    } while (0)

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value ? value : NULL;
}

static void set_tls(struct transfer *t, const struct options *options)
{
    const char *authorities =
        options_have(options, TAKES(CACERT)) ? options->cacert : environment("CURL_CA_BUNDLE");
    if (authorities == NULL) authorities = environment("SSL_CERT_FILE");
    const char *directory = environment("SSL_CERT_DIR");
    if (authorities != NULL) SET(t, CURLOPT_CAINFO, authorities);
    if (authorities == NULL && directory != NULL) SET(t, CURLOPT_CAPATH, directory);
    if (options_have(options, TAKES(CERT))) SET(t, CURLOPT_SSLCERT, options->cert);
    if (options_have(options, TAKES(KEY))) SET(t, CURLOPT_SSLKEY, options->key);
    if (!options_have(options, TAKES(INSECURE))) return;
    SET(t, CURLOPT_SSL_VERIFYPEER, 0L);
    SET(t, CURLOPT_SSL_VERIFYHOST, 0L);
}

/* Which protocols are good for the request, and for what a server sends it on to.  A server never
 * sends it to a file of this machine, nor from https to http where nothing else protects it. */
static void set_protocols(struct transfer *t, const struct transfer_request *request)
{
    const bool any_http = request->signed_list || options_have(request->options, TAKES(INSECURE));
    const char *web = any_http ? "http,https" : "https";
    SET(t, CURLOPT_PROTOCOLS_STR, t->is_file ? "file" : web);
    SET(t, CURLOPT_REDIR_PROTOCOLS_STR, web);
    SET(t, CURLOPT_FOLLOWLOCATION, 1L);
    SET(t, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
}

static void set_limits(struct transfer *t, const struct options *options)
{
    const long timeout_ms =
        options_have(options, TAKES(TIMEOUT)) ? (long)options->timeout_ms : TIMEOUT_MS;
    SET(t, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms);
    SET(t, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES);
    SET(t, CURLOPT_LOW_SPEED_TIME, (timeout_ms + 999) / 1000);
}

static void add_header(struct transfer *t, const char *name, const char *value)
{
    char *line = cli_format("%s: %s", name, value);
    struct curl_slist *longer = curl.slist_append(t->headers, line);
    free(line);
    if (longer == NULL) cli_no_memory();
    t->headers = longer;
}

/* A part that does not begin at 0 is asked for by a header of ours: by CURLOPT_RESUME_FROM an
 * answer with the whole file would be an error of libcurl. */
static void ask_for_part(struct transfer *t, uint64_t from, const char *to)
{
    char *range = cli_format("%" PRIu64 "-%s", from, to);
    SET(t, CURLOPT_RANGE, range);
    free(range);
    t->asked_part = true;
    t->asked_from = from;
}

static void set_conditions(struct transfer *t, const struct transfer_request *request)
{
    if (t->is_file) return;
    if (request->if_none_match != NULL) {
        add_header(t, "If-None-Match", request->if_none_match);
        t->asked_if_new = true;
    }
    if (request->if_range != NULL) {
        add_header(t, "If-Range", request->if_range);
        ask_for_part(t, request->from, "");
    }
    if (request->first_bytes > 0) {
        char last[24];
        (void)snprintf(last, sizeof last, "%" PRIu64, request->first_bytes - 1);
        ask_for_part(t, 0, last);
    }
    if (t->headers != NULL) SET(t, CURLOPT_HTTPHEADER, t->headers);
}

/* Looks at the file of a file:// URL before libcurl opens it: that would wait for whoever shall
 * write to a pipe, read a device without end, and tell no reason. */
static void look_at_file(struct transfer *t, const char *url)
{
    struct stat st;
    char *path = url_file(url);
    if (path == NULL) return;
    const bool found = stat(path, &st) == 0;
    if (!found || (S_ISREG(st.st_mode) && access(path, R_OK) != 0)) {
        t->no_file = errno == ENOENT || errno == ENOTDIR ? TRANSFER_ABSENT : TRANSFER_REFUSED;
        keep_error(t, cli_strdup(strerror(errno)));
    } else if (S_ISDIR(st.st_mode)) {
        t->no_file = TRANSFER_REFUSED;
        keep_error(t, cli_strdup("it is a directory; name a file in it"));
    } else if (!S_ISREG(st.st_mode)) {
        t->no_file = TRANSFER_REFUSED;
        keep_error(t, cli_strdup("it is a pipe or a device, and a pull may have to read it twice; "
                                 "'tamis import --publish' reads it once"));
    }
    free(path);
}

struct transfer *transfer_open(const struct transfer_request *request,
                               const struct transfer_sink *sink)
{
    struct transfer *t = cli_alloc(sizeof *t);
    *t = (struct transfer){.multi = curl.multi_init(),
                           .easy = curl.easy_init(),
                           .sink = sink,
                           .shown = url_shown(request->url),
                           .is_file = url_scheme(request->url) == URL_FILE};
    if (t->multi == NULL || t->easy == NULL) cli_no_memory();
    char *agent = cli_format("tamis/%s", tamis_version());
    SET(t, CURLOPT_USERAGENT, agent);
    free(agent);
    SET(t, CURLOPT_URL, request->url);
    SET(t, CURLOPT_ERRORBUFFER, t->curl_error);
    SET(t, CURLOPT_NOSIGNAL, 1L);
    SET(t, CURLOPT_TCP_KEEPALIVE, 1L);
    SET(t, CURLOPT_BUFFERSIZE, (long)BUFFER_BYTES);
    SET(t, CURLOPT_HEADERFUNCTION, on_header);
    SET(t, CURLOPT_HEADERDATA, (void *)t);
    SET(t, CURLOPT_WRITEFUNCTION, on_data);
    SET(t, CURLOPT_WRITEDATA, (void *)t);
    if (options_have(request->options, TAKES(NETRC)))
        SET(t, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
    set_protocols(t, request);
    set_limits(t, request->options);
    set_tls(t, request->options);
    set_conditions(t, request);
    if (t->is_file) look_at_file(t, request->url);
    if (curl.multi_add_handle(t->multi, t->easy) != CURLM_OK) cli_no_memory();
    return t;
}

void transfer_close(struct transfer *t)
{
    if (t == NULL) return;
    (void)curl.multi_remove_handle(t->multi, t->easy);
    curl.easy_cleanup(t->easy);
    (void)curl.multi_cleanup(t->multi);
    curl.slist_free_all(t->headers);
    free(t->shown);
    free(t->error);
    free(t);
}

/* ---- The end --------------------------------------------------------------------------------- */

/* May the same request go well another time? */
static bool is_transient(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_WEIRD_SERVER_REPLY:
        return true;
    default:
        return false;
    }
}

static bool status_is_transient(long status)
{
    return status == 408 || status == 425 || status == 429 || status == 500 || status == 502 ||
           status == 503 || status == 504;
}

/* What a status means for the user, where that is known. */
static const char *status_mend(long status)
{
    switch (status) {
    case 401:
    case 403:
        return "; is the right user named, in the URL or by --netrc?";
    case 404:
    case 410:
        return "; there is no such file on the server";
    case 304:
    case 416:
        return ", which answers nothing that it was asked; is there a proxy between?";
    case 407:
        return "; the proxy wants a user and a password";
    default:
        return "";
    }
}

static enum transfer_result end_by_status(struct transfer *t, long status)
{
    if (status == 304 && t->asked_if_new) return TRANSFER_UNCHANGED;
    if (status == 416 && t->asked_part) return TRANSFER_NO_PART;
    if (status == 206) return TRANSFER_NO_PART; /* the sentence is there */
    keep_error(t, cli_format("the server answers with status %ld%s", status, status_mend(status)));
    if (status == 404 || status == 410) return TRANSFER_ABSENT;
    return status_is_transient(status) ? TRANSFER_CUT : TRANSFER_REFUSED;
}

/* What libcurl says, or says of the code, without a full stop. */
static char *describe(const struct transfer *t, CURLcode code)
{
    if (code == CURLE_UNSUPPORTED_PROTOCOL && status_of(t) >= 300) /* behind a redirect */
        return cli_strdup("the server sends it on to a URL that is not taken: https:// is, and "
                          "http:// with --verify or --insecure");
    /* What libcurl says of a proxy has the user and the password of its URL in it. */
    const bool secret = strchr(t->curl_error, '@') != NULL;
    const char *what =
        t->curl_error[0] != '\0' && !secret ? t->curl_error : curl.easy_strerror(code);
    size_t bytes = strlen(what);
    while (bytes > 0 && (what[bytes - 1] == '\n' || what[bytes - 1] == '.'))
        bytes--;
    return cli_copy(what, bytes);
}

static enum transfer_result end_by_code(struct transfer *t, CURLcode code)
{
    const long status = status_of(t);
    if (t->ended || interrupt_signal()) return TRANSFER_ENDED;
    if (!t->begun && status >= 300 && code != CURLE_TOO_MANY_REDIRECTS &&
        (code == CURLE_OK || code == CURLE_WRITE_ERROR))
        return end_by_status(t, status);
    if (code == CURLE_WRITE_ERROR && status == 206) return end_by_status(t, status);
    if (code == CURLE_OK && status != 200 && status != 206) return end_by_status(t, status);
    if (code == CURLE_OK && !t->begun && !begin(t)) /* it is empty */
        return t->ended ? TRANSFER_ENDED : end_by_status(t, status);
    if (code == CURLE_OK) return TRANSFER_DONE;
    keep_error(t, describe(t, code));
    if (code == CURLE_FILE_COULDNT_READ_FILE) return TRANSFER_ABSENT;
    return is_transient(code) ? TRANSFER_CUT : TRANSFER_REFUSED;
}

enum transfer_result transfer_step(struct transfer *t)
{
    int running = 0, left = 0;
    t->moved = false;
    if (interrupt_signal()) return TRANSFER_ENDED;
    if (t->no_file != TRANSFER_MORE) return t->no_file;
    if (t->not_set != CURLE_OK) { /* without it the pull might be less safe than was asked for */
        keep_error(t, cli_format("this libcurl does not take an option of the pull: %s",
                                 curl.easy_strerror(t->not_set)));
        return TRANSFER_REFUSED;
    }
    if (curl.multi_perform(t->multi, &running) != CURLM_OK) cli_no_memory();
    for (const CURLMsg *message; (message = curl.multi_info_read(t->multi, &left)) != NULL;)
        if (message->msg == CURLMSG_DONE) return end_by_code(t, message->data.result);
    if (!t->moved) (void)curl.multi_poll(t->multi, NULL, 0, POLL_MS, NULL);
    return TRANSFER_MORE;
}

const char *transfer_error(const struct transfer *t)
{
    return t->error != NULL ? t->error : "the transfer has failed";
}

/* Seconds, or a date of any of the three forms of HTTP.  The server's clock may be wrong, and so
 * may ours: the server's own date is compared, if it is there. */
int64_t transfer_retry_after(const struct transfer *t)
{
    const char *after = t->retry_after;
    int64_t seconds;
    if (*after != '\0' && after[strspn(after, "0123456789")] == '\0') {
        seconds = strtoll(after, NULL, 10);
    } else {
        const time_t then = *after != '\0' ? curl.getdate(after, NULL) : -1;
        time_t now = *t->date != '\0' ? curl.getdate(t->date, NULL) : -1;
        if (now == -1) now = time(NULL);
        seconds = then != -1 ? (int64_t)then - now : 0;
    }
    if (seconds < 0) return 0;
    return seconds < RETRY_AFTER_MAX ? seconds : RETRY_AFTER_MAX;
}

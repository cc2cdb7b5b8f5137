/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_replies.c: the client of stores on servers (tools/tamis/remote), in a process without a
 * server.  The input is what the servers answer.
 *
 *     input      a byte: what is asked (enum ask); a byte of flags; messages
 *     message    2 bytes, little-endian: its length, and BEGINS; its bytes
 *
 * A connection gets the messages from one with BEGINS to the next one: one for each command that
 * the client sends, whatever that is, and then its end.  Further connections are refused.  So an
 * input is a conversation, and make_reply_seeds.py records some with a real server.  Time is only
 * counted, so nothing waits.
 *
 * What must hold: no crash and no leak, whatever is answered; an end after some rounds; a sentence
 * for each call that fails ($TAMIS_FUZZ_TELLS prints them); answers that are documented ones.
 */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "command.h"
#include "fuzz.h"
#include "remote/cluster.h"

enum ask {
    ASK_ADD,
    ASK_CHECK,
    ASK_COUNT,
    ASK_REMOVE,
    ASK_EXPLAIN,
    ASK_INFO,
    ASK_LIST,
    ASK_CREATE,
    ASK_CREATE_SHARDS,
    ASK_CREATE_LIKE,
    ASK_DROP,
    ASK_RENAME,
    ASK_EXPORT,
    ASK_IMPORT,
    ASK_MERGE,
    ASK_ROTATE,
    ASK_SYNC,
    ASK_PARENTS,
    ASKS
};
#define WITH_REPLICAS 1u
#define DOUBTS_ARE_SEEN 2u

#define BEGINS 0x8000u
#define MESSAGES_MAX 2048
#define LINES_MAX 128
#define POLLS_MAX 500000u
#define SECONDS_MAX 100.0 /* for each message, and ten more: a call gives up after 30 */

static struct message {
    const uint8_t *data;
    size_t bytes;
    bool begins;
} messages[MESSAGES_MAX];
static size_t message_count, message_next; /* of the next connection */

/* The servers' end of a connection. */
static struct line {
    int fd;
    uint8_t *in; /* of a command that is not whole yet */
    size_t in_bytes;
    size_t commands; /* that have no answer yet */
    size_t next, end;
    const uint8_t *out; /* what is still to be sent of a message */
    size_t out_bytes;
} lines[LINES_MAX];
static size_t line_count;

static double seconds;
static unsigned polls, told;

/* ---- The input ------------------------------------------------------------------------------- */

static void read_messages(const uint8_t *data, size_t bytes)
{
    message_count = message_next = 0;
    while (bytes >= 2 && message_count < MESSAGES_MAX) {
        const unsigned head = data[0] | (unsigned)data[1] << 8;
        size_t length = head & ~BEGINS;
        data += 2;
        bytes -= 2;
        if (length > bytes) length = bytes;
        messages[message_count++] = (struct message){data, length, (head & BEGINS) != 0};
        data += length;
        bytes -= length;
    }
}

/* ---- Servers --------------------------------------------------------------------------------- */

/* The number in a line "*12\r\n" or "$12\r\n" at `at`, which is moved behind it; -1: it is not
 * whole. */
static long take_number(const struct line *line, size_t *at, uint8_t kind)
{
    const uint8_t *end = memchr(line->in + *at, '\n', line->in_bytes - *at);
    if (end == NULL) return -1;
    FUZZ_CHECK(line->in[*at] == kind);
    const long number = strtol((const char *)line->in + *at + 1, NULL, 10);
    FUZZ_CHECK(number >= 0 && end[-1] == '\r');
    *at = (size_t)(end + 1 - line->in);
    return number;
}

/* The bytes of the first command; 0: it is not whole. */
static size_t first_command(const struct line *line)
{
    size_t at = 0;
    const long words = take_number(line, &at, '*');
    if (words < 0) return 0;
    for (long i = 0; i < words; i++) {
        const long bytes = take_number(line, &at, '$');
        if (bytes < 0 || (size_t)bytes + 2 > line->in_bytes - at) return 0;
        at += (size_t)bytes + 2;
    }
    return at;
}

static void take_commands(struct line *line)
{
    uint8_t piece[4096];
    ssize_t got;
    while ((got = recv(line->fd, piece, sizeof piece, MSG_DONTWAIT)) > 0) {
        line->in = cli_realloc(line->in, line->in_bytes + (size_t)got);
        memcpy(line->in + line->in_bytes, piece, (size_t)got);
        line->in_bytes += (size_t)got;
        size_t bytes;
        while (line->in_bytes > 0 && (bytes = first_command(line)) > 0) {
            memmove(line->in, line->in + bytes, line->in_bytes - bytes);
            line->in_bytes -= bytes;
            line->commands++;
        }
    }
}

static void answer(struct line *line)
{
    while (line->commands > 0 || line->out_bytes > 0) {
        if (line->out_bytes == 0 && line->next == line->end) {
            (void)shutdown(line->fd, SHUT_WR);
            return;
        }
        if (line->out_bytes == 0) {
            line->out = messages[line->next].data;
            line->out_bytes = messages[line->next++].bytes;
            line->commands--;
        }
        const ssize_t sent =
            send(line->fd, line->out, line->out_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0) return;
        line->out += sent;
        line->out_bytes -= (size_t)sent;
    }
}

static redisContext *connect_line(void)
{
    int ends[2];
    if (message_next == message_count || line_count == LINES_MAX) {
        redisContext *refused = redisConnectFd(-1);
        FUZZ_CHECK(refused != NULL);
        refused->err = REDIS_ERR_IO;
        (void)snprintf(refused->errstr, sizeof refused->errstr, "Connection refused");
        errno = ECONNREFUSED;
        return refused;
    }
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    struct line *line = &lines[line_count++];
    *line = (struct line){.fd = ends[1], .next = message_next};
    do {
        message_next++;
    } while (message_next < message_count && !messages[message_next].begins);
    line->end = message_next;
    redisContext *context = redisConnectFd(ends[0]);
    FUZZ_CHECK(context != NULL);
    return context;
}

/* The client has closed all connections. */
static void end_lines(void)
{
    uint8_t piece[4096];
    for (size_t i = 0; i < line_count; i++) {
        ssize_t got;
        while ((got = recv(lines[i].fd, piece, sizeof piece, MSG_DONTWAIT)) > 0)
            ;
        FUZZ_CHECK(got == 0 || errno == ECONNRESET);
        (void)close(lines[i].fd);
        free(lines[i].in);
    }
    line_count = 0;
}

/* ---- What the client calls, in place of the system's (-Wl,--wrap) ---------------------------- */

redisContext *__wrap_redisConnectWithTimeout(const char *host, int port, struct timeval limit);
redisContext *__wrap_redisConnectUnixWithTimeout(const char *path, struct timeval limit);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

redisContext *__wrap_redisConnectWithTimeout(const char *host, int port, struct timeval limit)
{
    (void)limit;
    FUZZ_CHECK(host != NULL && port > 0 && port < 65536);
    return connect_line();
}

redisContext *__wrap_redisConnectUnixWithTimeout(const char *path, struct timeval limit)
{
    (void)path, (void)limit;
    return connect_line();
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    FUZZ_CHECK(++polls < POLLS_MAX && timeout_ms >= 0);
    for (size_t i = 0; i < line_count; i++) {
        take_commands(&lines[i]);
        answer(&lines[i]);
    }
    const int ready = count > 0 ? __real_poll(fds, count, 0) : 0;
    if (ready == 0) seconds += timeout_ms / 1000.0;
    return ready;
}

/* ---- What the rest of the command is to the client ------------------------------------------- */

double progress_clock(void)
{
    seconds += 1e-6;
    FUZZ_CHECK(seconds < SECONDS_MAX * (10 + (double)message_count));
    return seconds;
}

int interrupt_signal(void)
{
    return 0;
}

const char *interrupt_name(void)
{
    return "no signal";
}

bool interrupt_wait(int fd, short events, int wait_s)
{
    (void)fd, (void)events;
    seconds += wait_s;
    return false;
}

void cli_tell(const char *format, ...)
{
    char *line = NULL;
    va_list args;
    va_start(args, format);
    FUZZ_CHECK(vasprintf(&line, format, args) > 0);
    va_end(args);
    if (getenv("TAMIS_FUZZ_TELLS") != NULL) (void)fprintf(stderr, "told: %s\n", line);
    free(line);
    told++;
}

int cli_fail_library(void)
{
    cli_tell("%s", tamis_last_error());
    return CLI_ERROR;
}

/* ---- What is asked --------------------------------------------------------------------------- */

#define KEY(text)                                                                                  \
    {                                                                                              \
        .data = (text), .bytes = sizeof(text) - 1                                                  \
    }
static const struct tamis_key keys[] = {KEY("k0"), KEY("k1"), KEY("k2"),
                                        KEY("k3"), KEY(""),   KEY("k0")};
#define KEYS (sizeof keys / sizeof *keys)

static void good(bool is)
{
    FUZZ_CHECK(is || told > 0);
}

static void ask_keys(struct remote_filter *filter, enum ask ask)
{
    uint8_t answers[KEYS];
    int64_t ones = 0;
    memset(answers, 99, sizeof answers);
    const int64_t rc = ask == ASK_ADD       ? remote_add(filter, keys, KEYS, answers)
                       : ask == ASK_CHECK   ? remote_contains(filter, keys, KEYS, answers)
                       : ask == ASK_PARENTS ? remote_contains_names(filter, keys, KEYS, answers)
                                            : remote_remove(filter, keys, KEYS, answers);
    good(rc >= 0 || remote_doubts(filter) > 0);
    for (size_t i = 0; i < KEYS; i++) {
        FUZZ_CHECK(answers[i] <= 1 || answers[i] == TAMIS_ANSWER_REFUSED);
        ones += answers[i] == 1;
    }
    FUZZ_CHECK(rc < 0 || rc == ones);
    FUZZ_CHECK(remote_doubts(filter) <= KEYS);
}

static int each_segment(void *context, const struct tamis_key *key, uint32_t segment,
                        uint32_t segments, const struct tamis_explanation *explanation)
{
    uint64_t sum = 0;
    (void)context;
    FUZZ_CHECK(key >= keys && key < keys + KEYS && segment < segments);
    FUZZ_CHECK(explanation->hashes != NULL);
    for (size_t i = 0; i < explanation->positions_count; i++)
        sum += explanation->positions[i];
    return sum == 1 ? 1 : 0;
}

static int each_filter(void *context, const struct tamis_filter_stat *stat)
{
    (void)context;
    FUZZ_CHECK(stat->name[0] != '\0' && strlen(stat->name) <= TAMIS_NAME_MAX);
    return 0;
}

static int write_nowhere(void *context, const void *data, size_t bytes)
{
    uint8_t *sum = context;
    for (size_t i = 0; i < bytes; i++)
        *sum ^= ((const uint8_t *)data)[i];
    return 0;
}

static int64_t read_a_little(void *context, void *buffer, size_t wanted)
{
    size_t *left = context;
    const size_t now = *left < wanted ? *left : wanted;
    memset(buffer, 'x', now);
    *left -= now;
    return (int64_t)now;
}

static void ask_info(struct remote_filter *filter)
{
    struct tamis_filter_stat stat;
    struct tamis_segment_stat *segments = NULL;
    if (remote_filter_shards(filter) > 0) {
        good(remote_stat(filter, &stat) == 0);
        return;
    }
    const bool is_good = remote_segments(filter, true, &stat, &segments) == 0;
    good(is_good);
    FUZZ_CHECK(is_good == (segments != NULL));
    free(segments);
}

static void ask_export(struct remote_filter *filter)
{
    uint64_t all_bytes = 0;
    uint8_t sum = 0;
    const struct tamis_sink sink = {.size = sizeof sink, .write = write_nowhere, .context = &sum};
    const uint32_t shards = remote_filter_shards(filter);
    for (uint32_t i = 0; i < (shards > 4 ? 4 : shards) || i == 0; i++)
        good(remote_export(filter, i, "tamis", i == 1, &sink, &all_bytes) == 0);
}

static void ask_import(struct remote *store)
{
    size_t left = 0;
    bool is_good = true;
    const struct tamis_source source = {
        .size = sizeof source, .read = read_a_little, .context = &left};
    const struct remote_shards shards = {
        .shards = 4, .capacity = 100, .fp_rate = 0.01, .kind = TAMIS_KIND_BLOCKED, .seed = 1};
    struct remote_filter *filter = remote_import_begin(store, "f", &shards, false);
    good(filter != NULL);
    if (filter == NULL) return;
    for (uint32_t i = 0; is_good && i < 4; i++) {
        left = 3000;
        is_good = remote_import_shard(filter, i, &source, false) == 0;
    }
    good(is_good && remote_import_end(filter) == 0);
    remote_filter_close(filter);
}

static void ask_create(struct remote *store, enum ask ask)
{
    const struct remote_spec spec = {
        .spec = {.size = sizeof spec.spec, .capacity = 1000, .fp_rate = 0.01},
        .like = ask == ASK_CREATE_LIKE ? "g" : NULL,
        .shards = ask == ASK_CREATE_SHARDS ? 4 : 0,
        .if_missing = ask == ASK_CREATE_SHARDS};
    good(remote_create(store, "f", &spec) == 0);
}

static void ask_filter(struct remote *store, enum ask ask)
{
    struct remote_filter *filter = remote_filter_open(store, "f");
    good(filter != NULL);
    if (filter == NULL) return;
    struct tamis_filter_stat stat;
    if (ask == ASK_REMOVE) good(remote_can(filter, "TAMIS.REMOVE") == 0);
    if (ask == ASK_ADD || ask == ASK_CHECK || ask == ASK_REMOVE || ask == ASK_PARENTS)
        ask_keys(filter, ask);
    if (ask == ASK_COUNT) {
        uint64_t counts[KEYS];
        good(remote_can(filter, "TAMIS.COUNT") == 0);
        good(remote_count(filter, keys, KEYS, counts) >= 0);
    }
    if (ask == ASK_ADD || ask == ASK_EXPLAIN ||
        (ask == ASK_EXPORT && remote_filter_shards(filter) == 0))
        good(remote_stat(filter, &stat) == 0);
    if (ask == ASK_EXPLAIN) (void)remote_explain(filter, keys, KEYS, each_segment, NULL);
    if (ask == ASK_INFO) ask_info(filter);
    if (ask == ASK_EXPORT) ask_export(filter);
    if (ask == ASK_ROTATE) good(remote_rotate(filter) == 0);
    if (ask == ASK_SYNC) good(remote_sync(filter) == 0);
    remote_filter_close(filter);
}

static void ask_store(struct remote *store, enum ask ask)
{
    static const char *const sources[] = {"g", "h"};
    switch (ask) {
    case ASK_LIST:
        good(remote_list(store, NULL, false, each_filter, NULL) == 0);
        break;
    case ASK_CREATE:
    case ASK_CREATE_SHARDS:
    case ASK_CREATE_LIKE:
        ask_create(store, ask);
        break;
    case ASK_DROP:
        good(remote_exists(store, "f", "'f' is not there") >= 0);
        good(remote_drop(store, "f", &(struct tamis_filter_stat){0}) == 0);
        break;
    case ASK_RENAME:
        good(remote_rename(store, "f", "g") == 0);
        break;
    case ASK_IMPORT:
        ask_import(store);
        break;
    case ASK_MERGE:
        good(remote_merge(store, "f", sources, 2, false) == 0);
        break;
    default:
        ask_filter(store, ask);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct invocation call = {.command = NULL};
    seconds = 0;
    polls = told = 0;
    if (bytes < 2) return 0;
    read_messages(data + 2, bytes - 2);
    struct remote *store = remote_open(&call, "redis://:secret@server:7000,other:7001/1");
    good(store != NULL);
    if (store != NULL) {
        store->replicas = (data[1] & WITH_REPLICAS) ? 1 : 0;
        store->doubts_are_seen = (data[1] & DOUBTS_ARE_SEEN) != 0;
        ask_store(store, data[0] % ASKS);
        remote_close(store);
    }
    end_lines();
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load.c: bench_redis_load PORT[,PORT...] COMMAND KEY [NAME=NUMBER...]: sends a command with many
 * items to redis-servers and prints one line: keys a second, and how long answers took.
 * bench_redis.py runs it.
 *
 *     batch=1000    items in a command
 *     bytes=8       bytes of an item, 8 or more
 *     depth=8       commands on their way
 *     clients=1     connections to each port, each with a thread
 *     seconds=1     how long
 *     keys=0        how many items of each client, if the seconds last; 0: any number
 *     rate=0        items a second of all together; 0: as many as go
 *     from=0        the first item
 *     items=0       how many different items there are; 0: each is another
 */
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct setting {
    const char *name;
    uint64_t number;
};

enum { BATCH, BYTES, DEPTH, CLIENTS, SECONDS, RATE, FROM, ITEMS, KEYS, SETTINGS };
static struct setting settings[SETTINGS] = {{"batch", 1000}, {"bytes", 8},   {"depth", 8},
                                            {"clients", 1},  {"seconds", 1}, {"rate", 0},
                                            {"from", 0},     {"items", 0},   {"keys", 0}};
static uint64_t get(int which)
{
    return settings[which].number;
}

/* One connection. */
struct client {
    pthread_t thread;
    int port;
    const char *command, *key;
    uint64_t number, clients; /* of all */
    char *text;               /* the command as it is sent; the items are written over */
    size_t text_bytes, first_item, item_step;
    uint64_t next, sent, answered, errors;
    double worst_s, sum_s;
    char error[256];
};

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* splitmix64 (Steele, Lea and Flood, 2014): items that are spread over all 8 bytes, each another.
 */
static uint64_t spread(uint64_t x)
{
    x += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

static void build(struct client *c)
{
    const size_t batch = get(BATCH), bytes = get(BYTES);
    char head[64];
    const size_t head_bytes = (size_t)snprintf(head, sizeof head, "$%zu\r\n", bytes);
    c->item_step = head_bytes + bytes + 2;
    c->text = malloc(256 + strlen(c->command) + strlen(c->key) + batch * c->item_step);
    if (c->text == NULL) exit(2);
    char *at = c->text;
    at += sprintf(at, "*%zu\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n", batch + 2, strlen(c->command),
                  c->command, strlen(c->key), c->key);
    c->first_item = (size_t)(at - c->text) + head_bytes;
    for (size_t i = 0; i < batch; i++) {
        at += sprintf(at, "%s", head);
        memset(at, '.', bytes);
        at += bytes;
        *at++ = '\r';
        *at++ = '\n';
    }
    c->text_bytes = (size_t)(at - c->text);
}

/* Writes the next items into the command.  Clients take turns, so no two send the same one. */
static void fill(struct client *c)
{
    char *at = c->text + c->first_item + get(BYTES) - 8;
    for (uint64_t i = 0; i < get(BATCH); i++, at += c->item_step) {
        uint64_t item = c->next * c->clients + c->number;
        if (get(ITEMS) > 0) item %= get(ITEMS);
        item = spread(get(FROM) + item);
        memcpy(at, &item, 8);
        c->next++;
    }
}

/* The answers are counted and not kept: making objects of them would take longer than the server
 * does. */
static int an_object;
static void *skip_string(const redisReadTask *task, char *text, size_t bytes)
{
    struct client *c = task->privdata;
    if (task->type == REDIS_REPLY_ERROR) {
        c->errors++;
        (void)snprintf(c->error, sizeof c->error, "%.*s", (int)bytes, text);
    }
    return &an_object;
}
#if HIREDIS_MAJOR >= 1
typedef size_t element_count;
#else
typedef int element_count;
#endif
static void *skip_array(const redisReadTask *task, element_count elements)
{
    (void)task;
    (void)elements;
    return &an_object;
}
static void *skip_integer(const redisReadTask *task, long long number)
{
    (void)task;
    (void)number;
    return &an_object;
}
static void skip_free(void *object)
{
    (void)object;
}
static redisReplyObjectFunctions skipping = {.createString = skip_string,
                                             .createArray = skip_array,
                                             .createInteger = skip_integer,
                                             .freeObject = skip_free};

static void fail(const struct client *c, const char *what)
{
    fprintf(stderr, "bench_redis_load: port %d: %s\n", c->port, what);
    exit(2);
}

static void send_one(struct client *c, redisContext *redis)
{
    fill(c);
    if (redisAppendFormattedCommand(redis, c->text, c->text_bytes) != REDIS_OK)
        fail(c, redis->errstr);
    c->sent++;
}

static void take_answer(struct client *c, redisContext *redis, const double *sent_at)
{
    void *reply;
    if (redisGetReply(redis, &reply) != REDIS_OK) fail(c, redis->errstr);
    const double took = now() - sent_at[c->answered % get(DEPTH)];
    if (took > c->worst_s) c->worst_s = took;
    c->sum_s += took;
    c->answered++;
}

static bool is_wanted(const struct client *c)
{
    return get(KEYS) == 0 || c->next < get(KEYS);
}

static void *run(void *context)
{
    struct client *c = context;
    redisContext *redis = redisConnect("127.0.0.1", c->port);
    if (redis == NULL || redis->err) fail(c, redis == NULL ? "out of memory" : redis->errstr);
    redis->reader->fn = &skipping;
    redis->reader->privdata = c;
    build(c);
    double *sent_at = calloc(get(DEPTH), sizeof *sent_at);
    if (sent_at == NULL) exit(2);
    const double begin = now(), end = begin + (double)get(SECONDS);
    const double each = get(RATE) == 0 ? 0 : (double)(get(BATCH) * c->clients) / (double)get(RATE);
    bool going = true;
    while (going || c->answered < c->sent) {
        going = going && now() < end && is_wanted(c);
        while (going && c->sent - c->answered < get(DEPTH) && is_wanted(c)) {
            const double due = begin + each * (double)c->sent;
            if (due > now()) {
                if (c->sent > c->answered) break;
                const double wait = due - now();
                const struct timespec pause = {.tv_nsec =
                                                   wait > 0 ? (long)(wait * 1e9) % 1000000000 : 0};
                (void)nanosleep(&pause, NULL);
            }
            sent_at[c->sent % get(DEPTH)] = now();
            send_one(c, redis);
        }
        if (c->answered < c->sent) take_answer(c, redis, sent_at);
    }
    redisFree(redis);
    free(sent_at);
    free(c->text);
    return NULL;
}

static bool take_setting(const char *word)
{
    const char *equals = strchr(word, '=');
    for (int i = 0; equals != NULL && i < SETTINGS; i++) {
        if (strncmp(word, settings[i].name, (size_t)(equals - word)) != 0) continue;
        char *end;
        settings[i].number = strtoull(equals + 1, &end, 10);
        return *end == '\0';
    }
    return false;
}

int main(int argc, char **argv)
{
    enum { PORTS_MAX = 8, CLIENTS_MAX = 1024 };
    static struct client clients[CLIENTS_MAX];
    int ports[PORTS_MAX];
    size_t port_count = 0;
    for (int i = 4; i < argc; i++) {
        if (take_setting(argv[i])) continue;
        fprintf(stderr, "bench_redis_load: no setting '%s'\n", argv[i]);
        return 2;
    }
    if (argc < 4) {
        fprintf(stderr, "usage: bench_redis_load PORT[,PORT...] COMMAND KEY [NAME=NUMBER...]\n");
        return 2;
    }
    for (char *at = strtok(argv[1], ","); at != NULL && port_count < PORTS_MAX;
         at = strtok(NULL, ","))
        ports[port_count++] = atoi(at);
    const size_t count = port_count * get(CLIENTS);
    if (count == 0 || count > CLIENTS_MAX || get(BYTES) < 8 || get(BATCH) == 0 || get(DEPTH) == 0) {
        fprintf(stderr, "bench_redis_load: a setting is out of range\n");
        return 2;
    }
    const double begin = now();
    for (size_t i = 0; i < count; i++) {
        clients[i] = (struct client){.port = ports[i % port_count],
                                     .command = argv[2],
                                     .key = argv[3],
                                     .number = i,
                                     .clients = count};
        if (pthread_create(&clients[i].thread, NULL, run, &clients[i]) != 0) return 2;
    }
    uint64_t answered = 0, errors = 0;
    double worst = 0, sum = 0;
    const char *error = "";
    for (size_t i = 0; i < count; i++) {
        (void)pthread_join(clients[i].thread, NULL);
        answered += clients[i].answered;
        errors += clients[i].errors;
        sum += clients[i].sum_s;
        if (clients[i].worst_s > worst) worst = clients[i].worst_s;
        if (clients[i].error[0] != '\0') error = clients[i].error;
    }
    printf("keys %" PRIu64 " seconds %.6f worst_ms %.3f mean_ms %.3f errors %" PRIu64 " %s\n",
           answered * get(BATCH), now() - begin, worst * 1e3,
           answered ? sum / (double)answered * 1e3 : 0.0, errors, error);
    return errors > 0;
}

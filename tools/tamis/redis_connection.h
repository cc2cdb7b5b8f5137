/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redis_connection.h: a Redis server at the other end, asked by commands.
 *
 * A signal ends each wait (interrupt.h). After a signal the server still gets a moment to answer,
 * so that what was begun on it can be removed; if it does not answer, the connection is given up.
 */
#pragma once

#include "remote/wire.h"

struct options;

struct redis_connection {
    struct wire wire;
    const char *what; /* what the connection is for, in messages; belongs to the owner */
    int seconds;      /* that are waited for an answer */
    bool lost;        /* an answer did not come; nothing more can be asked */
};

#define REDIS_ARGUMENTS_MAX 4

/* The reply that it must have, REDIS_REPLY_..., and its words. */
struct redis_command {
    int type;
    int count;
    const char *data[REDIS_ARGUMENTS_MAX];
    size_t bytes[REDIS_ARGUMENTS_MAX];
};

/* Makes a command of words, the last of which is followed by NULL; and of such words with bytes as
 * the last argument. */
struct redis_command redis_words(int type, const char *const *words);
struct redis_command redis_bytes(int type, const char *const *words, const void *data,
                                 size_t bytes);
#define REDIS_WORDS(type, ...) redis_words(type, (const char *const[]){__VA_ARGS__, NULL})

/* Connects to the server of --from or --to, logs in, chooses the database.  false after a message,
 * or a signal. */
bool redis_connect(struct redis_connection *connection, const struct options *options);
void redis_disconnect(struct redis_connection *connection);

/* Goes on to the node of a cluster that has the key, if the server that was connected to says MOVED
 * (redis_connect() came before).  false after a message, or a signal. */
bool redis_follow(struct redis_connection *connection, const struct options *options,
                  const char *key);

/* The reply, which the caller frees.  NULL, after a message, where it is an error, of another type,
 * or does not come; where a signal came, without one. */
redisReply *redis_ask(struct redis_connection *connection, const struct redis_command *command);

/* true where the reply was as it must be; *number, if not NULL, is its integer. */
bool redis_do(struct redis_connection *connection, const struct redis_command *command,
              long long *number);

/* Two commands as one (MULTI): both are done, or none, whoever dies in between. */
bool redis_do_both(struct redis_connection *connection, const struct redis_command commands[2],
                   long long numbers[2]);

/* Tells that a reply has another shape than Redis gives it. Always false. */
bool redis_fail_answer(const struct redis_connection *connection, const char *verb);

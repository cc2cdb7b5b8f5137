/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.h: every option of every command, once.
 *
 * A command names the options it takes as a set, TAKES(JSON) | TAKES(QUIET); options_parse() knows
 * letters, long names and value formats, so -n means and accepts the same thing everywhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct invocation;

/*
 * Every option: its id, its name, its letter ("" if it has none), and its value: VALUE(TYPE,
 * member) has its type (enum value of options.c) and the member of struct options that it goes to,
 * and SMALL(member, least, most) is a number in a range.
 */
#define CLI_OPTIONS(X)                                                                             \
    X(HELP, "help", "h", NO_VALUE)                                                                 \
    X(VERSION, "version", "V", NO_VALUE)                                                           \
    X(STORE, "store", "", VALUE(STORE, store))                                                     \
    X(JSON, "json", "", NO_VALUE)                                                                  \
    X(CAPACITY, "capacity", "n", VALUE(COUNT, capacity))                                           \
    X(RATE, "rate", "p", VALUE(RATE, fp_rate))                                                     \
    X(BITS, "bits", "m", VALUE(BITS, m_bits))                                                      \
    X(HASHES, "hashes", "k", VALUE(HASHES, k))                                                     \
    X(KIND, "kind", "", VALUE(KIND, kind))                                                         \
    X(HASH_SET, "hash-set", "", VALUE(TEXT, hash_set))                                             \
    X(SEED, "seed", "", VALUE(SEED, seed))                                                         \
    X(LIKE, "like", "", VALUE(TEXT, like))                                                         \
    X(IF_MISSING, "if-missing", "", NO_VALUE)                                                      \
    X(NEW, "new", "", NO_VALUE)                                                                    \
    X(SEEN, "seen", "", NO_VALUE)                                                                  \
    X(STATS, "stats", "", NO_VALUE)                                                                \
    X(ZERO, "null", "z", NO_VALUE)                                                                 \
    X(HEX, "hex", "", NO_VALUE)                                                                    \
    X(PROGRESS, "progress", "", NO_VALUE)                                                          \
    X(NO_PROGRESS, "no-progress", "", NO_VALUE)                                                    \
    X(INVERT, "invert", "v", NO_VALUE)                                                             \
    X(COUNT, "count", "c", NO_VALUE)                                                               \
    X(QUIET, "quiet", "q", NO_VALUE)                                                               \
    X(MEMORY, "memory", "", VALUE(SIZE, memory_bytes))                                             \
    X(TABLE, "table", "", NO_VALUE)                                                                \
    X(FROM, "from", "", VALUE(TEXT, peer))                                                         \
    X(TO, "to", "", VALUE(TEXT, peer))                                                             \
    X(SEAL, "seal", "", NO_VALUE)                                                                  \
    X(FORCE, "force", "", NO_VALUE)                                                                \
    X(INTERSECT, "intersect", "", NO_VALUE)                                                        \
    X(ON_FULL, "on-full", "", VALUE(ON_FULL, on_full))                                             \
    X(WINDOW, "window", "", VALUE(WINDOW, window_ns))                                              \
    X(WINDOW_FROM, "window-from", "", VALUE(WINDOW_FROM, window_from))                             \
    X(KEY_RULE, "key-rule", "", VALUE(TEXT, key_rule))                                             \
    X(SLICES, "slices", "", SMALL(slices, 1, TAMIS_SLICES_MAX))                                    \
    X(COUNTER_BITS, "counter-bits", "", SMALL(counter_bits, 4, 32))                                \
    X(COMMENTS, "comments", "", VALUE(COMMENTS, comments))                                         \
    X(SKIP_BLANK, "skip-blank", "", NO_VALUE)                                                      \
    X(CRLF, "crlf", "", NO_VALUE)                                                                  \
    X(RAW, "raw", "", NO_VALUE)                                                                    \
    X(FORMAT, "format", "", VALUE(TEXT, format))                                                   \
    X(FIELD, "field", "", VALUE(TEXT, field))                                                      \
    X(SEPARATOR, "separator", "", VALUE(TEXT, separator))                                          \
    X(THREADS, "threads", "", SMALL(threads, 1, THREADS_MAX))                                      \
    X(KEEP, "keep", "", SMALL(keep, 0, TAMIS_KEEP_MAX))                                            \
    X(IF_CHANGED, "if-changed", "", NO_VALUE)                                                      \
    X(ALLOW_EMPTY, "allow-empty", "", NO_VALUE)                                                    \
    X(EXCEPT, "except", "", VALUE(FILE, except))                                                   \
    X(AGAINST, "against", "", VALUE(FILE, against))                                                \
    X(DRY_RUN, "dry-run", "n", NO_VALUE)                                                           \
    X(REBUILD, "rebuild", "", NO_VALUE)                                                            \
    X(OUTPUT, "output", "o", VALUE(TEXT, output))                                                  \
    X(ALL, "all", "", NO_VALUE)                                                                    \
    X(WITH_KEY, "with-key", "", NO_VALUE)                                                          \
    X(MODE, "mode", "", VALUE(MODE, mode))                                                         \
    X(DURABLE, "durable", "", NO_VALUE)                                                            \
    X(PAGES, "pages", "", VALUE(PAGES, pages))                                                     \
    X(FORCE_NETWORK_FS, "force-network-fs", "", NO_VALUE)                                          \
    X(SYNC_INTERVAL, "sync-interval", "", VALUE(DURATION, sync_interval_ns))                       \
    X(NO_SYNC, "no-sync", "", NO_VALUE)                                                            \
    X(POPULATE, "populate", "", NO_VALUE)                                                          \
    X(ACCEPT, "accept", "", NO_VALUE)                                                              \
    X(FILE, "file", "", VALUE(FILE, files))                                                        \
    X(WAIT, "wait", "", VALUE(WAIT, wait_ms))                                                      \
    X(RECORDED, "recorded", "", NO_VALUE)                                                          \
    X(LIVE, "live", "", NO_VALUE)                                                                  \
    X(SORT, "sort", "", VALUE(TEXT, sort))                                                         \
    X(REVERSE, "reverse", "", NO_VALUE)                                                            \
    X(TOTAL, "total", "", NO_VALUE)                                                                \
    X(HUMAN, "human", "", NO_VALUE)                                                                \
    X(COLOR, "color", "", VALUE(COLOR, color))                                                     \
    X(INTERVAL, "interval", "", VALUE(DURATION, interval_ns))                                      \
    X(ONCE, "once", "", NO_VALUE)                                                                  \
    X(SEGMENTS, "segments", "", NO_VALUE)                                                          \
    X(SHARD, "shard", "", VALUE(SHARD, shard))                                                     \
    X(SHARDS, "shards", "", SMALL(shards, 1, SHARDS_LIMIT))                                        \
    X(REPLICAS, "replicas", "", SMALL(replicas, 1, REPLICAS_LIMIT))                                \
    X(RETRY_NEW, "retry-new", "", NO_VALUE)                                                        \
    X(NO_RETRY_NEW, "no-retry-new", "", NO_VALUE)                                                  \
    X(TIMEOUT, "timeout", "", VALUE(TIMEOUT, timeout_ms))                                          \
    X(CACERT, "cacert", "", VALUE(TEXT, cacert))                                                   \
    X(CERT, "cert", "", VALUE(TEXT, cert))                                                         \
    X(KEY, "key", "", VALUE(TEXT, key))                                                            \
    X(INSECURE, "insecure", "", NO_VALUE)                                                          \
    X(NAMES, "names", "", VALUE(FILE, names))                                                      \
    X(IN, "in", "", VALUE(FILE, in))                                                               \
    X(ANY, "any", "", NO_VALUE)                                                                    \
    X(WHICH, "which", "", NO_VALUE)                                                                \
    X(PARENTS, "parents", "", NO_VALUE)                                                            \
    X(ANSWER, "answer", "", VALUE(ANSWER, answer))                                                 \
    X(CHANNEL, "channel", "", NO_VALUE)                                                            \
    X(FIRST_WORD, "first-word", "", NO_VALUE)                                                      \
    X(PUBLISH, "publish", "", NO_VALUE)                                                            \
    X(DIGEST, "digest", "", NO_VALUE)                                                              \
    X(SIGN, "sign", "", VALUE(TEXT, sign))                                                         \
    X(SIGNATURE, "signature", "", VALUE(TEXT, signature))                                          \
    X(TRUSTED_COMMENT, "trusted-comment", "", VALUE(TEXT, trusted_comment))                        \
    X(PASSWORD_FILE, "password-file", "", VALUE(TEXT, password_file))                              \
    X(VERIFY, "verify", "", VALUE(FILE, verify))                                                   \
    X(EXPECT_COMMENT, "expect-comment", "", VALUE(TEXT, expect_comment))                           \
    X(DROP_COVERED, "drop-covered", "", NO_VALUE)                                                  \
    X(AT_LEAST, "at-least", "", VALUE(COUNT, at_least))                                            \
    X(MAX_SHRINK, "max-shrink", "", VALUE(PERCENT, max_shrink))                                    \
    X(NEWER_THAN_MINE, "newer-than-mine", "", NO_VALUE)                                            \
    X(MAX_BYTES, "max-bytes", "", VALUE(SIZE, max_bytes))                                          \
    X(NETRC, "netrc", "", NO_VALUE)                                                                \
    X(PATCHES, "patches", "", NO_VALUE)                                                            \
    X(RETRY, "retry", "", SMALL(retry, 0, RETRIES_LIMIT))                                          \
    X(CSV, "csv", "", NO_VALUE)                                                                    \
    X(WHERE, "where", "", VALUE(FILE, where))                                                      \
    X(STRICT, "strict", "", NO_VALUE)                                                              \
    X(OVERWRITE, "overwrite", "", NO_VALUE)                                                        \
    X(LIST_LOST, "list-lost", "", NO_VALUE)                                                        \
    X(RESTORE, "restore", "", VALUE(TEXT, restore))                                                \
    X(FORGET_LOST, "forget-lost", "", VALUE(DURATION, forget_lost_ns))

#define OPTION_ID(id, ...) OPTION_##id,
enum option_id { CLI_OPTIONS(OPTION_ID) OPTION_IDS };

/* A set of options, a bit for each. */
__extension__ typedef unsigned __int128 option_set;
_Static_assert(OPTION_IDS <= 8 * sizeof(option_set), "a set has a bit for each option");

#define TAKES(id) ((option_set)1 << OPTION_##id)

/* The options that say which lines of an input are keys, and how they are written. */
#define TAKES_LINES                                                                                \
    (TAKES(ZERO) | TAKES(COMMENTS) | TAKES(SKIP_BLANK) | TAKES(CRLF) | TAKES(RAW) |                \
     TAKES(FORMAT) | TAKES(FIELD) | TAKES(SEPARATOR))
/* The options that say what a key looks like, in and out. */
#define TAKES_KEYS (TAKES_LINES | TAKES(HEX) | TAKES(JSON))
/* The same for commands whose keys are arguments, standard input or files (keys.h). */
#define TAKES_KEYS_OF_FILES (TAKES_KEYS | TAKES(FILE))
/* The options that only a store in a directory, or only a server, has a use for. */
#define TAKES_OF_DIRECTORY                                                                         \
    (TAKES(SYNC_INTERVAL) | TAKES(NO_SYNC) | TAKES(POPULATE) | TAKES(MODE) | TAKES(RECORDED) |     \
     TAKES(NAMES))
#define TAKES_TLS (TAKES(CACERT) | TAKES(CERT) | TAKES(KEY) | TAKES(INSECURE))
/* Those of a connection stand before or behind each command that can have one. */
#define TAKES_CONNECTION (TAKES(TIMEOUT) | TAKES_TLS)
#define TAKES_RETRY (TAKES(RETRY_NEW) | TAKES(NO_RETRY_NEW))
#define TAKES_OF_SERVER (TAKES(SHARDS) | TAKES(REPLICAS) | TAKES_RETRY | TAKES_CONNECTION)
#define TAKES_PROGRESS (TAKES(PROGRESS) | TAKES(NO_PROGRESS))

/* The guards of what is published against a list that is much too short. */
#define TAKES_GUARDS (TAKES(AT_LEAST) | TAKES(MAX_SHRINK))

/* Takes the name of a sort of pages.  false after a message, which begins with `what`. */
bool options_take_pages(const char *what, const char *value, uint32_t *pages);

/* The files of an option that may stand several times. */
struct option_files {
    const char **paths;
    size_t count;
};

/* One shard of a filter that is spread over several: --shard I/N. */
struct option_shard {
    uint32_t number; /* from 0 */
    uint32_t count;
};

/* The words that stand for the answers: --answer PRESENT,ABSENT[,UNREADABLE]. */
struct option_answer {
    char *present;
    const char *absent;     /* behind it, in the same memory, and so is the next one */
    const char *unreadable; /* the filter cannot be read; NULL: then the command ends */
};

/* When output has colours: --color. */
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

#define RETRIES_LIMIT 100   /* of a pull */
#define REPLICAS_LIMIT 1000 /* of one master */

/* The values of the options. A field is valid only if its option was given. */
struct options {
    option_set given; /* TAKES(...) of what was on the command line */
    bool brief_help;  /* -h, not --help */
    const char *store;
    uint64_t capacity;
    double fp_rate;
    uint64_t m_bits;
    uint32_t k;
    uint32_t kind;
    uint32_t counter_bits;
    const char *hash_set;
    uint64_t seed;
    const char *like;
    uint64_t memory_bytes;
    uint32_t on_full;
    uint32_t pages;
    uint32_t slices;
    uint32_t window_from; /* 1: first; 0: last */
    const char *key_rule;
    int64_t window_ns; /* of --window, one of the two */
    uint64_t window_items;
    const char *output;
    const char *peer; /* --from or --to: a format, or the URL of a server */
    const char *comments;
    const char *format; /* of an input (input/format.h) */
    const char *field;
    const char *separator; /* of fields */
    uint32_t threads;
    uint32_t keep;
    uint32_t mode; /* of a store */
    int64_t sync_interval_ns;
    struct option_files except;
    struct option_files against;
    struct option_files files;       /* of --file */
    struct option_files names;       /* of --names */
    struct option_files in;          /* filters, of --in */
    struct option_files where;       /* conditions, not files */
    int64_t wait_ms;                 /* for other processes with the store's lock */
    int64_t timeout_ms;              /* for an answer of a server */
    const char *cacert, *cert, *key; /* files, for TLS */
    uint32_t shards;
    struct option_shard shard;
    const char *sort;    /* what order.h knows by this name */
    uint32_t color;      /* enum color */
    int64_t interval_ns; /* of `top` */
    const char *restore; /* the name of a file in lost/ */
    int64_t forget_lost_ns;
    uint32_t replicas;
    uint64_t max_bytes; /* of what is pulled */
    uint32_t retry;     /* so many tries more */
    struct option_answer answer;
    const char *sign;      /* the file of a secret key */
    const char *signature; /* the file of a signature */
    const char *trusted_comment;
    const char *expect_comment; /* one of the fields of a trusted comment, or all of it */
    uint64_t at_least;          /* keys of a list */
    double max_shrink;          /* percent */
    const char *password_file;
    struct option_files verify; /* public keys: files, or their texts */
};

/* Releases what was allocated for the values. */
void options_clear(struct options *options);

/* Was any option of the set given? */
static inline bool options_have(const struct options *options, option_set set)
{
    return (options->given & set) != 0;
}

/* How many options of the set were given? */
size_t options_count(const struct options *options, option_set set);

/*
 * Takes the options of call->command out of argv (argv[0] is the command's name) and leaves the
 * rest in call->args.  Options may stand before, after and between arguments; `--` ends them.
 * Returns false after a message where something is wrong.
 */
bool options_parse(struct invocation *call, int argc, char **argv);

/* The same for what stands before the command: --store, --wait, --force-network-fs, --help,
 * --version, and the options of a connection.
 * Returns the index of the command in argv, or -1 after a message. */
int options_parse_global(struct options *options, int argc, char **argv);

/* Returns false, after a message, if an option of the set was given; `why` goes behind its name. */
bool options_none(const struct invocation *call, option_set set, const char *why);

/* Returns false, after a message, if more than one option of the set was given. */
bool options_exclusive(const struct invocation *call, option_set set);

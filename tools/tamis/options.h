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

/* Every option: its id, its name, and its letter, if it has one.  options.c says what its value is.
 */
#define CLI_OPTIONS(X)                                                                             \
    X(HELP, "help", "h")                                                                           \
    X(VERSION, "version", "V")                                                                     \
    X(STORE, "store", "")                                                                          \
    X(JSON, "json", "")                                                                            \
    X(CAPACITY, "capacity", "n")                                                                   \
    X(RATE, "rate", "p")                                                                           \
    X(BITS, "bits", "m")                                                                           \
    X(HASHES, "hashes", "k")                                                                       \
    X(KIND, "kind", "")                                                                            \
    X(HASH_SET, "hash-set", "")                                                                    \
    X(SEED, "seed", "")                                                                            \
    X(LIKE, "like", "")                                                                            \
    X(IF_MISSING, "if-missing", "")                                                                \
    X(NEW, "new", "")                                                                              \
    X(SEEN, "seen", "")                                                                            \
    X(STATS, "stats", "")                                                                          \
    X(ZERO, "null", "z")                                                                           \
    X(HEX, "hex", "")                                                                              \
    X(PROGRESS, "progress", "")                                                                    \
    X(NO_PROGRESS, "no-progress", "")                                                              \
    X(INVERT, "invert", "v")                                                                       \
    X(COUNT, "count", "c")                                                                         \
    X(QUIET, "quiet", "q")                                                                         \
    X(MEMORY, "memory", "")                                                                        \
    X(TABLE, "table", "")                                                                          \
    X(FROM, "from", "")                                                                            \
    X(TO, "to", "")                                                                                \
    X(SEAL, "seal", "")                                                                            \
    X(FORCE, "force", "")                                                                          \
    X(INTERSECT, "intersect", "")                                                                  \
    X(ON_FULL, "on-full", "")                                                                      \
    X(WINDOW, "window", "")                                                                        \
    X(SLICES, "slices", "")                                                                        \
    X(COUNTER_BITS, "counter-bits", "")                                                            \
    X(COMMENTS, "comments", "")                                                                    \
    X(SKIP_BLANK, "skip-blank", "")                                                                \
    X(CRLF, "crlf", "")                                                                            \
    X(THREADS, "threads", "")                                                                      \
    X(KEEP, "keep", "")                                                                            \
    X(IF_CHANGED, "if-changed", "")                                                                \
    X(ALLOW_EMPTY, "allow-empty", "")                                                              \
    X(EXCEPT, "except", "")                                                                        \
    X(AGAINST, "against", "")                                                                      \
    X(DRY_RUN, "dry-run", "")                                                                      \
    X(REBUILD, "rebuild", "")                                                                      \
    X(OUTPUT, "output", "o")                                                                       \
    X(ALL, "all", "")                                                                              \
    X(WITH_KEY, "with-key", "")                                                                    \
    X(MODE, "mode", "")                                                                            \
    X(DURABLE, "durable", "")                                                                      \
    X(FORCE_NETWORK_FS, "force-network-fs", "")                                                    \
    X(SYNC_INTERVAL, "sync-interval", "")                                                          \
    X(NO_SYNC, "no-sync", "")                                                                      \
    X(POPULATE, "populate", "")                                                                    \
    X(ACCEPT, "accept", "")                                                                        \
    X(FILE, "file", "")                                                                            \
    X(WAIT, "wait", "")                                                                            \
    X(RECORDED, "recorded", "")

#define OPTION_ID(id, name, letter) OPTION_##id,
enum option_id { CLI_OPTIONS(OPTION_ID) OPTION_IDS };

#define TAKES(id) (UINT64_C(1) << OPTION_##id)

/* The options that say what a key looks like, in and out. */
#define TAKES_KEYS (TAKES(ZERO) | TAKES(HEX) | TAKES(JSON))
/* The same for commands whose keys are arguments, standard input or files (keys.h). */
#define TAKES_KEYS_OF_FILES (TAKES_KEYS | TAKES(FILE))
#define TAKES_PROGRESS (TAKES(PROGRESS) | TAKES(NO_PROGRESS))

/* The files of an option that may stand several times. */
struct option_files {
    const char **paths;
    size_t count;
};

/* The values of the options. A field is valid only if its option was given. */
struct options {
    uint64_t given; /* TAKES(...) of what was on the command line */
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
    uint32_t slices;
    int64_t window_ns; /* of --window, one of the two */
    uint64_t window_items;
    const char *output;
    const char *peer; /* --from or --to: a format, or the URL of a server */
    const char *comments;
    uint32_t threads;
    uint32_t keep;
    uint32_t mode; /* of a store */
    int64_t sync_interval_ns;
    struct option_files except;
    struct option_files against;
    struct option_files files; /* of --file */
    int64_t wait_ms;           /* the busy timeout */
};

/* Release what was allocated for the values. */
void options_clear(struct options *options);

/* Was any option of the set given? */
static inline bool options_have(const struct options *options, uint64_t set)
{
    return (options->given & set) != 0;
}

/*
 * Take the options of call->command out of argv (argv[0] is the command's name) and leave the rest
 * in call->args.  Options may stand before, after and between arguments; `--` ends them.
 * Returns false after a message where something is wrong.
 */
bool options_parse(struct invocation *call, int argc, char **argv);

/* The same for what stands before the command: --store, --force-network-fs, --help, --version.
 * Returns the index of the command in argv, or -1 after a message. */
int options_parse_global(struct options *options, int argc, char **argv);

/* Tell, and return false, if more than one option of the set was given. */
bool options_exclusive(const struct invocation *call, uint64_t set);

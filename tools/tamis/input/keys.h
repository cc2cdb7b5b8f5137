/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.h: where the keys of add, check, build and others come from, and how they are printed.
 *
 * Keys come from the arguments, from standard input, or from files; all bytes that are read come
 * through input.h, and are unpacked there. One buffer is filled, the ends of lines are found 64
 * bytes at a time, and the keys of a batch point straight into the buffer. No key is copied on its
 * way in or out, so memory is constant; only a single key that is longer than the buffer makes it
 * grow, up to KEY_BYTES_MAX.
 *
 * Answers never wait: standard output is flushed before each read, each time 64 KiB are there, and
 * each 100 ms. For this, batches have as many keys as take half of that (pace.h). A signal is
 * heeded between two batches. A batch for a server is larger than what a pipe holds: so more is
 * read while more is there at once, and never waited for.
 */
#pragma once

#include <sys/types.h>

#include "command.h"
#include "input/format.h"
#include "input/input.h"
#include "input/pace.h"

#define KEY_BATCH 1024 /* as many as the library takes at once; their text stays in L2 */
#define KEY_BYTES_MAX ((size_t)64 * 1024 * 1024) /* of one key, as it is written */

/* For a store on a server: each shard gets its share of the batch, and a batch waits for the
 * slowest answer.  16384 are no faster (docs/cluster.md). */
#define KEY_BATCH_REMOTE 4096

struct key_source {
    struct tamis_key *keys; /* the batch; valid until the next key_source_next() */
    uint8_t *answers;       /* room for its answers */
    size_t room;            /* how many keys it has at most; more where a record has more */
    size_t batch;           /* how many are looked for at once */
    uint64_t keys_done;     /* keys handed out so far, this batch included */
    bool hex;
    bool all_or_none;          /* nothing is done before all keys are read; set by the caller */
    char separator;            /* '\n', or NUL after -z */
    struct out *out;           /* flushed before each read */
    struct taking taking;      /* how records are taken apart */
    struct tamis_key *records; /* of each key of the batch, what it was read from; NULL: itself */
    bool guesses;              /* the format is to be found out; the caller may set it */
    bool is_quiet;             /* no notes on the format */
    bool has_guessed;
    const char *rule_of_names; /* the key rule that a list of names gets, to be told; or NULL */

    /* Where the keys come from. */
    struct input *input;                         /* what is open; NULL: arguments, or nothing */
    bool is_borrowed;                            /* the caller closes it */
    const char *const *files, *const *files_end; /* of --file, that are not open yet */
    char **args; /* keys as arguments, up to args_end; NULL: they are read */
    char **args_end;
    bool raw;

    /* What was read. */
    char *buffer;
    size_t buffer_bytes;
    size_t start;   /* of what is not taken apart yet */
    size_t scanned; /* up to here there is no separator after start */
    size_t end;     /* of what was read */
    bool at_end;
    bool failed;
    char *error; /* what stopped the reading, told when the keys before it are done */

    /* The keys that were found in it, of which [handed, taken_count) are not handed out yet. */
    struct tamis_key *taken, *taken_records;
    struct tamis_key *lines_taken; /* where each line is a key; else they are in `taking` */
    size_t taken_count;
    size_t handed;

    bool looked;            /* the first bytes of the file that is open were looked at */
    const char *looks_like; /* the options that they look like; NULL: of no other format */

    /* Time. */
    struct pace pace;
    size_t batch_keys;  /* of the batch that is out */
    double batch_start; /* when it was handed out */
    double flushed;     /* when standard output was last flushed */

    uint64_t bytes_all;    /* of all that is read, as it is packed; 0: not known */
    uint64_t keys_before;  /* of the sources before this one, for the progress display */
    uint64_t bytes_before; /* of the files before the one that is open, and of those sources */
};

/* Can the keys be read as the call says? To be asked before anything is opened. false after a
 * message: keys are given both as arguments and as files, or a file cannot be read. A note is
 * printed if the only argument is the name of a file. */
bool key_source_can_be(const struct invocation *call, size_t first);

/* Keys from the arguments of the call from index `first` on, else from the files of --file, else
 * from standard input.  Starts the progress display.  On the heap; never NULL. */
struct key_source *key_source_new(const struct invocation *call, size_t first);

/* Are --format, --field and --separator sound?  false after a message. */
bool key_source_format_is_sound(const struct invocation *call);

/* Keys of one file, whose lines follow the rules of the options. It updates the progress display;
 * the caller begins and ends the display, and closes the input. */
struct key_source *key_source_of(const struct invocation *call, struct input *input);

/* What is known of one file, and not of the next. Called where a file is about to be read. */
void key_source_begin_file(struct key_source *source);

void key_source_free(struct key_source *source);

/* The next batch into source->keys: their number, 0 at the end, -1 after a message. */
ssize_t key_source_next(struct key_source *source);

/* Calls `batch` with the number of keys of each batch, as long as it returns CLI_DONE.  Returns
 * CLI_DONE at the end of the keys, CLI_ERROR after a message, or what `batch` returned. */
int key_source_each(struct key_source *source, int (*batch)(void *context, size_t count),
                    void *context);

/* About how many keys there are in all, by the first keys that were read; 0: not known.  Too few
 * where the input is packed. */
uint64_t key_source_estimate(const struct key_source *source);

/* Tells that a key is not there: "key 'KEY' <what>", with the key cut short if it is long. */
void key_source_tell_missing(const struct key_source *source, const struct tamis_key *key,
                             const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The status of a command when its keys have ended. That is `status`, or, after a signal, 128 plus
 * its number, with a message in which `done` says what was done with the keys that were read. */
int key_source_status(const struct key_source *source, int status, const char *done);

/* Prints on standard error how many keys there were, how many of them were new, and the seconds. */
void key_source_tell_stats(const struct key_source *source, uint64_t new_keys, double seconds,
                           bool json);

/* How many records have this answer: 1 if a key of it has, 0 if all keys have 0. */
uint64_t key_source_count(const struct key_source *source, size_t count, uint8_t wanted);

/* Prints the records whose answer is `wanted`, each as it was read, with its separator. */
void key_source_print(struct key_source *source, size_t count, uint8_t wanted);

/* Prints one key as it was written, without separator. */
void key_source_print_key(const struct key_source *source, const struct tamis_key *key);

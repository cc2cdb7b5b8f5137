/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verification.h: is a stream what somebody has signed?  --verify KEY, --signature FILE.
 *
 *     verification_new     takes the keys of --verify
 *     verification_read    takes the signature: its key is one of these, its trusted comment is
 * right verification_add     is fed the bytes of the file as they pass verification_end     says
 * whether they are the signed ones
 *
 * Each of them tells the user what it refuses, in one sentence, and returns NULL or false.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct invocation;
struct stream;
struct verification;

/* The suffix of a signature beside its file. */
#define SIGNATURE_SUFFIX ".minisig"

/* Can this build check and make signatures?  false after a message. */
bool verification_is_built_in(void);

/* Takes the keys of --verify, which was given: each a file, or the text of a key. */
struct verification *verification_new(const struct invocation *call);

/* Takes the signature: from a file, or from memory, where `name` is for messages. */
bool verification_read(struct verification *verification, const char *path);
bool verification_take(struct verification *verification, const char *name, const char *text,
                       size_t bytes);

/* The name that the file has where it was signed, which the trusted comment tells as file:NAME, has
 * to be this one.  "" and NULL: any.  --expect-comment takes the place of it.  To be told before
 * the signature is taken. */
void verification_expect_file(struct verification *verification, const char *name);

/* When it was signed, in ns since 1970, by the trusted comment; 0: it does not say. */
int64_t verification_time(const struct verification *verification);
/* Which signature it is, as struct tamis_import_spec has it; not 0. */
uint64_t verification_number(const struct verification *verification);
/* The id of the key that has signed it, and the trusted comment. */
const char *verification_key_id(const struct verification *verification);
const char *verification_comment(const struct verification *verification);
/* The key that has signed it, whole: an id can be had by two. */
const char *verification_key(const struct verification *verification);

/* `name` is of the file, for the message. */
void verification_add(struct verification *verification, const void *data, size_t bytes);
bool verification_end(struct verification *verification, const char *name);

/* A stream that reads `from` and is checked at its end, which is an error unless the check is
 * passed.  It closes `from`, and leaves the verification to the caller. */
struct stream *verification_stream(struct verification *verification, struct stream *from);

void verification_free(struct verification *verification); /* NULL is allowed */

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * minisign.h: keys and signatures as the program minisign has them: Ed25519 over the BLAKE2b-512 of
 * a file.  Texts in memory only; signing.h has the files, the options and the messages.
 *
 * What is refused is said by a clause that stands behind a name: "FILE is no signature of
 * minisign".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "part.h"

#define MINISIGN_TEXT_MAX ((size_t)16 * 1024) /* no key and no signature is a longer text */
#define MINISIGN_COMMENT_MAX 8000             /* of a trusted comment that is made here */
#define MINISIGN_HASH_BYTES 64
#define MINISIGN_ID_BYTES 8
#define MINISIGN_ID_TEXT 17 /* 16 hexadecimal digits, as minisign prints them */

struct minisign_public_key {
    uint8_t id[MINISIGN_ID_BYTES];
    uint8_t key[32];
};

struct minisign_signature {
    uint8_t id[MINISIGN_ID_BYTES];
    uint8_t of_hash[64];
    uint8_t of_comment[64]; /* over of_hash and the comment */
    char comment[8192];     /* the trusted one */
};

/* How the file of a secret key encrypts it, and what there is of it.  Made and freed here, in
 * memory that is in no core dump and is cleared. */
struct minisign_secret_key;

/* ---- Texts.  NULL, or why it is refused (static) --------------------------------------------- */

/* A file of a public key, or the one line of it that says all. */
PART const char *minisign_take_public_key(const char *text, size_t bytes,
                                          struct minisign_public_key *key);
PART const char *minisign_take_signature(const char *text, size_t bytes,
                                         struct minisign_signature *signature);
PART const char *minisign_take_secret_key(const char *text, size_t bytes,
                                          struct minisign_secret_key **key);

PART bool minisign_needs_password(const struct minisign_secret_key *key);
/* Decrypts it; this takes seconds and up to 1 GiB if minisign has made it. */
PART const char *minisign_decrypt(struct minisign_secret_key *key, const char *password,
                                  size_t bytes);
PART void minisign_secret_key_free(struct minisign_secret_key *key); /* NULL is allowed */

PART void minisign_id_text(const uint8_t id[MINISIGN_ID_BYTES], char text[MINISIGN_ID_TEXT]);

/* The time of "timestamp:N" in a trusted comment, in ns since 1970; 0: it has none. */
PART int64_t minisign_time(const struct minisign_signature *signature);

/* A number that tells this signature, with its trusted comment, and this key from others; never 0.
 * (Ed25519 makes one signature of one text.) */
PART uint64_t minisign_number(const struct minisign_signature *signature,
                              const struct minisign_public_key *key);
#define MINISIGN_KEY_TEXT ((size_t)2 * 32 + 1)
PART void minisign_key_text(const struct minisign_public_key *key, char text[MINISIGN_KEY_TEXT]);

/* ---- The hash of a stream -------------------------------------------------------------------- */

struct minisign_hash;
PART struct minisign_hash *minisign_hash_new(void); /* NULL: out of memory */
PART void minisign_hash_add(struct minisign_hash *hash, const void *data, size_t bytes);
PART void minisign_hash_end(struct minisign_hash *hash, uint8_t digest[MINISIGN_HASH_BYTES]);
PART void minisign_hash_free(struct minisign_hash *hash); /* NULL is allowed */

/* ---- Checking and signing -------------------------------------------------------------------- */

/* Is the trusted comment the signer's?  It can be asked before a byte of the file is there. */
PART bool minisign_comment_is_right(const struct minisign_signature *signature,
                                    const struct minisign_public_key *key);
PART bool minisign_hash_is_right(const struct minisign_signature *signature,
                                 const struct minisign_public_key *key,
                                 const uint8_t digest[MINISIGN_HASH_BYTES]);

/* Makes the text of a signature file, with a NUL; `comment` is the trusted one, at most
 * MINISIGN_COMMENT_MAX bytes without line breaks.  The key is decrypted. */
PART void minisign_sign(const struct minisign_secret_key *key,
                        const uint8_t digest[MINISIGN_HASH_BYTES], const char *comment,
                        char text[MINISIGN_TEXT_MAX]);

PART const uint8_t *minisign_id(const struct minisign_secret_key *key);

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * minisign.c: keys and signatures of minisign, by libsodium; see minisign.h.
 *
 *     a file           "untrusted comment: ...", and a line of base64:
 *     public key       "Ed", id of 8 bytes, key of 32
 *     secret key       "Ed", "Sc" or zeros, "B2", salt of 32 bytes, two limits of scrypt (u64), and
 *                      104 bytes that are encrypted by an XOR with what scrypt makes: id, key of 64
 *                      (the seed of 32, then the public key), BLAKE2b-256 of "Ed", id and key
 *     signature        "ED", id, signature of 64 bytes over the BLAKE2b-512 of the file; then
 *                      "trusted comment: ...", and a line of base64: the signature of 64 bytes over
 *                      the one before and the comment
 *
 * The algorithm "Ed" of a signature, over the file itself and not its hash, is refused: it can be
 * checked only with the whole file in memory.
 *
 * The texts come from anybody.  Each line has to be where it belongs and of its length, and nothing
 * may follow.  (minisign itself heeds nothing behind the lines that it reads.)
 */
#include "minisign.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNTRUSTED "untrusted comment: "
#define TRUSTED "trusted comment: "
#define UNTRUSTED_MAX 1023 /* bytes of the first line: minisign reads no more */
#define TRUSTED_MAX 8190   /* of the third */

/* minisign makes keys with these, or less where memory is short. */
#define SCRYPT_OPS_MAX crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_SENSITIVE
#define SCRYPT_MEMORY_MAX crypto_pwhash_scryptsalsa208sha256_MEMLIMIT_SENSITIVE

static const uint8_t ED25519[2] = {'E', 'd'}, HASHED[2] = {'E', 'D'}, SCRYPT[2] = {'S', 'c'},
                     BLAKE2[2] = {'B', '2'}, PLAIN[2] = {0, 0};

struct public_bytes {
    uint8_t algorithm[2];
    uint8_t id[MINISIGN_ID_BYTES];
    uint8_t key[32];
};
_Static_assert(sizeof(struct public_bytes) == 42, "as minisign's");

struct signature_bytes {
    uint8_t algorithm[2];
    uint8_t id[MINISIGN_ID_BYTES];
    uint8_t signature[64];
};
_Static_assert(sizeof(struct signature_bytes) == 74, "as minisign's");

/* What is encrypted. */
struct sealed_bytes {
    uint8_t id[MINISIGN_ID_BYTES];
    uint8_t key[64];
    uint8_t checksum[32];
};

struct minisign_secret_key {
    uint8_t algorithm[2];
    uint8_t kdf[2];
    uint8_t checksum[2];
    uint8_t salt[32];
    uint8_t ops[8];
    uint8_t memory[8];
    struct sealed_bytes sealed;
};
_Static_assert(sizeof(struct minisign_secret_key) == 158, "as minisign's");

/* ---- Lines ----------------------------------------------------------------------------------- */

struct lines {
    const char *at, *end;
};

struct line {
    const char *text;
    size_t bytes;
};

/* Takes the next line, without its end.  false: there is none, or it has a NUL in it. */
static bool next_line(struct lines *lines, struct line *line)
{
    if (lines->at == lines->end) return false;
    const size_t left = (size_t)(lines->end - lines->at);
    const char *end = memchr(lines->at, '\n', left);
    *line = (struct line){lines->at, end != NULL ? (size_t)(end - lines->at) : left};
    lines->at += line->bytes + (end != NULL);
    if (line->bytes > 0 && line->text[line->bytes - 1] == '\r') line->bytes--;
    return memchr(line->text, '\0', line->bytes) == NULL;
}

static bool begins_with(const struct line *line, const char *prefix)
{
    const size_t bytes = strlen(prefix);
    return line->bytes >= bytes && memcmp(line->text, prefix, bytes) == 0;
}

/* Is it base64 of just so many bytes? */
static bool decode(const struct line *line, void *bytes, size_t count)
{
    size_t got = 0;
    return sodium_base642bin(bytes, count, line->text, line->bytes, NULL, &got, NULL,
                             sodium_base64_VARIANT_ORIGINAL) == 0 &&
           got == count;
}

static bool same(const uint8_t a[2], const uint8_t b[2])
{
    return memcmp(a, b, 2) == 0;
}

/* ---- Public keys ----------------------------------------------------------------------------- */

#define NO_PUBLIC_KEY                                                                              \
    "is no public key of minisign; give the file minisign.pub, or the line of it that begins "     \
    "with RW"

const char *minisign_take_public_key(const char *text, size_t bytes,
                                     struct minisign_public_key *key)
{
    struct lines lines = {text, text + bytes};
    struct public_bytes found;
    struct line line;
    if (bytes > MINISIGN_TEXT_MAX || !next_line(&lines, &line)) return NO_PUBLIC_KEY;
    if (begins_with(&line, UNTRUSTED) && (line.bytes > UNTRUSTED_MAX || !next_line(&lines, &line)))
        return NO_PUBLIC_KEY;
    if (!decode(&line, &found, sizeof found) || lines.at != lines.end) return NO_PUBLIC_KEY;
    if (!same(found.algorithm, ED25519))
        return "is a key of another algorithm than Ed25519; make one by 'minisign -G'";
    memcpy(key->id, found.id, sizeof key->id);
    memcpy(key->key, found.key, sizeof key->key);
    return NULL;
}

void minisign_id_text(const uint8_t id[MINISIGN_ID_BYTES], char text[MINISIGN_ID_TEXT])
{
    for (unsigned i = 0; i < MINISIGN_ID_BYTES; i++) /* minisign prints a number, little-endian */
        (void)snprintf(text + (size_t)2 * i, 3, "%02X", id[MINISIGN_ID_BYTES - 1 - i]);
}

/* ---- Signatures ------------------------------------------------------------------------------ */

#define NO_SIGNATURE                                                                               \
    "is no signature of minisign; fetch it again, or sign the file by 'minisign -S'"

static const char *take_comment(const struct line *line, struct minisign_signature *signature)
{
    const size_t prefix = strlen(TRUSTED);
    if (!begins_with(line, TRUSTED) || line->bytes > TRUSTED_MAX) return NO_SIGNATURE;
    memcpy(signature->comment, line->text + prefix, line->bytes - prefix);
    signature->comment[line->bytes - prefix] = '\0';
    return NULL;
}

const char *minisign_take_signature(const char *text, size_t bytes,
                                    struct minisign_signature *signature)
{
    struct lines lines = {text, text + bytes};
    struct signature_bytes found;
    struct line line;
    if (bytes > MINISIGN_TEXT_MAX) return "is too long for a signature of minisign; fetch it again";
    if (!next_line(&lines, &line) || !begins_with(&line, UNTRUSTED) || line.bytes > UNTRUSTED_MAX)
        return NO_SIGNATURE;
    if (!next_line(&lines, &line) || !decode(&line, &found, sizeof found)) return NO_SIGNATURE;
    if (same(found.algorithm, ED25519))
        return "is of minisign's old sort, which takes the whole file in memory; sign it by "
               "minisign 0.11 or later, or with its option -H";
    if (!same(found.algorithm, HASHED)) return NO_SIGNATURE;
    if (!next_line(&lines, &line)) return "ends before its trusted comment; fetch it again";
    const char *why = take_comment(&line, signature);
    if (why != NULL) return why;
    if (!next_line(&lines, &line) ||
        !decode(&line, signature->of_comment, sizeof signature->of_comment))
        return "is cut off, or damaged, in its last line; fetch it again";
    if (lines.at != lines.end) return "goes on after its end; fetch it again";
    memcpy(signature->id, found.id, sizeof signature->id);
    memcpy(signature->of_hash, found.signature, sizeof signature->of_hash);
    return NULL;
}

#define NS_PER_SECOND INT64_C(1000000000)

int64_t minisign_time(const struct minisign_signature *signature)
{
    static const char NAME[] = "timestamp:";
    const char *at = signature->comment;
    while (at != NULL && strncmp(at, NAME, sizeof NAME - 1) != 0) {
        at = strchr(at, '\t');
        if (at != NULL) at++;
    }
    if (at == NULL) return 0;
    at += sizeof NAME - 1;
    int64_t seconds = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        seconds = seconds * 10 + (*at - '0');
        if (seconds > INT64_MAX / NS_PER_SECOND - 1) return 0;
    }
    return *at == '\0' || *at == '\t' ? seconds * NS_PER_SECOND : 0;
}

uint64_t minisign_number(const struct minisign_signature *signature,
                         const struct minisign_public_key *key)
{
    uint8_t hash[crypto_generichash_BYTES_MIN];
    uint64_t number;
    (void)crypto_generichash(hash, sizeof hash, signature->of_comment, sizeof signature->of_comment,
                             key->key, sizeof key->key);
    memcpy(&number, hash, sizeof number);
    return number != 0 ? number : 1;
}

void minisign_key_text(const struct minisign_public_key *key, char text[MINISIGN_KEY_TEXT])
{
    (void)sodium_bin2hex(text, MINISIGN_KEY_TEXT, key->key, sizeof key->key);
}

/* ---- Secret keys ----------------------------------------------------------------------------- */

#define NO_SECRET_KEY "is no secret key of minisign; make one by 'minisign -G'"

static uint64_t get64(const uint8_t bytes[8])
{
    uint64_t number = 0;
    for (unsigned i = 8; i-- > 0;)
        number = number << 8 | bytes[i];
    return number;
}

static const char *check_secret_head(const struct minisign_secret_key *key)
{
    if (!same(key->algorithm, ED25519) || !same(key->checksum, BLAKE2)) return NO_SECRET_KEY;
    if (same(key->kdf, PLAIN)) return NULL;
    if (!same(key->kdf, SCRYPT))
        return "is encrypted in a way that this Tamis does not know; use a newer one";
    if (get64(key->memory) > SCRYPT_MEMORY_MAX || get64(key->ops) > SCRYPT_OPS_MAX)
        return "asks for more than 1 GiB of memory, or more work, to decrypt it than minisign ever "
               "does; make another by 'minisign -G'";
    return NULL;
}

/* The second half of the key is the public key.  If it were another, a signature would tell the
 * secret. */
static bool is_consistent(const struct sealed_bytes *sealed)
{
    uint8_t public_key[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];
    const bool right = crypto_sign_seed_keypair(public_key, secret, sealed->key) == 0 &&
                       sodium_memcmp(secret, sealed->key, sizeof secret) == 0;
    sodium_memzero(secret, sizeof secret);
    return right;
}

const char *minisign_take_secret_key(const char *text, size_t bytes,
                                     struct minisign_secret_key **out)
{
    struct lines lines = {text, text + bytes};
    struct line line;
    *out = NULL;
    if (bytes > MINISIGN_TEXT_MAX || !next_line(&lines, &line) || !begins_with(&line, UNTRUSTED) ||
        line.bytes > UNTRUSTED_MAX || !next_line(&lines, &line))
        return NO_SECRET_KEY;
    struct minisign_secret_key *key = sodium_init() >= 0 ? sodium_malloc(sizeof *key) : NULL;
    if (key == NULL) return "cannot be read: out of memory";
    const char *why =
        decode(&line, key, sizeof *key) && lines.at == lines.end ? NULL : NO_SECRET_KEY;
    if (why == NULL) why = check_secret_head(key);
    if (why == NULL && !minisign_needs_password(key) && !is_consistent(&key->sealed))
        why = "is damaged: its two halves do not belong together; bring it back from a copy";
    if (why == NULL)
        *out = key;
    else
        sodium_free(key);
    return why;
}

bool minisign_needs_password(const struct minisign_secret_key *key)
{
    return !same(key->kdf, PLAIN);
}

static bool checksum_is_right(const struct minisign_secret_key *key)
{
    uint8_t checksum[sizeof key->sealed.checksum];
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, sizeof checksum);
    (void)crypto_generichash_update(&state, key->algorithm, sizeof key->algorithm);
    (void)crypto_generichash_update(&state, key->sealed.id, sizeof key->sealed.id);
    (void)crypto_generichash_update(&state, key->sealed.key, sizeof key->sealed.key);
    (void)crypto_generichash_final(&state, checksum, sizeof checksum);
    return sodium_memcmp(checksum, key->sealed.checksum, sizeof checksum) == 0;
}

const char *minisign_decrypt(struct minisign_secret_key *key, const char *password, size_t bytes)
{
    uint8_t stream[sizeof key->sealed], *sealed = (uint8_t *)&key->sealed;
    if (crypto_pwhash_scryptsalsa208sha256(stream, sizeof stream, password, bytes, key->salt,
                                           get64(key->ops), (size_t)get64(key->memory)) != 0)
        return "cannot be decrypted: memory is too short for it (up to 1 GiB)";
    for (size_t i = 0; i < sizeof stream; i++)
        sealed[i] ^= stream[i];
    sodium_memzero(stream, sizeof stream);
    if (!checksum_is_right(key) || !is_consistent(&key->sealed))
        return "cannot be decrypted by this password; give the right one";
    memcpy(key->kdf, PLAIN, sizeof key->kdf);
    return NULL;
}

void minisign_secret_key_free(struct minisign_secret_key *key)
{
    sodium_free(key); /* clears it */
}

const uint8_t *minisign_id(const struct minisign_secret_key *key)
{
    return key->sealed.id;
}

/* ---- Hashes ---------------------------------------------------------------------------------- */

struct minisign_hash {
    crypto_generichash_state state;
};

struct minisign_hash *minisign_hash_new(void)
{
    /* sodium_init() picks the implementation for this processor. */
    struct minisign_hash *hash = NULL;
    if (sodium_init() < 0 ||
        posix_memalign((void **)&hash, _Alignof(struct minisign_hash), sizeof *hash) != 0)
        return NULL;
    (void)crypto_generichash_init(&hash->state, NULL, 0, MINISIGN_HASH_BYTES);
    return hash;
}

void minisign_hash_add(struct minisign_hash *hash, const void *data, size_t bytes)
{
    (void)crypto_generichash_update(&hash->state, data, bytes);
}

void minisign_hash_end(struct minisign_hash *hash, uint8_t digest[MINISIGN_HASH_BYTES])
{
    (void)crypto_generichash_final(&hash->state, digest, MINISIGN_HASH_BYTES);
}

void minisign_hash_free(struct minisign_hash *hash)
{
    free(hash);
}

/* ---- Checking and signing -------------------------------------------------------------------- */

/* Puts the signature and the comment in a row, which is what the second signature is over.  Returns
 * their length. */
static size_t join(uint8_t row[64 + sizeof(((struct minisign_signature *)0)->comment)],
                   const uint8_t signature[64], const char *comment)
{
    const size_t bytes = strlen(comment);
    memcpy(row, signature, 64);
    memcpy(row + 64, comment, bytes + 1);
    return 64 + bytes;
}

bool minisign_comment_is_right(const struct minisign_signature *signature,
                               const struct minisign_public_key *key)
{
    uint8_t row[64 + sizeof signature->comment];
    const size_t bytes = join(row, signature->of_hash, signature->comment);
    return crypto_sign_verify_detached(signature->of_comment, row, bytes, key->key) == 0;
}

bool minisign_hash_is_right(const struct minisign_signature *signature,
                            const struct minisign_public_key *key,
                            const uint8_t digest[MINISIGN_HASH_BYTES])
{
    return crypto_sign_verify_detached(signature->of_hash, digest, MINISIGN_HASH_BYTES, key->key) ==
           0;
}

void minisign_sign(const struct minisign_secret_key *key, const uint8_t digest[MINISIGN_HASH_BYTES],
                   const char *comment, char text[MINISIGN_TEXT_MAX])
{
    uint8_t row[64 + sizeof(((struct minisign_signature *)0)->comment)], of_comment[64];
    char first[sodium_base64_ENCODED_LEN(sizeof(struct signature_bytes),
                                         sodium_base64_VARIANT_ORIGINAL)],
        second[sodium_base64_ENCODED_LEN(64, sodium_base64_VARIANT_ORIGINAL)];
    struct signature_bytes made;
    memcpy(made.algorithm, HASHED, sizeof made.algorithm);
    memcpy(made.id, key->sealed.id, sizeof made.id);
    (void)crypto_sign_detached(made.signature, NULL, digest, MINISIGN_HASH_BYTES, key->sealed.key);
    const size_t bytes = join(row, made.signature, comment);
    (void)crypto_sign_detached(of_comment, NULL, row, bytes, key->sealed.key);
    (void)sodium_bin2base64(first, sizeof first, (const unsigned char *)&made, sizeof made,
                            sodium_base64_VARIANT_ORIGINAL);
    (void)sodium_bin2base64(second, sizeof second, of_comment, sizeof of_comment,
                            sodium_base64_VARIANT_ORIGINAL);
    (void)snprintf(text, MINISIGN_TEXT_MAX,
                   UNTRUSTED "signature from tamis export\n%s\n" TRUSTED "%s\n%s\n", first, comment,
                   second);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_minisign.c: texts of public keys, signatures and secret keys, each taken for all three. */
#include <string.h>

#include "fuzz.h"
#include "minisign.h"

/* What was taken is signed, and its signature is right for the key that it tells. */
static void sign(struct minisign_secret_key *key)
{
    static const uint8_t digest[MINISIGN_HASH_BYTES] = {1, 2, 3};
    struct minisign_signature signature;
    char text[MINISIGN_TEXT_MAX];
    minisign_sign(key, digest, "timestamp:7\tfile:x\thashed", text);
    FUZZ_CHECK(minisign_take_signature(text, strlen(text), &signature) == NULL);
    FUZZ_CHECK(memcmp(signature.id, minisign_id(key), sizeof signature.id) == 0);
    FUZZ_CHECK(minisign_time(&signature) == INT64_C(7000000000));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *text = (const char *)data;
    static const uint8_t digest[MINISIGN_HASH_BYTES];
    struct minisign_public_key key = {.id = {0}};
    struct minisign_signature signature;
    struct minisign_secret_key *secret;
    char id[MINISIGN_ID_TEXT];
    const bool is_key = minisign_take_public_key(text, bytes, &key) == NULL;
    const bool is_signature = minisign_take_signature(text, bytes, &signature) == NULL;
    const bool is_secret = minisign_take_secret_key(text, bytes, &secret) == NULL;
    FUZZ_CHECK(is_key + is_signature + is_secret <= 1);
    FUZZ_CHECK(is_secret == (secret != NULL));
    minisign_id_text(key.id, id);
    FUZZ_CHECK(strlen(id) == MINISIGN_ID_TEXT - 1);
    if (is_signature) {
        FUZZ_CHECK(strlen(signature.comment) < sizeof signature.comment);
        FUZZ_CHECK(minisign_time(&signature) >= 0);
        FUZZ_CHECK(!minisign_hash_is_right(&signature, &key, digest));
        FUZZ_CHECK(!minisign_comment_is_right(&signature, &key));
    }
    if (is_secret && !minisign_needs_password(secret)) sign(secret); /* scrypt takes too long */
    minisign_secret_key_free(secret);
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * minisign_vectors_test.c: keys and signatures that minisign 0.11 has made are taken, what is
 * signed with such a key is byte for byte what minisign writes, and texts that are not whole are
 * refused (tools/tamis/minisign.c).
 *
 * Ed25519 has no chance in it: the same key, file and comment give the same signature.
 *
 * Seen to fail: with the hash of 32 bytes; with the comment signed alone; with checksum_is_right()
 * always true and is_consistent() too; with the end of the lines not asked for.
 */
#include "minisign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "random.h"

#define FILE_MAX 4096

struct text {
    char bytes[FILE_MAX];
    size_t count;
};

static struct text read_vector(const char *name)
{
    struct text text;
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/minisign/%s", getenv("TAMIS_VECTORS"), name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("cannot open %s", path);
    text.count = fread(text.bytes, 1, sizeof text.bytes - 1, file);
    text.bytes[text.count] = '\0';
    (void)fclose(file);
    return text;
}

static struct minisign_public_key public_key(const char *name)
{
    const struct text text = read_vector(name);
    struct minisign_public_key key;
    assert_null(minisign_take_public_key(text.bytes, text.count, &key));
    return key;
}

static struct minisign_signature signature(const char *name)
{
    const struct text text = read_vector(name);
    struct minisign_signature found;
    assert_null(minisign_take_signature(text.bytes, text.count, &found));
    return found;
}

static struct minisign_secret_key *secret_key(const char *name)
{
    const struct text text = read_vector(name);
    struct minisign_secret_key *key;
    assert_null(minisign_take_secret_key(text.bytes, text.count, &key));
    return key;
}

static void hash_of(const char *name, uint8_t digest[MINISIGN_HASH_BYTES])
{
    const struct text text = read_vector(name);
    struct minisign_hash *hash = minisign_hash_new();
    for (size_t i = 0; i < text.count; i++) /* in pieces */
        minisign_hash_add(hash, text.bytes + i, 1);
    minisign_hash_end(hash, digest);
    minisign_hash_free(hash);
}

CASE(signatures_of_minisign_are_right)
{
    static const struct {
        const char *signature, *key, *file;
        int64_t time;
    } rows[] = {
        {"list.minisig", "plain.pub", "list", INT64_C(1764100000000000000)},
        {"list.custom.minisig", "plain.pub", "list", 0},
        {"list.small.minisig", "small.pub", "list", -1},
        {"empty.minisig", "plain.pub", NULL, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct minisign_signature found = signature(rows[i].signature);
        const struct minisign_public_key key = public_key(rows[i].key),
                                         other = public_key("other.pub");
        uint8_t digest[MINISIGN_HASH_BYTES];
        struct minisign_hash *hash = minisign_hash_new();
        minisign_hash_end(hash, digest);
        minisign_hash_free(hash);
        if (rows[i].file != NULL) hash_of(rows[i].file, digest);
        assert_memory_equal(found.id, key.id, sizeof key.id);
        assert_true(minisign_comment_is_right(&found, &key));
        assert_true(minisign_hash_is_right(&found, &key, digest));
        assert_false(minisign_comment_is_right(&found, &other));
        assert_false(minisign_hash_is_right(&found, &other, digest));
        digest[63] ^= 1;
        assert_false(minisign_hash_is_right(&found, &key, digest));
        struct minisign_signature changed = found;
        changed.comment[3] ^= 1;
        assert_false(minisign_comment_is_right(&changed, &key));
        if (rows[i].time >= 0)
            assert_int_equal(minisign_time(&found), rows[i].time);
        else
            assert_true(minisign_time(&found) > INT64_C(1700000000000000000));
    }
}

static void assert_signs_as(struct minisign_secret_key *key, const char *name)
{
    const struct text expected = read_vector(name);
    const struct minisign_signature found = signature(name);
    char made[MINISIGN_TEXT_MAX];
    uint8_t digest[MINISIGN_HASH_BYTES];
    hash_of("list", digest);
    minisign_sign(key, digest, found.comment, made);
    /* The first line is whatever the program likes. */
    assert_string_equal(strchr(made, '\n'), strchr(expected.bytes, '\n'));
}

CASE(signatures_are_those_of_minisign)
{
    struct minisign_secret_key *plain = secret_key("plain.key"), *small = secret_key("small.key");
    char text[MINISIGN_ID_TEXT];
    assert_false(minisign_needs_password(plain));
    minisign_id_text(minisign_id(plain), text);
    assert_true(strstr(read_vector("plain.pub").bytes, text) !=
                NULL); /* minisign prints it there */
    assert_signs_as(plain, "list.minisig");
    assert_signs_as(plain, "list.custom.minisig");
    assert_true(minisign_needs_password(small));
    assert_non_null(strstr(minisign_decrypt(small, "correct hors", 12), "by this password"));
    minisign_secret_key_free(small);
    small = secret_key("small.key");
    assert_null(minisign_decrypt(small, "correct horse", 13));
    assert_signs_as(small, "list.small.minisig");
    minisign_secret_key_free(small);
    minisign_secret_key_free(plain);
}

CASE(legacy_signature_is_refused)
{
    const struct text text = read_vector("list.legacy.minisig");
    struct minisign_signature found;
    const char *why = minisign_take_signature(text.bytes, text.count, &found);
    assert_non_null(why);
    assert_non_null(strstr(why, "minisign's old sort"));
}

/* ---- Texts that are not whole ---------------------------------------------------------------- */

typedef const char *take_fn(const char *text, size_t bytes);

static const char *take_public(const char *text, size_t bytes)
{
    struct minisign_public_key key;
    return minisign_take_public_key(text, bytes, &key);
}

static const char *take_signature(const char *text, size_t bytes)
{
    struct minisign_signature found;
    return minisign_take_signature(text, bytes, &found);
}

static const char *take_secret(const char *text, size_t bytes)
{
    struct minisign_secret_key *key;
    const char *why = minisign_take_secret_key(text, bytes, &key);
    assert_true((why == NULL) == (key != NULL));
    minisign_secret_key_free(key);
    return why;
}

static void assert_whole_only(const char *name, take_fn *take)
{
    struct text text = read_vector(name);
    assert_null(take(text.bytes, text.count));
    assert_null(take(text.bytes, text.count - 1)); /* without the last end of a line */
    for (size_t bytes = 0; bytes < text.count - 1; bytes++)
        if (take(text.bytes, bytes) == NULL) fail_msg("%s is taken with %zu bytes", name, bytes);
    text.bytes[text.count] = '\n'; /* an empty line more */
    assert_non_null(take(text.bytes, text.count + 1));
    text.bytes[text.count] = 'x';
    assert_non_null(take(text.bytes, text.count + 1));
}

CASE(texts_that_are_cut_or_go_on_are_refused)
{
    assert_whole_only("plain.pub", take_public);
    assert_whole_only("list.minisig", take_signature);
    assert_whole_only("list.custom.minisig", take_signature);
    assert_whole_only("plain.key", take_secret);
    assert_whole_only("small.key", take_secret);
    const struct text key = read_vector("plain.pub"), list = read_vector("list.minisig");
    const char *line = strchr(key.bytes, '\n') + 1; /* the line alone is a key too */
    assert_null(take_public(line, strlen(line)));
    assert_non_null(take_public(list.bytes, list.count));
    assert_non_null(take_signature(key.bytes, key.count));
    assert_non_null(take_secret(key.bytes, key.count));
}

CASE(lines_may_end_as_in_windows)
{
    const struct text text = read_vector("list.minisig");
    const struct minisign_public_key key = public_key("plain.pub");
    struct minisign_signature found;
    struct text windows = {.count = 0};
    for (size_t i = 0; i < text.count; i++) {
        if (text.bytes[i] == '\n') windows.bytes[windows.count++] = '\r';
        windows.bytes[windows.count++] = text.bytes[i];
    }
    assert_null(minisign_take_signature(windows.bytes, windows.count, &found));
    assert_true(minisign_comment_is_right(&found, &key));
}

/* A comment of so many bytes, the line with its prefix. */
static const char *take_commented(size_t bytes)
{
    static char text[2 * MINISIGN_TEXT_MAX];
    const struct text list = read_vector("list.minisig");
    const char *comment = strstr(list.bytes, "trusted comment: timestamp");
    const char *last = strchr(comment, '\n');
    const size_t at = (size_t)(comment - list.bytes) + strlen("trusted comment: "),
                 more = bytes - strlen("trusted comment: ");
    (void)snprintf(text, sizeof text, "%.*s", (int)at, list.bytes);
    memset(text + at, 'c', more);
    (void)snprintf(text + at + more, sizeof text - at - more, "%s", last);
    return take_signature(text, strlen(text));
}

CASE(comments_are_as_long_as_those_of_minisign)
{
    assert_null(take_commented(8190));
    assert_non_null(take_commented(8191));
    assert_non_null(strstr(take_commented(17000), "too long"));
}

static int64_t time_of(const char *comment)
{
    struct minisign_signature found;
    (void)snprintf(found.comment, sizeof found.comment, "%s", comment);
    return minisign_time(&found);
}

CASE(time_is_a_field_of_the_comment)
{
    assert_int_equal(time_of("timestamp:5"), INT64_C(5000000000));
    assert_int_equal(time_of("file:x\ttimestamp:5\thashed"), INT64_C(5000000000));
    assert_int_equal(time_of("a timestamp:5"), 0);
    assert_int_equal(time_of("timestamp:5x"), 0);
    assert_int_equal(time_of("timestamp:-5"), 0);
    assert_int_equal(time_of("timestamp:99999999999999999999"), 0);
    assert_int_equal(time_of("timestamp:"), 0);
    assert_int_equal(time_of(""), 0);
}

/* What asks for more memory than minisign ever does, and a key whose halves do not fit. */
CASE(secret_keys_that_ask_for_too_much_are_refused)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct text text = read_vector("small.key");
    char *line = strchr(text.bytes, '\n') + 1;
    line[70] = DIGITS[63]; /* within the limit of memory: bytes 46 to 53 */
    assert_non_null(strstr(take_secret(text.bytes, text.count), "more than 1 GiB"));
    text = read_vector("plain.key");
    line = strchr(text.bytes, '\n') + 1;
    line[150] = line[150] == 'A' ? 'B' : 'A'; /* within the second half of the key */
    assert_non_null(strstr(take_secret(text.bytes, text.count), "two halves"));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verification.c: is a stream what somebody has signed?  See verification.h.
 *
 * The trusted comment is checked before a byte of the stream is read.  So most of what is wrong is
 * found before anything is staged, and the time of the signature can be relied on from the start.
 */
#include "verification.h"

#include "command.h"
#include "minisign.h"
#include "small_file.h"
#include "stream.h"

struct verification {
    struct minisign_public_key *keys;
    size_t key_count;
    const struct minisign_public_key *key; /* that has signed; NULL until this is known */
    char key_id[MINISIGN_ID_TEXT];         /* its id */
    char key_text[MINISIGN_KEY_TEXT];      /* all of it */
    char *name;                            /* of the signature, for messages */
    const char *comment;                   /* of --expect-comment; NULL: not given */
    char *file;                            /* the name that the file has to have; NULL: any */
    struct minisign_signature signature;
    struct minisign_hash *hash;
};

bool verification_is_built_in(void)
{
    if (minisign_hash_new != NULL) return true;
    (void)cli_fail(
        "this build of tamis is without libsodium, so it knows no signatures; install "
        "the package libsodium-dev and build Tamis with TAMIS_WITH_SIGN=ON, or use the program "
        "minisign itself");
    return false;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static bool take_key(const char *value, struct minisign_public_key *key)
{
    char text[MINISIGN_TEXT_MAX + 1];
    size_t bytes;
    if (minisign_take_public_key(value, strlen(value), key) == NULL) return true;
    if (!small_file_read(value, "public key",
                         "--verify takes the file of a public key, or its line that begins with RW",
                         text, MINISIGN_TEXT_MAX, &bytes, NULL))
        return false;
    const char *why = minisign_take_public_key(text, bytes, key);
    if (why != NULL) (void)cli_fail("%s %s", value, why);
    return why == NULL;
}

struct verification *verification_new(const struct invocation *call)
{
    const struct option_files *values = &call->options.verify;
    if (!verification_is_built_in()) return NULL;
    struct verification *verification = cli_alloc(sizeof *verification);
    *verification = (struct verification){
        .keys = cli_alloc(values->count * sizeof(struct minisign_public_key)),
        .comment = cli_given(call, TAKES(EXPECT_COMMENT)) ? call->options.expect_comment : NULL};
    bool right = true;
    for (size_t i = 0; right && i < values->count; i++) {
        right = take_key(values->paths[i], &verification->keys[i]);
        verification->key_count += right;
    }
    verification->hash = minisign_hash_new();
    if (verification->hash == NULL) cli_no_memory();
    if (right) return verification;
    verification_free(verification);
    return NULL;
}

/* ---- The signature --------------------------------------------------------------------------- */

/* The ids of all keys, with commas between them.  The caller frees it. */
static char *ids_of(const struct verification *verification)
{
    char *ids = cli_strdup("");
    for (size_t i = 0; i < verification->key_count; i++) {
        char id[MINISIGN_ID_TEXT];
        minisign_id_text(verification->keys[i].id, id);
        char *longer = cli_format("%s%s%s", ids, i > 0 ? ", " : "", id);
        free(ids);
        ids = longer;
    }
    return ids;
}

/* Finds the key that has signed it.  Ids are not secret: several keys may have the same. */
static bool find_key(struct verification *verification)
{
    bool has_id = false;
    minisign_id_text(verification->signature.id, verification->key_id);
    for (size_t i = 0; i < verification->key_count; i++) {
        const struct minisign_public_key *key = &verification->keys[i];
        if (memcmp(key->id, verification->signature.id, sizeof key->id) != 0) continue;
        has_id = true;
        if (!minisign_comment_is_right(&verification->signature, key)) continue;
        verification->key = key;
        minisign_key_text(key, verification->key_text);
        return true;
    }
    if (has_id) {
        (void)cli_fail(
            "%s is not by key %s: its trusted comment, or its signature, was changed, or "
            "another key says that it is this one; fetch it again from its maker",
            verification->name, verification->key_id);
        return false;
    }
    char *ids = ids_of(verification);
    (void)cli_fail("%s was made by key %s, and --verify gives key%s %s; if its maker has changed "
                   "keys, get the new one from the maker, and give it by another --verify",
                   verification->name, verification->key_id, text_plural(verification->key_count),
                   ids);
    free(ids);
    return false;
}

/* ---- The trusted comment --------------------------------------------------------------------- */

void verification_expect_file(struct verification *verification, const char *name)
{
    free(verification->file);
    verification->file = name != NULL && *name != '\0' ? text_printable(name) : NULL;
}

/* Fields stand between tabs: "timestamp:1764000000", "file:NAME", "hashed", and what the signer has
 * added.  Is `text` a field, or several, or all of the comment? */
static bool has_fields(const char *comment, const char *text)
{
    const size_t bytes = strlen(text);
    if (bytes == 0) return *comment == '\0';
    for (const char *at = comment; (at = strstr(at, text)) != NULL; at++)
        if ((at == comment || at[-1] == '\t') && (at[bytes] == '\0' || at[bytes] == '\t'))
            return true;
    return false;
}

/* The name of the field file:NAME, for the caller to free; NULL: there is none. */
static char *file_of(const char *comment)
{
    for (const char *field = comment; field != NULL; field = strchr(field, '\t')) {
        if (*field == '\t') field++;
        if (strncmp(field, "file:", 5) == 0) return cli_copy(field + 5, strcspn(field + 5, "\t"));
    }
    return NULL;
}

/* The same key signs other lists, too: is this the one that is wanted? */
static bool is_expected(const struct verification *verification)
{
    const char *comment = verification->signature.comment;
    if (verification->comment != NULL) {
        if (has_fields(comment, verification->comment)) return true;
        char *shown = text_printable(comment);
        (void)cli_fail(
            "%s says '%s' in its trusted comment, and --expect-comment wants '%s' there; "
            "get the list that is wanted, or give --expect-comment what the comment says",
            verification->name, shown, verification->comment);
        free(shown);
        return false;
    }
    char *file = verification->file != NULL ? file_of(comment) : NULL;
    const bool same = file == NULL || strcmp(file, verification->file) == 0;
    if (!same)
        (void)cli_fail(
            "%s was made for a file '%s', as its trusted comment says, and not for '%s'; "
            "get the list that is wanted, or give --expect-comment 'file:%s' if that is it",
            verification->name, file, verification->file, file);
    free(file);
    return same;
}

bool verification_take(struct verification *verification, const char *name, const char *text,
                       size_t bytes)
{
    const char *why = minisign_take_signature(text, bytes, &verification->signature);
    free(verification->name);
    verification->name = cli_strdup(name);
    verification->key = NULL;
    if (why == NULL) return find_key(verification) && is_expected(verification);
    (void)cli_fail("%s %s", name, why);
    return false;
}

bool verification_read(struct verification *verification, const char *path)
{
    char text[MINISIGN_TEXT_MAX + 1];
    size_t bytes;
    return small_file_read(path, "signature",
                           "get the signature of the file from its maker too, and name it by "
                           "--signature FILE",
                           text, MINISIGN_TEXT_MAX, &bytes, NULL) &&
           verification_take(verification, path, text, bytes);
}

int64_t verification_time(const struct verification *verification)
{
    return minisign_time(&verification->signature);
}

uint64_t verification_number(const struct verification *verification)
{
    return minisign_number(&verification->signature, verification->key);
}

const char *verification_key_id(const struct verification *verification)
{
    return verification->key_id;
}

const char *verification_comment(const struct verification *verification)
{
    return verification->signature.comment;
}

const char *verification_key(const struct verification *verification)
{
    return verification->key_text;
}

/* ---- The bytes ------------------------------------------------------------------------------- */

void verification_add(struct verification *verification, const void *data, size_t bytes)
{
    minisign_hash_add(verification->hash, data, bytes);
}

bool verification_end(struct verification *verification, const char *name)
{
    uint8_t digest[MINISIGN_HASH_BYTES];
    minisign_hash_end(verification->hash, digest);
    if (verification->key != NULL &&
        minisign_hash_is_right(&verification->signature, verification->key, digest))
        return true;
    (void)cli_fail("%s is not what key %s has signed in %s: it was changed, or the two do not "
                   "belong together; fetch both again",
                   name, verification->key_id, verification->name);
    return false;
}

void verification_free(struct verification *verification)
{
    if (verification == NULL) return;
    minisign_hash_free(verification->hash);
    free(verification->keys);
    free(verification->name);
    free(verification->file);
    free(verification);
}

/* ---- A stream -------------------------------------------------------------------------------- */

struct checked_stream {
    struct stream stream;
    struct stream *from;
    struct verification *verification;
    bool ended; /* and was right */
};

static int64_t checked_read(struct stream *stream, void *buffer, size_t bytes)
{
    struct checked_stream *checked = (struct checked_stream *)stream; /* its first member */
    if (checked->ended) return 0;
    const int64_t got = checked->from->kind->read(checked->from, buffer, bytes);
    if (got > 0) verification_add(checked->verification, buffer, (size_t)got);
    if (got == 0) checked->ended = verification_end(checked->verification, stream->name);
    if (got > 0 || checked->ended) return got;
    stream->failed = got == 0 || checked->from->failed; /* a message was printed */
    return got < 0 ? got : TAMIS_EIO;
}

static void checked_close(struct stream *stream)
{
    struct checked_stream *checked = (struct checked_stream *)stream;
    stream_close(checked->from);
    free(stream->name);
    free(checked);
}

struct stream *verification_stream(struct verification *verification, struct stream *from)
{
    static const struct stream_kind CHECKED = {.read = checked_read, .close = checked_close};
    struct checked_stream *checked = cli_alloc(sizeof *checked);
    *checked = (struct checked_stream){.stream = {.kind = &CHECKED,
                                                  .name = cli_strdup(from->name),
                                                  .format = from->format,
                                                  .all_bytes = from->all_bytes},
                                       .from = from,
                                       .verification = verification};
    return &checked->stream;
}

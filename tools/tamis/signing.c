/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signing.c: a stream that is signed while it is written; see signing.h.
 *
 *     write      the bytes go on, and into the hash
 *     keep       the file is brought to the disk, without its name; the signature is made, brought
 * to the disk and gets its name; the file gets its name
 *
 * So there is a moment between two calls of rename(2) in which the names are of two nights.  Who
 * reads both then refuses the list, as it must, and gets them right the next time.
 */
#include "signing.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "minisign.h"
#include "password.h"
#include "small_file.h"
#include "stream.h"
#include "verification.h"

struct signing {
    struct minisign_secret_key *key;
    char key_id[MINISIGN_ID_TEXT];
    char *comment; /* the trusted one */
    char *path;    /* of the signature */
    struct minisign_hash *hash;
    struct stream *file; /* of the signature, until it is kept */
    bool force;
};

/* ---- Options --------------------------------------------------------------------------------- */

#define OF_SIGNING (TAKES(SIGNATURE) | TAKES(TRUSTED_COMMENT) | TAKES(PASSWORD_FILE))

static bool is_regular(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

bool signing_options_suffice(const struct invocation *call, const char *path)
{
    const struct options *options = &call->options;
    if (!options_have(options, TAKES(SIGN)))
        return options_none(call, OF_SIGNING, "belongs to --sign, which signs what is written");
    if (path == NULL)
        (void)cli_fail_usage(call->command, "--sign is for files and pipes; a key of a server, or "
                                            "a directory of shards, has no place for a signature");
    else if (!options_have(options, TAKES(SIGNATURE)) && !is_regular(path))
        (void)cli_fail_usage(call->command, "--sign needs --signature FILE if the list goes to a "
                                            "pipe");
    else if (options_have(options, TAKES(SIGNATURE)) &&
             (strcmp(options->signature, "-") == 0 || strcmp(options->signature, path) == 0))
        (void)cli_fail_usage(call->command,
                             "--signature needs a file of its own for the signature");
    else
        return verification_is_built_in();
    return false;
}

/* ---- The key --------------------------------------------------------------------------------- */

/* As ssh does: a key that others can read is not secret. */
static bool is_private(const char *path, const struct stat *st)
{
    if (!S_ISREG(st->st_mode) || (st->st_mode & 077) == 0) return true;
    (void)cli_fail("%s is a secret key that others have rights to (mode %04o); 'chmod 600' takes "
                   "them away, and if anybody may have read it, make another key",
                   path, st->st_mode & 07777);
    return false;
}

static bool decrypt(struct signing *signing, const struct options *options)
{
    char password[PASSWORD_MAX + 1];
    size_t bytes = 0;
    const char *file = options_have(options, TAKES(PASSWORD_FILE)) ? options->password_file : NULL;
    if (!minisign_needs_password(signing->key)) return true;
    const bool got = password_get(file, options->sign, password, &bytes);
    const char *why = got ? minisign_decrypt(signing->key, password, bytes) : NULL;
    explicit_bzero(password, sizeof password);
    if (why != NULL) (void)cli_fail("%s %s", options->sign, why);
    return got && why == NULL;
}

static bool read_key(struct signing *signing, const struct options *options)
{
    char text[MINISIGN_TEXT_MAX + 1];
    struct stat st;
    size_t bytes;
    if (!small_file_read(
            options->sign, "secret key",
            "--sign takes the file of a secret key of minisign; 'minisign -G' makes one", text,
            MINISIGN_TEXT_MAX, &bytes, &st))
        return false;
    const bool private = is_private(options->sign, &st);
    const char *why = private ? minisign_take_secret_key(text, bytes, &signing->key) : NULL;
    explicit_bzero(text, sizeof text);
    if (why != NULL) (void)cli_fail("%s %s", options->sign, why);
    if (!private || why != NULL || !decrypt(signing, options)) return false;
    minisign_id_text(minisign_id(signing->key), signing->key_id);
    return true;
}

/* ---- What is said of the file ---------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The name of the file; of a pipe, that of the signature without its suffix. */
static char *name_in_comment(const struct signing *signing, const char *path)
{
    const size_t suffix = strlen(SIGNATURE_SUFFIX);
    char *name = text_printable(base_name(is_regular(path) ? path : signing->path));
    const size_t bytes = strlen(name);
    if (!is_regular(path) && bytes > suffix && strcmp(name + bytes - suffix, SIGNATURE_SUFFIX) == 0)
        name[bytes - suffix] = '\0';
    return name;
}

static bool make_comment(struct signing *signing, const struct options *options, const char *path)
{
    const bool has_more = options_have(options, TAKES(TRUSTED_COMMENT));
    const char *more = has_more ? options->trusted_comment : "";
    char *printable = text_printable(more), *name = name_in_comment(signing, path);
    const bool fits = strcmp(printable, more) == 0;
    signing->comment = cli_format("timestamp:%lld\tfile:%s\thashed%s%s", (long long)time(NULL),
                                  name, has_more ? "\t" : "", more);
    free(printable);
    free(name);
    if (fits && strlen(signing->comment) <= MINISIGN_COMMENT_MAX) return true;
    (void)cli_fail("--trusted-comment: a comment is one line of UTF-8 without control characters, "
                   "and has at most 7000 bytes");
    return false;
}

struct signing *signing_new(const struct invocation *call, const char *path)
{
    const struct options *options = &call->options;
    struct signing *signing = cli_alloc(sizeof *signing);
    *signing = (struct signing){.force = options_have(options, TAKES(FORCE))};
    signing->path = options_have(options, TAKES(SIGNATURE))
                        ? cli_strdup(options->signature)
                        : cli_format("%s" SIGNATURE_SUFFIX, path);
    bool ready = make_comment(signing, options, path) && read_key(signing, options);
    if (ready) {
        signing->hash = minisign_hash_new();
        if (signing->hash == NULL) cli_no_memory();
        signing->file = stream_write_file(signing->path, signing->force);
        ready = signing->file != NULL;
    }
    if (ready) return signing;
    signing_free(signing);
    return NULL;
}

const char *signing_path(const struct signing *signing)
{
    return signing->path;
}

const char *signing_key(const struct signing *signing)
{
    return signing->key_id;
}

void signing_free(struct signing *signing)
{
    if (signing == NULL) return;
    if (signing->key != NULL) minisign_secret_key_free(signing->key);
    if (signing->hash != NULL) minisign_hash_free(signing->hash);
    stream_close(signing->file);
    free(signing->comment);
    free(signing->path);
    free(signing);
}

/* ---- The stream ------------------------------------------------------------------------------ */

struct signed_stream {
    struct stream stream;
    struct stream *to;
    struct signing *signing;
};

static struct signed_stream *signed_of(struct stream *stream)
{
    return (struct signed_stream *)stream; /* its first member */
}

static int signed_write(struct stream *stream, const void *data, size_t bytes)
{
    struct signed_stream *own = signed_of(stream);
    const int rc = own->to->kind->write(own->to, data, bytes);
    if (rc == 0) minisign_hash_add(own->signing->hash, data, bytes);
    stream->failed = own->to->failed;
    return rc;
}

/* Writes the signature, which has its name behind this. */
static bool keep_signature(struct signing *signing)
{
    char text[MINISIGN_TEXT_MAX];
    uint8_t digest[MINISIGN_HASH_BYTES];
    minisign_hash_end(signing->hash, digest);
    minisign_sign(signing->key, digest, signing->comment, text);
    return signing->file->kind->write(signing->file, text, strlen(text)) == 0 &&
           stream_keep(signing->file);
}

static bool signed_keep(struct stream *stream)
{
    struct signed_stream *own = signed_of(stream);
    struct signing *signing = own->signing;
    if (!stream_sync(own->to) || !keep_signature(signing)) return false;
    if (stream_keep(own->to)) return true;
    /* The file of that name has come meanwhile, and this is not its signature. */
    if (!signing->force) (void)unlink(signing->path);
    return false;
}

static void signed_close(struct stream *stream)
{
    stream_close(signed_of(stream)->to);
    free(stream->name);
    free(stream);
}

struct stream *signing_stream(struct signing *signing, struct stream *to)
{
    static const struct stream_kind SIGNED = {
        .write = signed_write, .keep = signed_keep, .close = signed_close};
    struct signed_stream *own = cli_alloc(sizeof *own);
    *own = (struct signed_stream){
        .stream = {.kind = &SIGNED, .name = cli_strdup(to->name), .format = to->format},
        .to = to,
        .signing = signing};
    return &own->stream;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* input.c: the bytes of a file or of standard input, unpacked; see input.h. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

#define BUFFER_BYTES ((size_t)256 * 1024)

/* What packed files begin with.  Formats that are not unpacked here are in the table so that they
 * are refused: if they were read as plain text, their bytes would be published as keys that nobody
 * asks for. */
static const struct format {
    const char *name;
    const char *magic;
    size_t magic_bytes;
    const struct unpacker *unpacker; /* NULL: there is none, or not in this build */
    const char *package;             /* that has the library for it; NULL: none is used */
    const char *option;
    const char *command; /* that unpacks it to its standard output */
} FORMATS[] = {
    {"gzip", "\x1f\x8b\x08", 3, &unpacker_gzip, "zlib1g-dev", "ZLIB", "gzip -dc"},
    {"zstd", "\x28\xb5\x2f\xfd", 4, &unpacker_zstd, "libzstd-dev", "ZSTD", "zstd -dc"},
    {"zstd", "\x50\x2a\x4d\x18", 4, &unpacker_zstd, "libzstd-dev", "ZSTD",
     "zstd -dc"}, /* pzstd begins so */
    {"xz", "\xfd\x37zXZ\0", 6, NULL, NULL, NULL, "xz -dc"},
    {"lz4", "\x04\x22\x4d\x18", 4, NULL, NULL, NULL, "lz4 -dc"},
    {"zip", "PK\x03\x04", 4, NULL, NULL, NULL, "unzip -p"},
    {"bzip2", "1AY&SY", 6, NULL, NULL, NULL, "bzip2 -dc"}, /* behind "BZh" and a digit */
};
#define FORMAT_COUNT (sizeof FORMATS / sizeof *FORMATS)
#define FIRST_BYTES 10 /* as many as tell all of them */
#define CUT_SHORT "its %s data are cut short after %ju bytes; fetch it again"

__attribute__((format(printf, 2, 3))) static ssize_t fail(struct input *input, const char *format,
                                                          ...)
{
    va_list args;
    va_start(args, format);
    char *what = cli_vformat(format, args);
    va_end(args);
    input->error = cli_format("%s: %s", input->name, what);
    free(what);
    return -1;
}

/* ---- The file ------------------------------------------------------------------------------ */

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *input_name(const char *path)
{
    return is_standard(path) ? "standard input" : path;
}

static bool tell_unreadable(const char *path, const char *why)
{
    cli_tell("cannot read %s: %s", input_name(path), why);
    return false;
}

/* *bytes is the length, or 0 if that is not known. */
static bool find_file(const char *path, uint64_t *bytes)
{
    struct stat st;
    off_t at = 0;
    *bytes = 0;
    if (is_standard(path)) {
        if (fstat(STDIN_FILENO, &st) != 0) return tell_unreadable(path, strerror(errno));
        at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    } else if (access(path, R_OK) != 0 || stat(path, &st) != 0) {
        return tell_unreadable(path, strerror(errno));
    }
    if (S_ISDIR(st.st_mode)) return tell_unreadable(path, strerror(EISDIR));
    if (S_ISREG(st.st_mode) && at >= 0 && at < st.st_size) *bytes = (uint64_t)(st.st_size - at);
    return true;
}

bool inputs_are_there(const struct option_files *files, uint64_t *all, unsigned *standard)
{
    for (size_t i = 0; i < files->count; i++) {
        uint64_t bytes;
        if (!find_file(files->paths[i], &bytes)) return false;
        *standard += is_standard(files->paths[i]);
        *all += bytes;
    }
    return true;
}

struct input *input_open(const char *path)
{
    const char *name = input_name(path);
    int fd = STDIN_FILENO;
    if (!is_standard(path)) {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0 && errno == EINTR && interrupt_signal()) return NULL;
        if (fd < 0) {
            (void)tell_unreadable(path, strerror(errno));
            return NULL;
        }
    }
    struct input *input = cli_alloc(sizeof *input);
    *input = (struct input){.name = cli_strdup(name), .fd = fd, .buffer = cli_alloc(BUFFER_BYTES)};
    return input;
}

struct input *input_of(const char *name, input_source *source, void *context)
{
    struct input *input = cli_alloc(sizeof *input);
    *input = (struct input){.name = cli_strdup(name),
                            .fd = -1,
                            .source = source,
                            .context = context,
                            .buffer = cli_alloc(BUFFER_BYTES)};
    return input;
}

void input_close(struct input *input)
{
    if (input == NULL) return;
    if (input->state != NULL) input->unpacker->release(input->state);
    if (input->fd > STDERR_FILENO) (void)close(input->fd);
    free(input->buffer);
    free(input->error);
    free(input->name);
    free(input);
}

static ssize_t read_source(struct input *input, void *buffer, size_t bytes)
{
    const ssize_t got = input->source(input->context, buffer, bytes);
    if (got == 0) input->at_end = true;
    if (got > 0) input->done_bytes += (uint64_t)got;
    return got;
}

/* read(2), heeding signals. */
static ssize_t read_file(struct input *input, void *buffer, size_t bytes)
{
    if (input->source != NULL) return read_source(input, buffer, bytes);
    for (;;) {
        interrupt_wait_readable(input->fd);
        if (interrupt_signal()) return -1;
        const ssize_t got = read(input->fd, buffer, bytes);
        if (got == 0) input->at_end = true;
        if (got >= 0) {
            input->done_bytes += (uint64_t)got;
            return got;
        }
        if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
            return fail(input, "%s", strerror(errno));
    }
}

/* Reads more of the file behind the bytes that the buffer holds. */
static ssize_t fill(struct input *input)
{
    const ssize_t got = read_file(input, input->buffer + input->end, BUFFER_BYTES - input->end);
    if (got > 0) input->end += (size_t)got;
    return got;
}

/* ---- Its format ---------------------------------------------------------------------------- */

static const struct format *format_of(const unsigned char *first, size_t bytes)
{
    if (bytes >= FIRST_BYTES && memcmp(first, "BZh", 3) == 0 && memcmp(first + 4, "1AY&SY", 6) == 0)
        return &FORMATS[FORMAT_COUNT - 1];
    for (size_t i = 0; i < FORMAT_COUNT - 1; i++)
        if (bytes >= FORMATS[i].magic_bytes &&
            memcmp(first, FORMATS[i].magic, FORMATS[i].magic_bytes) == 0)
            return &FORMATS[i];
    return NULL;
}

/* The format of a file that is shorter than the magic bytes, if no text begins with those bytes. */
static const struct format *format_cut_short(const unsigned char *first, size_t bytes)
{
    for (size_t i = 0; bytes >= 2 && i < FORMAT_COUNT - 1; i++)
        if (bytes < FORMATS[i].magic_bytes && (first[0] >= 0x80 || first[1] >= 0x80) &&
            memcmp(first, FORMATS[i].magic, bytes) == 0)
            return &FORMATS[i];
    return NULL;
}

bool input_begin(struct input *input)
{
    if (input->begun) return true;
    while (input->end < FIRST_BYTES && !input->at_end)
        if (fill(input) < 0) return false;
    input->begun = true;
    const struct format *format = format_of(input->buffer, input->end),
                        *cut = format_cut_short(input->buffer, input->at_end ? input->end : 0);
    if (cut != NULL) (void)fail(input, CUT_SHORT, cut->name, (uintmax_t)input->done_bytes);
    if (format == NULL) return cut == NULL;
    input->format = format->name;
    input->unpacker = format->unpacker;
    if (input->unpacker != NULL) {
        input->state = input->unpacker->make();
        return true;
    }
    if (format->package != NULL)
        (void)fail(
            input,
            "packed by %s, which this build of Tamis does not unpack: install %s and configure it "
            "with -DTAMIS_WITH_%s=ON, or give the list to standard input: %s FILE | tamis ...",
            format->name, format->package, format->option, format->command);
    else
        (void)fail(
            input,
            "packed by %s, which is not unpacked here; give it to standard input: %s FILE | tamis "
            "...",
            format->name, format->command);
    return false;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static ssize_t read_plain(struct input *input, void *buffer, size_t bytes)
{
    const size_t held = input->end - input->start;
    if (held == 0) return input->at_end ? 0 : read_file(input, buffer, bytes);
    if (bytes > held) bytes = held;
    memcpy(buffer, input->buffer + input->start, bytes);
    input->start += bytes;
    return (ssize_t)bytes;
}

static ssize_t read_packed(struct input *input, unsigned char *buffer, size_t bytes)
{
    for (;;) {
        struct unpacking unpacking = {.from = input->buffer + input->start,
                                      .from_end = input->buffer + input->end,
                                      .to = buffer,
                                      .to_end = buffer + bytes};
        const char *why = input->unpacker->step(input->state, &unpacking);
        input->start = (size_t)(unpacking.from - input->buffer);
        if (why != NULL)
            return fail(input, "its %s data are damaged at byte %ju: %s; fetch it again",
                        input->format, (uintmax_t)(input->done_bytes - (input->end - input->start)),
                        why);
        if (unpacking.to > buffer) return unpacking.to - buffer;
        if (input->at_end && input->unpacker->is_whole(input->state)) return 0;
        if (input->at_end)
            return fail(input, CUT_SHORT, input->format, (uintmax_t)input->done_bytes);
        input->start = input->end = 0; /* all of it was taken, as there was room */
        if (fill(input) < 0) return -1;
    }
}

ssize_t input_read(struct input *input, void *buffer, size_t bytes)
{
    if (!input_begin(input)) return -1;
    return input->state != NULL ? read_packed(input, buffer, bytes)
                                : read_plain(input, buffer, bytes);
}

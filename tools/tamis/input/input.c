/* SPDX-License-Identifier: BSD-2-Clause */
/* input.c: the bytes of a file or of standard input, unpacked; see input.h. */
#include "input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

#define BUFFER_BYTES ((size_t)256 * 1024)

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

static ssize_t fail_to_read(struct input *input, const char *why)
{
    input->error = cli_format("cannot read %s: %s", input->name, why);
    return -1;
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
            return fail_to_read(input, strerror(errno));
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

/* For bytes that only look packed. */
static const char *hint_of(const struct input *input)
{
    const bool is_list = input->fd >= 0 && !input->has_unpacked; /* and not what is pulled */
    return is_list ? "; --raw if these bytes are the keys" : "";
}

static ssize_t fail_cut_short(struct input *input, const char *format)
{
    return fail(input, "its %s data are cut short after %ju bytes; fetch it again%s", format,
                (uintmax_t)input->done_bytes, hint_of(input));
}

/* Refuses what cannot be unpacked. */
static bool refuse_format(struct input *input, const struct packed_format *format)
{
    const char *hint = hint_of(input);
    if (format->package != NULL)
        (void)fail(
            input,
            "packed by %s, which this build of Tamis does not unpack: install %s and configure it "
            "with -DTAMIS_WITH_%s=ON, or give the list to standard input: %s FILE | tamis ...%s",
            format->name, format->package, format->option, format->command, hint);
    else
        (void)fail(
            input,
            "packed by %s, which is not unpacked here; give it to standard input: %s FILE | tamis "
            "...%s",
            format->name, format->command, hint);
    return false;
}

bool input_begin(struct input *input)
{
    const struct packed_format *format = NULL, *cut = NULL;
    bool more = !input->raw;
    if (input->begun) return true;
    while (more && !input->at_end) {
        if (fill(input) < 0) return false;
        format = packed_format_of(input->buffer, input->end, &more);
    }
    input->begun = true;
    if (more) cut = packed_format_cut_short(input->buffer, input->end);
    if (cut != NULL) (void)fail_cut_short(input, cut->name);
    if (format == NULL) return cut == NULL;
    input->format = format->name;
    input->unpacker = format->unpacker;
    if (input->unpacker == NULL) return refuse_format(input, format);
    input->state = input->unpacker->make();
    return true;
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
        input->has_unpacked |= unpacking.to > buffer;
        if (why != NULL)
            return fail(input, "its %s data are damaged at byte %ju: %s; fetch it again%s",
                        input->format, (uintmax_t)(input->done_bytes - (input->end - input->start)),
                        why, hint_of(input));
        if (unpacking.to > buffer) return unpacking.to - buffer;
        if (input->at_end && input->unpacker->is_whole(input->state)) return 0;
        if (input->at_end) return fail_cut_short(input, input->format);
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

bool input_is_ready(const struct input *input)
{
    struct pollfd one = {.fd = input->fd, .events = POLLIN};
    if (input->fd < 0 || input->state != NULL || input->at_end) return false;
    return input->start < input->end || poll(&one, 1, 0) == 1;
}

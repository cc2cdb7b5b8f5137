/* SPDX-License-Identifier: BSD-2-Clause */
/* lost.c: see lost.h. */
#include "lost.h"

#include "record.h"

#define OF_FILE(how, member) RECORD_MEMBER(how, tamis_lost_file, member)

static const struct field FIELDS_OF_FILE[] = {
    {"file", OF_FILE(POINTER, name)},  {"from", OF_FILE(POINTER, from)},
    {"put_at", OF_FILE(TIME, put_at)}, {"bytes", OF_FILE(U64, bytes)},
    {"why", OF_FILE(POINTER, why)},
};

static int add_bytes(void *context, const struct tamis_lost_file *file)
{
    *(double *)context += (double)file->bytes;
    return 0;
}

void lost_tell(const struct invocation *call)
{
    char size[32];
    double bytes = 0;
    char *path = cli_store_is_remote(call) ? NULL : cli_store_path(call);
    const int64_t count = path == NULL ? 0 : tamis_store_lost(path, add_bytes, &bytes);
    free(path);
    if (count <= 0) return; /* what cannot be looked at is told of by the command itself */
    text_size(size, sizeof size, bytes);
    cli_tell("lost/ has %jd file%s (%s) that a repair put aside; 'tamis repair --list-lost' lists "
             "%s",
             (intmax_t)count, text_plural((uintmax_t)count), size, count == 1 ? "it" : "them");
}

static int show_file(void *context, const struct tamis_lost_file *file)
{
    const struct invocation *call = context;
    struct out *out = call->out;
    char time[32], size[32];
    if (cli_given(call, TAKES(JSON))) {
        json_print(out, record_json(FIELDS(FIELDS_OF_FILE), 0, file));
        return 0;
    }
    text_time(time, sizeof time, file->put_at);
    text_size(size, sizeof size, (double)file->bytes);
    out_printable(out, file->name);
    out_format(out, ": %s, put aside at %s", size, time);
    if (*file->from != '\0') out_text(out, ", was ");
    out_printable(out, file->from);
    out_text(out, ": ");
    out_printable(out, file->why);
    out_text(out, "\n");
    return 0;
}

int lost_list(const struct invocation *call, const char *path)
{
    struct invocation own = *call;
    const int64_t count = tamis_store_lost(path, show_file, &own);
    (void)out_flush(call->out);
    if (count < 0) return cli_fail_library();
    if (count == 0) cli_tell("nothing was put aside");
    return CLI_DONE;
}

int lost_restore(const struct invocation *call, const char *path)
{
    const char *name = call->options.restore;
    if (tamis_store_restore_lost(path, name) < 0) return cli_fail_library();
    cli_tell("%s is back in its place", name);
    return CLI_DONE;
}

int lost_forget(const struct invocation *call, const char *path)
{
    const int64_t count = tamis_store_forget_lost(path, call->options.forget_lost_ns);
    if (count < 0) return cli_fail_library();
    if (count == 0) {
        cli_tell("nothing was put aside so long ago");
        return CLI_NOTHING;
    }
    cli_tell("%jd file%s removed for good", (intmax_t)count, text_plural((uintmax_t)count));
    return CLI_DONE;
}

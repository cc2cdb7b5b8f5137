/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hosts.c: hosts files (hosts(5)): an address, then names behind it, then perhaps a comment.
 *
 *     0.0.0.0 ads.example tracker.example # why
 *
 * Each name is a key.  Any address will do; the names that each machine has for itself are left
 * out.
 */
#include <string.h>
#include <strings.h>

#include "input/format.h"

static const char *const LOCALS[] = {
    "localhost",       "localhost.localdomain",
    "localhost6",      "localhost6.localdomain6",
    "localdomain",     "local",
    "broadcasthost",   "ip6-localhost",
    "ip6-loopback",    "ip6-localnet",
    "ip6-mcastprefix", "ip6-allnodes",
    "ip6-allrouters",  "ip6-allhosts",
    "0.0.0.0",
};

static bool is_local(const char *name, size_t bytes)
{
    /* All but a few names end here. */
    if (strchr("liLIbB0", name[0]) == NULL) return false;
    for (size_t i = 0; i < sizeof LOCALS / sizeof *LOCALS; i++)
        if (strlen(LOCALS[i]) == bytes && strncasecmp(LOCALS[i], name, bytes) == 0) return true;
    return false;
}

static void hosts_take(struct taking *taking, const char *text, size_t bytes)
{
    const char *comment = memchr(text, '#', bytes);
    if (comment != NULL) bytes = (size_t)(comment - text);
    format_trim(&text, &bytes);
    if (bytes == 0) return;
    taking->counts.records++;
    size_t word = format_word(text, bytes);
    if (word == bytes || !format_is_address(text, word)) {
        taking->counts.foreign++;
        return;
    }
    while (word < bytes) {
        text += word;
        bytes -= word;
        format_trim(&text, &bytes);
        word = format_word(text, bytes);
        if (is_local(text, word))
            taking->counts.locals++;
        else
            taking_give(taking, text, word);
    }
}

const struct format format_hosts = {
    .name = "hosts", .what = "a hosts file", .has_names = true, .take = hosts_take};

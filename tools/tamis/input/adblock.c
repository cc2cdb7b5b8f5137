/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * adblock.c: filter lists of ad blockers, as far as they name hosts.
 *
 *     ||ads.example^                the host and all below it: a key
 *     ||ads.example^$third-party    the same, with options that leave nothing of the host out
 *     @@||good.ads.example^         an exception
 *     /banner.gif$image             a rule of another kind: it is counted
 *     example.org##.ad              another
 *     c.example                     a key, as ||c.example^
 *     0.0.0.0 d.example             likewise
 *     ! text                        a comment
 */
#include <string.h>

#include "input/format.h"

/* A rule with one of these options alone still blocks the whole host. */
static const char *const WHOLE[] = {"all",      "important", "third-party", "3p",
                                    "strict3p", "document",  "doc"};

static bool is_whole(const char *option, size_t bytes)
{
    for (size_t i = 0; i < sizeof WHOLE / sizeof *WHOLE; i++)
        if (strlen(WHOLE[i]) == bytes && memcmp(WHOLE[i], option, bytes) == 0) return true;
    return false;
}

/* Does the rule, behind its '^', leave nothing of the host out? */
static bool blocks_whole(const char *text, size_t bytes)
{
    if (bytes > 0 && text[0] == '|') { /* the end of the address */
        text++;
        bytes--;
    }
    if (bytes == 0) return true;
    if (text[0] != '$') return false;
    while (bytes > 0) { /* at '$' or ',' */
        text++;
        bytes--;
        const char *comma = memchr(text, ',', bytes);
        const size_t option = comma != NULL ? (size_t)(comma - text) : bytes;
        if (!is_whole(text, option)) return false;
        text += option;
        bytes -= option;
    }
    return true;
}

/* Blockers take a name alone, and a line of a hosts file, for rules of the whole host, too. */
static void take_other(struct taking *taking, const char *text, size_t bytes)
{
    size_t dots;
    const size_t word = format_word(text, bytes);
    const bool is_alone = word == bytes;
    if (!is_alone && format_is_address(text, word)) {
        taking->counts.records--; /* counted there again */
        format_hosts.take(taking, text, bytes);
    } else if (is_alone && (format_is_address(text, bytes) ||
                            (format_is_name(text, bytes, &dots) && dots > 0))) {
        taking_give(taking, text, bytes);
    } else {
        taking->counts.others++;
    }
}

static void adblock_take(struct taking *taking, const char *text, size_t bytes)
{
    format_trim(&text, &bytes);
    if (bytes == 0 || text[0] == '!' || text[0] == '[') return;
    if (text[0] == '#' && (bytes == 1 || format_is_blank(text[1]))) return;
    taking->counts.records++;
    const bool is_exception = bytes > 2 && memcmp(text, "@@", 2) == 0;
    const char *rule = text + (is_exception ? 2 : 0);
    size_t rest = bytes - (size_t)(rule - text), dots;
    const char *caret = rest > 2 && memcmp(rule, "||", 2) == 0 ? memchr(rule, '^', rest) : NULL;
    if (caret == NULL) {
        take_other(taking, text, bytes);
        return;
    }
    const char *name = rule + 2;
    const size_t name_bytes = (size_t)(caret - name);
    rest -= name_bytes + 3;
    const bool is_host =
        format_is_name(name, name_bytes, &dots) || format_is_address(name, name_bytes);
    if (!is_host || !blocks_whole(caret + 1, rest))
        taking->counts.others++;
    else if (is_exception)
        taking_give_exception(taking, name, name_bytes);
    else
        taking_give(taking, name, name_bytes);
}

const struct format format_adblock = {.name = "adblock",
                                      .what = "a filter list of an ad blocker",
                                      .has_names = true,
                                      .take = adblock_take};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * format.h: how the bytes of an input become records, and a record becomes keys.
 *
 * A record is a line, but in CSV, where a quoted field may have newlines. It has one key, none (a
 * comment), or several (a line of a hosts file). What is printed is the whole record, as it was
 * read. Formats are parsers of (text, bytes) that do no I/O: a file each, and a fuzz target each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/rules.h"
#include "tamis.h"

struct pile;
struct taking;

struct format {
    const char *name;
    const char *what; /* "a hosts file", for messages */
    bool has_names;   /* its keys are names of hosts */
    bool has_fields;  /* it takes --field */
    char separator;   /* of the fields; 0: it has none that can be chosen */
    /* Takes one record without its end: gives its keys by taking_give(), or counts why not. */
    void (*take)(struct taking *taking, const char *text, size_t bytes);
    /* Where the record ends that begins at `text`: at its line's end, which `limit` may not be.
     * NULL: not before `limit`.  No function: each end of a line ends a record. */
    const char *(*find_end)(const struct taking *taking, const char *text, const char *limit);
};

/* What records were, that gave no key. */
struct taking_counts {
    uint64_t lines;      /* all records, comments and blank lines among them */
    uint64_t returns;    /* lines that are keys and end with a carriage return */
    uint64_t records;    /* all but comments and blank lines */
    uint64_t keys;       /* given */
    uint64_t exceptions; /* of adblock, @@||name^ */
    uint64_t others;     /* rules that are of the format, and name no host */
    uint64_t locals;     /* localhost and its kin */
    uint64_t foreign;    /* records that are not of the format */
    uint64_t unicode;    /* names with letters beyond ASCII */
    uint64_t lacking;    /* records without the field, or with an empty one */
};

/* One input that is taken apart. */
struct taking {
    const struct format *format;
    const char *field;       /* of --field; NULL: the first, or the whole document */
    size_t field_number;     /* from 1; 0: it has a name */
    bool header_is_next;     /* the first record names the fields */
    bool header_lacks;       /* it does not name this one */
    char separator;          /* of fields */
    char line_end;           /* of records */
    bool hex;                /* keys are written in hexadecimal */
    struct line_rules rules; /* which lines are records */
    struct pile *exceptions; /* of this input; NULL: they are counted only */

    struct tamis_key *keys;    /* given so far */
    struct tamis_key *records; /* of each key, the record that it is from */
    size_t count;
    size_t room;
    struct tamis_key record; /* the one that is taken apart */
    struct taking_counts counts;
    const char *why; /* what is wrong with it, which ends the reading; NULL: nothing */

    const char *buffer; /* the text that records are of */
    size_t buffer_bytes;
    char *scratch; /* as large; NULL: not needed yet */
    size_t scratch_bytes;
};

void taking_clear(struct taking *taking);

/* Forgets the keys that were given. */
void taking_begin(struct taking *taking, const char *buffer, size_t buffer_bytes);

/* Takes the records of [text, limit) until `most` keys are there, and returns where the next record
 * begins.  With `is_last` the text ends here, and its last record may lack its end. */
const char *taking_take(struct taking *taking, const char *text, const char *limit, bool is_last,
                        size_t most);

/* The record has a key, of the record's text or of its scratch. */
void taking_give(struct taking *taking, const char *data, size_t bytes);
void taking_give_exception(struct taking *taking, const char *data, size_t bytes);

/* Decodes a key. Returns NULL, or what is wrong with the text.  `to` may be `text`. */
const char *format_decode_hex(char *to, const char *text, size_t bytes);

/* Room for a text that is unescaped, no longer than what it is made of, which stands at `at`. */
char *taking_scratch(struct taking *taking, const char *at);

/* The format of a name (formats.c).  NULL: there is none. */
const struct format *format_named(const char *name);
extern const struct format format_lines, format_hosts, format_adblock, format_domains, format_csv,
    format_tsv, format_jsonl, format_cdx;

/* ---- What several formats need ------------------------------------------------------------- */

static inline bool format_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The text without blanks at both ends. */
static inline void format_trim(const char **text, size_t *bytes)
{
    while (*bytes > 0 && format_is_blank((*text)[*bytes - 1]))
        --*bytes;
    while (*bytes > 0 && format_is_blank(**text)) {
        ++*text;
        --*bytes;
    }
}

/* How many bytes come before the first blank. */
static inline size_t format_word(const char *text, size_t bytes)
{
    size_t word = 0;
    while (word < bytes && !format_is_blank(text[word]))
        word++;
    return word;
}

/* Can this be the name of a host? Letters, digits, '-', '_', dots, and letters beyond ASCII.  How
 * many dots it has comes to *dots, one at the end left out. */
bool format_is_name(const char *text, size_t bytes, size_t *dots);

/* An IPv4 or IPv6 address, as far as its characters tell. */
bool format_is_address(const char *text, size_t bytes);

/* Gives the value of a field of a JSON document (jsonl.c). false: the text is no JSON. */
bool format_give_json(struct taking *taking, const char *field, const char *text, size_t bytes);

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c: see names.h.
 *
 *     name                        whose
 *     NAME                        of the key NAME of database 0
 *     redis:DB:KEY                of another key: bytes of KEY that no name can have, and %, are
 *                                 %XX
 *     redis:DB:BEGIN%#HASH        the same, for a key that is too long for that: its beginning, and
 *                                 the XXH3-128 of the whole key
 *     redis:ID                    of no key yet, or one whose name another filter has
 */
#include "server/names.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "redis:"
#define HASH_DIGITS 32u
#define HASH_AT (TAMIS_NAME_MAX - HASH_DIGITS - 2)

/* Letters, digits and punctuation of ASCII are legal in names. */
static bool is_printable(char c)
{
    return c >= ' ' && c < 0x7F;
}

/* Whether a name with other characters is legal, the library says, which computes a whole filter
 * for that.  It takes 10 microseconds, and each key that is loaded is asked about. */
static bool is_legal(const char *name)
{
    const char *c = name;
    while (is_printable(*c))
        c++;
    if (*c == '\0') return true;
    static const struct tamis_filter_spec any = {.size = sizeof any, .capacity = 1};
    return tamis_filter_check(NULL, name, &any) == 0;
}

static bool is_plain(int db, const char *key, size_t key_bytes)
{
    return db == 0 && key_bytes > 0 && key_bytes <= TAMIS_NAME_MAX &&
           memchr(key, '\0', key_bytes) == NULL &&
           (key_bytes < sizeof PREFIX - 1 || memcmp(key, PREFIX, sizeof PREFIX - 1) != 0);
}

/* These stay as they are.  All else is escaped, so the name is legal. */
static bool stays(char c)
{
    return is_printable(c) && c != '%';
}

/* Appends the key, escaped, up to `end`.  Returns how many bytes of the key had room. */
static size_t escape(const char *key, size_t key_bytes, char *name, size_t at, size_t end)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t i = 0;
    for (; i < key_bytes; i++) {
        const unsigned char c = (unsigned char)key[i];
        if (at + (stays(key[i]) ? 1 : 3) > end) break;
        if (stays(key[i])) {
            name[at++] = key[i];
            continue;
        }
        name[at++] = '%';
        name[at++] = digits[c >> 4];
        name[at++] = digits[c & 15];
    }
    name[at] = '\0';
    return i;
}

static void append_hash(const char *key, size_t key_bytes, char *name)
{
    char hash[64] = "";
    uint64_t position;
    struct tamis_explanation e = {.size = sizeof e,
                                  .hashes = hash,
                                  .hashes_bytes = sizeof hash,
                                  .positions = &position,
                                  .positions_max = 1};
    const int rc = tamis_explain("xxh3", UINT64_C(1) << 62, 1, 0, key, key_bytes, &e);
    (void)snprintf(name + strlen(name), HASH_DIGITS + 3, "%%#%.*s", (int)HASH_DIGITS,
                   rc == 0 ? hash : "");
}

void name_of_key(int db, const char *key, size_t key_bytes, char name[NAME_ROOM])
{
    if (is_plain(db, key, key_bytes)) {
        memcpy(name, key, key_bytes);
        name[key_bytes] = '\0';
        if (is_legal(name)) return;
    }
    const size_t at = (size_t)snprintf(name, NAME_ROOM, PREFIX "%d:", db);
    if (escape(key, key_bytes, name, at, TAMIS_NAME_MAX) == key_bytes) return;
    (void)escape(key, key_bytes, name, at, HASH_AT);
    append_hash(key, key_bytes, name);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rule.h: the key rules: what the key of a record is, such as the name of a host in lower case.
 * docs/keys.md has them for users.
 *
 * A filter has one rule for life.  The library makes the form of a key by that rule, and hashes the
 * form.  So whoever adds or asks, in whatever language, has the same key.
 *
 * A rule has one text, which stands in the catalog and in each segment.  Two rules are the same if
 * their texts are: options stand in the order of the alphabet, and so do the patterns of `drop`,
 * however a user ordered them.  The rule `bytes`, which takes a key as it is, has the text "".
 */
#pragma once

#include "base/base.h"

#define TAMIS__KEY_RULE_TEXT_BYTES (TAMIS_KEY_RULE_MAX + 1u)

enum tamis__key_rule_id { TAMIS__KEY_BYTES, TAMIS__KEY_NAME, TAMIS__KEY_URL };

/* Options of the rule `url`, in the order of their texts; `name` has TAMIS__KEY_IDN alone. */
enum tamis__key_option {
    TAMIS__URL_DROP = 1,
    TAMIS__URL_HTTPS_IS_HTTP = 2,
    TAMIS__KEY_IDN = 4,
    TAMIS__URL_NOSLASH = 8,
    TAMIS__URL_NOWWW = 16,
    TAMIS__URL_SORT = 32,
};

struct tamis__key_rule {
    enum tamis__key_rule_id id;
    uint32_t options;                      /* enum tamis__key_option */
    uint16_t drops_at, drops_bytes;        /* where the text has the patterns of TAMIS__URL_DROP */
    uint64_t drop_firsts[4];               /* bit b: a name that begins with byte b may match one */
    char text[TAMIS__KEY_RULE_TEXT_BYTES]; /* filled up with zeros */
};

/* Reads a rule as users write it, or as a file has it; NULL is `bytes`.  Returns 0, or TAMIS_EINVAL
 * or TAMIS_EUNSUPPORTED with the sentence. */
int tamis__key_rule_parse(const char *given, struct tamis__key_rule *rule);

/* Reads the rule of a filter that is there.  Returns 0, TAMIS_EVERSION or TAMIS_EUNSUPPORTED, which
 * means that this library would give its keys other forms. */
int tamis__key_rule_open(const char *filter, const char *text, struct tamis__key_rule *rule);

/* Is that a text which fits where rules stand: closed by a NUL, and filled up with zeros? */
bool tamis__key_rule_is_text(const char text[TAMIS__KEY_RULE_TEXT_BYTES]);

/* The name of a rule for users, who know the text "" as "bytes". */
const char *tamis__key_rule_name(const char *text);

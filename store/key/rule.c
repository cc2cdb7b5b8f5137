/* SPDX-License-Identifier: BSD-2-Clause */
/* rule.c: see rule.h. */
#include "key/rule.h"

#include "key/idn.h"

struct rule_name {
    const char *name;
    enum tamis__key_rule_id id;
};

static const struct rule_name rules[] = {
    {"bytes", TAMIS__KEY_BYTES}, {"name", TAMIS__KEY_NAME}, {"url", TAMIS__KEY_URL}};
#define RULES "bytes, name and url"

/* In the order of the alphabet. */
static const struct {
    const char *name;
    uint32_t option;
    bool is_of_names; /* the rule `name` has it, too */
    char value; /* '!': the option must have a value, '?': it may have a value, 0: it has none */
} options[] = {
    {"drop", TAMIS__URL_DROP, false, '!'}, {"https=http", TAMIS__URL_HTTPS_IS_HTTP, false, 0},
    {"idn", TAMIS__KEY_IDN, true, '?'},    {"noslash", TAMIS__URL_NOSLASH, false, 0},
    {"nowww", TAMIS__URL_NOWWW, false, 0}, {"sort", TAMIS__URL_SORT, false, 0},
};
#define OPTIONS_OF_URLS "drop=NAME+NAME, https=http, idn, noslash, nowww and sort"
#define OPTIONS_OF_NAMES "idn"
#define OPTIONS_COUNT (sizeof options / sizeof options[0])

static const struct rule_name *find_rule(const char *text, size_t bytes)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strlen(rules[i].name) == bytes && memcmp(rules[i].name, text, bytes) == 0)
            return &rules[i];
    return NULL;
}

/* ---- Patterns of parameters ------------------------------------------------------------------ */

/* A pattern has at least a byte, and a plus between it and the next one. */
#define DROPS_MAX ((TAMIS_KEY_RULE_MAX + 1) / 2)

struct pattern {
    const char *text;
    size_t bytes;
};

static int compare_patterns(const void *a, const void *b)
{
    const struct pattern *x = a, *y = b;
    const int order = memcmp(x->text, y->text, x->bytes < y->bytes ? x->bytes : y->bytes);
    return order != 0 ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* May a byte stand in the name of a parameter that a URL in its normal form has? */
static bool is_in_pattern(char byte)
{
    return byte > ' ' && byte <= '~' && strchr("\"#&'+,<=>", byte) == NULL;
}

/* Reads the patterns, of `bytes` in all.  Returns how many, 0: there is a fault. */
static size_t read_patterns(const char *text, size_t bytes, struct pattern patterns[DROPS_MAX])
{
    size_t count = 0;
    for (size_t at = 0; at <= bytes && count < DROPS_MAX; count++) {
        size_t length = 0;
        while (at + length < bytes && is_in_pattern(text[at + length]))
            length++;
        if (length == 0 || (at + length < bytes && text[at + length] != '+')) return 0;
        patterns[count] = (struct pattern){text + at, length};
        at += length + 1;
    }
    return count;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static int append(struct tamis__key_rule *rule, const char *text, size_t bytes)
{
    const size_t used = strlen(rule->text);
    if (bytes > TAMIS_KEY_RULE_MAX - used)
        return tamis__fail(TAMIS_EINVAL, "a key rule has at most %u bytes; leave some out",
                           TAMIS_KEY_RULE_MAX);
    memcpy(rule->text + used, text, bytes);
    return 0;
}

static void note_first(struct tamis__key_rule *rule, unsigned char byte)
{
    if (byte == '*')
        memset(rule->drop_firsts, 0xff, sizeof rule->drop_firsts);
    else
        rule->drop_firsts[byte / 64] |= UINT64_C(1) << byte % 64;
}

/* Appends the patterns in order, each once. */
static int append_patterns(struct tamis__key_rule *rule, const char *text, size_t bytes)
{
    struct pattern patterns[DROPS_MAX];
    const size_t count = read_patterns(text, bytes, patterns);
    if (count == 0)
        return tamis__fail(TAMIS_EINVAL, "the option drop of the key rule url takes names of "
                                         "parameters with a + between two, such as "
                                         "drop=utm_*+gclid");
    qsort(patterns, count, sizeof patterns[0], compare_patterns);
    rule->drops_at = (uint16_t)strlen(rule->text);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (i > 0 && compare_patterns(&patterns[i - 1], &patterns[i]) == 0) continue;
        if (i > 0) rc = append(rule, "+", 1);
        if (rc == 0) rc = append(rule, patterns[i].text, patterns[i].bytes);
        note_first(rule, (unsigned char)patterns[i].text[0]);
    }
    rule->drops_bytes = (uint16_t)(strlen(rule->text) - rule->drops_at);
    return rc;
}

/* ---- Options --------------------------------------------------------------------------------- */

/* The values of the options that a user gave, behind the `=`; NULL: the option is not there. */
struct given {
    const char *value[OPTIONS_COUNT];
    size_t bytes[OPTIONS_COUNT];
};

/* Is the text the option i?  Then *name_bytes is where its value begins. */
static bool is_option(const struct tamis__key_rule *rule, size_t i, const char *text, size_t bytes,
                      size_t *name_bytes)
{
    *name_bytes = strlen(options[i].name);
    if (rule->id == TAMIS__KEY_NAME && !options[i].is_of_names) return false;
    if (strncmp(text, options[i].name, *name_bytes) != 0) return false;
    if (bytes == *name_bytes) return options[i].value != '!';
    if (options[i].value == 0 || text[(*name_bytes)++] != '=') return false;
    return options[i].value == '!' || bytes > *name_bytes;
}

static int read_option(const struct tamis__key_rule *rule, const char *text, size_t bytes,
                       struct given *given)
{
    char quoted[TAMIS__QUOTED_BYTES];
    size_t name_bytes;
    const bool is_url = rule->id == TAMIS__KEY_URL;
    for (size_t i = 0; i < OPTIONS_COUNT; i++) {
        if (!is_option(rule, i, text, bytes, &name_bytes)) continue;
        if (given->value[i] != NULL)
            return tamis__fail(TAMIS_EINVAL,
                               "the key rule %s has the option '%s' twice; give it once",
                               is_url ? "url" : "name", options[i].name);
        given->value[i] = text + name_bytes;
        given->bytes[i] = bytes - name_bytes;
        return 0;
    }
    return tamis__fail(TAMIS_EINVAL, "the key rule %s has no option %s; it has %s",
                       is_url ? "url" : "name", tamis__quote(quoted, text),
                       is_url ? OPTIONS_OF_URLS : OPTIONS_OF_NAMES);
}

static bool is_version(const char *text, size_t bytes)
{
    size_t same = 0;
    while (same < bytes && strchr("abcdefghijklmnopqrstuvwxyz0123456789.-", text[same]) != NULL)
        same++;
    return same == bytes && bytes < TAMIS__IDN_VERSION_BYTES;
}

/* Without a version, that of this process is meant. */
static int append_version(struct tamis__key_rule *rule, const char *version, size_t bytes)
{
    char own[TAMIS__IDN_VERSION_BYTES];
    if (!is_version(version, bytes))
        return tamis__fail(TAMIS_EINVAL, "the option idn of a key rule takes a version of Unicode, "
                                         "such as idn=14.0, or nothing");
    int rc = bytes > 0 ? tamis__idn_check_version(version, bytes) : tamis__idn_version(own);
    if (rc == 0 && bytes > 0) rc = append(rule, version, bytes);
    return rc == 0 && bytes == 0 ? append(rule, own, strlen(own)) : rc;
}

static int append_option(struct tamis__key_rule *rule, size_t i, const char *value, size_t bytes)
{
    int rc = append(rule, rule->options == 0 ? ":" : ",", 1);
    if (rc == 0) rc = append(rule, options[i].name, strlen(options[i].name));
    if (rc == 0 && options[i].value != 0) rc = append(rule, "=", 1);
    if (rc == 0 && options[i].option == TAMIS__URL_DROP) rc = append_patterns(rule, value, bytes);
    if (rc == 0 && options[i].option == TAMIS__KEY_IDN) rc = append_version(rule, value, bytes);
    rule->options |= options[i].option;
    return rc;
}

/* Reads the options behind the colon, and writes them into the text of the rule. */
static int read_options(const char *text, struct tamis__key_rule *rule)
{
    struct given given = {0};
    for (;;) {
        const size_t bytes = strcspn(text, ",");
        int rc = read_option(rule, text, bytes, &given);
        if (rc < 0) return rc;
        if (text[bytes] == '\0') break;
        text += bytes + 1;
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < OPTIONS_COUNT; i++)
        if (given.value[i] != NULL) rc = append_option(rule, i, given.value[i], given.bytes[i]);
    return rc;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

int tamis__key_rule_parse(const char *given, struct tamis__key_rule *rule)
{
    char quoted[TAMIS__QUOTED_BYTES];
    const char *text = given != NULL && given[0] != '\0' ? given : "bytes";
    const size_t name_bytes = strcspn(text, ":");
    const struct rule_name *found = find_rule(text, name_bytes);
    *rule = (struct tamis__key_rule){.id = TAMIS__KEY_BYTES};
    if (found == NULL)
        return tamis__fail(TAMIS_EINVAL, "there is no key rule %s; this version has " RULES,
                           tamis__quote(quoted, text));
    if (text[name_bytes] != '\0' && found->id == TAMIS__KEY_BYTES)
        return tamis__fail(TAMIS_EINVAL, "the key rule %s has no option %s; leave it out",
                           found->name, tamis__quote(quoted, text + name_bytes + 1));
    rule->id = found->id;
    if (found->id != TAMIS__KEY_BYTES) strcpy(rule->text, found->name);
    return text[name_bytes] != '\0' ? read_options(text + name_bytes + 1, rule) : 0;
}

int tamis__key_rule_open(const char *filter, const char *text, struct tamis__key_rule *rule)
{
    char reason[400];
    const int rc = tamis__key_rule_parse(text, rule);
    if (rc == TAMIS_EUNSUPPORTED) {
        (void)snprintf(reason, sizeof reason, "%s", tamis_last_error());
        return tamis__fail(rc, "the filter '%s' has the key rule %s: %s", filter, text, reason);
    }
    if (rc != TAMIS_EINVAL && (rc < 0 || strcmp(rule->text, text) == 0)) return rc;
    return tamis__fail(TAMIS_EVERSION,
                       "the filter '%s' has the key rule %s, which this version does not have; it "
                       "was made by a newer Tamis, so use that",
                       filter, text);
}

bool tamis__key_rule_is_text(const char text[TAMIS__KEY_RULE_TEXT_BYTES])
{
    const char *nul = memchr(text, '\0', TAMIS__KEY_RULE_TEXT_BYTES);
    return nul != NULL && tamis__is_zero((const unsigned char *)nul,
                                         (size_t)(text + TAMIS__KEY_RULE_TEXT_BYTES - nul));
}

const char *tamis__key_rule_name(const char *text)
{
    return text[0] != '\0' ? text : "bytes";
}

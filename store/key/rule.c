/* SPDX-License-Identifier: BSD-2-Clause */
/* rule.c: see rule.h. */
#include "key/rule.h"

struct rule_name {
    const char *name;
    enum tamis__key_rule_id id;
};

static const struct rule_name rules[] = {{"bytes", TAMIS__KEY_BYTES}, {"name", TAMIS__KEY_NAME}};
#define RULES "bytes and name"

static const struct rule_name *find_rule(const char *text, size_t bytes)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strlen(rules[i].name) == bytes && memcmp(rules[i].name, text, bytes) == 0)
            return &rules[i];
    return NULL;
}

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
    if (text[name_bytes] != '\0')
        return tamis__fail(TAMIS_EINVAL, "the key rule %s has no option %s; leave it out",
                           found->name, tamis__quote(quoted, text + name_bytes + 1));
    rule->id = found->id;
    if (found->id != TAMIS__KEY_BYTES) strcpy(rule->text, found->name);
    return 0;
}

int tamis__key_rule_open(const char *filter, const char *text, struct tamis__key_rule *rule)
{
    const int rc = tamis__key_rule_parse(text, rule);
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

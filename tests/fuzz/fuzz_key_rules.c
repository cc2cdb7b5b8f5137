/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_key_rules.c: the forms of keys.  The first byte says the rule, the others are a key.
 *
 * The form of the form is the form, and a batch has the forms of its single keys.
 */
#include <string.h>

#include "fuzz.h"
#include "key/form.h"

static const char *const rules[] = {
    "name",
    "url",
    "url:sort",
    "url:nowww",
    "url:drop=a*+*b+c",
    "url:noslash",
    "url:https=http",
    "url:drop=utm_*,https=http,noslash,nowww,sort",
    "name:idn",
    "url:idn",
    "url:idn,nowww",
    "url:drop=utm_*,https=http,idn,noslash,nowww,sort",
};

static void same(const struct tamis_key *a, const struct tamis_key *b)
{
    FUZZ_CHECK(a->bytes == b->bytes);
    FUZZ_CHECK(a->bytes == 0 || memcmp(a->data, b->data, a->bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct tamis__key_rule rule;
    struct tamis__form_room room;
    struct tamis_key form, again, forms[2];
    if (bytes == 0) return 0;
    const int rc = tamis__key_rule_parse(rules[data[0] % (sizeof rules / sizeof rules[0])], &rule);
    if (rc == TAMIS_EUNSUPPORTED) return 0; /* a build without libidn2 */
    FUZZ_CHECK(rc == 0);
    unsigned char *key = malloc(bytes); /* so that a byte too many is seen */
    FUZZ_CHECK(key != NULL);
    memcpy(key, data + 1, bytes - 1);
    unsigned char *tight = realloc(key, bytes > 1 ? bytes - 1 : 1);
    FUZZ_CHECK(tight != NULL);
    tamis__form_room_init(&room);
    FUZZ_CHECK(tamis__form_key(&rule, tight, bytes - 1, &room, &form) == 0);
    FUZZ_CHECK(tamis__form_key(&rule, form.data, form.bytes, &room, &again) == 0);
    same(&form, &again);
    const struct tamis_key keys[] = {form, {tight, bytes - 1}};
    FUZZ_CHECK(tamis__form_keys(&rule, keys, 2, &room, forms) == 0);
    same(&form, &forms[0]);
    same(&form, &forms[1]);
    tamis__form_room_clear(&room);
    free(tight);
    return 0;
}

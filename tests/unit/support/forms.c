/* SPDX-License-Identifier: BSD-2-Clause */
#include "forms.h"

size_t forms_make(const char *rule, const char *key, size_t bytes, char *to)
{
    const int64_t form_bytes = tamis_key_form(rule, key, bytes, to, FORM_BYTES);
    assert_in_range(form_bytes, 0, FORM_BYTES);
    return (size_t)form_bytes;
}

void forms_check(const char *rule, const char *key, const char *wanted)
{
    static char form[FORM_BYTES + 1];
    const char *texts[] = {key, wanted};
    for (int i = 0; i < 2; i++) {
        form[forms_make(rule, texts[i], strlen(texts[i]), form)] = '\0';
        assert_string_equal(form, wanted);
    }
}

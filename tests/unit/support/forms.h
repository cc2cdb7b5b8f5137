/* SPDX-License-Identifier: BSD-2-Clause */
/* forms.h: the forms that a key rule gives keys. */
#ifndef TAMIS_UNIT_FORMS_H
#define TAMIS_UNIT_FORMS_H

#include "fixture.h"

enum { FORM_BYTES = 1 << 20 };

/* Returns the length of the form, which `to` receives: FORM_BYTES at most. */
size_t forms_make(const char *rule, const char *key, size_t bytes, char *to);

/* The form of either is `wanted`. */
void forms_check(const char *rule, const char *key, const char *wanted);

struct pair {
    const char *key, *wanted;
};

#define CHECK_ALL(rule, pairs)                                                                     \
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs)[0]; i++)                                  \
    forms_check(rule, (pairs)[i].key, (pairs)[i].wanted)

#endif

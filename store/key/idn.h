/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * idn.h: names in any script in the form that DNS has for them, xn--: the option `idn`.
 *
 * The form is that of UTS 46 without its transitional mappings, by libidn2.  It depends on a
 * version of Unicode, so the text of a rule has that version: `name:idn=14.0`.  A library that is
 * built without libidn2, or meets a libidn2 with another version, refuses such a rule:
 * docs/decisions/0041 says why.
 */
#pragma once

#include "base/base.h"

/* The most bytes of a form, as libidn2 has them. */
#define TAMIS__IDN_BYTES_MAX 255u

/* Writes the version of this process into `version`.  Returns 0, or TAMIS_EUNSUPPORTED with the
 * sentence: there is none. */
#define TAMIS__IDN_VERSION_BYTES 32u
int tamis__idn_version(char version[TAMIS__IDN_VERSION_BYTES]);

/* Is that the version of this process?  Returns 0, or TAMIS_EUNSUPPORTED with the sentence. */
int tamis__idn_check_version(const char *version, size_t bytes);

/*
 * Makes the form of a name that has bytes above 0x7f.
 *
 * form     room for TAMIS__IDN_BYTES_MAX; the form is in ASCII.
 * Returns  its bytes; 0: libidn2 refuses the name; TAMIS_ENOMEM.
 */
int tamis__idn_write(const unsigned char *name, size_t bytes, unsigned char *form);

/* Has a name bytes above 0x7f? */
bool tamis__idn_is_needed(const unsigned char *name, const unsigned char *end);

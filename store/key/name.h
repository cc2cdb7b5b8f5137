/* SPDX-License-Identifier: BSD-2-Clause */
/* name.h: names of hosts and mail domains as keys: the rule `name`. */
#pragma once

#include "base/base.h"

/* The most bytes of a name and of one of its labels (RFC 1035, 2.3.4), without the last dot. */
#define TAMIS__NAME_BYTES_MAX 253u
#define TAMIS__LABEL_BYTES_MAX 63u
#define TAMIS__LABELS_MAX 127u

/* A name as it was given. */
enum tamis__name_sort {
    TAMIS__NAME_NONE,  /* no name: the key is its bytes */
    TAMIS__NAME_FORM,  /* a name that is its form */
    TAMIS__NAME_OTHER, /* a name of another form: with capitals, or a dot at its end */
};

/* Says which of them the bytes are, and how many bytes the form has. */
enum tamis__name_sort tamis__name_look(const unsigned char *name, size_t bytes, size_t *form_bytes);
/* Writes the form of TAMIS__NAME_OTHER, form_bytes long. */
void tamis__name_write(const unsigned char *name, size_t form_bytes, unsigned char *form);

/*
 * Sets starts[i] to where the name begins without its first i labels.  The form of a key that is no
 * name, or an address in four numbers, has no parents.  Returns how many there are, 1 or more.
 */
size_t tamis__name_suffixes(const unsigned char *form, size_t bytes,
                            uint8_t starts[TAMIS__LABELS_MAX]);

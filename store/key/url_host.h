/* SPDX-License-Identifier: BSD-2-Clause */
/* url_host.h: hosts of URLs: names and addresses. */
#pragma once

#include "key/rule.h"

/* Writes the form of the host from `host` to `end`, which is not empty.  It takes as many bytes, or
 * TAMIS__IDN_BYTES_MAX with the option `idn`, and 48 more at most.  Returns its bytes; 0: this is
 * no host; TAMIS_ENOMEM. */
int64_t tamis__url_write_host(const struct tamis__key_rule *rule, const unsigned char *host,
                              const unsigned char *end, unsigned char *to);

/* The value of a hexadecimal digit; -1: it is none. */
static inline int tamis__hex_value(unsigned char digit)
{
    if (digit >= '0' && digit <= '9') return digit - '0';
    const unsigned char letter = digit | 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

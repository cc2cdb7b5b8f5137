/* SPDX-License-Identifier: BSD-2-Clause */
/* url_host.h: hosts of URLs: names and addresses. */
#pragma once

#include "base/base.h"

/* Writes the form of the host from `host` to `end`, which is not empty, in as many bytes and 48 at
 * most.  Returns the end of what it wrote; NULL: this is no host. */
unsigned char *tamis__url_write_host(const unsigned char *host, const unsigned char *end,
                                     unsigned char *to);

/* The value of a hexadecimal digit; -1: it is none. */
static inline int tamis__hex_value(unsigned char digit)
{
    if (digit >= '0' && digit <= '9') return digit - '0';
    const unsigned char letter = digit | 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

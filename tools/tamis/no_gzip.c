/* SPDX-License-Identifier: BSD-2-Clause */
/* no_gzip.c: in a build without zlib a gzip file is recognised, and refused. */
#include "input.h"

const struct unpacker *unpacker_gzip(void)
{
    return NULL;
}

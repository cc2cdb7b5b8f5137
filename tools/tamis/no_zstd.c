/* SPDX-License-Identifier: BSD-2-Clause */
/* no_zstd.c: in a build without libzstd a Zstandard file is recognised, and refused. */
#include "input.h"

const struct unpacker *unpacker_zstd(void)
{
    return NULL;
}

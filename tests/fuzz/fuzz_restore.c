/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_restore.c: payloads of RESTORE, of all types of the module: RedisBloom's, valkey-bloom's
 * and our own. */
#include "loaders.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    loaders_payload(data, bytes, false);
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_restore.c: payloads of RESTORE, of all types of the module: RedisBloom's, valkey-bloom's
 * and our own; and the reader of payloads that threads have, which finds their parts by itself. */
#include "loaders.h"
#include "persist/payload.h"
#include "server/redis_api.h"

static void read_parts(const uint8_t *data, size_t bytes)
{
    struct payload payload = {.at = data, .end = data + bytes};
    while (!payload.failed && payload.at < payload.end) {
        size_t length = 0;
        if (*payload.at == 2) {
            (void)payload_number(&payload);
        } else if (*payload.at == 4) {
            (void)payload_double(&payload);
        } else {
            char *string = payload_string(&payload, &length);
            FUZZ_CHECK(string != NULL || payload.failed);
            FUZZ_CHECK(length <= 88 * bytes);
            RedisModule_Free(string);
        }
    }
    struct payload_head head;
    if (payload_has_head(data, bytes, &head)) FUZZ_CHECK(head.encoding < 1024);
    (void)payload_is_whole(data, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    loaders_payload(data, bytes, false);
    if (bytes > 3) read_parts(data + 3, bytes - 3);
    return 0;
}

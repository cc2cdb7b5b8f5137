/* SPDX-License-Identifier: BSD-2-Clause */
/* cuckoo_data.c: see cuckoo_data.h. */
#include "persist/cuckoo_data.h"

#include <string.h>

#include "persist/freeze.h"

static const char mark[8] = {'T', 'A', 'M', 'I', 'S', 'C', 'F', '1'};

char *cuckoo_data(const struct value *value, size_t *bytes)
{
    size_t count = 0;
    char *own = NULL;
    const char *stream = freeze_stream(value, &count);
    if (stream == NULL) stream = own = stream_in_memory(value, &count);
    if (stream == NULL) return NULL;
    const uint64_t follow = count;
    char *data = RedisModule_Alloc(CUCKOO_MARK_BYTES + count);
    memcpy(data, mark, sizeof mark);
    memcpy(data + 8, &follow, 8);
    memcpy(data + CUCKOO_MARK_BYTES, stream, count);
    RedisModule_Free(own);
    *bytes = CUCKOO_MARK_BYTES + count;
    return data;
}

bool cuckoo_is_mark(const char *data, size_t bytes)
{
    return bytes >= CUCKOO_MARK_BYTES && memcmp(data, mark, sizeof mark) == 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* meter.c: see meter.h. */
#include "check/meter.h"

#include <stddef.h>

int tamis__meter_tell(const struct tamis__meter *meter, uint64_t segment_bytes)
{
    if (meter == NULL || meter->progress == NULL) return 0;
    const uint64_t done = meter->done_bytes + segment_bytes;
    const int rc = meter->progress(
        meter->context, done < meter->all_bytes ? done : meter->all_bytes, meter->all_bytes);
    return rc < 0 ? rc : 0;
}

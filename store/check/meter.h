/* SPDX-License-Identifier: BSD-2-Clause */
/* meter.h: how far verify and repair have come, for who asked to be told. */
#pragma once

#include <stdint.h>

/* How much of the data was read, and who is told.  Files may grow meanwhile: what is told never
 * passes all_bytes. */
struct tamis__meter {
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes); /* NULL: nobody */
    void *context;
    uint64_t done_bytes, all_bytes; /* done: of the segments before this one */
};

/* Tells, when so many bytes of this segment were read.  meter may be NULL.  Returns what progress
 * returned. */
int tamis__meter_tell(const struct tamis__meter *meter, uint64_t segment_bytes);

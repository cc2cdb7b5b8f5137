/* SPDX-License-Identifier: BSD-2-Clause */
/* restoring.h: a thread makes the value of a payload of DUMP, while the client of RESTORE waits. */
#pragma once

#include "kept/making.h"
#include "persist/payload.h"

/* A value that is to be made of a payload. */
struct restoring {
    const RedisModuleString *payload;
    struct payload_head head;
    struct value *value; /* what was made; its filter is with making.c */
    bool is_broken;      /* the payload has not the checksum that it says */
    char text[1024];     /* what is wrong with it */
};

/* Begins the payload like that of a value of ours?  Fills in the rest. */
bool restoring_is_ours(const RedisModuleString *payload, struct restoring *restoring);
enum type restoring_type(const struct restoring *restoring);
struct maker restoring_maker(struct restoring *restoring);
/* Makes the value at once, under a name apart.  NULL: the text says why. */
struct value *restoring_make_now(struct restoring *restoring);
/* Takes the value that was made for the command that is run again, with its filter.  NULL: there is
 * none, and *rc tells why. */
struct value *restoring_take(const struct restoring *made, int *rc);

/* SPDX-License-Identifier: BSD-2-Clause */
/* stream_exceptions.c: see stream_exceptions.h. */
#include "exchange/stream_exceptions.h"
#include "exceptions/index.h"

#define BY_HAND 1u
#define FOUND 2u
/* An imported filter begins with this generation, whose build has found what was found there. */
#define GENERATION 1u

static uint64_t generation_of(uint32_t how)
{
    const uint64_t found = (how & FOUND) != 0 ? GENERATION : 0;
    return how == (BY_HAND | FOUND) ? found | TAMIS__BY_HAND_TOO : found;
}

static uint32_t how_of(const struct tamis__exception *exception)
{
    return (tamis__exception_by_hand(exception) ? BY_HAND : 0) |
           (tamis__exception_found_by(exception) != 0 ? FOUND : 0);
}

/* Returns what is wrong with what stands before a key; NULL if nothing is. */
static const char *problem_of(const struct tamis__stream_exception *fixed)
{
    if (fixed->bytes > TAMIS_EXCEPTION_BYTES_MAX)
        return "has an exception that is longer than any can be";
    if (fixed->how == 0 || fixed->how > (BY_HAND | FOUND))
        return "has an exception that nobody made";
    return NULL;
}

static int load_one(struct tamis__reader *reader, struct tamis__sum *sum,
                    struct tamis__exceptions *set)
{
    const uint64_t at = reader->offset;
    struct tamis__stream_exception fixed;
    unsigned char *bytes;
    int rc = tamis__reader_take(reader, sizeof fixed, &bytes);
    if (rc < 0) return rc;
    tamis__sum_add(sum, bytes, sizeof fixed);
    memcpy(&fixed, bytes, sizeof fixed);
    const char *problem = problem_of(&fixed);
    if (problem != NULL) return tamis__reader_fail(reader, TAMIS_ECORRUPT, at, problem);
    rc = tamis__reader_take(reader, fixed.bytes, &bytes);
    if (rc < 0) return rc;
    tamis__sum_add(sum, bytes, fixed.bytes);
    if (!tamis__exceptions_end_before(set, bytes, fixed.bytes))
        return tamis__reader_fail(reader, TAMIS_ECORRUPT, at, "has exceptions out of order");
    return tamis__exceptions_add(set, bytes, fixed.bytes, generation_of(fixed.how));
}

int tamis__stream_load_exceptions(struct tamis__reader *reader, uint64_t count,
                                  struct tamis__sum *sum, struct tamis__exceptions *set)
{
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < count; i++)
        rc = load_one(reader, sum, set);
    return rc < 0 ? rc : tamis__exceptions_sort(set);
}

static int save_one(void *context, const struct tamis__exception *exception)
{
    const struct tamis__stream_exception fixed = {.bytes = exception->bytes,
                                                  .how = how_of(exception)};
    const int rc = tamis__writer_put(context, &fixed, sizeof fixed);
    return rc < 0 ? rc : tamis__writer_put(context, exception->key, exception->bytes);
}

int tamis__stream_save_exceptions(const struct tamis__segment *index, struct tamis__writer *writer)
{
    return tamis__index_each(index, save_one, writer);
}

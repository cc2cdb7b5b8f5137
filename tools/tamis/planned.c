/* SPDX-License-Identifier: BSD-2-Clause */
/* planned.c: see planned.h. */
#include "planned.h"

#include "memory.h"
#include "record.h"
#include "text.h"

/* What a sizing may hold: other kinds than counting and fuse have no such bits. */
#define SIZING_COUNTERS 1u
#define SIZING_FINGERPRINTS 2u
#define OF_SIZING(how, member) RECORD_MEMBER(how, tamis_sizing, member)

static const struct field FIELDS_OF_SIZING[] = {
    {"capacity", OF_SIZING(U64, capacity)},
    {"fp_rate", OF_SIZING(RATE, fp_rate)},
    {"m_bits", OF_SIZING(U64, m_bits)},
    {"k", OF_SIZING(U32, k)},
    {"words", OF_SIZING(U32, words)},
    {"counter_bits", OF_SIZING(U32, counter_bits), .needs = SIZING_COUNTERS},
    {"fingerprint_bits", OF_SIZING(U32, fingerprint_bits), .needs = SIZING_FINGERPRINTS},
    {"bits_per_key", OF_SIZING(RATE, bits_per_key)},
    {"data_bytes", OF_SIZING(U64, data_bytes)},
    {"file_bytes", OF_SIZING(U64, file_bytes)},
    {"true_rate", OF_SIZING(RATE, predicted_rate)},
};

int planned_of(const struct tamis_filter_spec *spec, struct planned *planned)
{
    *planned =
        (struct planned){.first.size = sizeof planned->first, .next.size = sizeof planned->next};
    int rc = tamis_filter_plan(spec, 0, &planned->first);
    if (rc < 0) return rc;
    rc = tamis_filter_plan(spec, 1, &planned->next);
    planned->grows = rc > 0;
    return rc < 0 ? rc : 0;
}

void planned_put(const struct planned *planned, json_t *object)
{
    const struct tamis_sizing *first = &planned->first;
    const unsigned holds = (first->counter_bits ? SIZING_COUNTERS : 0) |
                           (first->fingerprint_bits ? SIZING_FINGERPRINTS : 0);
    record_put(object, FIELDS(FIELDS_OF_SIZING), holds, first);
    if (!planned->grows) return;
    json_put(object, "next_capacity", json_unsigned(planned->next.capacity));
    json_put(object, "next_file_bytes", json_unsigned(planned->next.file_bytes));
}

char *planned_growth(const struct planned *planned)
{
    char first[24], all[24];
    if (!planned->grows) return NULL;
    const uint64_t bytes = planned->first.file_bytes;
    text_size(first, sizeof first, (double)bytes);
    text_size(all, sizeof all, (double)(bytes + planned->next.file_bytes));
    return cli_format("with more than %ju key%s it goes on in a further file: %s become %s, which "
                      "have room for %ju keys more",
                      (uintmax_t)planned->first.capacity, text_plural(planned->first.capacity),
                      first, all, (uintmax_t)planned->next.capacity);
}

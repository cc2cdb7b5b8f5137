/* SPDX-License-Identifier: BSD-2-Clause */
/* parameters.c: see parameters.h. */
#include "catalog/parameters.h"

#define PARAMETER(of, field, name, uses, shown)                                                    \
    {                                                                                              \
        name, offsetof(struct of, field), sizeof((struct of *)0)->field, uses, shown               \
    }
#define SEGMENT(...) PARAMETER(tamis__listed_segment, __VA_ARGS__)
#define BOTH (TAMIS__IN_HEADER | TAMIS__OF_BITS)

/* The parameters in the order in which sentences name them. */
const struct tamis__parameter tamis__segment_parameters[] = {
    SEGMENT(number, "number", TAMIS__IN_HEADER, TAMIS__AS_NUMBER),
    SEGMENT(kind, "kind", BOTH, TAMIS__AS_KIND),
    SEGMENT(hash_set, "hash set", BOTH, TAMIS__AS_HASH_SET),
    SEGMENT(seed, "seed", BOTH, TAMIS__AS_SECRET),
    SEGMENT(parameters, "parameters of the hash set", BOTH, TAMIS__AS_HASH_SET),
    SEGMENT(m_bits, "m", BOTH, TAMIS__AS_NUMBER),
    SEGMENT(k, "k", BOTH, TAMIS__AS_NUMBER),
    SEGMENT(words, "words per key", TAMIS__IN_HEADER, TAMIS__AS_NUMBER), /* follows from k */
    SEGMENT(counter_bits, "bits per counter", BOTH, TAMIS__AS_NUMBER),
    SEGMENT(bit_order, "bit order", BOTH, TAMIS__AS_BIT_ORDER),
    SEGMENT(fingerprint_bits, "bits per fingerprint", BOTH, TAMIS__AS_NUMBER),
    SEGMENT(pieces, "number of pieces", BOTH, TAMIS__AS_NUMBER),
    SEGMENT(capacity, "capacity", TAMIS__IN_HEADER, TAMIS__AS_NUMBER),
    SEGMENT(fp_rate, "rate", TAMIS__IN_HEADER, TAMIS__AS_RATE),
    SEGMENT(file_bytes, "size", TAMIS__IN_HEADER, TAMIS__AS_NUMBER),
    SEGMENT(created_at, "time of creation", TAMIS__IN_HEADER, TAMIS__AS_NUMBER),
    SEGMENT(slice, "slice", TAMIS__IN_HEADER, TAMIS__AS_NUMBER),
    SEGMENT(slice_start, "slice", TAMIS__IN_HEADER, TAMIS__AS_NUMBER),
    SEGMENT(step, "step of growth", TAMIS__IN_HEADER, TAMIS__AS_NUMBER),
    {.name = NULL},
};

#define POLICY(field, name, shown) PARAMETER(tamis__policy, field, name, TAMIS__IN_HEADER, shown)

const struct tamis__parameter tamis__policy_parameters[] = {
    POLICY(on_full, "policy when full", TAMIS__AS_ON_FULL),
    POLICY(window_ns, "window in ns", TAMIS__AS_NUMBER),
    POLICY(window_items, "window in keys", TAMIS__AS_NUMBER),
    POLICY(window_from, "window from", TAMIS__AS_FIRST_LAST),
    POLICY(slices, "number of slices", TAMIS__AS_NUMBER),
    POLICY(capacity, "capacity", TAMIS__AS_NUMBER),
    POLICY(fp_rate, "rate", TAMIS__AS_RATE),
    POLICY(durable, "durability", TAMIS__AS_ON_OFF),
    POLICY(key_rule, "key rule", TAMIS__AS_KEY_RULE),
    {.name = NULL},
};

bool tamis__parameter_differs(const struct tamis__parameter *parameter, const void *a,
                              const void *b)
{
    return memcmp((const char *)a + parameter->offset, (const char *)b + parameter->offset,
                  parameter->bytes) != 0;
}

const struct tamis__parameter *tamis__first_difference(const struct tamis__parameter *table,
                                                       unsigned use, const void *a, const void *b)
{
    for (; table->name != NULL; table++)
        if ((table->uses & use) != 0 && tamis__parameter_differs(table, a, b)) return table;
    return NULL;
}

uint64_t tamis__parameter_number(const struct tamis__parameter *parameter, const void *of)
{
    uint64_t number = 0; /* little-endian, as store/base/bytes.h demands */
    memcpy(&number, (const char *)of + parameter->offset, parameter->bytes);
    return number;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* kind.c: what each kind asks of a header. */
#include "kind/kind.h"

int tamis__check_hash_set(const struct tamis__segment_header *header, const char **reason)
{
    const struct tamis__hashing hashing = tamis__header_hashing(header);
    *reason = "uses a hash set that this library does not have; use a newer Tamis";
    if (hashing.set == NULL ||
        (!hashing.set->any_kind && !tamis_kind_has(header->kind, TAMIS_KIND_IS_PLAIN)))
        return TAMIS_EVERSION;
    *reason = hashing.set->missing;
    if (*reason != NULL) return TAMIS_EUNSUPPORTED;
    *reason = tamis__hashing_fault(&hashing);
    return *reason ? TAMIS_ECORRUPT : 0;
}

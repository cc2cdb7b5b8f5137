/* SPDX-License-Identifier: BSD-2-Clause */
/* kind.c: the table of kinds.  A new one is a file of its own and a line here. */
#include "kind/kind.h"

#include <string.h>

#include "base/error.h"

static const struct tamis__kind *const kinds[] = {
    &tamis__kind_blocked,
    &tamis__kind_bloom,
    &tamis__kind_counting,
    &tamis__kind_fuse,
};

const struct tamis__kind *tamis__kind_by_id(uint32_t id)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i]->id == id) return kinds[i];
    return NULL;
}

int tamis__check_hash_set(const struct tamis__segment_header *header, const char **reason)
{
    const struct tamis__hashing hashing = tamis__header_hashing(header);
    *reason = "uses a hash set that this library does not have; use a newer Tamis";
    if (hashing.set == NULL || (!hashing.set->any_kind && header->kind != TAMIS_KIND_BLOOM))
        return TAMIS_EVERSION;
    *reason = hashing.set->missing;
    if (*reason != NULL) return TAMIS_EUNSUPPORTED;
    *reason = tamis__hashing_fault(&hashing);
    return *reason ? TAMIS_ECORRUPT : 0;
}

TAMIS_API const char *tamis_kind_name(uint32_t kind)
{
    const struct tamis__kind *found = tamis__kind_by_id(kind);
    return found ? found->name : NULL;
}

TAMIS_API int tamis_kind_from_name(const char *name, uint32_t *kind)
{
    char quoted[TAMIS__QUOTED_BYTES], known[128] = "";
    if (name == NULL || kind == NULL)
        return tamis__fail(TAMIS_EINVAL,
                           "tamis_kind_from_name needs a name and a place for the kind");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i]->name, name) == 0) {
            *kind = kinds[i]->id;
            return 0;
        }
        if (i > 0) strcat(known, ", ");
        strcat(known, kinds[i]->name);
    }
    return tamis__fail(TAMIS_EINVAL, "there is no kind %s; this version has %s",
                       tamis__quote(quoted, name), known);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* traits.c: what everybody may ask of a kind: its name, and what it can do. */
#include "sizing/kinds.h"

#define ROW(number, word, what) {.kind = (number), .properties = (what), .name = #word},
static const struct traits {
    uint32_t kind;
    uint32_t properties;
    const char *name;
} all[] = {TAMIS__KINDS(ROW)};
#undef ROW
#define KIND_COUNT (sizeof all / sizeof all[0])

static const struct traits *find(uint32_t kind)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (all[i].kind == kind) return &all[i];
    return NULL;
}

TAMIS_API const char *tamis_kind_name(uint32_t kind)
{
    const struct traits *traits = find(kind);
    return traits != NULL ? traits->name : NULL;
}

TAMIS_API int tamis_kind_has(uint32_t kind, uint32_t property)
{
    const struct traits *traits = find(kind);
    return traits != NULL && (traits->properties & property) == property;
}

TAMIS_API uint32_t tamis_kind_next(uint32_t kind)
{
    for (size_t i = 0; i + 1 < KIND_COUNT; i++)
        if (all[i].kind == kind) return all[i + 1].kind;
    return kind == TAMIS_KIND_DEFAULT ? all[0].kind : TAMIS_KIND_DEFAULT;
}

TAMIS_API int tamis_kind_from_name(const char *name, uint32_t *kind)
{
    char quoted[TAMIS__QUOTED_BYTES], known[128] = "";
    if (name == NULL || kind == NULL)
        return tamis__fail(TAMIS_EINVAL,
                           "tamis_kind_from_name needs a name and a place for the kind");
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(all[i].name, name) == 0) {
            *kind = all[i].kind;
            return 0;
        }
        if (i > 0) strcat(known, ", ");
        strcat(known, all[i].name);
    }
    return tamis__fail(TAMIS_EINVAL, "there is no kind %s; this version has %s",
                       tamis__quote(quoted, name), known);
}

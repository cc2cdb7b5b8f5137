/* SPDX-License-Identifier: BSD-2-Clause */
/* hash_set.c: the table of hash sets, and what all of them share.  A new hash set is a file of its
 * own and a line of TAMIS__HASH_SETS. */
#include "hash/hash_set.h"

#define ROW(id, NAME, name) &tamis__hash_set_##name,
static const struct tamis__hash_set *const hash_sets[] = {TAMIS__HASH_SETS(ROW)};
#undef ROW
static const uint8_t none[TAMIS__HASH_PARAMETER_BYTES];
#define HASH_SET_COUNT (sizeof hash_sets / sizeof hash_sets[0])

const struct tamis__hash_set *tamis__hash_set_by_id(uint32_t id)
{
    for (size_t i = 0; i < HASH_SET_COUNT; i++)
        if (hash_sets[i]->id == id) return hash_sets[i];
    return NULL;
}

/* Returns the set whose name is the first `bytes` bytes of `name`. */
static const struct tamis__hash_set *find_hash_set(const char *name, size_t bytes)
{
    for (size_t i = 0; i < HASH_SET_COUNT; i++)
        if (strlen(hash_sets[i]->name) == bytes && memcmp(hash_sets[i]->name, name, bytes) == 0)
            return hash_sets[i];
    return NULL;
}

TAMIS_API const char *tamis_hash_set_next(const char *hash_set)
{
    size_t next = 0;
    while (hash_set != NULL && next < HASH_SET_COUNT &&
           strcmp(hash_sets[next]->name, hash_set) != 0)
        next++;
    if (hash_set != NULL) next++;
    return next < HASH_SET_COUNT ? hash_sets[next]->name : NULL;
}

static int fail_unknown(const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES], known[192] = "";
    for (size_t i = 0; i < HASH_SET_COUNT; i++) {
        if (i > 0) strcat(known, ", ");
        strcat(known, hash_sets[i]->name);
        if (hash_sets[i]->parse != NULL) strcat(known, ":LIST");
    }
    return tamis__fail(TAMIS_EINVAL, "there is no hash set %s; this version has %s",
                       tamis__quote(quoted, name), known);
}

int tamis__hash_set_parse(const char *name, const struct tamis__hash_set **set,
                          uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES])
{
    const char *colon = strchr(name, ':');
    const struct tamis__hash_set *found =
        find_hash_set(name, colon ? (size_t)(colon - name) : strlen(name));
    memset(parameters, 0, TAMIS__HASH_PARAMETER_BYTES);
    if (found == NULL || (colon != NULL && found->parse == NULL)) return fail_unknown(name);
    if (found->missing != NULL)
        return tamis__fail(TAMIS_EUNSUPPORTED, "hash set %s %s", found->name, found->missing);
    *set = found;
    return found->parse ? found->parse(colon ? colon + 1 : "", parameters) : 0;
}

void tamis__hash_set_name(uint32_t id, const uint8_t *parameters,
                          char name[TAMIS_HASH_SET_NAME_MAX + 1])
{
    const struct tamis__hash_set *set = tamis__hash_set_by_id(id);
    char *end = stpcpy(name, set ? set->name : "unknown");
    if (set == NULL || set->print == NULL) return;
    *end++ = ':';
    set->print(parameters, end);
}

int tamis__hashing_check(struct tamis__hashing *hashing)
{
    const struct tamis__hash_set *set = hashing->set;
    const uint32_t fixed = set->fixed_k ? set->fixed_k(hashing->parameters) : 0;
    if (hashing->seed != 0 && set->seed_max == 0)
        return tamis__fail(TAMIS_EINVAL, "hash set %s has no seed; leave it out", set->name);
    if (hashing->seed > set->seed_max)
        return tamis__fail(
            TAMIS_EINVAL, "seed %llu is more than hash set %s can have; give at most %llu",
            (unsigned long long)hashing->seed, set->name, (unsigned long long)set->seed_max);
    if (hashing->m_bits > set->m_bits_max)
        return tamis__fail(
            TAMIS_EINVAL, "m of %llu bits is more than hash set %s can reach; give at most %llu",
            (unsigned long long)hashing->m_bits, set->name, (unsigned long long)set->m_bits_max);
    if (set->m_bits_unit != 0 && hashing->m_bits % set->m_bits_unit != 0)
        return tamis__fail(TAMIS_EINVAL,
                           "m of %llu bits is not a whole number of blocks of %llu, as hash set %s "
                           "has them; give a multiple of that",
                           (unsigned long long)hashing->m_bits,
                           (unsigned long long)set->m_bits_unit, set->name);
    if (hashing->k == 0) hashing->k = fixed;
    if (fixed == 0 || hashing->k == fixed) return 0;
    if (set->parse == NULL)
        return tamis__fail(TAMIS_EINVAL, "hash set %s always has a k of %u, not %u; leave k out",
                           set->name, fixed, hashing->k);
    return tamis__fail(
        TAMIS_EINVAL,
        "hash set %s sets one bit for each in its list, so k is %u here, not %u; leave k out",
        set->name, fixed, hashing->k);
}

const char *tamis__hashing_fault(const struct tamis__hashing *hashing)
{
    const struct tamis__hash_set *set = hashing->set;
    const uint32_t fixed = set->fixed_k ? set->fixed_k(hashing->parameters) : hashing->k;
    if (fixed == 0 || fixed != hashing->k)
        return "has parameters that its hash set does not have, or that its k contradicts";
    const size_t key_bytes = set->keyed ? TAMIS_SECRET_BYTES : 0;
    if (key_bytes > 0 && memcmp(hashing->parameters, none, key_bytes) == 0)
        return "has no key, which its hash set needs";
    if (set->parse == NULL &&
        memcmp(hashing->parameters + key_bytes, none, sizeof none - key_bytes) != 0)
        return "has parameters for a hash set that takes none";
    if (set->keyed && hashing->seed != 0) return "has a seed, which its hash set has not";
    if (set->seed_max != 0 && hashing->seed > set->seed_max)
        return "has a seed that its hash set cannot have";
    if (hashing->m_bits > set->m_bits_max) return "has an m that its hash set cannot reach";
    if (set->m_bits_unit != 0 && hashing->m_bits % set->m_bits_unit != 0)
        return "has an m that is not a whole number of the blocks of its hash set";
    return NULL;
}

double tamis__hashing_repeats(const struct tamis__hashing *hashing, struct tamis__load load)
{
    const struct tamis__hash_set *set = hashing->set;
    return set != NULL && set->repeats != NULL ? set->repeats(hashing, load) : 0;
}

TAMIS_API const char *tamis_hash_set_weakness(const char *hash_set)
{
    uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES];
    const struct tamis__hash_set *set = NULL;
    if (hash_set == NULL) {
        (void)tamis__fail_null(__func__, "hash_set");
        return NULL;
    }
    if (tamis__hash_set_parse(hash_set, &set, parameters) < 0) return NULL;
    return set != NULL && set->weakness != NULL ? set->weakness(parameters) : NULL;
}

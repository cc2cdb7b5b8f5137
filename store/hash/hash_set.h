/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash_set.h: the rules from key to bit positions, one table entry each; docs/hash-sets.md has
 * their exact arithmetic.
 *
 * The set xxh3 is Tamis' own, and sip is for keys that an enemy chooses.  Every other set is, bit
 * for bit and with its faults, that of a system from which Tamis takes filters over.  Hash sets
 * know nothing of files: how a position lies in the data is the bit order of the segment.  A set
 * only says which bit order its system has.
 */
#pragma once

#include "base/base.h"

#include "hash/digest.h"
#include "hash/repeat.h"

/* All hash sets, as X(id, NAME, name), in the order in which they are listed.  Ids are format: they
 * stand in segment headers and are never reused. */
#define TAMIS__HASH_SETS(X)                                                                        \
    X(1, XXH3, xxh3)                                                                               \
    X(2, PHP, php)                                                                                 \
    X(3, PHP_MT, php_mt)                                                                           \
    X(4, PHP_MT_LEGACY, php_mt_legacy)                                                             \
    X(5, MD5, md5)                                                                                 \
    X(6, REDISBLOOM, redisbloom)                                                                   \
    X(7, GUAVA, guava)                                                                             \
    X(8, SIP, sip)                                                                                 \
    X(9, SPARK_V1, spark_v1)                                                                       \
    X(10, SPARK_V2, spark_v2)                                                                      \
    X(11, PARQUET, parquet)                                                                        \
    X(12, DCSO, dcso)                                                                              \
    X(13, PYBLOOMFILTER, pybloomfilter)

#define TAMIS__HASH_SET_ID_(id, NAME, name) TAMIS__HASH_##NAME = (id),
enum tamis__hash_set_id { TAMIS__HASH_SETS(TAMIS__HASH_SET_ID_) };
#undef TAMIS__HASH_SET_ID_

/* How position b lies in the data.  The numbers are part of the format and never change. */
enum tamis__bit_order {
    TAMIS__BITS_LSB_FIRST = 0, /* byte b / 8, mask 1 << b % 8 */
    TAMIS__BITS_MSB_FIRST = 1, /* byte b / 8, mask 0x80 >> b % 8, as SETBIT of Redis */
};

/* What the part of a name behind its colon becomes in a header, or the secret key of a set that has
 * one.  All bytes are 0 if the set has neither. */
#define TAMIS__HASH_PARAMETER_BYTES 64u

struct tamis__hash_set;

/* A hash set as a filter uses it, once tamis__hashing_check() has passed it. */
struct tamis__hashing {
    const struct tamis__hash_set *set;
    const uint8_t *parameters; /* TAMIS__HASH_PARAMETER_BYTES of them */
    uint64_t seed;
    uint64_t m_bits;
    uint32_t k;
};

/* The tables of the sets look alike on purpose: each is read on its own. */
struct tamis__hash_set {
    uint32_t id;
    uint32_t bit_order;   /* enum tamis__bit_order: the one of the system that the set comes from */
    uint64_t m_bits_max;  /* the greatest m that the set has positions for */
    uint64_t m_bits_unit; /* 0, or m is a multiple of it */
    uint64_t seed_max;    /* the greatest seed; 0: the set has none */
    const char *name;     /* without parameters */
    bool any_kind;        /* goes with every kind, not with bloom alone */
    bool keyed; /* each filter has a secret key: the first TAMIS_SECRET_BYTES parameters */

    /* NULL, or why this build cannot use the set: words that fit behind the name of the set or
     * of a file. */
    const char *missing;

    /* The k positions of a key in m bits, in the order of the set; each is below m. */
    void (*positions)(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                      uint64_t *positions);

    /* NULL, or a function that makes the 128-bit digest of a key.  The positions in a filter of any
     * kind follow from the digest; for kind bloom they follow by the walk of xxh3.h. */
    struct tamis__digest (*digest)(const struct tamis__hashing *hashing, const void *key,
                                   size_t key_bytes);

    /* NULL, or for a set without digests the pair of a key: two 64-bit values, a in `high` and b in
     * `low`, from which its positions follow by the progression of progression.h with pair_mask,
     * whatever m and k are.  So a key is hashed once for all segments of a list.  `pair` does not
     * use `secret`: it has the type of tamis__digester.other. */
    struct tamis__digest (*pair)(const void *key, size_t key_bytes, const uint8_t *secret);
    uint64_t pair_mask;
    /* NULL, or gets the pairs of many keys in less time than `pair` takes for them. */
    void (*pairs)(const struct tamis_key *keys, size_t count, struct tamis__digest *pairs);

    /* Writes the raw hash values as text, comma-separated, cut at text_bytes.  Returns the length
     * of the whole text, which is less than 64 for each position. */
    size_t (*describe)(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                       char *text, size_t text_bytes);

    /* NULL, or a function that returns a sentence: what a filter of this set costs its owner.  It
     * returns NULL where the set is as good as its k and m promise. */
    const char *(*weakness)(const uint8_t *parameters);

    /* NULL if the positions of a key are as good as independent.  Else a function that returns how
     * much more likely a key that was never added is let in than by k independent positions. */
    double (*repeats)(const struct tamis__hashing *hashing, struct tamis__load load);

    /* For sets with parameters, else NULL.  parse() reads `list`, the text behind the colon, and
     * returns 0, or TAMIS_EINVAL with the sentence.  print() does the reverse and writes at most
     * TAMIS_HASH_SET_NAME_MAX bytes with the name.  fixed_k() returns the one k that the parameters
     * allow, or 0 if they are damaged. */
    int (*parse)(const char *list, uint8_t *parameters);
    void (*print)(const uint8_t *parameters, char *list);
    uint32_t (*fixed_k)(const uint8_t *parameters);

    /* NULL, or a function that fills in m_bits and k as the set's own system does.  It gets the
     * capacity and one of fp_rate and m_bits; the other is 0.  It leaves 0 what the system has
     * no rule for. */
    void (*shape)(struct tamis_sizing *sizing);
};

/* Returns NULL if no set has that id. */
const struct tamis__hash_set *tamis__hash_set_by_id(uint32_t id);

/* Finds the set and its parameters, without a key, by a name such as "xxh3" or "php:bkdr,sdbm,js".
 * Returns 0, TAMIS_EINVAL or TAMIS_EUNSUPPORTED. */
int tamis__hash_set_parse(const char *name, const struct tamis__hash_set **set,
                          uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES]);

/* Writes the name of a set, or "unknown" if no set has that id.  A key is no part of the name. */
void tamis__hash_set_name(uint32_t id, const uint8_t *parameters,
                          char name[TAMIS_HASH_SET_NAME_MAX + 1]);

/*
 * Does the set work with that seed, m and k?  A k of 0 becomes the one that the set fixes, if it
 * fixes one.  For values from a caller: returns 0, also for a k that is still to be found, or
 * TAMIS_EINVAL with the sentence.
 */
int tamis__hashing_check(struct tamis__hashing *hashing);

/* The same check for values from a file.  Returns NULL, or what is wrong as a clause; it never
 * sets a sentence. */
const char *tamis__hashing_fault(const struct tamis__hashing *hashing);

/* `repeats` of the set; 0 if it has none. */
double tamis__hashing_repeats(const struct tamis__hashing *hashing, struct tamis__load load);

/* One for each of the list, in the file of its name. */
#define TAMIS__HASH_SET_EXTERN_(id, NAME, name)                                                    \
    extern const struct tamis__hash_set tamis__hash_set_##name;
TAMIS__HASH_SETS(TAMIS__HASH_SET_EXTERN_)
#undef TAMIS__HASH_SET_EXTERN_

/* `shape` of guava, and of Spark, which has its rule from there. */
void tamis__guava_shape(struct tamis_sizing *sizing);

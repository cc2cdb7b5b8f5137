/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kinds.h: what every kind must do, against a model: a plain bit array, to which each key adds the
 * positions that the kind names.  A lone adder is told NEW exactly if that changes a bit.
 */
#ifndef TAMIS_UNIT_KINDS_H
#define TAMIS_UNIT_KINDS_H

#include "fixture.h"
#include "kind/kind.h"

/* A segment in plain memory, its kind, and the model beside it. */
struct kinds_pair {
    const struct tamis__kind *kind;
    struct tamis__segment segment;
    uint64_t *model;
};
void kinds_make(struct kinds_pair *pair, uint32_t kind, uint64_t m_bits, uint32_t k);
void kinds_free(struct kinds_pair *pair);
/* Freed at the end of its block, see auto.h. */
#define AUTO_KINDS_PAIR __attribute__((cleanup(kinds_free))) struct kinds_pair

/* What the model says; the first changes it. */
int kinds_model_add(struct kinds_pair *pair, const struct tamis_key *key);
int kinds_model_contains(const struct kinds_pair *pair, const struct tamis_key *key);

/* Keys of 0 to 300 random bytes; an eighth of them are there before. */
struct kinds_keys {
    struct tamis_key *list;
    unsigned char *bytes;
    size_t count;
};
struct kinds_keys kinds_random_keys(uint64_t *random, size_t count);
void kinds_free_keys(struct kinds_keys *keys);
/* Freed at the end of its block, see auto.h. */
#define AUTO_KINDS_KEYS __attribute__((cleanup(kinds_free_keys))) struct kinds_keys

/* The checks themselves, for any geometry. */
void kinds_check_single_calls(uint32_t kind, uint64_t m_bits, uint32_t k, size_t count);
void kinds_check_batch_calls(uint32_t kind, uint64_t m_bits, uint32_t k, size_t count);
void kinds_check_no_false_negative(uint32_t kind, uint64_t m_bits, uint32_t k, size_t count);
void kinds_check_duplicates(uint32_t kind, uint64_t m_bits, uint32_t k);
void kinds_check_lone_key_sets_its_positions(uint32_t kind, uint64_t m_bits, uint32_t k);
void kinds_check_measure(uint32_t kind, uint64_t m_bits, uint32_t k, size_t count);

/* The kind's check must refuse the header with that code and these words. */
void kinds_check_refused(const struct tamis__segment_header *header, int code, const char *words);

#endif

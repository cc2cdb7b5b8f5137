/* SPDX-License-Identifier: BSD-2-Clause */
/* boost.h: Boost.Bloom's filter of 8-byte keys, for C. */
#ifndef TAMIS_BENCH_BOOST_H
#define TAMIS_BENCH_BOOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NULL: there is no memory. */
void *boost_open(uint64_t capacity, double fp_rate);
void boost_close(void *filter);

/* By the calls for many keys. */
void boost_add(void *filter, const uint64_t *keys, size_t count);
/* Returns how many seemed to be there. */
int64_t boost_ask(const void *filter, const uint64_t *keys, size_t count, uint8_t *answers);

#ifdef __cplusplus
}
#endif

#endif

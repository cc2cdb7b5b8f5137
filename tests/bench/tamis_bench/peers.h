/* SPDX-License-Identifier: BSD-2-Clause */
/* peers.h: other libraries on the same keys, where they were found when this was built: libbloom of
 * Debian, and Boost.Bloom. */
#ifndef TAMIS_BENCH_PEERS_H
#define TAMIS_BENCH_PEERS_H

#include "case.h"

/* Is any to be measured beside this case? */
bool peers_want(const struct bench_case *c, const struct options *options);

/* Fill them, ask each `repeat` times, in turn with the calls of Tamis, and let them go. */
void peers_begin(const struct bench_case *c, const struct options *options);
void peers_ask(const struct bench_case *c, const struct options *options, unsigned repeat);
void peers_end(void);

/* libbloom's version, "1.6"; NULL where it is not built in. */
const char *peers_version(void);
bool peers_have_boost(void);

#endif

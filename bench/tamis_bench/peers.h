/* SPDX-License-Identifier: BSD-2-Clause */
/* peers.h: libbloom of Debian on the same keys, where it was found when this was built. */
#ifndef TAMIS_BENCH_PEERS_H
#define TAMIS_BENCH_PEERS_H

#include "case.h"

/* Is it to be measured beside this case? */
bool peers_want(const struct bench_case *c, const struct options *options);
void peers_run(const struct bench_case *c, const struct options *options);

/* "1.6", or NULL where it is not built in. */
const char *peers_version(void);

#endif

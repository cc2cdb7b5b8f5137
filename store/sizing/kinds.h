/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kinds.h: all kinds of filters, in the order in which they are listed.  The numbers are those of
 * enum tamis_kind.  A kind has a table of calls, tamis__kind_NAME, in store/kind/NAME.c.
 */
#pragma once

#include "base/base.h"

/* What the formulas of store/sizing/ ask of a kind, beside the public properties: the bits, or the
 * counters, of a key are in one block of TAMIS__BLOCK_BITS. */
#define TAMIS__KIND_IN_BLOCKS ((uint32_t)1 << 31)
#define TAMIS__KIND_OF_ADDERS (TAMIS_KIND_MAY_GROW | TAMIS_KIND_MAY_BE_DURABLE)

/* X(NUMBER, name, properties) */
#define TAMIS__KINDS(X)                                                                            \
    X(TAMIS_KIND_BLOCKED, blocked, TAMIS__KIND_OF_ADDERS | TAMIS__KIND_IN_BLOCKS)                  \
    X(TAMIS_KIND_BLOOM, bloom, TAMIS__KIND_OF_ADDERS | TAMIS_KIND_IS_PLAIN)                        \
    X(TAMIS_KIND_COUNTING, counting, TAMIS_KIND_COUNTS | TAMIS__KIND_IN_BLOCKS)                    \
    X(TAMIS_KIND_FUSE, fuse, TAMIS_KIND_IS_STATIC)

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bits.h: SETBIT, GETBIT, BITCOUNT and STRLEN on keys that have a filter.
 *
 * A program that hashes keys by itself and sets their bits by SETBIT goes on unchanged, on a filter
 * of the hash set that is its own, while others use BF.*.  A filter of commands turns these four
 * into TAMIS.SETBIT and so on where a key of that name has a filter, in whatever database; these
 * call the server's own command if the key is of another type there.
 */
#pragma once

#include "command.h"

int bits_register(RedisModuleCtx *ctx);
RedisModuleCmdFunc bits_setbit, bits_getbit, bits_bitcount, bits_strlen;

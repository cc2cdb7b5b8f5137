/* SPDX-License-Identifier: BSD-2-Clause */
/* zeros.h: memory of zeros, of a size that a client has asked for. */
#pragma once

#include <stdint.h>

/* Memory of zeros, or NULL: the server's own calloc() would end the server.  RedisModule_Free()
 * frees it. */
void *zeros(uint64_t bytes);

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * patch.h: the list of tonight, made of that of another night and of what is new in it.
 *
 * A patch is one frame of zstd --patch-from, in a file beside the list: URL.DIGEST.zst, where
 * DIGEST is that of the list that it begins from (imported_digest).  What comes out is the whole
 * file as the server has it, and is checked as if all of it had been received; so a patch needs no
 * trust. One that is not there, or not good, costs a request, and the whole file is asked for.
 */
#pragma once

#include "part.h"
#include "pull/spool.h"

/* Makes the spool's bytes of those of `base` and of the patch, at most `most` of them.  false: the
 * patch is not good, or there is no room; no message.  Needs libzstd (part.h). */
PART bool patch_apply(const void *patch, size_t patch_bytes, const void *base, size_t base_bytes,
                      uint64_t most, struct spool *spool, const struct notes *notes);

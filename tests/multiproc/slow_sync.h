/* SPDX-License-Identifier: BSD-2-Clause */
/* slow_sync.h: a disk whose syncs take long, for all processes forked later; LMDB's syncs too. */
#ifndef TAMIS_MULTIPROC_SLOW_SYNC_H
#define TAMIS_MULTIPROC_SLOW_SYNC_H

/* Each sync takes so many milliseconds more.  0 at first. */
extern unsigned slow_sync_ms;

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread.h: variables of which each thread has its own.
 *
 * TAMIS__THREAD is read by one instruction, as calls for single keys read such variables.  With
 * glibc this takes the TLS model initial-exec: the variables of the whole library lie in room that
 * glibc reserves when a process starts, some 1,600 bytes for all libraries that are loaded later
 * (dlopen(3), extensions of Python and PHP).  If they do not fit, the library cannot be loaded.  So
 * these variables are few and small; test install.tls counts them.
 *
 * musl refuses a library of that model that is loaded later.  There each access is a call.
 */
#pragma once

#include <stdint.h> /* says whether this is glibc */

#ifdef __GLIBC__
#define TAMIS__THREAD _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define TAMIS__THREAD _Thread_local
#endif

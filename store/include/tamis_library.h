/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_library.h: the library as a whole: its version, the words for errors and kinds, the numbers
 * of its descriptors, and what it does about SIGBUS.
 */
#ifndef TAMIS_LIBRARY_H
#define TAMIS_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors and version ------------------------------------------------------------------- */

/* Returns the version, such as "0.1.0", in static storage. */
TAMIS_API const char *tamis_version(void);

/* Returns the version of the library that runs, as a number to compare: 10000 times the major, 100
 * times the minor, and the patch.  TAMIS_VERSION_NUMBER is that of the headers. */
TAMIS_API uint32_t tamis_version_number(void);

/* Returns which vector instructions batches of kind blocked use on this machine: "avx512", "avx2"
 * or "portable".  The answers are the same with all of them.  The library takes the best that the
 * machine has, unless TAMIS_SIMD in the environment names another.  Static storage. */
TAMIS_API const char *tamis_simd(void);

/* Returns "TAMIS_ENOTFOUND" or the like for a code, "TAMIS_?" for a number that is no
 * code.  Static storage. */
TAMIS_API const char *tamis_error_name(int error);

/* Returns a few words for a code, which are the same whatever failed.  Static storage. */
TAMIS_API const char *tamis_error_message(int error);

/*
 * Returns the sentence for the last failed call of this thread: what was tried, on what, and what
 * mends it.  The sentence is "" before the first failure; a call that succeeds does not change it.
 * The library owns the text, which is valid until this thread's next failing call.
 */
TAMIS_API const char *tamis_last_error(void);

/* What is known of the last failed call of this thread, in parts.  The texts are the library's, and
 * valid until this thread's next failing call; none is NULL. */
struct tamis_error_details {
    size_t size;          /* sizeof(struct tamis_error_details) */
    const char *sentence; /* as tamis_last_error() returns it */
    const char *what;     /* the file or stream that the sentence is about; "": none is known */
    const char
        *reason; /* the rest of the sentence behind `what`; the whole sentence if `what` is "" */
    const char *mend; /* the end of the sentence: what mends the failure, such as "free some room";
                         "": nothing is known */
    uint64_t offset;  /* the byte in `what` where it is damaged; else 0 */
    int32_t code;     /* TAMIS_E*; 0: nothing has failed yet, or there was no memory for details */
    int32_t system_error; /* errno of the system call that failed; 0: none did */
};

/* Fills in *details.  Returns 0; TAMIS_EINVAL: details is NULL, or its size is not set.  That
 * failure does not change tamis_last_error(). */
TAMIS_API int tamis_last_error_details(struct tamis_error_details *details);

/* Returns "blocked", "bloom", "counting" or "fuse"; NULL if this library has no kind of that
 * number.  Static storage. */
TAMIS_API const char *tamis_kind_name(uint32_t kind);

/* Returns 1 if the kind has all of these properties (enum tamis_kind_property), else, and for a
 * number that is no kind, 0. */
TAMIS_API int tamis_kind_has(uint32_t kind, uint32_t property);

/* Returns the kind after that one in the order of this library; the first after TAMIS_KIND_DEFAULT,
 * and TAMIS_KIND_DEFAULT after the last.  So a program can go through all kinds. */
TAMIS_API uint32_t tamis_kind_next(uint32_t kind);

/* Finds the kind of that name.  If there is none: TAMIS_EINVAL, with the known names
 * in the sentence. */
TAMIS_API TAMIS_MUST_CHECK int tamis_kind_from_name(const char *name, uint32_t *kind);

/* Returns the name of the hash set after that one in the order of this library, without parameters;
 * the first one after NULL, and NULL after the last.  Static storage. */
TAMIS_API const char *tamis_hash_set_next(const char *hash_set);

/* ---- Descriptors ------------------------------------------------------------------------- */

/*
 * Sets the least number for the descriptors that filters keep open, for the whole process.  It is
 * for a server that needs the low numbers for its clients, because it uses select() or a table of a
 * fixed length.  If the system has no such number left (RLIMIT_NOFILE), a descriptor gets a lower
 * one.  A filter keeps one descriptor once keys were added, and one for each segment from which
 * keys were removed.
 *
 * number   0, which is the default: any number.
 * Returns  0.  TAMIS_EINVAL: number is below 0.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_descriptors_set_least(int number);

/* ---- SIGBUS ------------------------------------------------------------------------------- */

/*
 * The kernel sends SIGBUS to a thread that touches a page of a mapped file and cannot get it:
 * because the file was truncated, because the disk is full (where rewriting a page takes new room,
 * as on btrfs), or because the disk fails.  With its first mapping the library installs a handler.
 * A fault in a mapping of the library becomes an error, TAMIS_ECORRUPT or TAMIS_EIO, of the call
 * that met it and of all later ones that need the file.  Any other SIGBUS goes to the action that
 * was there before, which is called as the kernel would call it.  So several copies of the library
 * may be in one process (in a program and in its plugins).
 *
 * A program that installs a handler of its own later should call from it the former handler, which
 * sigaction() returns, or tamis_sigbus_mend().
 *
 * Call tamis_sigbus_leave() before the first store is opened: then the library never installs a
 * handler.
 */
TAMIS_API void tamis_sigbus_leave(void);

/*
 * Handles a fault, for a program that has a SIGBUS handler of its own.  Call this in the handler
 * with the si_addr of its siginfo_t.  The call knows the mappings of this copy of the library only.
 *
 * Returns  1: the fault was in a mapping of the library, and the handler can return.  0: the fault
 *          was elsewhere.
 * Signals  async-signal-safe, in any thread, also in a child of fork().  A thread that blocks
 *          SIGBUS is still killed by a fault.
 */
TAMIS_API int tamis_sigbus_mend(const void *address);

#ifdef __cplusplus
}
#endif

#endif

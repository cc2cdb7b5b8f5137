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
 * mends it.  It is empty before the first failure; a call that succeeds leaves it as it is.  The
 * library owns it, and it is valid until this thread's next failing call.
 */
TAMIS_API const char *tamis_last_error(void);

/* What is known of the last failed call of this thread, in parts.  The texts are the library's, and
 * valid until this thread's next failing call; none is NULL. */
struct tamis_error_details {
    size_t size;          /* sizeof(struct tamis_error_details) */
    const char *sentence; /* as tamis_last_error() returns it */
    const char *what;   /* the file or stream that the sentence is about; "": none, or the sentence
                           alone names it */
    const char *reason; /* the sentence behind `what`; all of it if that is "" */
    const char *mend;   /* what mends it: the end of the sentence, such as "free some room"; "":
                           nothing is known to */
    uint64_t offset;    /* the byte in `what` where it is damaged; else 0 */
    int32_t code;       /* TAMIS_E*; 0: nothing has failed yet, or memory for this was out */
    int32_t system_error; /* errno of the system call that failed; 0: none did */
};

/* Gets it.  Returns 0, or TAMIS_EINVAL for NULL and a size that was not set; it is no failure that
 * tamis_last_error() tells. */
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
 * Says that descriptors which filters keep open get numbers from `number` on, as long as the system
 * has such numbers (RLIMIT_NOFILE).  For servers that must have the low numbers for their clients:
 * one that uses select(), or has a table of a fixed length.  For the whole process; 0, as it is at
 * first, is no wish.  Each filter that keys are added to has one descriptor, and one more for a
 * segment that keys are removed from.  Returns 0; TAMIS_EINVAL: a number below 0.
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
 * A program that installs a handler of its own later should call the one that sigaction() gives it
 * back as the former, or tamis_sigbus_mend().
 *
 * tamis_sigbus_leave() is called before the first store is opened: the library never installs
 * a handler then.
 */
TAMIS_API void tamis_sigbus_leave(void);

/*
 * For a program that installs a SIGBUS handler of its own behind the library's, or without it: call
 * this in the handler with siginfo_t's si_addr.  It knows the mappings of this copy of the library.
 *
 * Returns  1: the fault was in a mapping of the library; return from the handler.  0: it was not.
 * Signals  async-signal-safe; for any thread, also in a child of fork().  A thread that blocks
 *          SIGBUS dies of one nevertheless.
 */
TAMIS_API int tamis_sigbus_mend(const void *address);

#ifdef __cplusplus
}
#endif

#endif

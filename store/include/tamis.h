/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis.h: filters that many processes share and that survive restarts without loading.
 *
 * THE TOUR
 *
 * A `tamis_store` is a directory.  It holds named filters; a `tamis_filter` is an open one.  To
 * open a filter is to map its file: nothing is read in, whatever the size.  Any number of processes
 * and threads may use one filter at once, with no server between them.
 *
 *     tamis_store *store;
 *     tamis_filter *seen;
 *     struct tamis_filter_spec spec = TAMIS_INIT(struct tamis_filter_spec);
 *     spec.capacity = 1000000;
 *     spec.fp_rate = 0.01;
 *     if (tamis_store_open("/var/lib/crawl", TAMIS_OPEN_CREATE, &store) < 0 ||
 *         tamis_filter_open_or_create(store, "seen", &spec, &seen) < 0)
 *         errx(1, "%s", tamis_last_error());
 *     if (tamis_filter_add(seen, url, strlen(url)) == 1)
 *         fetch(url);                      // of all processes, this one was told NEW
 *     if (tamis_filter_close(seen) < 0)
 *         errx(1, "%s", tamis_last_error());
 *     tamis_store_close(store);
 *
 * HEADERS.  This one includes all of the following, and each can be included alone.
 *
 *     tamis_store.h     opens and closes stores; what is in them; the list of filters
 *     tamis_filter.h    hash sets, specs; makes, opens, closes, renames and drops filters; sync
 *     tamis_keys.h      adds, asks for, removes and counts keys; exceptions
 *     tamis_build.h     filters that are made anew as a whole, and their generations
 *     tamis_check.h     verify, repair, backup
 *     tamis_exchange.h  filters as streams of bytes: import and export
 *     tamis_merge.h     filters of the keys of others; what two filters have in common
 *     tamis_stat.h      what is known of a filter and its segments; where a key goes
 *     tamis_fields.h    a table of these fields, for programs that print or read all of them
 *     tamis_sizing.h    keys and rate to bits and hashes, and back
 *     tamis_library.h   version, words for errors and kinds, descriptors, SIGBUS
 *     tamis_memory.h    filters in the caller's memory, without a store
 *     tamis_labels.h    filters that a server knows by an id, whatever they are called
 *     tamis_types.h     what all of these need: limits, flags, handles
 *     tamis_errors.h    the error codes
 *
 * LIFE CYCLE.  open/close pair up; both close calls accept NULL.  A filter keeps its store alive,
 * so the two may be closed in any order.  A handle that is closed is gone: closing it twice, or
 * passing it to any other call, is undefined, as with free().
 *
 * NULL.  If a call needs a pointer and gets NULL, it returns TAMIS_EINVAL, with a sentence that
 * names the pointer.
 *
 * FLAGS.  Each call that takes flags has an enum of them, whose names begin with what the call
 * does: TAMIS_OPEN_READ_ONLY.  No two flags of the library have the same number, so a flag of
 * another call is TAMIS_EINVAL.
 *
 * SIZES.  Every struct but tamis_key begins with `size`.  In a struct that you pass, set it to
 * sizeof(the struct) before the call; TAMIS_INIT() does this, and clears the rest.  Later
 * versions add fields at the end of structs.  The library reads and writes at most `size`
 * bytes, so a program goes on working with a library that is newer, or older, than the headers
 * it was compiled with:
 * - What an older program's struct does not have counts as 0, and is not filled in.
 * - A newer program's field that an older library does not know must be 0, else TAMIS_EUNSUPPORTED.
 *   In what is filled in, `size` says afterwards how many bytes the library has filled.
 * A size of 0, or one that no struct has, is TAMIS_EINVAL.  In structs that the library passes to
 * your functions, `size` says how much the library knows.  tamis_ffi.h has all
 * declarations without preprocessor lines, for foreign-function interfaces.
 *
 * RESULTS.  A call returns 0, a count or an answer, or a negative TAMIS_E* code (tamis_errors.h).
 * Counts that may be large are int64_t.  The compiler warns if the caller ignores a result by which
 * alone it would learn of an error (TAMIS_MUST_CHECK), such as that of tamis_filter_close().
 * After a negative result tamis_last_error() says in a sentence what was tried, on what, and what
 * mends it.
 *
 * THREADS AND PROCESSES.  Every call on a store or a filter may run beside any other on the same
 * object, except its close.  Handles survive fork(): parent and child both go on using them and
 * each closes its own.  tamis_filter_contains() is wait-free, tamis_filter_add() lock-free; neither
 * takes a lock, and no process's death or suspension can block them (docs/concurrency.md).
 *
 * DURABILITY.  A killed process loses no key whose add had returned.  A power cut may lose what
 * was added since the last tamis_filter_sync(), or the last close of all handles that had added;
 * the filter says so then: TAMIS_STATE_UNCLEAN, and since when (docs/durability.md).
 *
 * SIGNALS.  With its first mapping the library installs a handler for SIGBUS, so that a file which
 * somebody truncates, or a disk that is full or fails, becomes an error of the call that met it and
 * not the end of the process.  A SIGBUS that has nothing to do with the library goes to the handler
 * that was there before.  tamis_sigbus_leave(), called before the first store is opened, turns this
 * off (tamis_library.h).  The library uses no other signal, and starts no thread unless asked to.
 *
 * CAVEATS
 * - A filter answers "present" for a key that was never added at about the rate it was made for,
 *   and at a greater rate past its capacity.  It never answers "absent" for a key that was added.
 * - The store must be on a local file system that has flock() and shared mmap().
 * - Files are little-endian and are used in place; big-endian hosts are refused at compile time.
 * - A process with a file size limit (`ulimit -f`) should ignore SIGXFSZ, to get an error instead.
 * - If a file of the store is truncated while a process has it open, calls of that process on it
 *   fail (TAMIS_ECORRUPT, TAMIS_EIO) until it is opened again; see tamis_sigbus_leave().
 *   Other bytes that somebody writes into such a file are not noticed, except in its header.
 * - A filter of kind counting maps addresses, not memory, for a table that it may never need: 32 to
 *   64 bytes for each counter, which `ulimit -v` counts.  A handle that has removed a key keeps a
 *   descriptor.
 * - Descriptors 0 to 2 that are closed are taken by the library for good, so that no line of a log
 *   gets into a file of the store: reading and writing them fails with EBADF as before, and exec()
 *   closes them.  A program must not close one of them while another thread is in the library; it
 *   may put another file there at any time (dup2).
 * - The library stays in the process after dlclose(): ends of threads, fork() and SIGBUS may call
 * it later.  A plugin with the static library in it must be linked with -Wl,-z,nodelete, as
 *   pkg-config --static and the CMake target do.
 */
#ifndef TAMIS_H
#define TAMIS_H

#include "tamis_build.h"
#include "tamis_check.h"
#include "tamis_errors.h"
#include "tamis_exchange.h"
#include "tamis_fields.h"
#include "tamis_filter.h"
#include "tamis_keys.h"
#include "tamis_labels.h"
#include "tamis_library.h"
#include "tamis_memory.h"
#include "tamis_merge.h"
#include "tamis_sizing.h"
#include "tamis_stat.h"
#include "tamis_store.h"
#include "tamis_types.h"

#endif

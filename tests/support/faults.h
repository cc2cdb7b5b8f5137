/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults.h: let the nth system call, or the nth allocation, fail.
 *
 * A test arms one fault, runs an operation, disarms, and looks whether the fault was reached: n =
 * 1, 2, ... until a run passes untouched.  System calls are those of store/os/io.c, by its hook,
 * and LMDB's, by functions of their names in the program, which the linker puts before libc's.
 * One thread only.
 */
#ifndef TAMIS_SUPPORT_FAULTS_H
#define TAMIS_SUPPORT_FAULTS_H

#include <stdbool.h>

/* The nth system call from now (1: the next) fails with that errno, and no other. */
void faults_arm_calls(unsigned nth, int error_number);

/* The same, but only calls of that verb count ("lock", "allocate", see store/os/io.c). */
void faults_arm_verb(unsigned nth, int error_number, const char *verb);

/* The nth call of malloc, calloc, realloc, posix_memalign, what rests on them, and mmap of no file
 * fails. */
void faults_arm_memory(unsigned nth);

/* How many blocks of the heap are in use; always 0 under a sanitizer, which counts itself. */
long faults_blocks(void);

/* No more faults.  True if the armed one was reached; faults_where() then says at which call. */
bool faults_disarm(void);
const char *faults_where(void);

#endif

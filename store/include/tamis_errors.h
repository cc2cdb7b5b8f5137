/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_errors.h: every error code of the library, once.
 *
 * The one list below feeds the enum, tamis_error_name() and tamis_error_message().  The numbers are
 * part of the ABI: a code keeps its number for ever, and a new one goes at the end.
 */
#ifndef TAMIS_ERRORS_H
#define TAMIS_ERRORS_H

/* X(name, number, message) */
#define TAMIS_ERROR_MAP(X)                                                                         \
    X(TAMIS_EINVAL, -1, "an argument is outside what the call accepts")                            \
    X(TAMIS_ENOTFOUND, -2, "no such filter in the store")                                          \
    X(TAMIS_EEXIST, -3, "a filter of that name exists already")                                    \
    X(TAMIS_EMISMATCH, -4, "two filters, or a filter and what is asked for, differ")               \
    X(TAMIS_ENOSTORE, -5, "there is no store at that path")                                        \
    X(TAMIS_EREADONLY, -6, "the store, the handle or the kind cannot be written to")               \
    X(TAMIS_EACCESS, -7, "the system denies access to a file of the store")                        \
    X(TAMIS_ENOSPACE, -8, "the file system has not enough room")                                   \
    X(TAMIS_ENOMEM, -9, "out of memory")                                                           \
    X(TAMIS_EIO, -10, "the system reports an input/output error")                                  \
    X(TAMIS_ECORRUPT, -11, "a file of the store, or a stream, is damaged")                         \
    X(TAMIS_EFOREIGN, -12, "a file or stream is not of Tamis, or belongs to another store")        \
    X(TAMIS_EVERSION, -13, "a file or stream was written by a newer version of Tamis")             \
    X(TAMIS_EDROPPED, -14, "the filter was dropped while this handle was open")                    \
    X(TAMIS_EUNSUPPORTED, -15, "this kind, hash set or build of the library cannot do that")       \
    X(TAMIS_ELIMIT, -16, "a limit of the system is reached (open files, mappings, quota)")         \
    X(TAMIS_ESYSTEM, -17, "a system call failed in a way that has no code of its own")             \
    X(TAMIS_EFULL, -18, "the filter is full and was made to refuse more")                          \
    X(TAMIS_EBUSY, -19, "another process has held a lock of the store for too long")

enum tamis_error {
    TAMIS_OK = 0,
#define TAMIS_ERROR_ENUM_(name, number, message) name = number,
    TAMIS_ERROR_MAP(TAMIS_ERROR_ENUM_)
#undef TAMIS_ERROR_ENUM_
};

#endif

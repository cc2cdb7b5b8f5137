// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/** The error codes of the library, in the order and with the numbers of tamis_errors.h. */
public enum ErrorCode {
  /** An argument is outside what the call accepts. */
  INVAL,
  /** No such filter in the store. */
  NOTFOUND,
  /** A filter of that name exists already. */
  EXIST,
  /** Two filters, or a filter and what is asked for, differ. */
  MISMATCH,
  /** There is no store at that path. */
  NOSTORE,
  /** The store, the handle or the kind cannot be written to. */
  READONLY,
  /** The system denies access to a file of the store. */
  ACCESS,
  /** The file system has not enough room. */
  NOSPACE,
  /** Out of memory. */
  NOMEM,
  /** The system reports an input/output error. */
  IO,
  /** A file of the store, or a stream, is damaged. */
  CORRUPT,
  /** A file or stream is not of Tamis, or belongs to another store. */
  FOREIGN,
  /** A file or stream was written by a newer version of Tamis. */
  VERSION,
  /** The filter was dropped while this handle was open. */
  DROPPED,
  /** This kind, hash set or build of the library cannot do that. */
  UNSUPPORTED,
  /** A limit of the system is reached (open files, mappings, quota). */
  LIMIT,
  /** A system call failed in a way that has no code of its own. */
  SYSTEM,
  /** The filter is full and was made to refuse more. */
  FULL,
  /** Another process has held a lock of the store for too long. */
  BUSY,
  /** A code of a newer library, which this version of the binding does not know. */
  UNKNOWN;

  /** Returns the number of the code, which is below zero; of {@link #UNKNOWN} 0. */
  public int number() {
    return this == UNKNOWN ? 0 : -1 - ordinal();
  }

  static ErrorCode of(long number) {
    ErrorCode[] all = values();
    return number < 0 && number > -all.length ? all[(int) (-1 - number)] : UNKNOWN;
  }
}

// SPDX-License-Identifier: BSD-2-Clause
'use strict';

/**
 * An error of the library.  `code` is its name, such as 'TAMIS_ENOTFOUND'; 'TAMIS_ECLOSED' stands for a handle that was
 * closed.  The message says what was tried, on what, and what mends it.  `answers` is what a call for many keys had
 * answered before it: 1 and 0, and 2 for a key that was not handled.
 */
class TamisError extends Error {
  constructor(message, code, errno) {
    super(message);
    this.code = code;
    this.errno = errno;
  }
}
Object.defineProperty(TamisError.prototype, 'name', { value: 'TamisError', configurable: true, writable: true });

/** A TypeError as Node makes them. */
function wrongType(message) {
  return Object.assign(new TypeError(message), { code: 'ERR_INVALID_ARG_TYPE' });
}

module.exports = { TamisError, wrongType };

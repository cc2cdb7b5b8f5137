// SPDX-License-Identifier: BSD-2-Clause
// Calls that may wait, in two forms: name() returns a promise, and nameSync() waits.
'use strict';

/**
 * Gives `target` both forms of each function.  It gets `isSync` first, then the arguments, and returns the value or its
 * promise.
 */
function both(target, functions) {
  for (const [name, run] of Object.entries(functions)) {
    const asynchronous = {
      async [name](...given) {
        return run.call(this, false, ...given);
      },
    };
    const synchronous = {
      [`${name}Sync`](...given) {
        return run.call(this, true, ...given);
      },
    };
    for (const method of [asynchronous, synchronous])
      for (const [key, value] of Object.entries(method))
        Object.defineProperty(target, key, { value, configurable: true, writable: true });
  }
}

/** `then` of what is a promise, or now. */
function after(value, then) {
  return value instanceof Promise ? value.then(then) : then(value);
}

module.exports = { both, after };

// SPDX-License-Identifier: BSD-2-Clause
// newOf(): the keys of a stream that are new, batch by batch.
'use strict';

const { wrongType } = require('./errors.js');

const LATE = Symbol('late');

/** What `next` resolves to, or LATE if that takes longer than until `timer` is over. */
function unlessLate(next, late) {
  return late ? Promise.race([next, late]) : next;
}

/**
 * The batches of an iterable, synchronous or not.  A batch that is not full is handed out when the next key lets itself
 * be waited for, and before an error of the source.
 */
async function* batchesOf(source, size, wait) {
  const iterator = source[Symbol.asyncIterator]?.() ?? source[Symbol.iterator]();
  let keys = [];
  let timer;
  let late;
  let next;
  let isOver = false;
  try {
    while (!isOver) {
      next ??= Promise.resolve(iterator.next());
      let got;
      try {
        got = await unlessLate(next, late);
      } catch (error) {
        isOver = true; // the iterator has ended by itself
        if (keys.length > 0) yield keys;
        throw error;
      }
      if (got !== LATE) {
        next = undefined;
        if (got.done) isOver = true;
        else keys.push(got.value);
        if (!late && keys.length > 0)
          late = new Promise((resolve) => {
            timer = setTimeout(resolve, wait, LATE);
          });
      }
      if (keys.length > 0 && (keys.length === size || got === LATE || isOver)) {
        clearTimeout(timer);
        late = undefined;
        yield keys;
        keys = [];
      }
    }
  } finally {
    clearTimeout(timer);
    if (!isOver) {
      next?.catch(() => {}); // nobody waits for it any more
      await iterator.return?.();
    }
  }
}

/** For each batch of keys an array of those that are new; batches without a new key are passed over. */
async function* newOf(filter, source, { batch = 1000, wait = 100 } = {}) {
  if (
    source === null ||
    typeof source !== 'object' ||
    !(typeof source[Symbol.asyncIterator] === 'function' || typeof source[Symbol.iterator] === 'function')
  )
    throw wrongType('newOf() needs a stream, or another iterable of keys');
  if (!Number.isInteger(batch) || batch < 1) throw wrongType('batch must be a whole number of 1 or more');
  for await (const keys of batchesOf(source, batch, wait)) {
    let answers;
    try {
      answers = await filter.addMany(keys);
    } catch (error) {
      // Nobody is told again that these are new.
      if (error.answers) error.newKeys = keys.filter((_, i) => error.answers[i] === 1);
      throw error;
    }
    const fresh = keys.filter((_, i) => answers[i] === 1);
    if (fresh.length > 0) yield fresh;
  }
}

module.exports = { newOf };

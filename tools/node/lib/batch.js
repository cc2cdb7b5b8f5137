// SPDX-License-Identifier: BSD-2-Clause
// Calls for many keys: a chunk after the other, with the answers of all.
'use strict';

const { CHUNK_ASYNC, CHUNK_SYNC, chunksOf } = require('./pack.js');

/** TAMIS_ANSWER_REFUSED: the answer for a key that was not handled. */
const REFUSED = 2;

/** The answers of a call, which grow. */
class Answers {
  constructor(keys, Type) {
    this.all = new Type(Array.isArray(keys) ? keys.length : 1024);
    this.count = 0;
    this.full = undefined; // the first TAMIS_EFULL of an array: the other keys are handled all the same
    this.isArray = Array.isArray(keys);
  }

  /** Room for more of them, which are those of keys that were not handled. */
  room(count) {
    if (this.all.length < this.count + count) {
      const more = new this.all.constructor(Math.max(2 * this.all.length, this.count + count));
      more.set(this.all.subarray(0, this.count));
      this.all = more;
    }
    const room = this.all.subarray(this.count, this.count + count);
    if (room instanceof Uint8Array) room.fill(REFUSED);
    this.count += count;
    return room;
  }

  done() {
    return this.count === this.all.length ? this.all : this.all.slice(0, this.count);
  }

  /** Whether the error ends the call. */
  failed(error) {
    if (error.code !== 'TAMIS_EFULL' || !this.isArray) return true;
    this.full ??= error;
    return false;
  }

  give(error) {
    if (this.all instanceof Uint8Array && typeof error === 'object' && error !== null && error.answers === undefined)
      Object.defineProperty(error, 'answers', { value: this.done(), configurable: true, writable: true });
    return error;
  }
}

function batchSync(filter, what, keys, Type) {
  const answers = new Answers(keys, Type);
  try {
    for (const { data, lengths, count } of chunksOf(keys, CHUNK_SYNC)) {
      try {
        filter._batch(true, what, data, lengths, count, answers.room(count));
      } catch (error) {
        if (answers.failed(error)) throw error;
      }
    }
    if (answers.full) throw answers.full;
  } catch (error) {
    throw answers.give(error);
  }
  return answers.done();
}

async function batch(filter, what, keys, Type) {
  const answers = new Answers(keys, Type);
  try {
    for (const { data, lengths, count } of chunksOf(keys, CHUNK_ASYNC)) {
      try {
        await filter._batch(false, what, data, lengths, count, answers.room(count));
      } catch (error) {
        if (answers.failed(error)) throw error;
      }
    }
    if (answers.full) throw answers.full;
  } catch (error) {
    throw answers.give(error);
  }
  return answers.done();
}

module.exports = { batch, batchSync };

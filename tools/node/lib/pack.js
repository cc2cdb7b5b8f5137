// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many keys in one piece, as the addon takes them.
 *
 * A call of the addon for each string of an array would cost more than all that the filter does.  So strings are joined,
 * with a newline behind each, and become UTF-8 at once; `lengths` has their lengths in UTF-16, by which the addon finds
 * them again, whatever is in them.  Keys that are bytes are copied one behind the other, and so are strings among them.
 */
'use strict';

const { isUint8Array } = require('node:util').types;
const { wrongType } = require('./errors.js');

/** Keys of a chunk: with more, they leave the processor's cache, or JavaScript waits for long. */
const CHUNK_SYNC = 4096;
const CHUNK_ASYNC = 16384;
/** UTF-16 units or bytes after which a chunk ends; a string of V8 has at most 2^29. */
const CHUNK_UNITS = 1 << 24;

const isWellFormed = String.prototype.isWellFormed
  ? (text) => text.isWellFormed()
  : (text) => !/\p{Surrogate}/u.test(text);

function notAKey(key, at) {
  const what = key === null ? 'null' : Array.isArray(key) ? 'an array' : `of type ${typeof key}`;
  return wrongType(`key ${at} is ${what}; a key must be a string or a Uint8Array (as a Buffer is)`);
}

function brokenText(at) {
  const error = new TypeError(
    `key ${at} has half of a surrogate pair, which UTF-8 cannot express; give its bytes as a Uint8Array`,
  );
  return Object.assign(error, { code: 'ERR_INVALID_ARG_VALUE' });
}

/** Throws for a key that is none. */
function checkKey(key, at) {
  if (typeof key === 'string') {
    if (!isWellFormed(key)) throw brokenText(at);
  } else if (!isUint8Array(key)) throw notAKey(key, at);
}

function packTexts(keys, from, lengths, count, first) {
  const texts = from === 0 && count === keys.length ? keys : keys.slice(from, from + count);
  const data = texts.join('\n');
  if (!isWellFormed(data)) texts.forEach((text, i) => checkKey(text, first + i));
  return { data, lengths, count };
}

function packBytes(keys, from, lengths, count, first) {
  let bytes = 0;
  for (let i = 0; i < count; i++) {
    const key = keys[from + i];
    if (typeof key === 'string') {
      if (!isWellFormed(key)) throw brokenText(first + i);
      lengths[i] = Buffer.byteLength(key);
    }
    bytes += lengths[i];
  }
  const data = Buffer.allocUnsafeSlow(bytes);
  for (let i = 0, at = 0; i < count; at += lengths[i++]) {
    const key = keys[from + i];
    if (typeof key === 'string') data.write(key, at);
    else data.set(key, at);
  }
  return { data, lengths, count };
}

/** Packs some of the keys of an array, from `from` on: {data, lengths, count}.  `first` is the number of that key. */
function packSome(keys, from, most, first) {
  const lengths = new Uint32Array(Math.min(most, keys.length - from));
  let units = 0;
  let count = 0;
  let isText = true;
  while (count < lengths.length && units < CHUNK_UNITS) {
    const key = keys[from + count];
    if (typeof key === 'string') units += lengths[count++] = key.length;
    else if (isUint8Array(key)) {
      units += lengths[count++] = key.byteLength;
      isText = false;
    } else throw notAKey(key, first + count);
  }
  return (isText ? packTexts : packBytes)(keys, from, lengths, count, first);
}

/** The chunks of an array.  Keys that are none are found before the first chunk. */
function* chunksOfArray(keys, most) {
  if (keys.length > most) keys.forEach(checkKey);
  for (let from = 0; from < keys.length;) {
    const chunk = packSome(keys, from, most, from);
    from += chunk.count;
    yield chunk;
  }
}

function* chunksOfIterable(keys, most) {
  let some = [];
  let first = 0;
  function* packAll() {
    for (let from = 0; from < some.length;) {
      const chunk = packSome(some, from, most, first + from);
      from += chunk.count;
      yield chunk;
    }
    first += some.length;
    some = [];
  }
  for (const key of keys) {
    some.push(key);
    if (some.length === most) yield* packAll();
  }
  yield* packAll();
}

/** The chunks of an array, or of another iterable of keys. */
function chunksOf(keys, most) {
  if (Array.isArray(keys)) return chunksOfArray(keys, most);
  if (keys === null || typeof keys !== 'object' || typeof keys[Symbol.iterator] !== 'function')
    throw wrongType('keys must be an array or another iterable of strings and Uint8Arrays');
  return chunksOfIterable(keys, most);
}

/** All keys in one piece, for calls that take them all or none. */
function packAll(keys) {
  const array = Array.isArray(keys) ? keys : [...(chunksOf(keys, 1), keys)];
  array.forEach(checkKey);
  const lengths = new Uint32Array(array.map((key) => (typeof key === 'string' ? 0 : key.byteLength)));
  return packBytes(array, 0, lengths, array.length, 0);
}

module.exports = { CHUNK_SYNC, CHUNK_ASYNC, chunksOf, packAll };

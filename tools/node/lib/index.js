// SPDX-License-Identifier: BSD-2-Clause
// The package: what users see of it.  index.d.ts says what each thing does.
'use strict';

const { both } = require('./both.js');
const { Build, Watch } = require('./build.js');
const { TamisError } = require('./errors.js');
const { Filter } = require('./filter.js');
const native = require('./native.js');
const { CHUNK_SYNC, chunksOf } = require('./pack.js');
const { Store } = require('./store.js');

for (const { prototype } of [Store, Filter, Build, Watch]) {
  for (const [symbol, method] of [
    [Symbol.dispose, prototype.closeSync],
    [Symbol.asyncDispose, prototype.close],
  ])
    if (symbol) Object.defineProperty(prototype, symbol, { value: method, configurable: true, writable: true });
}

/** The shard of each key, in order. */
function shardMany(keys, shards) {
  const parts = [];
  for (const { data, lengths, count } of chunksOf(keys, CHUNK_SYNC)) {
    const part = new Uint32Array(count);
    native.shardMany(data, lengths, count, shards, part);
    parts.push(part);
  }
  const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return all;
}

const free = {};
both(free, {
  check: (isSync, name, spec, { store } = {}) => native.check(isSync, store, name, spec),
  repair: (isSync, directory, options) => native.repair(isSync, directory, options),
});

module.exports = {
  Store,
  Filter,
  Build,
  Watch,
  TamisError,
  shardMany,
  explain: (key, options) => native.explain(key, options),
  check: free.check,
  checkSync: free.checkSync,
  repair: free.repair,
  repairSync: free.repairSync,
};
for (const name of [
  'version',
  'simd',
  'errorName',
  'errorMessage',
  'lastError',
  'kinds',
  'kindNumber',
  'hashSets',
  'hashSetWeakness',
  'formats',
  'onFullNames',
  'pagesNames',
  'fields',
  'segmentFile',
  'size',
  'predictRate',
  'shard',
  'setLeastDescriptor',
  'leaveSigbus',
])
  module.exports[name] = native[name];

// SPDX-License-Identifier: BSD-2-Clause
// An open filter.  index.d.ts says what each method does.
'use strict';

const { batch, batchSync } = require('./batch.js');
const { after, both } = require('./both.js');
const { wrongType } = require('./errors.js');
const native = require('./native.js');
const { newOf } = require('./stream.js');

// What the addon calls these.
const ADD = 0;
const HAS = 1;
const REMOVE = 2;
const COUNT = 3;
const [SYNC, ROTATE, ACCEPT] = [0, 1, 2];
const WAITS = ['no', 'prepare', 'yes'];

class Filter extends native.Filter {
  #store;
  #name;
  #pointer; // to this filter, for the calls that must be fast

  /** Filters come from a store: store.open(), create() and openOrCreate(). */
  constructor(store, name) {
    super();
    this.#pointer = this._pointer();
    this.#store = store;
    this.#name = name;
  }

  /** The name by which it was opened. */
  get name() {
    return this.#name;
  }

  get store() {
    return this.#store;
  }

  get closed() {
    return this._isClosed();
  }

  get items() {
    return this._items();
  }

  get createdAt() {
    return this._createdAt();
  }

  add(key) {
    return native.add(this.#pointer, key);
  }

  has(key) {
    return native.has(this.#pointer, key);
  }

  hasName(name) {
    const found = native.hasName(this.#pointer, name);
    return typeof found === 'number' ? name.subarray(found) : found;
  }

  remove(key) {
    return native.remove(this.#pointer, key);
  }

  count(key) {
    return native.count(this.#pointer, key);
  }

  prefetch(key) {
    native.prefetch(this.#pointer, key);
  }

  newOf(source, options) {
    return newOf(this, source, options);
  }

  explain(key, index = 0) {
    return this._explain(key, index);
  }

  mayWait(keys = 1) {
    return WAITS[this._mayWait(keys)];
  }

  like() {
    return this._like();
  }

  setBit(index, position) {
    return this._setBit(index, position);
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    return `Filter ${JSON.stringify(this.#name)}${this.closed ? ' (closed)' : ''}`;
  }
}

function filters(of) {
  if (!Array.isArray(of)) throw wrongType('filters must be an array');
  return of;
}

const many = (what, Type) =>
  function (isSync, keys) {
    return (isSync ? batchSync : batch)(this, what, keys, Type);
  };

const act = (what) =>
  function (isSync) {
    return this._act(isSync, what);
  };

both(Filter.prototype, {
  addMany: many(ADD, Uint8Array),
  hasMany: many(HAS, Uint8Array),
  removeMany: many(REMOVE, Uint8Array),
  countMany(isSync, keys) {
    return after(many(COUNT, BigUint64Array).call(this, isSync, keys), (counts) => Array.from(counts, Number));
  },
  sync: act(SYNC),
  rotate: act(ROTATE),
  accept: act(ACCEPT),
  prepare(isSync, keys = 0) {
    return this._prepare(isSync, keys);
  },
  close(isSync) {
    return this._close(isSync);
  },
  release(isSync) {
    return this._release(isSync);
  },
  stat(isSync) {
    return this._stat(isSync);
  },
  segment(isSync, index = 0) {
    return this._segment(isSync, index, false);
  },
  fill(isSync, index = 0) {
    return this._segment(isSync, index, true);
  },
  fillMap(isSync, index, count) {
    const shares = new Float64Array(count);
    return after(this._fillMap(isSync, index, shares), () => Array.from(shares));
  },
  mapped(isSync) {
    return this._mapped(isSync);
  },
  setSyncInterval(isSync, interval) {
    return this._setSyncInterval(isSync, interval);
  },
  merge(isSync, sources, { intersect = false } = {}) {
    return this._merge(isSync, filters(sources), intersect);
  },
  compare(isSync, other) {
    return this._compare(isSync, other);
  },
  exceptions(isSync) {
    return this._exceptions(isSync);
  },
  export(isSync, { format = 'tamis', file, ...options } = {}) {
    return this._export(isSync, format, options, file);
  },
  readData(isSync, index, offset, bytes) {
    const data = Buffer.allocUnsafeSlow(bytes);
    return after(this._readData(isSync, index, offset, data), () => data);
  },
  writeData(isSync, index, offset, data) {
    return this._writeData(isSync, index, offset, data);
  },
});

module.exports = { Filter };

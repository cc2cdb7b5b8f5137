// SPDX-License-Identifier: BSD-2-Clause
// A store: a directory of filters.  index.d.ts says what each method does.
'use strict';

const path = require('node:path');
const { after, both } = require('./both.js');
const { Build, Watch } = require('./build.js');
const { wrongType } = require('./errors.js');
const { Filter } = require('./filter.js');
const native = require('./native.js');
const { packAll } = require('./pack.js');

const UNOPENED = Symbol('unopened');
// Modes of opening, as the addon numbers them.
const [OPEN, CREATE, OPEN_OR_CREATE] = [0, 1, 2];

class Store extends native.Store {
  #path;

  constructor(directory, options) {
    super();
    if (directory === UNOPENED) return;
    this.#open(true, directory, options);
  }

  #open(isSync, directory, options) {
    if (typeof directory !== 'string') throw wrongType('the path of a store must be a string');
    // The library refuses what is no path, such as a URL; path.resolve() would make a directory's name of it.
    this.#path = directory === '' || directory.includes('://') ? directory : path.resolve(directory);
    return this._open(isSync, this.#path, options);
  }

  /** Opens a store without waiting in the thread of JavaScript. */
  static async open(directory, options) {
    const store = new this(UNOPENED);
    await store.#open(false, directory, options);
    return store;
  }

  /** The directory, as an absolute path. */
  get path() {
    return this.#path;
  }

  get closed() {
    return this._isClosed();
  }

  setBusyTimeout(timeout) {
    this._setBusyTimeout(timeout);
  }

  watch(prefix = '') {
    const watch = new Watch();
    watch._open(this, prefix);
    return watch;
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    return `Store ${JSON.stringify(this.#path)}${this.closed ? ' (closed)' : ''}`;
  }
}

function openFilter(store, isSync, name, mode, options) {
  const filter = new Filter(store, name);
  return after(filter._open(isSync, store, name, mode, options), () => filter);
}

/** Opens the filter, whatever it is; makes it if there is none.  Tries again if others make or drop it meanwhile. */
async function openAny(store, name, spec) {
  for (;;) {
    try {
      return await openFilter(store, false, name, OPEN);
    } catch (error) {
      if (error.code !== 'TAMIS_ENOTFOUND') throw error;
    }
    try {
      return await openFilter(store, false, name, CREATE, spec);
    } catch (error) {
      if (error.code !== 'TAMIS_EEXIST') throw error;
    }
  }
}

function openAnySync(store, name, spec) {
  for (;;) {
    try {
      return openFilter(store, true, name, OPEN);
    } catch (error) {
      if (error.code !== 'TAMIS_ENOTFOUND') throw error;
    }
    try {
      return openFilter(store, true, name, CREATE, spec);
    } catch (error) {
      if (error.code !== 'TAMIS_EEXIST') throw error;
    }
  }
}

both(Store.prototype, {
  open(isSync, name, options) {
    return openFilter(this, isSync, name, OPEN, options);
  },
  create(isSync, name, spec) {
    return openFilter(this, isSync, name, CREATE, spec);
  },
  openOrCreate(isSync, name, spec = {}) {
    if (spec === null || typeof spec !== 'object') throw wrongType('a filter must be an object');
    const { whateverIsThere = false, ...rest } = spec;
    if (!whateverIsThere) return openFilter(this, isSync, name, OPEN_OR_CREATE, rest);
    return (isSync ? openAnySync : openAny)(this, name, rest);
  },
  build(isSync, name, options) {
    const build = new Build();
    return after(build._open(isSync, this, name, options), () => build);
  },
  createMany(isSync, names, spec, { ifMissing = false } = {}) {
    return this._createMany(isSync, Array.isArray(names) ? names : [...names], spec, ifMissing);
  },
  close(isSync) {
    return this._close(isSync);
  },
  list(isSync, prefix = '', { live = true } = {}) {
    return this._list(isSync, prefix, live);
  },
  names(isSync, prefix = '') {
    return after(this._list(isSync, prefix, false), (stats) => stats.map(({ name }) => name));
  },
  has(isSync, name) {
    return this._exists(isSync, name);
  },
  verify(isSync, name) {
    return this._verify(isSync, name);
  },
  drop(isSync, name) {
    return this._drop(isSync, name);
  },
  dropMany(isSync, names, createdAt) {
    return this._dropMany(isSync, names, createdAt);
  },
  rename(isSync, name, newName) {
    return this._rename(isSync, name, newName);
  },
  setOwned(isSync, name, isOwned) {
    return this._setOwned(isSync, name, isOwned);
  },
  setPages(isSync, name, pages) {
    return this._setPages(isSync, name, pages);
  },
  merge(isSync, name, filters, { intersect = false } = {}) {
    if (!Array.isArray(filters)) throw wrongType('filters must be an array');
    return after(this._merge(isSync, name, filters, intersect), () => openFilter(this, isSync, name, OPEN));
  },
  import(isSync, name, source, { format = 'tamis', ...options } = {}) {
    return after(this._import(isSync, name, format, source, options), () => openFilter(this, isSync, name, OPEN));
  },
  publish(isSync, name, source, { format = 'tamis', except = [], ...options } = {}) {
    const { data, lengths, count } = packAll(except);
    return this._publish(isSync, name, format, source, options, data, lengths, count);
  },
  generations(isSync, name) {
    return this._generations(isSync, name);
  },
  rollback(isSync, name, generation = 0) {
    return this._rollback(isSync, name, generation);
  },
  except(isSync, name, keys) {
    const { data, lengths, count } = packAll(keys);
    return this._except(isSync, name, data, lengths, count);
  },
  unexcept(isSync, name, keys) {
    const { data, lengths, count } = packAll(keys);
    const answers = new Uint8Array(count);
    return after(this._unexcept(isSync, name, data, lengths, count, answers), () => answers);
  },
  exceptions(isSync, name) {
    return this._exceptions(isSync, name);
  },
  backup(isSync, directory) {
    return this._backup(isSync, directory);
  },
});

module.exports = { Store };

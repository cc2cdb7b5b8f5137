// SPDX-License-Identifier: BSD-2-Clause
// A filter that is made anew as a whole.
'use strict';

const { both } = require('./both.js');
const native = require('./native.js');
const { CHUNK_ASYNC, CHUNK_SYNC, chunksOf } = require('./pack.js');

const [ADD, AGAINST, EXCEPT] = [0, 1, 2];

class Build extends native.Build {
  get closed() {
    return this._isClosed();
  }
}

function giveSync(build, what, keys) {
  for (const { data, lengths, count } of chunksOf(keys, CHUNK_SYNC)) build._give(true, what, data, lengths, count);
}

async function give(build, what, keys) {
  for (const { data, lengths, count } of chunksOf(keys, CHUNK_ASYNC))
    await build._give(false, what, data, lengths, count);
}

const many = (what) =>
  function (isSync, keys) {
    return (isSync ? giveSync : give)(this, what, keys);
  };

both(Build.prototype, {
  addMany: many(ADD),
  against: many(AGAINST),
  exceptMany: many(EXCEPT),
  publish(isSync) {
    return this._publish(isSync);
  },
  close(isSync) {
    return this._close(isSync);
  },
});

class Watch extends native.Watch {}

both(Watch.prototype, {
  look(isSync) {
    return this._look(isSync);
  },
  close(isSync) {
    return this._close(isSync);
  },
});

module.exports = { Build, Watch };

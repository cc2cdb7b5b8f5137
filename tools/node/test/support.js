// SPDX-License-Identifier: BSD-2-Clause
// A directory for each test, which is removed after it; the package, as `require` finds it.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after } = require('node:test');
const tamis = require('..');

const made = [];
after(() => made.forEach((directory) => fs.rmSync(directory, { recursive: true, force: true })));

/** A directory that nobody else has. */
function scratch() {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'tamis-node-'));
  made.push(directory);
  return directory;
}

/** A new store, and a filter `seen` in it. */
function seenIn(spec = { capacity: 10_000, fpRate: 1e-9 }) {
  const store = new tamis.Store(path.join(scratch(), 'store'));
  return { store, seen: store.createSync('seen', spec) };
}

/** What an assertion of an error of that code needs. */
const coded = (code) => (error) => {
  if (error.code !== code) throw error;
  return true;
};

const numbered = (prefix, count) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

module.exports = { coded, numbered, scratch, seenIn, tamis };

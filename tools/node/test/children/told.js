// SPDX-License-Identifier: BSD-2-Clause
// told.js STORE: adds keys, and prints each that was new, until it is killed.
'use strict';

const fs = require('node:fs');
const { Store } = require('../..');

const seen = new Store(process.argv[2]).openSync('seen');
for (let i = 0; ; i++) if (seen.add(`key ${i}`)) fs.writeSync(1, `key ${i}\n`);

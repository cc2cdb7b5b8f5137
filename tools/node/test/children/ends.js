// SPDX-License-Identifier: BSD-2-Clause
// ends.js STORE HOW: a process that ends while batches run in the pool.
'use strict';

const { Store } = require('../..');

const [directory, how] = process.argv.slice(2);
const seen = new Store(directory).openSync('seen');
const keys = Array.from({ length: 16_000 }, (_, i) => `key ${i}`);
seen.addManySync(keys.slice(0, 10));
for (let i = 0; i < 8; i++) seen.addMany(keys).then(() => {});
if (how === 'exit') process.exit(3);
if (how === 'throw') throw new Error('this ends the process');

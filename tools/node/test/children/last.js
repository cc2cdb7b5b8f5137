// SPDX-License-Identifier: BSD-2-Clause
// last.js STORE: adds a key, and exits with the filter open.
'use strict';

const { Store } = require('../..');

console.log(new Store(process.argv[2]).openSync('seen').add('a'));
process.exit(0);

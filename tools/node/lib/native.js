// SPDX-License-Identifier: BSD-2-Clause
// The addon: that of this checkout or package, built here or before (prebuilds/).
'use strict';

const path = require('node:path');
const { TamisError } = require('./errors.js');

const native = require('node-gyp-build')(path.dirname(__dirname));
native.setErrorClass(TamisError);
// Nothing is collected when a process exits.  What is open is closed here, so that the last writer of a filter brings it
// to the disk; each worker thread does so for its own.
process.on('exit', native.closeAll);

module.exports = native;

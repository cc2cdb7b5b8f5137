// SPDX-License-Identifier: BSD-2-Clause
//
// prebuild.js: puts the addon that was built into prebuilds/, where node-gyp-build looks for it, in the layout of
// prebuildify.  A package that is made then needs no compiler where it is installed.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const top = path.dirname(__dirname);
const libc = process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
const folder = path.join(top, 'prebuilds', `${process.platform}-${process.arch}`);
fs.mkdirSync(folder, { recursive: true });
fs.copyFileSync(path.join(top, 'build', 'Release', 'tamis.node'), path.join(folder, `tamis.${libc}.node`));
console.log(path.join(folder, `tamis.${libc}.node`));

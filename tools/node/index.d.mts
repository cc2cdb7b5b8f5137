// SPDX-License-Identifier: BSD-2-Clause
import tamis = require('./index.js');
export * from './index.js';
export default tamis;

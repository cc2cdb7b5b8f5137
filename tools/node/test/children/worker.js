// SPDX-License-Identifier: BSD-2-Clause
// A worker thread: adds the same 50,000 keys as others do, and tells how many were new.
'use strict';

const { parentPort, workerData } = require('node:worker_threads');
const { Store } = require('../..');

async function main() {
  const seen = await (await Store.open(workerData.path)).open('seen');
  let fresh = 0;
  for (let first = 0; first < 50_000; first += 500) {
    const keys = Array.from({ length: 500 }, (_, i) => `key ${first + i}`);
    const answers = (first / 500) % 2 ? await seen.addMany(keys) : seen.addManySync(keys);
    for (const answer of answers) fresh += answer;
  }
  parentPort.postMessage(fresh);
}

main();

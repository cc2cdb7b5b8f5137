// SPDX-License-Identifier: BSD-2-Clause
// A worker thread that adds until it is terminated: batches in the pool, builds, and handles that are being opened.
'use strict';

const { parentPort, workerData } = require('node:worker_threads');
const { Store } = require('../..');

async function main() {
  const { path, round } = workerData;
  const store = await Store.open(path);
  const seen = await store.open('seen');
  const build = await store.build(`list ${round}`, { capacity: 1000 });
  for (let i = 0; ; i++) {
    const keys = Array.from({ length: 5000 }, (_, k) => `${round} ${i} ${k}`);
    await Promise.all([seen.addMany(keys), seen.addMany(keys), build.addMany(keys), store.open('seen'), seen.sync()]);
    if (i === 0) parentPort.postMessage('ready');
  }
}

main();

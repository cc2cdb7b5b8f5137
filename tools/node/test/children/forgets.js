// SPDX-License-Identifier: BSD-2-Clause
// forgets.js STORE, with --expose-gc: opens filters and forgets them; each that has added has a descriptor while it is open.
// Calls run while the collector does.
'use strict';

const fs = require('node:fs');
const { Store } = require('../..');

const open = () => fs.readdirSync('/proc/self/fd').length;

async function main() {
  const store = new Store(process.argv[2]);
  const before = open();
  for (let round = 0; round < 20; round++) {
    const running = [];
    for (let i = 0; i < 50; i++) {
      store.openSync('seen').add(`${round} ${i}`);
      running.push(store.openSync('seen').addMany([`${round} ${i} a`, `${round} ${i} b`])); // nothing else holds it
      new Store(process.argv[2]);
      (await store.build(`list ${i}`, { capacity: 10 })).addMany(['a']).catch(() => {});
    }
    global.gc();
    for (const answers of await Promise.all(running)) if (answers.length !== 2) throw new Error('answers are missing');
  }
  for (let wait = 0; wait < 100 && open() > before + 50; wait++) {
    global.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  console.log(open() <= before + 50 ? 'sound' : `${open()} descriptors are open, at first ${before}`);
}

main();

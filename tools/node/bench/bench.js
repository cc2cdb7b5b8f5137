// SPDX-License-Identifier: BSD-2-Clause
/*
 * bench.js [--keys N] [--rounds N]: nanoseconds a key of the package, beside the npm package bloom-filters, and beside the
 * library's own calls in C, which `tamis-bench`-like loops do in the same run if there is a C compiler and TAMIS_BUILD
 * names a build of Tamis.  Each figure is the least of the rounds, of the processor time of the whole process (threads of
 * the pool count).
 */
'use strict';

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { BloomFilter } = require('bloom-filters');
const { Store } = require('..');

const { values } = parseArgs({
  options: { keys: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '5' } },
});
const COUNT = Number(values.keys);
const ROUNDS = Number(values.rounds);
const BATCH = 1000;
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'tamis-bench-'));

const url = (i) => `https://www.example.com/articles/2026/11/${i}/a-title-of-some-words.html`;
/** New strings: V8 keeps no hash of them, and they are flat, as those of a parser are. */
const urls = (first) => Array.from({ length: COUNT }, (_, i) => Buffer.from(url(first + i)).toString());

function cpuNs() {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

const best = new Map();
async function time(name, run, count = COUNT) {
  const before = cpuNs();
  await run();
  const ns = (cpuNs() - before) / count;
  best.set(name, Math.min(ns, best.get(name) ?? Infinity));
}

async function round(store, number) {
  const keys = urls(0);
  const batches = Array.from({ length: Math.ceil(COUNT / BATCH) }, (_, i) => keys.slice(i * BATCH, (i + 1) * BATCH));
  const spec = { capacity: COUNT, fpRate: 0.01 };
  let ones = 0;
  const single = await store.create(`single ${number}`, spec);
  await time('add(), one key', () => {
    for (const key of keys) ones += single.add(key);
  });
  await time('has(), one key', () => {
    for (const key of keys) ones += single.has(key);
  });
  const sync = await store.create(`sync ${number}`, spec);
  await time('addManySync(), 1,000 keys', () => {
    for (const batch of batches) ones += sync.addManySync(batch).length;
  });
  const pool = await store.create(`pool ${number}`, spec);
  await time('addMany(), 1,000 keys', async () => {
    for (const batch of batches) ones += (await pool.addMany(batch)).length;
  });
  await time('hasMany(), 1,000 keys', async () => {
    for (const batch of batches) ones += (await pool.hasMany(batch)).length;
  });
  const buffers = keys.map((key) => Buffer.from(key));
  const bytes = await store.create(`bytes ${number}`, spec);
  await time('add(), one Buffer', () => {
    for (const key of buffers) ones += bytes.add(key);
  });
  await time('the loop alone', () => {
    for (const key of keys) ones += key.length;
  });
  const few = Math.min(COUNT, 20_000); // it takes long for each
  const peer = BloomFilter.create(COUNT, 0.01);
  await time(
    'bloom-filters: add(), one key',
    () => {
      for (let i = 0; i < few; i++) peer.add(keys[i]);
    },
    few,
  );
  await time(
    'bloom-filters: has(), one key',
    () => {
      for (let i = 0; i < few; i++) ones += peer.has(keys[i]);
    },
    few,
  );
  for (const name of await store.names()) await store.drop(name);
  return ones;
}

/** The same loops in C; undefined without a compiler or a build. */
function inC() {
  const build = process.env.TAMIS_BUILD;
  if (!build) return undefined;
  const top = /^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$/m.exec(fs.readFileSync(path.join(build, 'CMakeCache.txt')))[1];
  const program = path.join(scratch, 'bench');
  const flags = [
    `-I${path.join(top, 'store/include')}`,
    path.join(__dirname, 'bench.c'),
    `-L${path.join(build, 'store')}`,
  ];
  execFileSync('cc', ['-O2', '-o', program, ...flags, '-ltamis', `-Wl,-rpath,${path.join(build, 'store')}`]);
  return execFileSync(program, [path.join(scratch, 'c'), String(COUNT), String(ROUNDS), String(BATCH)]).toString();
}

async function main() {
  const store = await Store.open(path.join(scratch, 'store'));
  for (let i = 0; i < ROUNDS; i++) await round(store, i);
  console.log(`| ns a key, of ${COUNT} URLs | processor time |\n|---|---|`);
  for (const [name, ns] of best) console.log(`| ${name} | ${ns.toFixed(0)} |`);
  process.stdout.write(inC() ?? '');
}

main().finally(() => fs.rmSync(scratch, { recursive: true, force: true }));

// SPDX-License-Identifier: BSD-2-Clause
// Worker threads, processes that end or are killed, and the garbage collector.  Seen to fail: without closeAll() of
// lib/native.js (keys that no checkpoint has), and with handles that nobody closes when they are collected (Abandon() of
// src/jobs.cc: descriptors stay open).
'use strict';

const assert = require('node:assert/strict');
const { execFile, spawn } = require('node:child_process');
const path = require('node:path');
const { test } = require('node:test');
const { once } = require('node:events');
const { promisify } = require('node:util');
const { Worker } = require('node:worker_threads');
const { numbered, seenIn, tamis } = require('./support.js');

const child = (name) => path.join(__dirname, 'children', name);
const run = promisify(execFile);

test('of several worker threads one is told that a key is new', async () => {
  const { store, seen } = seenIn({ capacity: 200_000, fpRate: 1e-9 });
  const workers = numbered('', 4).map(() => new Worker(child('worker.js'), { workerData: { path: store.path } }));
  const counts = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
  await Promise.all(workers.map((worker) => worker.terminate()));
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    50_000,
  );
  assert.equal(seen.items, 50_000);
  assert.equal(seen.add('after the workers have ended'), true);
});

test('a worker may be terminated in the middle of a batch, again and again', async () => {
  const { store, seen } = seenIn({ capacity: 5_000_000 });
  for (let round = 0; round < 10; round++) {
    const worker = new Worker(child('busy.js'), { workerData: { path: store.path, round } });
    await once(worker, 'message');
    await worker.terminate();
  }
  const items = seen.items;
  assert.ok(items > 0);
  assert.equal(seen.add('the store is sound'), true);
  assert.deepEqual(
    (await store.verify()).filter(({ code }) => code),
    [],
  );
});

for (const how of ['exit', 'throw', 'end'])
  test(`a process may end while a batch runs (${how})`, async () => {
    const { store, seen } = seenIn({ capacity: 5_000_000 });
    const process_ = spawn(process.execPath, [child('ends.js'), store.path, how], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    process_.stderr.on('data', (data) => (output += data));
    const [code, signal] = await once(process_, 'close');
    assert.equal(signal, null, output);
    assert.equal(code, { exit: 3, throw: 1, end: 0 }[how], output);
    assert.ok(seen.items > 0);
  });

test('the last writer brings a filter to the disk when its process exits', async () => {
  const { store, seen } = seenIn();
  await seen.close();
  const { stdout } = await run(process.execPath, [child('last.js'), store.path]);
  assert.equal(stdout, 'true\n');
  const stat = (await store.list('seen', { live: false }))[0];
  assert.ok(stat.checkpointedAt > 0n);
  assert.equal(stat.items, 1);
});

test('handles that are forgotten are closed when they are collected', async () => {
  const { store } = seenIn();
  const { stdout } = await run(process.execPath, ['--expose-gc', child('forgets.js'), store.path]);
  assert.equal(stdout, 'sound\n');
});

test('a killed process loses nothing that it was told is new', async () => {
  const { store, seen } = seenIn({ capacity: 1_000_000, fpRate: 1e-9 });
  const process_ = spawn(process.execPath, [child('told.js'), store.path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let told = '';
  process_.stdout.on('data', (data) => {
    told += data;
    if (told.length > 100_000) process_.kill('SIGKILL');
  });
  const [, signal] = await once(process_, 'close');
  assert.equal(signal, 'SIGKILL');
  const keys = told.split('\n').slice(0, -1);
  assert.ok(keys.length > 1000);
  assert.ok(seen.hasManySync(keys).every((answer) => answer === 1));
});

test('the version is that of the package', () => {
  assert.equal(tamis.version(), require('../package.json').version);
});

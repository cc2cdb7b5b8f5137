// SPDX-License-Identifier: BSD-2-Clause
// Stores, what is made in them, errors, and handles that are closed.  Seen to fail: answers of an error without room()'s fill.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { coded, numbered, scratch, seenIn, tamis } = require('./support.js');
const { Store, TamisError } = tamis;

test('what is added is there when the store is opened again, by either form', async () => {
  const { store, seen } = seenIn();
  seen.add('a');
  await seen.close();
  await store.close();
  const again = await Store.open(store.path, { create: false });
  assert.deepEqual(await again.names(), ['seen']);
  assert.equal((await again.open('seen')).has('a'), true);
  const readOnly = new Store(store.path, { readOnly: true });
  assert.throws(() => readOnly.openSync('seen').add('b'), coded('TAMIS_EREADONLY'));
  assert.equal(readOnly.openSync('seen').has('a'), true);
});

test('an error has its code, its number, and a message with the mend', async () => {
  const { store } = seenIn();
  for (const call of [() => store.open('nothing'), async () => store.openSync('nothing')]) {
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof TamisError && error instanceof Error);
      assert.equal(error.name, 'TamisError');
      assert.equal(error.code, 'TAMIS_ENOTFOUND');
      assert.equal(error.errno, -2);
      assert.match(error.message, /nothing.*tamis list/);
      return true;
    });
  }
  await assert.rejects(Store.open(path.join(scratch(), 'none'), { create: false }), coded('TAMIS_ENOSTORE'));
  assert.throws(() => new Store('redis://host'), coded('TAMIS_EINVAL'));
  assert.throws(() => new Store(''), coded('TAMIS_EINVAL'));
  assert.throws(() => new Store(5), coded('ERR_INVALID_ARG_TYPE'));
  await assert.rejects(store.create('seen', { capacity: 5 }), coded('TAMIS_EEXIST'));
  await assert.rejects(store.openOrCreate('seen', { capacity: 5 }), coded('TAMIS_EMISMATCH'));
  await assert.rejects(store.create('a\0b', { capacity: 5 }), coded('ERR_INVALID_ARG_VALUE'));
  await assert.rejects(store.create('x', { capcity: 5 }), coded('ERR_INVALID_ARG_TYPE'));
  await assert.rejects(store.create('x', { capacity: 5, kind: 'blom' }), coded('TAMIS_EINVAL'));
  await assert.rejects(store.create('x', { capacity: 5, onFull: 'panic' }), coded('TAMIS_EINVAL'));
});

test('numbers that do not fit are refused, and bigints are taken', async () => {
  const { store } = seenIn();
  for (const capacity of [-1, 1.5, NaN, Infinity, 2 ** 60, -1n, 2n ** 64n])
    await assert.rejects(store.create('x', { capacity }), coded('ERR_OUT_OF_RANGE'));
  const seed = 2n ** 64n - 1n;
  const filter = await store.create('x', { capacity: 100n, seed });
  assert.equal((await filter.stat()).seed, seed);
  assert.equal(filter.like().seed, seed);
  assert.equal(filter.createdAt, (await filter.stat()).createdAt);
  assert.ok(Math.abs(Number(filter.createdAt / 1_000_000n) - Date.now()) < 3_600_000);
});

test('openOrCreate() takes what is there if it is asked to, also of many at once', async () => {
  const { store } = seenIn();
  const spec = { capacity: 5, whateverIsThere: true };
  assert.equal((await (await store.openOrCreate('seen', spec)).stat()).capacity, 10_000);
  assert.equal(store.openOrCreateSync('seen', spec).statSync().capacity, 10_000);
  const opened = await Promise.all(numbered('', 20).map(() => store.openOrCreate('other', { capacity: 50 })));
  const answers = opened.map((filter) => filter.add('one key'));
  assert.equal(answers.filter(Boolean).length, 1);
});

test('a closed handle says so, and closing twice is allowed', async () => {
  const { store, seen } = seenIn();
  await seen.close();
  await seen.close();
  seen.closeSync();
  assert.equal(seen.closed, true);
  for (const call of ['add', 'has', 'remove', 'count']) assert.throws(() => seen[call]('a'), coded('TAMIS_ECLOSED'));
  for (const call of ['addMany', 'hasMany'])
    await assert.rejects(seen[call](['a']), (error) => coded('TAMIS_ECLOSED')(error) && error.answers[0] === 2);
  for (const call of ['stat', 'sync', 'segment', 'mapped']) await assert.rejects(seen[call](), coded('TAMIS_ECLOSED'));
  assert.throws(() => seen.items, coded('TAMIS_ECLOSED'));
  await store.close();
  await assert.rejects(store.open('seen'), coded('TAMIS_ECLOSED'));
  assert.throws(() => store.watch(), coded('TAMIS_ECLOSED'));
  assert.throws(() => new tamis.Filter(store, 'x').add('a'), coded('TAMIS_ECLOSED'));
});

test('closing waits for the batches that run', async () => {
  const { seen } = seenIn({ capacity: 1_000_000 });
  const keys = numbered('k', 16_000);
  const running = [seen.addMany(keys), seen.addMany(keys), seen.sync()];
  const closing = seen.close();
  assert.throws(() => seen.add('a'), coded('TAMIS_ECLOSED'));
  const [first, second] = await Promise.all(running);
  assert.ok(first.every((answer, i) => answer + second[i] === 1));
  await closing;
  const { seen: other } = seenIn({ capacity: 1_000_000 });
  const last = other.addMany(keys);
  other.closeSync(); // does not wait: the batch ends first
  assert.equal((await last).length, 16_000);
});

test('a filter that is dropped says so, and others see a new one', async () => {
  const { store, seen } = seenIn();
  await store.drop('seen');
  assert.throws(() => seen.add('a'), coded('TAMIS_EDROPPED'));
  assert.equal(await store.has('seen'), false);
  await store.createMany(numbered('h', 100), { capacity: 10 });
  assert.equal((await store.list('h')).length, 100);
  assert.equal(await store.dropMany(['h1', 'h2', 'none']), 2);
});

test('a build is published in one step, and one call at a time uses it', async () => {
  const { store } = seenIn();
  const build = await store.build('list', { fpRate: 0.001 });
  const first = build.addMany(numbered('k', 10_000));
  await assert.rejects(build.addMany(['a']), { code: 'TAMIS_EINVAL', message: /await/ });
  await first;
  const result = await build.publish();
  assert.equal(result.isPublished, true);
  assert.equal(result.distinct, 10_000);
  await store.close(); // the build keeps it open
  await build.close();
  const list = new Store(store.path).openSync('list');
  assert.ok(list.hasManySync(numbered('k', 10_000)).every((answer) => answer === 1));
});

test('a filter goes to a file or to bytes, and comes back', async () => {
  const { store, seen } = seenIn();
  await seen.addMany(['a', 'b']);
  const file = path.join(scratch(), 'seen.tamis');
  await seen.export({ file });
  const bytes = seen.exportSync();
  assert.ok(bytes.equals(fs.readFileSync(file)));
  assert.equal((await store.import('one', file)).has('a'), true);
  assert.equal((await store.import('two', bytes)).has('b'), true);
  assert.equal((await store.publish('three', bytes)).isPublished, true);
  assert.equal((await store.publish('three', bytes, { ifChanged: true })).isPublished, false);
  await assert.rejects(store.import('four', '/nothing/there'), { code: 'TAMIS_EIO', message: /nothing.there/ });
  await assert.rejects(seen.export({ file: '/nothing/there' }), { code: 'TAMIS_EIO', message: /nothing.there/ });
  await assert.rejects(store.import('four', bytes.subarray(0, 100)), coded('TAMIS_ECORRUPT'));
});

test('stat() has the fields of the types, and no others', async () => {
  const { seen } = seenIn();
  const types = fs.readFileSync(path.join(__dirname, '..', 'index.d.ts'), 'utf8');
  const declared = (name) =>
    [...new RegExp(`interface ${name} \\{([^}]*)\\}`).exec(types)[1].matchAll(/^ {2}(\w+)\??:/gm)].map((m) => m[1]);
  assert.deepEqual(Object.keys(await seen.stat()).sort(), declared('FilterStat').sort());
  assert.deepEqual(Object.keys(await seen.fill()).sort(), declared('SegmentStat').sort());
  const codes = [...types.matchAll(/'(TAMIS_E\w+)'/g)].map((m) => m[1]);
  for (let errno = -1; tamis.errorName(errno) !== 'TAMIS_?'; errno--)
    assert.ok(codes.includes(tamis.errorName(errno)), tamis.errorName(errno));
});

test('import gives the same classes as require', async () => {
  const imported = await import('../index.mjs');
  assert.deepEqual(
    Object.keys(imported)
      .filter((name) => name !== 'default')
      .sort(),
    Object.keys(tamis).sort(),
  );
  for (const name of Object.keys(tamis)) assert.equal(imported[name], tamis[name]);
});

test('handles can be disposed of where Node knows how', async () => {
  const { store, seen } = seenIn();
  if (Symbol.asyncDispose) await seen[Symbol.asyncDispose]();
  else await seen.close();
  assert.equal(seen.closed, true);
  assert.match(require('node:util').inspect([store, seen]), /Store .*Filter "seen" \(closed\)/s);
});

// SPDX-License-Identifier: BSD-2-Clause
// newOf().  Seen to fail: without the timer (a slow source), with an iterator that is not returned, and with a batch that is
// lost when the source breaks.
'use strict';

const assert = require('node:assert/strict');
const { Readable } = require('node:stream');
const { test } = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');
const { coded, numbered, seenIn } = require('./support.js');

test('newOf() yields each new key once, by batches', async () => {
  const { seen } = seenIn();
  const keys = numbered('k', 2500);
  const batches = [];
  for await (const fresh of seen.newOf([...keys, ...keys])) batches.push(fresh);
  assert.deepEqual(batches.flat(), keys);
  assert.deepEqual(
    batches.map((batch) => batch.length),
    [1000, 1000, 500],
  );
});

test('newOf() takes streams', async () => {
  const { seen } = seenIn();
  const got = [];
  for await (const fresh of seen.newOf(Readable.from(numbered('k', 50)), { batch: 7 })) got.push(...fresh);
  assert.deepEqual(got, numbered('k', 50));
});

test('newOf() does not wait for a batch to be full', { timeout: 20_000 }, async () => {
  const { seen } = seenIn();
  let isAsked = false;
  async function* slow() {
    yield 'a';
    yield 'b';
    while (!isAsked) await sleep(5); // the source goes on when its keys have come out
    yield 'c';
  }
  const batches = [];
  for await (const fresh of seen.newOf(slow(), { wait: 20 })) {
    isAsked = true;
    batches.push(fresh);
  }
  assert.deepEqual(batches, [['a', 'b'], ['c']]);
});

test('newOf() hands out what it has before an error of the source', async () => {
  const { seen } = seenIn();
  async function* breaks() {
    yield* ['a', 'b'];
    throw new Error('the source broke');
  }
  const got = [];
  await assert.rejects(
    async () => {
      for await (const fresh of seen.newOf(breaks())) got.push(...fresh);
    },
    { message: 'the source broke' },
  );
  assert.deepEqual(got, ['a', 'b']);
});

test('newOf() ends its source when it is left, and tells what an error took', async () => {
  const { seen } = seenIn({ capacity: 3, onFull: 'refuse', fpRate: 1e-9 });
  let isEnded = false;
  function* source() {
    try {
      yield* numbered('k', 100);
    } finally {
      isEnded = true;
    }
  }
  for await (const fresh of seen.newOf(source(), { batch: 2 })) {
    assert.equal(fresh.length, 2);
    break;
  }
  assert.equal(isEnded, true);
  let error;
  try {
    for await (const fresh of seen.newOf(numbered('n', 10), { batch: 10 })) assert.fail(String(fresh));
  } catch (caught) {
    error = caught;
  }
  assert.equal(error.code, 'TAMIS_EFULL');
  assert.deepEqual(error.newKeys, ['n0']);
  await assert.rejects(() => seen.newOf(5).next(), coded('ERR_INVALID_ARG_TYPE'));
  await assert.rejects(() => seen.newOf([], { batch: 0 }).next(), coded('ERR_INVALID_ARG_TYPE'));
});

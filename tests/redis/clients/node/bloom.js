// SPDX-License-Identifier: BSD-2-Clause
// bloom.js PORT RESP: all calls of client.bf and client.cf of @redis/bloom, and TAMIS.* by sendCommand().
import assert from 'node:assert/strict';
import { createClient, RESP_TYPES } from 'redis';

const [port, resp] = process.argv.slice(2).map(Number);
const client = await createClient({ socket: { host: '127.0.0.1', port }, RESP: resp }).connect();
const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
const called = new Set();

// Notes which calls are made; `raw` answers Buffers.
const watched = (calls, prefix) =>
    new Proxy(calls, { get: (of, name) => (called.add(prefix + name), of[name].bind(of)) });
const bf = watched(client.bf, 'bf.'), cf = watched(client.cf, 'cf.');
const rawBf = watched(binary.bf, 'bf.'), rawCf = watched(binary.cf, 'cf.');

async function move(of, from, to)
{
    for (let iterator = 0;;) {
        const part = await of.scanDump(from, iterator);
        iterator = part.iterator;
        if (iterator === 0) return;
        assert.equal(String(await of.loadChunk(to, iterator, part.chunk)), 'OK');
    }
}

// A map is an object with names, whatever its prototype.
const plain = info => Object.fromEntries(info instanceof Map ? info : Object.entries(info));

async function bloom()
{
    assert.equal(await bf.reserve('b', 0.01, 1000), 'OK');
    assert.equal(await bf.reserve('n', 0.01, 3, { NONSCALING: true }), 'OK');
    assert.equal(await bf.add('b', 'x'), true);
    assert.equal(await bf.add('b', 'x'), false);
    assert.deepEqual(await bf.mAdd('b', ['x', 'y', 'w']), [false, true, true]);
    assert.deepEqual(await bf.insert('i', ['x', 'y'], { CAPACITY: 500, ERROR: 0.001, EXPANSION: 3 }), [true, true]);
    await assert.rejects(bf.insert('none', 'x', { NOCREATE: true }), /^\w*Error: ERR not found$/);
    assert.equal(await bf.exists('b', 'y'), true);
    assert.deepEqual(await bf.mExists('b', ['x', 'z']), [true, false]);
    assert.equal(await bf.card('b'), 3);
    const info = plain(await bf.info('i'));
    assert.deepEqual([info['Capacity'], info['Number of items inserted'], info['Expansion rate']], [500, 2, 3]);
    await move(rawBf, 'b', 'copy');
    assert.deepEqual(await bf.mExists('copy', ['x', 'y', 'z']), [true, true, false]);
}

async function cuckoo()
{
    assert.equal(await cf.reserve('c', 1000, { BUCKETSIZE: 4, MAXITERATIONS: 50, EXPANSION: 2 }), 'OK');
    assert.equal(await cf.add('c', 'x'), true);
    assert.equal(await cf.addNX('c', 'x'), false);
    assert.deepEqual(await cf.insert('j', ['x', 'x'], { CAPACITY: 500 }), [true, true]);
    assert.deepEqual((await cf.insertNX('j', ['x', 'y'], { NOCREATE: true })).map(Number), [0, 1]);
    assert.equal(await cf.exists('c', 'x'), true);
    if (client.cf.mExists) assert.deepEqual(await cf.mExists('c', ['x', 'z']), [true, false]); // newer ones
    assert.equal(await cf.count('j', 'x'), 2);
    assert.equal(await cf.del('j', 'x'), true);
    assert.equal(await cf.count('j', 'x'), 1);
    const info = plain(await cf.info('c'));
    assert.deepEqual([info['Bucket size'], info['Max iterations'], info['Expansion rate']], [4, 50, 2]);
    await move(rawCf, 'j', 'ccopy');
    assert.equal(await cf.count('ccopy', 'y'), 1);
    await assert.rejects(cf.del('none', 'x'), /Not found/);
}

async function others()
{
    const run = (...words) => client.sendCommand(words);
    assert.match(String(await run('CF.DEBUG', 'c')), /^bktsize:4/);
    assert.equal(await run('CF.COMPACT', 'j'), 'OK');
    assert.equal((await run('BF.DEBUG', 'b'))[0], 'size:3');
    assert.equal(await run('TAMIS.RESERVE', 't', '0.001', '1000', 'WINDOW', '3600'), 'OK');
    assert.equal(await run('TAMIS.ROTATE', 't'), 'OK');
    assert.equal(await run('TAMIS.SYNC', 't'), 'OK');
    const info = await run('TAMIS.INFO', 't');
    assert.equal(Array.isArray(info) ? info[3] : plain(info).kind, 'blocked');
    assert.deepEqual(await run('TAMIS.ORPHANS', 'LIST'), []);
    assert.deepEqual(await client.multi().addCommand(['BF.ADD', 'b', 'tx']).set('plain', '1').exec(),
                     [resp === 3 ? true : 1, 'OK']);
    const script = `local new = redis.call('BF.MADD', KEYS[1], ARGV[1], ARGV[2])
                    redis.call('HSET', KEYS[2], ARGV[1], new[1])
                    return new`;
    assert.deepEqual(await client.eval(script, { keys: ['seen', 'data'], arguments: ['a', 'a'] }), [1, 0]);
}

await bloom();
await cuckoo();
await others();
const offered = (calls, prefix) => Object.getOwnPropertyNames(Object.getPrototypeOf(calls))
    .filter(name => name !== 'constructor' && name !== name.toUpperCase()).map(name => prefix + name);
const all = [...offered(client.bf, 'bf.'), ...offered(client.cf, 'cf.')];
assert.ok(all.length >= 21, `calls are offered: ${all}`);
assert.deepEqual(all.filter(name => !called.has(name)), [], 'calls that were not made');
console.log(`@redis/bloom: all calls, RESP ${resp}`);
client.destroy();

// SPDX-License-Identifier: BSD-2-Clause
// ioredis.js PORT: all BF.*, CF.* and TAMIS.* by ioredis: call(), pipelines, MULTI and scripts.
import assert from 'node:assert/strict';
import Redis from 'ioredis';

const redis = new Redis({ host: '127.0.0.1', port: Number(process.argv[2]) });
const run = (...words) => redis.call(...words);

async function move(of, from, to)
{
    for (let iterator = 0;;) {
        const [next, data] = await redis.callBuffer(`${of}.SCANDUMP`, from, iterator);
        iterator = Number(next);
        if (iterator === 0) return;
        assert.equal(await run(`${of}.LOADCHUNK`, to, iterator, data), 'OK');
    }
}

// Requests and answers, in this order.
const cases = [
    ['BF.RESERVE b 0.01 1000', 'OK'], ['BF.ADD b x', 1], ['BF.MADD b x y', [0, 1]], ['BF.INSERT i ITEMS x', [1]],
    ['BF.EXISTS b y', 1], ['BF.MEXISTS b x z', [1, 0]], ['BF.CARD b', 2], ['BF.INFO i ITEMS', [1]],
    ['CF.RESERVE c 1000', 'OK'], ['CF.ADD c x', 1], ['CF.ADDNX c x', 0], ['CF.INSERT j ITEMS x x', [1, 1]],
    ['CF.INSERTNX j ITEMS x y', [0, 1]], ['CF.EXISTS c x', 1], ['CF.MEXISTS c x z', [1, 0]], ['CF.COUNT j x', 2],
    ['CF.DEL j x', 1], ['CF.COMPACT j', 'OK'],
    ['CF.DEBUG c', 'bktsize:2 buckets:512 items:1 deletes:0 filters:1 max_iterations:20 expansion:1'],
    ['TAMIS.RESERVE t 0.01 1000 WINDOW 60', 'OK'], ['TAMIS.ROTATE t', 'OK'], ['TAMIS.SYNC t', 'OK'],
    ['TAMIS.RESERVE m 0.01 1000', 'OK'], ['TAMIS.RESERVE n 0.01 1000', 'OK'], ['TAMIS.MERGE m n', 'OK'],
    ['TAMIS.DETACH m', 'm'], ['TAMIS.ATTACH m', 'OK'], ['TAMIS.ORPHANS LIST', []],
];
for (const [request, answer] of cases)
    assert.deepEqual(await run(...request.split(' ')), answer, request);
assert.equal((await run('BF.INFO', 'b'))[0], 'Capacity');
assert.equal((await run('CF.INFO', 'c'))[1], 1080);
assert.equal((await run('BF.DEBUG', 'b'))[0], 'size:2');
assert.equal((await run('TAMIS.INFO', 't'))[2], 'kind');
assert.ok((await run('TAMIS.STATS')).length >= 20);
await assert.rejects(run('BF.RESERVE', 'b', '0.01', '1000'), /ERR item exists/);
await assert.rejects(run('TAMIS.ROLLBACK', 'm'), /no other generation can be put in force/);
await move('BF', 'b', 'copy');
await move('CF', 'j', 'ccopy');
assert.deepEqual([await run('BF.EXISTS', 'copy', 'y'), await run('CF.COUNT', 'ccopy', 'y')], [1, 1]);
const piped = await redis.pipeline().call('BF.ADD', 'b', 'p').call('BF.EXISTS', 'b', 'p').exec();
assert.deepEqual(piped, [[null, 1], [null, 1]]);
assert.deepEqual(await redis.multi().call('CF.ADD', 'c', 'p').set('plain', 1).exec(), [[null, 1], [null, 'OK']]);
redis.defineCommand('enqueue', { numberOfKeys: 2, lua: `
    local new = redis.call('BF.MADD', KEYS[1], unpack(ARGV))
    for i, key in ipairs(ARGV) do
        if new[i] == 1 then redis.call('HSET', KEYS[2], key, i) end
    end
    return new` });
assert.deepEqual(await redis.enqueue('seen', 'data', 'a', 'b', 'a'), [1, 1, 0]);
assert.equal(await redis.hlen('data'), 2);
console.log('ioredis: all commands');
redis.disconnect();

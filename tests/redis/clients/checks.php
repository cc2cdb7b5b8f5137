<?php
// SPDX-License-Identifier: BSD-2-Clause
/*
 * checks.php: what php_redis.php and predis.php do alike.  Each has run(), which sends a command, and
 * refused(), for one that is answered by an error.  tests/php/class_errors.php has same() from here.
 */
error_reporting(E_ALL & ~E_DEPRECATED); // predis 1.1 is older than this PHP

function same($is, $wanted, string $what): void
{
    if ($is !== $wanted) {
        fwrite(STDERR, "$what: " . var_export($is, true) . ', and ' . var_export($wanted, true) . " was wanted\n");
        exit(1);
    }
}

/** Sends what a SCANDUMP gives to LOADCHUNK. */
function move(string $of, string $from, string $to): void
{
    for ($iterator = 0;;) {
        [$iterator, $data] = run("$of.SCANDUMP", $from, $iterator);
        if ($iterator === 0) {
            return;
        }
        same(run("$of.LOADCHUNK", $to, $iterator, $data), 'OK', "$of.LOADCHUNK");
    }
}

/** Pairs of a flat array, by name. */
function pairs(array $flat): array
{
    $pairs = [];
    for ($i = 0; $i < count($flat); $i += 2) {
        $pairs[$flat[$i]] = $flat[$i + 1];
    }
    return $pairs;
}

function bloom_commands(): void
{
    same(run('BF.RESERVE', 'b', '0.01', '1000'), 'OK', 'BF.RESERVE');
    same(run('BF.ADD', 'b', 'x'), 1, 'BF.ADD');
    same(run('BF.MADD', 'b', 'x', 'y', "\xff\0"), [0, 1, 1], 'BF.MADD');
    same(run('BF.INSERT', 'i', 'CAPACITY', '500', 'ERROR', '0.001', 'ITEMS', 'x', 'y'), [1, 1], 'BF.INSERT');
    same(run('BF.EXISTS', 'b', 'y'), 1, 'BF.EXISTS');
    same(run('BF.MEXISTS', 'b', 'x', 'z', "\xff\0"), [1, 0, 1], 'BF.MEXISTS');
    same(run('BF.CARD', 'b'), 3, 'BF.CARD');
    same(pairs(run('BF.INFO', 'i'))['Capacity'], 500, 'BF.INFO');
    same(run('BF.INFO', 'i', 'ITEMS'), [2], 'BF.INFO of a field');
    same(count(run('BF.DEBUG', 'b')) >= 2, true, 'BF.DEBUG');
    move('BF', 'b', 'copy');
    same(run('BF.MEXISTS', 'copy', 'x', 'y', 'z'), [1, 1, 0], 'BF.SCANDUMP and LOADCHUNK');
    refused('ERR item exists', 'BF.RESERVE', 'b', '0.01', '1000');
    refused('Bad capacity', 'BF.INSERT', 'b', 'CAPACITY', 'x', 'ITEMS', 'x');
}

function cuckoo_commands(): void
{
    same(run('CF.RESERVE', 'c', '1000', 'BUCKETSIZE', '4'), 'OK', 'CF.RESERVE');
    same([run('CF.ADD', 'c', 'x'), run('CF.ADDNX', 'c', 'x'), run('CF.ADDNX', 'c', 'y')], [1, 0, 1], 'CF.ADD, ADDNX');
    same(run('CF.INSERT', 'j', 'CAPACITY', '500', 'ITEMS', 'x', 'x'), [1, 1], 'CF.INSERT');
    same(run('CF.INSERTNX', 'j', 'NOCREATE', 'ITEMS', 'x', 'y'), [0, 1], 'CF.INSERTNX');
    same(run('CF.EXISTS', 'c', 'x'), 1, 'CF.EXISTS');
    same(run('CF.MEXISTS', 'c', 'x', 'z'), [1, 0], 'CF.MEXISTS');
    same([run('CF.COUNT', 'j', 'x'), run('CF.DEL', 'j', 'x'), run('CF.COUNT', 'j', 'x')], [2, 1, 1], 'CF.DEL');
    same(run('CF.COMPACT', 'j'), 'OK', 'CF.COMPACT');
    same(pairs(run('CF.INFO', 'c'))['Bucket size'], 4, 'CF.INFO');
    same(substr(run('CF.DEBUG', 'c'), 0, 9), 'bktsize:4', 'CF.DEBUG');
    move('CF', 'j', 'ccopy');
    same(run('CF.COUNT', 'ccopy', 'y'), 1, 'CF.SCANDUMP and LOADCHUNK');
    refused('Not found', 'CF.DEL', 'none', 'x');
}

function tamis_commands(): void
{
    same(run('TAMIS.RESERVE', 't', '0.001', '1000', 'KIND', 'bloom', 'WINDOW', '3600'), 'OK', 'TAMIS.RESERVE');
    same(pairs(run('TAMIS.INFO', 't'))['kind'], 'bloom', 'TAMIS.INFO');
    same(run('TAMIS.ROTATE', 't'), 'OK', 'TAMIS.ROTATE');
    same(run('TAMIS.SYNC', 't'), 'OK', 'TAMIS.SYNC');
    same(run('TAMIS.RESERVE', 'm', '0.01', '1000'), 'OK', 'TAMIS.RESERVE');
    same(run('TAMIS.RESERVE', 'n', '0.01', '1000'), 'OK', 'TAMIS.RESERVE');
    same([run('BF.ADD', 'n', 'x'), run('TAMIS.MERGE', 'm', 'n'), run('BF.EXISTS', 'm', 'x')], [1, 'OK', 1], 'TAMIS.MERGE');
    same([run('TAMIS.DETACH', 'm'), run('TAMIS.ATTACH', 'm')], ['m', 'OK'], 'TAMIS.DETACH and ATTACH');
    same(run('TAMIS.ORPHANS', 'LIST'), [], 'TAMIS.ORPHANS');
    same(pairs(run('TAMIS.STATS'))['orphans'], 0, 'TAMIS.STATS');
    refused("ERR no other generation can be put in force: the filter 'm' has no generation before 1, "
        . 'which is in force; kept: none', 'TAMIS.ROLLBACK', 'm');
}

function all_commands(): void
{
    bloom_commands();
    cuckoo_commands();
    tamis_commands();
}

/** A class that sets bits of the key `comments` by itself, and BF.* on the same key: both find all keys. */
function class_and_filter($filter, array $keys): void
{
    [$one, $two, $stranger] = $keys;
    same($filter->exists($one), false, 'nothing is there yet');
    same($filter->add($one), array_fill(0, 3, 0), 'the bits before');
    same($filter->exists($one), true, 'the class has added it');
    same(run('BF.EXISTS', 'comments', $one), 1, 'and BF.EXISTS finds it');
    same(run('BF.ADD', 'comments', $two), 1, 'BF.ADD');
    same($filter->exists($two), true, 'the class finds what BF.ADD has added');
    same($filter->add($two), array_fill(0, 3, 1), 'its bits are there');
    same([$filter->exists($stranger), run('BF.EXISTS', 'comments', $stranger)], [false, 0], 'a stranger');
}

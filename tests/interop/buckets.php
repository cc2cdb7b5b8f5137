<?php
// SPDX-License-Identifier: BSD-2-Clause
/*
 * buckets.php PORT PROGRAM KEY add|exists < KEYS: a program that keeps a Bloom filter in a string of Redis (tests/php/wild.php).
 *
 * PROGRAM is one of
 *     comments    three named functions, no modulus
 *     length:N    two functions modulo N
 *     eight:N     all eight, likewise
 *
 * Keys are in hexadecimal, one a line.  add prints what the program's add() returns, the bits before; exists prints 1 or 0.
 */
require __DIR__ . '/../php/wild.php';

final class Bucket extends BloomFilterRedis
{
    public function __construct(Redis $redis, string $bucket, protected $hashFunction, protected $length)
    {
        parent::__construct($redis, $bucket);
    }
}

[, $port, $program, $key, $what] = $argv;
$redis = new Redis();
$redis->connect('127.0.0.1', (int) $port);
[$name, $length] = explode(':', $program . ':0');
$lists = ['comments' => ['bkdr', 'sdbm', 'js'], 'length' => ['js', 'pjw'],
          'eight' => ['js', 'pjw', 'elf', 'bkdr', 'sdbm', 'djb', 'dek', 'fnv']];
$filter = new Bucket($redis, $key, $lists[$name], (int) $length);
while (($line = fgets(STDIN)) !== false) {
    $string = hex2bin(rtrim($line, "\n"));
    echo $what === 'add' ? implode(',', $filter->add($string)) : (int) $filter->exists($string), "\n";
}

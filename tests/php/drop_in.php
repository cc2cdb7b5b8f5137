<?php
// SPDX-License-Identifier: BSD-2-Clause
/* drop_in.php PORT KEY SEED: a program over a hand-written class.  classes.py runs it, and again with another `use` line. */
use WildKeyed as BloomFilter;

require getenv('CLASSES');

[, $port, $name, $seed] = $argv;
$redis = new Redis();
$redis->connect('127.0.0.1', (int) $port);
$filter = new BloomFilter($redis, ['BKDRHash', 'SDBMHash', 'JSHash'], $name, 4099);
for ($i = 0; $i < 300; $i++) {
    $filter->addKey("$seed $i");
    $filter->put(1000000 + $i); // an int, as ids of rows are
}
for ($i = 0; $i < 2000; $i++) {
    echo (int) $filter->existKey("$seed $i"), (int) $filter->isExists("$seed $i"), (int) $filter->isExists(1000000 + $i), "\n";
}

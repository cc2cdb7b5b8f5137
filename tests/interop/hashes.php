<?php
// SPDX-License-Identifier: BSD-2-Clause
/*
 * hashes.php: string hash functions and mt_rand positions as PHP itself computes them.
 *
 *     php hashes.php functions < KEYS      KEY, then of each function its $hash before the return
 *                                          statement, then what each function returns
 *     php hashes.php mt MODE M K < KEYS    KEY, crc32, K positions; MODE: mt, or legacy for the
 *                                          generator of PHP 5.2.1 to 7.0
 *     php hashes.php k < PAIRS             "M N": ceil((M/N) * log(2))
 *     php hashes.php version               PHP_VERSION_ID, and bytes of an int
 *
 * Keys are in hexadecimal, one a line; tabs between the fields, commas inside them.
 */
require __DIR__ . '/string_hashes.php';

/** Each line of standard input without its newline. */
function lines()
{
    while (($line = fgets(STDIN)) !== false) {
        yield rtrim($line, "\n");
    }
}

function tell_functions()
{
    $names = ['js', 'pjw', 'elf', 'bkdr', 'sdbm', 'djb', 'dek', 'fnv'];
    foreach (lines() as $hex) {
        $key = hex2bin($hex);
        $values = $raw = [];
        foreach ($names as $name) {
            $values[] = StringHashes::$name($key);
            $raw[] = StringHashes::$raw[$name];
        }
        echo $hex, "\t", implode(',', $raw), "\t", implode(',', $values), "\n";
    }
}

function tell_mt(string $mode, int $m, int $k)
{
    foreach (lines() as $hex) {
        $crc = crc32(hex2bin($hex));
        mt_srand($crc, $mode === 'legacy' ? MT_RAND_PHP : MT_RAND_MT19937);
        $positions = [];
        for ($i = 0; $i < $k; $i++) {
            $positions[] = mt_rand(0, $m - 1);
        }
        echo $hex, "\t", $crc, "\t", implode(',', $positions), "\n";
    }
}

function tell_k()
{
    foreach (lines() as $line) {
        [$m, $n] = array_map('intval', explode(' ', $line));
        echo sprintf('%.0f', ceil(($m / $n) * log(2))), "\n";
    }
}

match ($argv[1]) {
    'functions' => tell_functions(),
    'mt' => tell_mt($argv[2], (int) $argv[3], (int) $argv[4]),
    'k' => tell_k(),
    'version' => print(PHP_VERSION_ID . ' ' . PHP_INT_SIZE . "\n"),
};

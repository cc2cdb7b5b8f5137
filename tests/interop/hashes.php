<?php
// SPDX-License-Identifier: BSD-2-Clause
/*
 * hashes.php: string hash functions and mt_rand positions as PHP itself computes them, written the
 * way that programs which keep a Bloom filter in a Redis string are written.
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
error_reporting(E_ALL & ~E_DEPRECATED); // float to int in an operator, as these functions do

final class StringHashes
{
    /** $hash as it stands at the end of each function. */
    public static $raw = [];

    private static function result(string $name, $hash)
    {
        self::$raw[$name] = is_float($hash) ? 'float:' . sprintf('%.0f', $hash) : (string) $hash;
        return ($hash % 0xFFFFFFFF) & 0xFFFFFFFF;
    }

    public static function js($string)
    {
        $hash = 1315423911;
        $len = strlen($string);
        for ($i = 0; $i < $len; $i++) {
            $hash ^= (($hash << 5) + ord($string[$i]) + ($hash >> 2));
        }
        return self::result('js', $hash);
    }

    public static function pjw($string)
    {
        $bits = 4 * 8;
        $threeQuarters = (int) (($bits * 3) / 4);
        $oneEighth = (int) ($bits / 8);
        $highBits = 0xFFFFFFFF << (int) ($bits - $oneEighth);
        $hash = 0;
        $len = strlen($string);
        for ($i = 0; $i < $len; $i++) {
            $hash = ($hash << $oneEighth) + ord($string[$i]);
        }
        $test = $hash & $highBits;
        if ($test != 0) {
            $hash = (($hash ^ ($test >> $threeQuarters)) & (~$highBits));
        }
        return self::result('pjw', $hash);
    }

    public static function elf($string)
    {
        $hash = 0;
        $len = strlen($string);
        for ($i = 0; $i < $len; $i++) {
            $hash = ($hash << 4) + ord($string[$i]);
            $x = $hash & 0xF0000000;
            if ($x != 0) {
                $hash ^= ($x >> 24);
            }
            $hash &= ~$x;
        }
        return self::result('elf', $hash);
    }

    public static function bkdr($string)
    {
        $seed = 131;
        $hash = 0;
        $len = strlen($string);
        for ($i = 0; $i < $len; $i++) {
            $hash = (int) (($hash * $seed) + ord($string[$i]));
        }
        return self::result('bkdr', $hash);
    }

    public static function sdbm($string)
    {
        $hash = 0;
        $len = strlen($string);
        for ($i = 0; $i < $len; $i++) {
            $hash = (int) (ord($string[$i]) + ($hash << 6) + ($hash << 16) - $hash);
        }
        return self::result('sdbm', $hash);
    }

    public static function djb($string)
    {
        $hash = 5381;
        $len = strlen($string);
        for ($i = 0; $i < $len; $i++) {
            $hash = (int) (($hash << 5) + $hash) + ord($string[$i]);
        }
        return self::result('djb', $hash);
    }

    public static function dek($string)
    {
        $len = strlen($string);
        $hash = $len;
        for ($i = 0; $i < $len; $i++) {
            $hash = (($hash << 5) ^ ($hash >> 27)) ^ ord($string[$i]);
        }
        return self::result('dek', $hash);
    }

    public static function fnv($string)
    {
        $prime = 16777619;
        $hash = 2166136261;
        $len = strlen($string);
        for ($i = 0; $i < $len; $i++) {
            $hash = ($hash * $prime) % 0xFFFFFFFF;
            $hash ^= ord($string[$i]);
        }
        return self::result('fnv', $hash);
    }
}

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

switch ($argv[1]) {
    case 'functions':
        tell_functions();
        break;
    case 'mt':
        tell_mt($argv[2], (int) $argv[3], (int) $argv[4]);
        break;
    case 'k':
        tell_k();
        break;
    case 'version':
        echo PHP_VERSION_ID, ' ', PHP_INT_SIZE, "\n";
        break;
}

<?php
// SPDX-License-Identifier: BSD-2-Clause
/*
 * string_hashes.php: the string hash functions, written the way that programs which keep a Bloom
 * filter in a Redis string are written.
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

<?php
// SPDX-License-Identifier: BSD-2-Clause
/* autoload.php: finds the classes of this folder, for programs without composer. */
declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    if (preg_match('/^Tamis\\\\(Buckets\\\\\w+)$/D', $class, $found)) {
        $file = __DIR__ . '/' . strtr($found[1], '\\', '/') . '.php';
        if (is_file($file)) {
            require $file;
        }
    }
});

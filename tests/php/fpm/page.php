<?php
// SPDX-License-Identifier: BSD-2-Clause
// The page that fpm.py asks: is on the blacklist what should be, of which generation is it, and who has been here?  Written
// as an application would, with a store and filters that are opened at each request.
declare(strict_types=1);

$store = new Tamis\Store();
$blacklist = $store->filter('blacklist');
$first = (int) $_GET['first'];
$n = (int) $_GET['n'];
$keys = [];
for ($i = 0; $i < 8; $i++) {
    $keys["generation $i"] = 'generation-' . ($first + $i) . '.example';
}
for ($i = 0; $i < 20; $i++) {
    $keys["listed $i"] = 'd' . (($n * 7919 + $i * 50021) % 1000000) . '.example';
    $keys["unlisted $i"] = "u$n-$i.example";
}
$count = ['generation' => '', 'listed' => 0, 'unlisted' => 0];
foreach ($blacklist->hasMany($keys) as $key => $is_listed) {
    [$what, $i] = explode(' ', $key);
    if ($what === 'generation') {
        $count[$what] .= $is_listed ? $first + $i . ',' : '';
    } else {
        $count[$what] += (int) $is_listed;
    }
}
$seen = $store->openOrCreate('visitors', capacity: 2_000_000, fpRate: 1e-9);
$is_new = $seen->add($_GET['visitor']);
echo json_encode([...$count, 'single' => $blacklist->has("d$n.example"), 'new' => $is_new,
    'again' => $seen->add($_GET['visitor']), 'worker' => getmypid()]);

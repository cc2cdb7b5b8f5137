--TEST--
windowFrom: a window that counts from the first add of a key, or from the last
--FILE--
<?php
/* Seen to fail before there was windowFrom: Error, unknown named parameter. */
require __DIR__ . '/support.inc';
$store = new Tamis\Store(scratch());
$shape = ['windowItems' => 20, 'slices' => 4];
$from = [
    'first' => $store->create('first', ...$shape, windowFrom: 'first'),
    'last' => $store->create('last', ...$shape, windowFrom: 'last'),
    'nothing said' => $store->create('default', ...$shape),
];
foreach ($from as $name => $filter) {
    for ($i = $new = 0; $i < 200; $i++) { // a key that keeps coming, between others
        $filter->add("other $i");
        $new += (int) $filter->add('key');
    }
    echo "$name: ", $filter->stat()['window_from'], ', new ', $new > 1 ? 'again and again' : 'once', "\n";
}
show($store->create('plain', 10)->stat()['window_from']);
show($store->openOrCreate('first', ...$shape, windowFrom: 'first')->stat()['window_from']);
echo sentence(fn() => $store->openOrCreate('first', ...$shape)), "\n";
show($store->openOrCreate('first', ...$shape, whateverIsThere: true)->stat()['window_from']);
echo sentence(fn() => $store->create('g', ...$shape, windowFrom: 'middle')), "\n";
echo sentence(fn() => $store->create('g', 10, windowFrom: 'first')), "\n";
?>
--EXPECT--
first: first, new again and again
last: last, new once
nothing said: last, new once
null
"first"
Tamis\Exception\MismatchException -4: the filter 'first' exists with window from first, not last; ask for the same, or choose another name
"first"
ValueError 0: Tamis\Store::create(): Argument #15 ($windowFrom) must be "first" or "last"
Tamis\Exception\InvalidException -1: only a window counts from the first add of a key; give the window too, or leave that out

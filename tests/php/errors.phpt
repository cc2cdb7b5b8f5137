--TEST--
What no other case has: arguments that are refused, an answer for each key of a full filter, dropped and closed in between
--FILE--
<?php
require __DIR__ . '/support.inc';
use Tamis\Store;
$path = scratch();
$store = new Store($path);
$f = $store->create('f', 100);
foreach ([
    ['ValueError 0', fn() => new Store($path, busyTimeout: -1)],
    ['Tamis\Exception\InvalidException -1', fn() => new Store('redis://127.0.0.1:6379')],
    ['Tamis\Exception\InvalidException -1', fn() => new Store('file://' . $path)],
    ['ValueError 0', fn() => $store->create('g', 9, onFull: 'no')],
    ['ValueError 0', fn() => $store->create('g', 9, window: NAN)],
    ['Tamis\Exception\InvalidException -1', fn() => $store->create("a\x01b", 100)],
    ['Tamis\Exception\InvalidException -1', fn() => $store->create('g', 0)],
    ['Tamis\Exception\NotFoundException -2', fn() => $store->drop('none')],
    ['Tamis\Exception\NotFoundException -2', fn() => $store->rename('none', 'x')],
    ['Tamis\Exception\NotFoundException -2', fn() => $store->rollback('f')],
    ['Tamis\Exception\NotFoundException -2', fn() => $store->setPages('none', 'huge')],
    ['ValueError 0', fn() => $store->setPages('f', 'large')],
    ['Error 0', fn() => $store['f'] = 1],
    ['Error 0', function () use ($store) { unset($store['f']); }],
    ['TypeError 0', fn() => $f['a'] = 'b'],
    ['Tamis\Exception\UnsupportedException -15', fn() => $f->count('a')],
    ['Tamis\Exception\UnsupportedException -15', fn() => $f->rotate()],
] as $i => [$wanted, $call]) {
    if (($what = thrown($call)) !== $wanted) {
        echo "$i: $what, not $wanted\n";
    }
}
$store->setPages('f', 'huge');
show($store->filter('f')->stat()['pages']);
echo "full\n";
$small = $store->create('small', 3, onFull: 'refuse');
try {
    $small->addMany(['p' => '1', 'q' => '2', 'r' => '3', 's' => '4', 't' => '1']);
} catch (Tamis\Exception\FullException $e) {
    show(get_parent_class($e), $e instanceof RuntimeException, $e->answers);
}
echo "dropped\n";
$store->drop('f');
echo thrown(fn() => $store->filter('f')), "\n";
$store->create('f', 100)->add('anew');
$f = $store->filter('f');
show($f->has('anew'));
echo "a filter outlives its store's object\n";
$store->close();
show($f->has('anew'));
?>
--EXPECT--
"huge"
full
"Tamis\\Exception" true {"p":true,"q":true,"r":true,"s":null,"t":false}
dropped
Tamis\Exception\NotFoundException -2
true
a filter outlives its store's object
true

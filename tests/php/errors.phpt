--TEST--
Each error is an exception: wrong types, closed store, dropped filter, keys of 64 MiB
--INI--
memory_limit=512M
--FILE--
<?php
require __DIR__ . '/support.inc';
use Tamis\Store;
$path = scratch();
echo thrown(fn() => new Store($path, create: false)), "\n", thrown(fn() => new Store()), "\n",
    thrown(fn() => new Store($path, busyTimeout: -1)), "\n", thrown(fn() => new Store([])), "\n";
$store = new Store($path);
$f = $store->create('f', 100);
echo thrown(fn() => $store->filter('none')), "\n", thrown(fn() => $store->create('f', 100)), "\n",
    thrown(fn() => $store->create("a\x01b", 100)), "\n", thrown(fn() => $store->create('g', 0)), "\n",
    thrown(fn() => $store->create('g', -1)), "\n", thrown(fn() => $store->create('g', 9, onFull: 'no')), "\n",
    thrown(fn() => $store->create('g', 9, kind: 'no')), "\n",
    thrown(fn() => $store->create('g', 9, window: NAN)), "\n",
    thrown(fn() => $store->openOrCreate('f', 200)), "\n", thrown(fn() => $store->drop('none')), "\n",
    thrown(fn() => $store->rename('none', 'x')), "\n", thrown(fn() => $store->rollback('f')), "\n",
    thrown(fn() => $store["f"] = 1), "\n", thrown(function () use ($store) { unset($store['f']); }), "\n";
echo "keys\n", thrown(fn() => $f->add([])), "\n", thrown(fn() => $f->addMany(['a', 1.5])), "\n",
    thrown(fn() => $f->has('a')), "\n", thrown(fn() => $f->addMany('a')), "\n", thrown(fn() => $f[1.5]), "\n",
    thrown(fn() => $f['a'] = 'b'), "\n", thrown(fn() => $f->remove('a')), "\n", thrown(fn() => $f->count('a')), "\n",
    thrown(fn() => $f->rotate()), "\n", thrown(fn() => clone $f), "\n", thrown(fn() => serialize($f)), "\n",
    thrown(fn() => $f->property = 1), "\n";
$large = str_repeat('a', 64 << 20);
echo thrown(fn() => $f->add($large)), "\n", thrown(fn() => $f->has($large)), "\n",
    thrown(fn() => $f->addMany(['b', $large])), "\n", thrown(fn() => $f->has('b')), "\n",
    thrown(fn() => $f->add(substr($large, 1))), "\n";
unset($large);
echo "full\n";
$small = $store->create('small', 3, onFull: 'refuse');
try {
    $small->addMany(['p' => '1', 'q' => '2', 'r' => '3', 's' => '4', 't' => '1']);
} catch (Tamis\Exception\FullException $e) {
    echo get_parent_class($e), ' ', $e instanceof RuntimeException ? 'runtime ' : '', json_encode($e->answers), "\n";
}
echo "read only\n";
$reader = new Store($path, readOnly: true);
echo thrown(fn() => $reader->filter('f')->add('n')), "\n", thrown(fn() => $reader->drop('f')), "\n";
echo "dropped\n";
$store->drop('f');
echo thrown(fn() => $f->has('a')), "\n", thrown(fn() => $store->filter('f')), "\n";
$store->create('f', 100)->add('anew');
var_dump($store->filter('f')->has('anew'));
echo "closed\n";
$f = $store->filter('f');
$store->close();
var_dump($f->has('anew'));
$f->close();
$f->close();
echo thrown(fn() => $f->has('a')), "\n", thrown(fn() => $f->addMany([])), "\n", thrown(fn() => $f->stat()), "\n",
    thrown(fn() => $f->sync()), "\n", thrown(fn() => $f->items()), "\n", thrown(fn() => $f['a']), "\n",
    thrown(fn() => $store->names()), "\n", thrown(fn() => count($store)), "\n",
    thrown(fn() => $store->create('x', 1)), "\n", thrown(fn() => $store->path()), "\n";
?>
--EXPECT--
Tamis\Exception\NoStoreException -5
ValueError 0
ValueError 0
TypeError 0
Tamis\Exception\NotFoundException -2
Tamis\Exception\ExistsException -3
Tamis\Exception\InvalidException -1
Tamis\Exception\InvalidException -1
ValueError 0
ValueError 0
Tamis\Exception\InvalidException -1
ValueError 0
Tamis\Exception\MismatchException -4
Tamis\Exception\NotFoundException -2
Tamis\Exception\NotFoundException -2
Tamis\Exception\NotFoundException -2
Error 0
Error 0
keys
TypeError 0
TypeError 0
returned false
TypeError 0
TypeError 0
TypeError 0
Tamis\Exception\UnsupportedException -15
Tamis\Exception\UnsupportedException -15
Tamis\Exception\UnsupportedException -15
Error 0
Exception 0
Error 0
Tamis\Exception\InvalidException -1
Tamis\Exception\InvalidException -1
Tamis\Exception\InvalidException -1
returned false
returned true
full
Tamis\Exception runtime {"p":true,"q":true,"r":true,"s":null,"t":false}
read only
Tamis\Exception\ReadOnlyException -6
Tamis\Exception\ReadOnlyException -6
dropped
Tamis\Exception\DroppedException -14
Tamis\Exception\NotFoundException -2
bool(true)
closed
bool(true)
Tamis\Exception\ClosedException 0
Tamis\Exception\ClosedException 0
Tamis\Exception\ClosedException 0
Tamis\Exception\ClosedException 0
Tamis\Exception\ClosedException 0
Tamis\Exception\ClosedException 0
Tamis\Exception\ClosedException 0
Tamis\Exception\ClosedException 0
Tamis\Exception\ClosedException 0
Tamis\Exception\ClosedException 0

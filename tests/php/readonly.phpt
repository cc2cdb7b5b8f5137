--TEST--
A store that is opened to read: what would change it is refused, the rest answers
--FILE--
<?php
require __DIR__ . '/support.inc';
$path = scratch();
echo thrown(fn() => new Tamis\Store($path, readOnly: true)), ' ', json_encode(file_exists($path)), "\n";
$store = new Tamis\Store($path);
$store->create('f', 100)->add('a');
$store->create('c', 100, kind: 'counting')->add('a');
foreach (['old', 'new'] as $key) {
    published($store->build('b', keep: 1), [$key]);
}
$reader = new Tamis\Store($path, readOnly: true);
$f = $reader['f'];
$c = $reader->filter('c', populate: true);
foreach ([fn() => $reader->create('g', 1), fn() => $reader->openOrCreate('g', 1), fn() => $reader->drop('f'),
    fn() => $reader->rename('f', 'g'), fn() => $reader->setPages('f', 'huge'), fn() => $reader->rollback('b'), fn() => $reader->build('b'),
    fn() => $f->add('b'), fn() => $f->addMany(['b']), fn() => $f['b'] = true, fn() => $c->remove('a'),
    fn() => $c->removeMany(['a']), function () use ($c) { unset($c['a']); }, fn() => $f->accept(), fn() => $f->sync()] as $i => $call) {
    if (($what = thrown($call)) !== 'Tamis\Exception\ReadOnlyException -6') {
        echo "$i: $what\n";
    }
}
show($f->has('a'), $f->has('b'), $c->count('a'), $f->items(), $f->stat()['name'], $reader->names(),
    $reader['b']->hasMany(['old', 'new']));
echo "it follows writers\n";
$store->filter('f')->add('b');
$store->rollback('b');
show($f->has('b'), $reader['b']->hasMany(['old', 'new']));
?>
--EXPECT--
Tamis\Exception\NoStoreException -5 false
true false 1 1 "f" ["b","c","f"] [false,true]
it follows writers
true [true,false]

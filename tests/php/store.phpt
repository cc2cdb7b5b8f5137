--TEST--
Tamis\Store and Tamis\Build; kept handles follow builds, rollback, rename and drop
--INI--
tamis.open_filters=2
--FILE--
<?php
require __DIR__ . '/support.inc';
$path = scratch();
ini_set('tamis.store', $path);
$store = new Tamis\Store();
show($store->path() === realpath($path));
$build = $store->build('list', 0.001);
$build->addMany(['one', 'two', 'one']);
$build->except(['never']);
$build->against(['good']);
$result = $build->publish();
show([$result['published'], $result['keys'], $result['distinct']]);
echo thrown(fn() => $build->publish()), "\n", thrown(fn() => $build->addMany(['a'])), "\n";
$list = $store->filter('list');
show($list->has('one'), $list->has('three'));
published($store->build('list', ifChanged: true, keep: 1), ['three']);
show($list->has('one'), $list->has('three'), $store['list']->has('three'));
$store->rollback('list');
show($list->has('one'), $list->has('three'));
$given_up = $store->build('list');
$given_up->addMany(['four']);
$given_up->close();
unset($given_up);
foreach (['a', 'b', 'c', 'd'] as $name) {
    $store->create($name, 100)->add("in $name");
}
show(...array_map(fn($name) => $store->filter($name)->has("in $name"), ['a', 'b', 'c', 'd', 'a']));
echo implode(' ', $store->names()), ' ', implode(' ', $store->names('li')), ' ', count($store), ' ',
    implode(' ', iterator_to_array($store)), "\n";
$a = $store->filter('a');
$store->rename('a', 'e');
$store->rename('b', 'a');
show($a->has('in a'), $store->filter('a')->has('in b'), $store->filter('e')->has('in a'));
show($store->has('e'), isset($store['b']), $store->has(''), isset($store['a']));
$store->drop('a');
$store->create('a', 100);
show($store->filter('a')->has('in b'), $store->openOrCreate('e', 100)->has('in a'),
    $store->filter('e', populate: true)->has('in a'));
?>
--EXPECT--
true
[true,3,2]
Tamis\Exception\ClosedException 0
Tamis\Exception\ClosedException 0
true false
false true true
true false
true true true true true
a b c d list list 5 a b c d list
true true true
true false false true
false true true

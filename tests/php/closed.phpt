--TEST--
Every public method of a closed store, filter or build throws ClosedException
--FILE--
<?php
require __DIR__ . '/support.inc';
$store = new Tamis\Store(scratch());
$filter = $store->create('f', 100);
$build = $store->build('b');
// Arguments for those that want some.  A method that is new and missing here is called without, and seen below.
$arguments = [
    'filter' => ['f'], 'create' => ['g', 1], 'openOrCreate' => ['f', 100], 'build' => ['b'], 'drop' => ['f'],
    'rename' => ['f', 'g'], 'setPages' => ['f', 'small'], 'rollback' => ['f'], 'publishFile' => ['f', __FILE__], 'add' => ['a'], 'remove' => ['a'],
    'addMany' => [['a']], 'hasMany' => [['a']], 'removeMany' => [['a']], 'countMany' => [['a']],
    'against' => [['a']], 'except' => [['a']], 'has' => ['f'], 'hasName' => ['f'],
    'offsetExists' => ['f'], 'offsetGet' => ['f'], 'offsetSet' => ['f', true], 'offsetUnset' => ['f'],
];
foreach ([$build, $filter, $store] as $object) {
    $object->close();
    $object->close();
    foreach ((new ReflectionClass($object))->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
        $name = $method->getName();
        if ($name === 'close') {
            continue;
        }
        $what = sentence(fn() => $object->$name(...$arguments[$name] ?? []));
        $like = 'Tamis\Exception\ClosedException 0: the ' . strtolower((new ReflectionClass($object))->getShortName()) .
            ' is closed; open it again';
        if ($what !== $like) {
            echo get_class($object), "::$name: $what\n";
        }
    }
}
?>
--EXPECT--
Tamis\Store::__construct: Error 0: the store was opened already
Tamis\Store::offsetSet: Error 0: a store's filters are made by create() and removed by drop()
Tamis\Store::offsetUnset: Error 0: a store's filters are made by create() and removed by drop()

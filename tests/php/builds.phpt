--TEST--
Tamis\Build: what it takes, tells, publishes and leaves behind
--FILE--
<?php
require __DIR__ . '/support.inc';
$path = scratch();
$store = new Tamis\Store($path);
$build = $store->build('list', 0.01, 'bloom');
$keys = array_map(fn($i) => "key $i", range(0, 4999));
show($build->addMany($keys), $build->addMany(['by name' => 'key 0', 12]), $build->addMany([]),
    $build->except(['key 7']), $build->against(array_map(fn($i) => "good $i", range(0, 99999))));
$result = $build->publish();
show($result['published'], $result['keys'], $result['distinct'], $result['conflicts'], $result['exceptions'] === $result['found'] + 1, $result['found'] > 30,
    $result['generation'], strlen($result['key_digest']), $result['size_bytes'] > 5000, $result['sampled'] > 0);
$list = $store->filter('list');
show($list->has('key 7'), $list->has('key 4999'), $list->has('12'), $list->stat()['exceptions'] === $result['exceptions']);
show(in_array(true, $list->hasMany(array_map(fn($i) => "good $i", range(0, 99999))), true));
echo "the same again\n";
$build = $store->build('list', 0.01, 'bloom', ifChanged: true);
$build->addMany($keys);
$build->addMany([12]);
$build->except(['key 7']);
$build->against(array_map(fn($i) => "good $i", range(0, 99999)));
$again = $build->publish();
show($again['published'], $again['generation'], $again['key_digest'] === $result['key_digest']);
echo "other kinds, and what they refuse\n";
foreach (['bloom', 'blocked', 'fuse', 'counting'] as $kind) {
    echo "$kind: ", thrown(fn() => published($store->build("of $kind", 0.01, $kind), ['a', 'b'])['keys']), "\n";
}
echo thrown(fn() => $store->build('')), "\n", thrown(fn() => $store->build("a\nb")), "\n", thrown(fn() => $store->build('x', 2.0)), "\n",
    thrown(fn() => $store->build('x', hashSet: 'none')), "\n", thrown(fn() => $store->build('x', kind: 'none')), "\n";
echo "hash set and generations\n";
foreach (['first', 'second', 'third'] as $key) {
    published($store->build('kept', 0.01, 'bloom', hashSet: 'xxh3', keep: 2), [$key]);
}
show($store['kept']->has('third'), $store->rollback('kept'), $store['kept']->has('second'), $store->rollback('kept', 1),
    $store['kept']->has('first'));
echo thrown(fn() => $store->rollback('kept', 99)), "\n";
echo "of a filter that counts, and of one with a window\n";
$store->create('counts', 10, kind: 'counting');
$store->create('window', 10, window: 60);
foreach (['counts', 'window'] as $name) {
    $build = $store->build($name);
    $build->addMany(['a']);
    echo thrown(fn() => $build->publish()), ' ', thrown(fn() => $build->publish()), "\n";
}
echo "a list of a file\n";
$file = "$path.tamis";
copy(getenv('TAMIS_PHP_STUBS') . '/../../tests/golden/streams-2/fuse-8.tamis', $file);
$counts = $store->filter('counts');
show($store->publishFile('counts', $file, keep: 3), $counts->stat()['kind'], $counts->stat()['keep'], $counts->stat()['generation'],
    $counts->stat()['imported_from'] === substr($file, -79), $store->publishFile('counts', $file, ifChanged: true));
file_put_contents($file, substr(file_get_contents($file), 0, -1));
echo thrown(fn() => $store->publishFile('counts', $file)), "\n";
unlink($file);
echo "given up: nothing is left\n";
$files = fn() => count(glob("$path/{staging,segments}/*", GLOB_BRACE));
$before = $files();
for ($i = 0; $i < 3; $i++) {
    $build = $store->build("given up $i");
    $build->addMany($keys);
    $i === 0 ? $build->close() : $build = null;
}
show($files() === $before, $store->names('given'));
?>
--EXPECT--
null null null null null
true 5002 5001 0 true true 1 16 true true
false true true true
false
the same again
false 1 true
other kinds, and what they refuse
bloom: returned 2
blocked: returned 2
fuse: returned 2
counting: Tamis\Exception\UnsupportedException -15
Tamis\Exception\InvalidException -1
Tamis\Exception\InvalidException -1
Tamis\Exception\InvalidException -1
Tamis\Exception\InvalidException -1
Tamis\Exception\InvalidException -1
hash set and generations
true null true null true
Tamis\Exception\NotFoundException -2
of a filter that counts, and of one with a window
Tamis\Exception\MismatchException -4 Tamis\Exception\ClosedException 0
Tamis\Exception\MismatchException -4 Tamis\Exception\ClosedException 0
a list of a file
true "fuse" 3 2 true false
Tamis\Exception\CorruptException -11
given up: nothing is left
true []

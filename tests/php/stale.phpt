--TEST--
A process that lives for long: handles that are kept follow the store, and are opened anew where they cannot
--INI--
error_log=/dev/null
--FILE--
<?php
require __DIR__ . '/support.inc';
use Tamis\Store;
$path = scratch();
register_shutdown_function(fn() => exec('rm -rf ' . escapeshellarg("$path.away")));

echo "the directory is another one\n";
(new Store($path))->create('f', 100)->add('first');
exec("rm -rf $path");
echo thrown(fn() => new Store($path, create: false)), "\n";
show((new Store($path))->names());
(new Store($path))->create('f', 100)->add('second');
rename($path, "$path.away");
echo php('(new Tamis\Store(' . var_export($path, true) . '))->create("f", 100)->add("third");');
$f = (new Store($path))->filter('f');
show($f->hasMany(['first', 'second', 'third']), (new Store("$path.away"))->filter('f')->has('second'));
echo "and back\n";
exec("rm -rf $path");
rename("$path.away", $path);
show((new Store($path))->filter('f')->hasMany(['first', 'second', 'third']), mapped($path));

echo "dropped and made again, by others\n";
$store = new Store($path);
$run = fn(string $code) => print php('$s = new Tamis\Store(' . var_export($path, true) . "); $code");
$run('$s->drop("f"); $s->create("f", 100)->add("fourth");');
show($store->filter('f')->hasMany(['second', 'fourth']), $store->openOrCreate('f', 100)->has('fourth'));
echo "renamed by others, and another has the name\n";
$run('$s->rename("f", "g"); $s->create("f", 100)->add("fifth");');
show($store->openOrCreate('f', 100)->hasMany(['fourth', 'fifth']), $store->filter('g')->has('fourth'));
echo "made anew as a whole by others\n";
$run('published($s->build("list"), ["old"]);');
$list = $store->filter('list');
foreach (['new', 'newer'] as $key) {
    $run("published(\$s->build('list', keep: 1), ['$key']);");
    show($list->hasMany(['old', $key]), $store->filter('list')->hasMany(['old', $key]));
}
$run('$s->rollback("list");');
show($list->hasMany(['new', 'newer']), $store->filter('list')->hasMany(['new', 'newer']));

echo "openOrCreate() takes the kept handle\n";
$store->create('kept', 1000, 0.01)->add('a');
$checkpoint = function () use ($store) { // when; the close of a handle that has added would be one
    return php('foreach ((new Tamis\Store(' . var_export($store->path(), true) . '))->filter("kept")->stat() as $k => $v) ' .
        '$k === "checkpointed_at" && print $v;');
};
$before = $checkpoint();
for ($i = 0; $i < 20; $i++) {
    $store->openOrCreate('kept', 1000, 0.01)->add("key $i");
}
show($checkpoint() === $before, $store->openOrCreate('kept', 1000, 0.01)->items());
echo thrown(fn() => $store->openOrCreate('kept', 1000, 0.02)), "\n", thrown(fn() => $store->openOrCreate('kept', 2000, 0.01)), "\n",
    thrown(fn() => $store->openOrCreate('kept', 1000, 0.01, hashSet: 'murmur3')), "\n";
$run('$s->drop("kept"); $s->create("kept", 5000, 0.01);');
echo thrown(fn() => $store->openOrCreate('kept', 1000, 0.01)), ' ', $store->openOrCreate('kept', 5000, 0.01)->items(), "\n";

$store->openOrCreate('rebuilt', 1000, 0.01, kind: 'bloom');
$run('published($s->build("rebuilt", 0.25, "bloom"), ["a"]);');
echo thrown(fn() => $store->openOrCreate('rebuilt', 1000, 0.01, kind: 'bloom')), "\n";

echo "damaged under us, and mended\n";
$store->create('cut', 100)->add('a');
$segments = glob("$path/segments/*.seg");
$segment = end($segments);
$good = file_get_contents($segment);
$file = fopen($segment, 'r+');
ftruncate($file, 4000);
echo thrown(fn() => $store->filter('cut')->has('a')), "\n";
fwrite($file, $good);
show($store->filter('cut')->has('a'));

echo "the directory of an object is removed: as docs/php.md says\n";
$store = new Store($path);
$f = $store->create('object', 100);
exec("rm -rf $path");
show($f->add('a'), $f->add('a'), $f->has('a'));
foreach ([fn() => $f->stat(), fn() => $f->sync(), fn() => $store->names(), fn() => $store->filter('object')] as $call) {
    echo thrown($call), "\n";
}
echo get_parent_class((function () use ($f) { try { $f->addMany(range(1, 1000)); } catch (Throwable $e) { return $e; } })()), "\n";
$new = new Store($path);
show($new->openOrCreate('object', 100)->has('a'), $f->has('a'));
$f = $new->filter('object');
$new->drop('object');
echo thrown(fn() => $f->add('a')), ' ', thrown(fn() => $f->has('a')), "\n";
?>
--EXPECT--
the directory is another one
Tamis\Exception\NoStoreException -5
[]
[false,false,true] true
and back
[false,true,false] 1
dropped and made again, by others
[false,true] true
renamed by others, and another has the name
[false,true] true
made anew as a whole by others
[false,true] [false,true]
[false,true] [false,true]
[true,false] [true,false]
openOrCreate() takes the kept handle
true 21
Tamis\Exception\MismatchException -4
Tamis\Exception\MismatchException -4
Tamis\Exception\InvalidException -1
Tamis\Exception\MismatchException -4 0
Tamis\Exception\MismatchException -4
damaged under us, and mended
Tamis\Exception\CorruptException -11
true
the directory of an object is removed: as docs/php.md says
true false true
Tamis\Exception\NoStoreException -5
Tamis\Exception\NoStoreException -5
Tamis\Exception\NoStoreException -5
Tamis\Exception\NoStoreException -5
Tamis\Exception
false true
Tamis\Exception\DroppedException -14 Tamis\Exception\DroppedException -14

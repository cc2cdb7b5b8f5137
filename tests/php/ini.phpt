--TEST--
Settings tamis.store and tamis.open_filters; at most so many handles stay open
--INI--
tamis.store=/nowhere/at/all
--FILE--
<?php
require __DIR__ . '/support.inc';
show(ini_get_all('tamis', false));
echo thrown(fn() => new Tamis\Store(create: false)), "\n";
$path = scratch();
show(ini_set('tamis.store', $path), (new Tamis\Store())->path() === realpath($path));
ini_set('tamis.store', '');
echo sentence(fn() => new Tamis\Store()), "\n", sentence(fn() => new Tamis\Store('')), "\n";
show(@ini_set('tamis.open_filters', '-1'), ini_get('tamis.open_filters'));

$store = new Tamis\Store($path);
$kept = function (int $most, int $used) use ($store, $path) {
    ini_set('tamis.open_filters', '0');
    $store->openOrCreate('small', 10)->close(); // the limit holds when an object is done with a handle
    ini_set('tamis.open_filters', (string) $most);
    $objects = [];
    for ($i = 0; $i < $used; $i++) {
        $objects[] = $store->openOrCreate("f$i", 100);
        $objects[$i]->add("in $i");
    }
    $meanwhile = mapped($path);
    $objects = [];
    return [$meanwhile, mapped($path)];
};
foreach ([[0, 0], [0, 5], [1, 5], [3, 5], [5, 5], [100, 5]] as $case) {
    show($case, $kept(...$case));
}
echo "the newest stay\n";
ini_set('tamis.open_filters', '2');
foreach (['f0', 'f1', 'f2', 'f1', 'f3'] as $name) {
    $store->filter($name)->close();
}
preg_match_all('~/segments/([0-9a-f]+)\.seg~', file_get_contents('/proc/self/maps'), $maps);
$stay = array_unique($maps[1]);
foreach (['f1', 'f3'] as $name) {
    $store->filter($name);
}
preg_match_all('~/segments/([0-9a-f]+)\.seg~', file_get_contents('/proc/self/maps'), $maps);
show(count($stay), array_diff(array_unique($maps[1]), $stay));
echo "of too many, those that have only read are closed first\n";
/* Seen to fail where the oldest was closed, whatever it had done: the close of f0 was a checkpoint. */
ini_set('tamis.open_filters', '0');
$store->openOrCreate('small', 10)->close();
$checkpoints = fn() => array_map(fn($i) => $store->filter("f$i")->stat()['checkpointed_at'], [0, 1]);
$before = $checkpoints();
ini_set('tamis.open_filters', '3');
$store->filter('f0')->addMany(['more']);
$store->filter('f1')['more'] = true;
for ($round = 0; $round < 3; $round++) {
    foreach (['f2', 'f3', 'f4', 'small'] as $name) {
        $store->filter($name)->has('x');
        $store->filter($name)->hasMany(['y']);
    }
}
show($checkpoints() === $before, mapped($path));
$store->filter('f2')->add('more');
$store->filter('f3')->add('more'); // now a fourth has added, and the oldest of them goes
show($checkpoints() === $before);
echo "what was added is there in any case\n";
show(...array_map(fn($i) => $store->filter("f$i")->has("in $i"), range(0, 4)));
echo "phpinfo\n";
ob_start();
phpinfo(INFO_MODULES);
$info = ob_get_clean();
show(...array_map(fn($line) => str_contains($info, $line),
    ['tamis => 0', 'library => 0', 'vector instructions => ', 'tamis.open_filters => 3 => 256', 'tamis.store => no value']));
echo "open_basedir\n";
ini_set('open_basedir', __DIR__);
echo sentence(fn() => @new Tamis\Store($path)), "\n";
?>
--EXPECT--
{"tamis.open_filters":"256","tamis.store":"/nowhere/at/all"}
Tamis\Exception\NoStoreException -5
"/nowhere/at/all" true
ValueError 0: Tamis\Store::__construct(): Argument #1 ($path) must be the directory of a store, or tamis.store be set in php.ini
ValueError 0: Tamis\Store::__construct(): Argument #1 ($path) must be the directory of a store, or tamis.store be set in php.ini
false "256"
[0,0] [0,0]
[0,5] [5,0]
[1,5] [5,1]
[3,5] [5,3]
[5,5] [5,5]
[100,5] [5,5]
the newest stay
2 []
of too many, those that have only read are closed first
true 3
false
what was added is there in any case
true true true true true
phpinfo
true true true true true
open_basedir
ValueError 0: Tamis\Store::__construct(): Argument #1 ($path) is outside open_basedir

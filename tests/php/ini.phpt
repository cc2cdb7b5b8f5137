--TEST--
Settings tamis.store and tamis.open_filters; at most so many handles stay open
--INI--
tamis.store=/nowhere/at/all
--FILE--
<?php
require __DIR__ . '/support.inc';
echo json_encode(ini_get_all('tamis', false)), "\n";
echo thrown(fn() => new Tamis\Store(create: false)), "\n";
$path = scratch();
var_dump(ini_set('tamis.store', $path), (new Tamis\Store())->path() === realpath($path));
ini_set('tamis.store', '');
echo sentence(fn() => new Tamis\Store()), "\n", sentence(fn() => new Tamis\Store('')), "\n";
var_dump(@ini_set('tamis.open_filters', '-1'), ini_get('tamis.open_filters'));

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
    echo json_encode($case), ' ', json_encode($kept(...$case)), "\n";
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
var_dump(count($stay), array_diff(array_unique($maps[1]), $stay));
echo "what was added is there in any case\n";
for ($i = 0; $i < 5; $i++) {
    var_dump($store->filter("f$i")->has("in $i"));
}
echo "phpinfo\n";
ob_start();
phpinfo(INFO_MODULES);
$info = ob_get_clean();
foreach (['tamis => 0', 'library => 0', 'vector instructions => ', 'tamis.open_filters => 2 => 64', 'tamis.store => no value'] as $line) {
    var_dump(str_contains($info, $line));
}
echo "open_basedir\n";
ini_set('open_basedir', __DIR__);
echo sentence(fn() => @new Tamis\Store($path)), "\n";
?>
--EXPECT--
{"tamis.open_filters":"64","tamis.store":"\/nowhere\/at\/all"}
Tamis\Exception\NoStoreException -5
string(15) "/nowhere/at/all"
bool(true)
ValueError 0: Tamis\Store::__construct(): Argument #1 ($path) must be the directory of a store, or tamis.store be set in php.ini
ValueError 0: Tamis\Store::__construct(): Argument #1 ($path) must be the directory of a store, or tamis.store be set in php.ini
bool(false)
string(2) "64"
[0,0] [0,0]
[0,5] [5,0]
[1,5] [5,1]
[3,5] [5,3]
[5,5] [5,5]
[100,5] [5,5]
the newest stay
int(2)
array(0) {
}
what was added is there in any case
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
phpinfo
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
open_basedir
ValueError 0: Tamis\Store::__construct(): Argument #1 ($path) is outside open_basedir

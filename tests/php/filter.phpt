--TEST--
Tamis\Filter: every method
--FILE--
<?php
require __DIR__ . '/support.inc';
$store = new Tamis\Store(scratch());
$seen = $store->create('seen', 1000, 0.001);
var_dump($seen->add('a'), $seen->add('a'), $seen->has('a'), $seen->has('b'), $seen->add(''), $seen->add("\0"));
echo json_encode($seen->addMany(['x' => 'k1', 'y' => 'k2', 7 => 'k1', 'z' => 'a'])), "\n";
echo json_encode($seen->addMany(['k3', 'k4', 'k3'])), "\n";
echo json_encode($seen->hasMany(['k3', 'no', 5 => 'k1'])), "\n";
echo json_encode([$seen->addMany([]), $seen->hasMany([12]), $seen->addMany([12]), $seen->has('12')]), "\n";
$many = [];
for ($i = 0; $i < 5000; $i++) {
    $many["n$i"] = "key $i";
}
var_dump(count($seen->addMany($many)) === 5000, array_keys($seen->hasMany($many)) === array_keys($many),
    !in_array(false, $seen->hasMany($many), true));
$word = 'by reference';
$list = [&$word];
var_dump($seen->addMany($list) === [true]);
var_dump(count($seen) === $seen->items(), $seen->items() > 5000);
var_dump(isset($seen['a']), $seen['zz']);
$seen['zz'] = true;
$seen[] = 'yy';
var_dump($seen['zz'], isset($seen['yy']));
$stat = $seen->stat();
echo $stat['name'], ' ', $stat['kind'], ' ', $stat['hash_set'], ' ', $stat['fp_rate'], "\n";
var_dump($seen->sync(), $seen->accept());

$counted = $store->create('counted', 100, kind: 'counting');
echo json_encode($counted->addMany(['u', 'u', 'v'])), json_encode($counted->countMany(['u', 'v', 'w'])),
    json_encode($counted->removeMany(['u', 'w'])), $counted->count('u'), $counted->count(), "\n";
var_dump($counted->remove('v'), $counted->remove('v'));
unset($counted['u']);
var_dump(count($counted));
$window = $store->create('window', 100, window: 60);
var_dump($window->rotate());
?>
--EXPECT--
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
bool(true)
{"x":true,"y":true,"7":false,"z":false}
[true,true,false]
{"0":true,"1":false,"5":true}
[[],[false],[true],true]
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
seen blocked xxh3 0.001
NULL
NULL
[true,false,true][2,1,0][true,false]12
bool(true)
bool(false)
int(0)
NULL

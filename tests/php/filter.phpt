--TEST--
Tamis\Filter: every method
--FILE--
<?php
require __DIR__ . '/support.inc';
$store = new Tamis\Store(scratch());
$seen = $store->create('seen', 1000, 0.001);
show($seen->add('a'), $seen->add('a'), $seen->has('a'), $seen->has('b'), $seen->add(''), $seen->add("\0"));
show($seen->addMany(['x' => 'k1', 'y' => 'k2', 7 => 'k1', 'z' => 'a']));
show($seen->addMany(['k3', 'k4', 'k3']));
show($seen->hasMany(['k3', 'no', 5 => 'k1']));
show([$seen->addMany([]), $seen->hasMany([12]), $seen->addMany([12]), $seen->has('12')]);
$many = [];
for ($i = 0; $i < 5000; $i++) {
    $many["n$i"] = "key $i";
}
show(count($seen->addMany($many)) === 5000, array_keys($seen->hasMany($many)) === array_keys($many),
    !in_array(false, $seen->hasMany($many), true));
$word = 'by reference';
$list = [&$word];
show($seen->addMany($list) === [true]);
show(count($seen) === $seen->items(), $seen->items() > 5000);
show(isset($seen['a']), $seen['zz']);
$seen['zz'] = true;
$seen[] = 'yy';
show($seen['zz'], isset($seen['yy']));
$stat = $seen->stat();
echo $stat['name'], ' ', $stat['kind'], ' ', $stat['hash_set'], ' ', $stat['fp_rate'], "\n";
show($seen->sync(), $seen->accept());

$counted = $store->create('counted', 100, kind: 'counting');
show($counted->addMany(['u', 'u', 'v']), $counted->countMany(['u', 'v', 'w']), $counted->removeMany(['u', 'w']),
    $counted->count('u'), $counted->count());
show($counted->remove('v'), $counted->remove('v'));
unset($counted['u']);
show(count($counted));
$window = $store->create('window', 100, window: 60);
show($window->rotate());
?>
--EXPECT--
true false true false true true
{"x":true,"y":true,"7":false,"z":false}
[true,true,false]
{"0":true,"1":false,"5":true}
[[],[false],[true],true]
true true true
true
true true
true false
true true
seen blocked xxh3 0.001
null null
[true,false,true] [2,1,0] [true,false] 1 2
true false
0
null

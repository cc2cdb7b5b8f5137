--TEST--
Keys of all sorts, and answers keyed as given
--INI--
memory_limit=768M
--FILE--
<?php
require __DIR__ . '/support.inc';
$store = new Tamis\Store(scratch());
$filter = $store->create('f', 100000, 1e-9);
echo "bytes of any value\n";
$odd = ['', "\0", "\0\0", "a\0b", "a\0c", 'a', ' a', "a\n", "\xff\xfe", "\u{e9}", "e\u{301}", str_repeat('x', 65536)];
foreach ($odd as $key) {
    if ($filter->has($key) || !$filter->add($key) || $filter->add($key) || !$filter->has($key)) {
        echo bin2hex(substr($key, 0, 9)), " is taken for another\n";
    }
}
show($filter->items() === count($odd), in_array(false, $filter->hasMany($odd), true));
echo "numbers\n";
show($filter->addMany([7, '7', -7, '-7', PHP_INT_MAX, PHP_INT_MIN, '-9223372036854775808', '07']));
show($filter->has('7'), $filter[7], $filter['9223372036854775807'], $filter->has(7), $filter->has(7.0));
echo "answers keyed as given\n";
$keys = ['b' => 'new 1', 5 => 'new 2', -3 => 'new 3', 'a' => 'new 1', '8' => 'new 4', '' => 'new 5', "n\0l" => 'new 6', '08' => ''];
$answers = $filter->addMany($keys);
show(array_keys($answers) === array_keys($keys), array_values($answers) === [true, true, true, false, true, true, true, false]);
show(array_values($filter->hasMany(array_flip(array_flip($keys)))));
$holes = ['hole 0', 'hole 1', 'hole 2', 'hole 3'];
unset($holes[0], $holes[2]);
show($filter->addMany($holes), $filter->hasMany($holes));
$answers = $filter->addMany(['x', 'y']);
$answers[] = 'appended';
show($answers, array_is_list($filter->hasMany(['x', 'y'])));
echo "references and copies\n";
$word = 'referred';
$list = ['p' => &$word, 'q' => 'plain'];
$copy = $list;
show($filter->addMany($list), $list === $copy);
$answers = $filter->hasMany($list);
$answers['p'] = 'changed';
show($word);
$self = ['self'];
$self[1] = &$self;
echo thrown(fn() => $filter->addMany($self)), "\n";
unset($self[1]);
echo "as many as fill several rounds, and none\n";
foreach ([0, 1, 1023, 1024, 1025, 2048, 3000] as $count) {
    $many = $packed = [];
    for ($i = 0; $i < $count; $i++) {
        $many["n$i"] = $packed[] = "of $count: $i";
    }
    $new = $filter->addMany($many);
    if (array_keys($new) !== array_keys($many) || in_array(false, $new, true) ||
        $filter->addMany($packed) !== array_fill(0, $count, false) || $filter->hasMany($packed) !== array_fill(0, $count, true)) {
        echo "$count: wrong\n";
    }
}
echo "64 MiB\n";
$large = str_repeat('k', (64 << 20) - 1);
show($filter->add($large), $filter->has($large), $filter->hasMany([$large, 'a']));
$large .= 'k';
$sentence = 'Tamis\Exception\InvalidException -1: a key of 67108864 bytes is too long; take a hash of it as the key, ' .
    "such as hash('sha256', \$key, true)";
foreach ([fn() => $filter->add($large), fn() => $filter->has($large), fn() => $filter->remove($large), fn() => $filter->count($large),
    fn() => $filter[$large], fn() => isset($filter[$large]), fn() => $filter[$large] = true, fn() => $filter[] = $large,
    fn() => $filter->addMany(['unseen', $large]), fn() => $filter->hasMany([$large]), fn() => $filter->countMany([$large]),
    fn() => $filter->removeMany([$large]), fn() => $store->build('b')->addMany(['unseen', $large])] as $call) {
    if (sentence($call) !== $sentence) {
        echo sentence($call), "\n";
    }
}
show($filter->has('unseen'), $filter->items());
?>
--EXPECT--
bytes of any value
true false
numbers
[true,false,true,false,true,true,false,true]
true true true true true
answers keyed as given
true true
[true,true,true,true,true,true,true]
{"1":true,"3":true} {"1":true,"3":true}
[true,true,"appended"] true
references and copies
{"p":true,"q":true} true
"referred"
TypeError 0
as many as fill several rounds, and none
64 MiB
true true [true,true]
false 8151

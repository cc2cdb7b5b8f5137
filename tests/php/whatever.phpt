--TEST--
openOrCreate() with whateverIsThere: a filter of another shape is taken as it is, and made only where there is none
--FILE--
<?php
/* Seen to fail with a call that takes a kept handle without a look at whether its filter was dropped. */
require __DIR__ . '/support.inc';
$path = scratch();
$store = new Tamis\Store($path);
$run = fn(string $code) => print php('$s = new Tamis\Store(' . var_export($path, true) . "); $code");
$open = fn(int $capacity, mixed ...$more) => $store->openOrCreate('f', $capacity, ...$more, whateverIsThere: true);
show($open(1000)->stat()['capacity'], $open(1000)->add('a'));
echo "a deploy changes what is asked for\n";
foreach ([[2000], [1000, 0.5], [1000, 'kind' => 'counting'], [0, 'mBits' => 64, 'k' => 2], [1000, 'durable' => true]] as $shape) {
    show($open(...$shape)->stat()['capacity'], $open(...$shape)->has('a'));
}
echo thrown(fn() => $store->openOrCreate('f', 2000)), ' ', thrown(fn() => $store->openOrCreate('f', 2000, whateverIsThere: false)), "\n";
echo "dropped, and made again, by others\n";
$run('$s->drop("f");');
show($open(3000)->stat()['capacity'], $open(1000)->has('a'));
$run('$s->drop("f"); $s->create("f", 500)->add("b");');
show($open(3000)->stat()['capacity'], $open(1000)->has('b'));
$run('$s->rename("f", "g"); published($s->build("f"), ["c"]);');
show($open(3000)->stat()['kind'], $open(1000)->has('c'), count($store));
echo "many processes at once\n";
for ($round = 0; $round < 5; $round++) {
    $programs = [];
    for ($i = 0; $i < 6; $i++) {
        $code = '$f = (new Tamis\Store(' . var_export($path, true) . "))->openOrCreate('r$round', " . (1000 + $i) .
            ", whateverIsThere: true); \$f->add('of $i'); echo \$f->stat()['capacity'];";
        $programs[] = popen(getenv('TAMIS_PHP') . ' -r ' . escapeshellarg($code) . ' 2>&1', 'r');
    }
    $told = array_map('stream_get_contents', $programs);
    array_map('pclose', $programs);
    $made = $store->filter("r$round");
    if (array_unique($told) !== [(string) $made->stat()['capacity']] || $made->items() !== 6) {
        show($told, $made->items());
    }
}
echo "what stays refused\n";
echo thrown(fn() => $open(-1)), ' ', thrown(fn() => $open(10, kind: 'kind')), ' ', thrown(fn() => $store->openOrCreate('', 10, whateverIsThere: true)), "\n";
echo sentence(fn() => $store->create('new', 10, whateverIsThere: true)), "\n";
echo thrown(fn() => $store->create('new', 10, 0, null, null, 0, 0, 0, null, 0, 0, 0, 0, false, 'last', null, true)), "\n";
$reads = new Tamis\Store($path, readOnly: true);
show($reads->openOrCreate('f', 7, whateverIsThere: true)->has('c'));
echo thrown(fn() => $reads->openOrCreate('none', 7, whateverIsThere: true)), "\n";
?>
--EXPECT--
1000 true
a deploy changes what is asked for
1000 true
1000 true
1000 true
1000 true
1000 true
Tamis\Exception\MismatchException -4 Tamis\Exception\MismatchException -4
dropped, and made again, by others
3000 false
500 true
"fuse" true 2
many processes at once
what stays refused
ValueError 0 Tamis\Exception\InvalidException -1 Tamis\Exception\InvalidException -1
Error 0: Unknown named parameter $whateverIsThere
ArgumentCountError 0
true
Tamis\Exception\ReadOnlyException -6

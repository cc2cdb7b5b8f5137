--TEST--
Keys that a generator or another iterator gives: answers as a list, nothing added where it throws or gives what is no key
--FILE--
<?php
/* Seen to fail where addMany() hands keys over while it iterates, as a build does: 2,048 keys are in after the throw. */
require __DIR__ . '/support.inc';
$store = new Tamis\Store(scratch());
$f = $store->create('f', 10000, kind: 'counting');
function keys(int $count, ?int $throwAt = null, mixed $also = null): Generator
{
    for ($i = 0; $i < $count; $i++) {
        if ($i === $throwAt) {
            throw new DomainException('enough');
        }
        yield 'the same index' => "k$i";
    }
    if ($also !== null) {
        yield $also;
    }
}
$answers = $f->addMany(keys(3000));
show(array_is_list($answers), count($answers), array_sum(array_map(intval(...), $answers)), $f->items());
show($f->hasMany(new ArrayIterator(['x' => 'k1', 'y' => 'no', 'z' => 7])), $f->countMany(keys(2)), $f->removeMany(keys(1)));
show($f->addMany(new ArrayObject([])), $f->addMany((function () { yield from []; })()));
echo "it throws in the middle\n";
$g = $store->create('g', 10000);
show(sentence(fn() => $g->addMany(keys(3000, 2500))), $g->items());
show(sentence(fn() => $g->addMany(keys(2000, null, 1.5))), $g->items());
show(thrown(function () use ($g) { $g->addMany((function () use ($g) { yield 'a'; $g->close(); yield 'b'; })()); }));
show($store->filter('g')->items());
$refuses = $store->create('r', 3, onFull: 'refuse');
try {
    $refuses->addMany(keys(5));
} catch (Tamis\Exception\FullException $e) {
    show($e->answers);
}
echo "a build\n";
$build = $store->build('b', fpRate: 1e-6);
$build->addMany(keys(5000));
show(sentence(fn() => $build->addMany(keys(10, 5))));
$build->except(keys(1));
show($build->publish()['keys'], array_sum(array_map(intval(...), $store->filter('b')->hasMany(keys(5000)))));
$build = $store->build('c');
show(thrown(fn() => $build->addMany((function () use ($build) { yield 'a'; $build->close(); for ($i = 0; $i < 3000; $i++) yield "b$i"; })())));
?>
--EXPECT--
true 3000 3000 3000
[true,false,false] [1,1] [true]
[] []
it throws in the middle
"DomainException 0: enough" 0
"TypeError 0: Tamis\\Filter::addMany(): Argument #1 ($keys) must be strings, float among them" 0
"Tamis\\Exception\\ClosedException 0"
0
[true,true,true,null,null]
a build
"DomainException 0: enough"
5000 4999
"Tamis\\Exception\\ClosedException 0"

--TEST--
Arguments of wrong types, too many and too few: TypeError and ArgumentCountError, by each method and parameter
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/support.inc';
$store = new Tamis\Store(scratch());
$filter = $store->create('f', 100, kind: 'counting');
$filter->add('a');
$build = $store->build('b');
$good = ['string' => 'a', 'int' => 1, 'float' => 1.0, 'bool' => true, 'Traversable|array' => ['a'], 'mixed' => 'a'];
$wrong = [
    'string' => [1, 1.5, true, [], new stdClass, STDIN, null], 'int' => ['1', 1.5, true, [], null],
    'float' => ['1', true, [], null], 'bool' => [1, '1', [], null], 'Traversable|array' => ['a', 1, new stdClass, null],
    'mixed' => [],
];
$tried = 0;
foreach ([$store, $filter, $build] as $object) {
    foreach ((new ReflectionClass($object))->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
        $call = $method->isConstructor() ? fn(...$a) => new Tamis\Store(...$a) : [$object, $method->getName()];
        $parameters = $method->getParameters();
        $all = array_map(fn($p) => $good[ltrim((string) $p->getType(), '?')], $parameters);
        $tries = [];
        if ($method->getNumberOfRequiredParameters() > 0) {
            $tries[] = [array_slice($all, 0, $method->getNumberOfRequiredParameters() - 1), 'ArgumentCountError'];
        }
        $tries[] = [[...$all, 'one more'], 'ArgumentCountError'];
        foreach ($parameters as $i => $parameter) {
            foreach ($wrong[ltrim((string) $parameter->getType(), '?')] as $value) {
                if ($value !== null || !$parameter->allowsNull()) {
                    $tries[] = [array_replace($all, [$i => $value]), 'TypeError'];
                }
            }
        }
        foreach ($tries as [$with, $like]) {
            $what = thrown(fn() => $call(...$with));
            $tried++;
            if ($what !== "$like 0") {
                echo get_class($object), '::', $method->getName(), ' ', json_encode($with), ": $what\n";
            }
        }
    }
}
show($tried > 150, $filter->items(), $store->names());
echo "values of arrays\n";
foreach ([1.5, true, null, ['a'], new ArrayObject, new class { function __toString() { return 'a'; } }, STDIN] as $value) {
    foreach (['addMany', 'hasMany', 'removeMany', 'countMany'] as $name) {
        $what = thrown(fn() => $filter->$name(['new', $value, 'new']));
        if ($what !== 'TypeError 0') {
            echo get_debug_type($value), ": $what\n";
        }
    }
    foreach (['addMany', 'against', 'except'] as $name) {
        if (thrown(fn() => $build->$name(['new', $value])) !== 'TypeError 0') {
            echo get_debug_type($value), ": Build::$name took it\n";
        }
    }
}
echo sentence(fn() => $filter->addMany(['new', 1.5])), "\n";
show($filter->has('new'), $filter->items());
$result = $build->publish();
show($result['keys']);
echo "offsets\n";
foreach ([1.5, true, null, [], new stdClass] as $offset) {
    echo get_debug_type($offset), ': ', thrown(fn() => $filter[$offset]), ', ', thrown(fn() => isset($filter[$offset])), ', ',
        thrown(function () use ($filter, $offset) { unset($filter[$offset]); }), ', ',
        thrown(fn() => $filter[$offset] = true), "\n";
}
echo "numbers out of range\n";
foreach (['capacity' => -1, 'fpRate' => -1.0, 'k' => 1 << 32, 'slices' => 1 << 32, 'counterBits' => 1 << 32, 'mBits' => -1,
    'windowItems' => -1, 'window' => INF] as $name => $value) {
    echo "$name: ", sentence(fn() => $store->create('g', ...[$name => $value] + ['capacity' => 10])), "\n";
}
foreach (['nan' => NAN, 'one' => 1.0, 'inf' => INF] as $name => $rate) {
    echo "$name: ", thrown(fn() => $store->create('g', 10, $rate)), "\n";
}
echo sentence(fn() => $store->build('g', capacity: -1)), "\n", sentence(fn() => $store->rollback('f', -1)), "\n",
    sentence(fn() => $store->build('g', keep: -1)->close()), "\n", sentence(fn() => $store->create('g', 1, kind: "\0")), "\n",
    thrown(fn() => $store->create('g', 1, hashSet: 'no')), "\n", thrown(fn() => $store->create('g', 1, kind: 'no')), "\n",
    thrown(fn() => new Tamis\Store(scratch(), mode: 0777)), "\n", sentence(fn() => new Tamis\Store(scratch(), busyTimeout: NAN)), "\n",
    sentence(fn() => new Tamis\Store("a\0b")), "\n", sentence(fn() => $store->create("a\0b")), "\n";
?>
--EXPECT--
true 1 ["f"]
values of arrays
TypeError 0: Tamis\Filter::addMany(): Argument #1 ($keys) must be strings, float among them
false 1
0
offsets
float: TypeError 0, TypeError 0, TypeError 0, TypeError 0
bool: TypeError 0, TypeError 0, TypeError 0, TypeError 0
null: TypeError 0, TypeError 0, TypeError 0, TypeError 0
array: TypeError 0, TypeError 0, TypeError 0, TypeError 0
stdClass: TypeError 0, TypeError 0, TypeError 0, TypeError 0
numbers out of range
capacity: ValueError 0: Tamis\Store::create(): Argument #2 ($capacity) must be 0 or more
fpRate: Tamis\Exception\InvalidException -1: false-positive rate -1 is out of range; give a number from 1e-12 up to, but not including, 1, such as 0.01
k: ValueError 0: Tamis\Store::create(): Argument #7 ($k) must be 4294967295 or less
slices: ValueError 0: Tamis\Store::create(): Argument #12 ($slices) must be 4294967295 or less
counterBits: ValueError 0: Tamis\Store::create(): Argument #13 ($counterBits) must be 4294967295 or less
mBits: ValueError 0: Tamis\Store::create(): Argument #8 ($mBits) must be 0 or more
windowItems: ValueError 0: Tamis\Store::create(): Argument #11 ($windowItems) must be 0 or more
window: ValueError 0: Tamis\Store::create(): Argument #10 ($window) must be seconds, 0 or more, at most a hundred years
nan: Tamis\Exception\InvalidException -1
one: Tamis\Exception\InvalidException -1
inf: Tamis\Exception\InvalidException -1
ValueError 0: Tamis\Store::build(): Argument #4 ($capacity) must be 0 or more
ValueError 0: Tamis\Store::rollback(): Argument #2 ($generation) must be 0 or more
ValueError 0: Tamis\Store::build(): Argument #7 ($keep) must be 0 or more
ValueError 0: Tamis\Store::create(): Argument #4 ($kind) must not contain any null bytes
Tamis\Exception\InvalidException -1
Tamis\Exception\InvalidException -1
Tamis\Exception\InvalidException -1
ValueError 0: Tamis\Store::__construct(): Argument #5 ($busyTimeout) must be between 0 and 86400 seconds
ValueError 0: Tamis\Store::__construct(): Argument #1 ($path) must not contain any null bytes
ValueError 0: Tamis\Store::create(): Argument #1 ($name) must not contain any null bytes

--TEST--
Eight processes that fork from one with an open filter: of a key at most one is told that it is new
--SKIPIF--
<?php if (!function_exists('pcntl_fork')) die('skip pcntl is not there'); ?>
--FILE--
<?php
require __DIR__ . '/support.inc';
const KEYS = 20000;
const CHILDREN = 8;
const BATCH = 100;

/** Each child adds all keys, in batches or one by one. Returns how many children failed, of how many keys it was told that they
 *  are new, at most how often of one, and by how many the filter's items differ from the keys. */
function race(Tamis\Store $store, string $path, int $capacity): array
{
    $filter = $store->create("raced-$capacity", $capacity, 1e-9);
    $filter->add('before the fork');
    $children = [];
    for ($child = 0; $child < CHILDREN; $child++) {
        if (($id = pcntl_fork()) !== 0) {
            $children[] = $id;
            continue;
        }
        $new = [];
        for ($i = 0; $i < KEYS; $i += BATCH) {
            $keys = array_map(fn($n) => "key $n", range($i, $i + BATCH - 1));
            $told = $child % 2 ? $filter->addMany($keys) : array_map($filter->add(...), $keys);
            $new = array_merge($new, array_keys(array_combine($keys, $told), true, true));
        }
        file_put_contents("$path.$child", implode("\n", $new));
        exit($filter->has('before the fork') ? 0 : 1);
    }
    $failed = 0;
    foreach ($children as $id) {
        pcntl_waitpid($id, $status);
        $failed += $status !== 0;
    }
    $times = [];
    for ($child = 0; $child < CHILDREN; $child++) {
        foreach (array_filter(explode("\n", file_get_contents("$path.$child"))) as $key) {
            $times[$key] = ($times[$key] ?? 0) + 1;
        }
        unlink("$path.$child");
    }
    return [$failed, count($times), max($times), $filter->items() - KEYS - 1];
}

$path = scratch();
$store = new Tamis\Store($path);
// With room for all, each key is an item.
echo implode(' ', race($store, $path, 2 * KEYS)), "\n";
// Where the filter grows beneath them, a key that one child won in a segment that was just left, and another in the next segment,
// is an item of both (docs/concurrency.md, "Won in vain"): at most what each child but one has in its hands at a growth.
[$failed, $new, $most, $more] = race($store, $path, KEYS);
show([$failed, $new, $most] === [0, KEYS, 1], $more >= 0 && $more <= (CHILDREN - 1) * BATCH);
?>
--EXPECT--
0 20000 1 0
true true

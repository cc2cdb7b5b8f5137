--TEST--
Another process has the catalog's lock: BusyException, or a wait; keys are added and asked for meanwhile
--FILE--
<?php
require __DIR__ . '/support.inc';
$path = scratch();
$store = new Tamis\Store($path, busyTimeout: 0);
$patient = new Tamis\Store($path);
$filter = $store->create('f', 1000);
$filter->add('a');
$pieces = mappings($path);
// The child has the lock until it hears of the parent, or the parent ends.
[$parent_end, $child_end] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$child = pcntl_fork();
if ($child === 0) {
    fclose($parent_end);
    $lock = fopen("$path/catalog.lock", 'r');
    flock($lock, LOCK_EX);
    fwrite($child_end, 'x');
    fread($child_end, 1);
    posix_kill(getmypid(), SIGKILL);
}
fclose($child_end);
fread($parent_end, 1);
foreach ([fn() => $store->names(), fn() => count($store), fn() => $store->has('f'),
    fn() => $store->create('g', 100), fn() => $store->openOrCreate('g', 100),
    fn() => $store->drop('f'), fn() => $store->rename('f', 'g'), fn() => $store->rollback('f'),
    fn() => iterator_to_array($store), fn() => $filter->sync(),
    fn() => published($store->build('g'), ['a'])] as $i => $call) {
    try {
        $call();
        echo "$i: nothing was thrown\n";
    } catch (Tamis\Exception\BusyException $e) {
        if (!str_contains($e->getMessage(), "process $child has held a lock")) {
            echo "$i: ", $e->getMessage(), "\n";
        }
    }
}
// What opens a filter, or tells of it, reads the catalog without the lock.
show($store->filter('f')->has('a'), $store->openOrCreate('f', 1000)->has('a'), $store['f']->has('a'), $filter->stat()['items']);
show($filter->add('b'), $filter->has('a'), $filter->hasMany(['b', 'c']), $filter->items());
fwrite($parent_end, 'x');
echo implode(' ', $patient->names()), "\n"; // waits, if the child is not dead yet
pcntl_waitpid($child, $status);
// The handle that was busy is still the one that is kept: its segment is mapped once.
show($store->filter('f')->has('b'), $store->openOrCreate('f', 1000)->has('b'), mappings($path) === $pieces, $filter->sync());
?>
--EXTENSIONS--
posix
--EXPECT--
true true true 1
true true [true,false] 2
f
true true true null

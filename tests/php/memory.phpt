--TEST--
Nothing is left behind: objects, answers, exceptions and builds, ten thousand times over
--INI--
error_log=/dev/null
--FILE--
<?php
require __DIR__ . '/support.inc';
$path = scratch();
$store = new Tamis\Store($path);
$filter = $store->create('f', 1000, kind: 'counting');
$full = $store->create('full', 2, onFull: 'refuse');
$full->addMany(['a', 'b']);
$keys = ['x' => 'k1', 'y' => 'k2', 7 => 3];
$round = function (int $i) use ($path, $store, $filter, $full, $keys) {
    $s = new Tamis\Store($path);
    $f = $s->filter('f');
    $f->addMany($keys);
    $f->hasMany($keys);
    $f->countMany($keys);
    $f->removeMany($keys);
    $f[] = "n";
    unset($f['n']);
    isset($f[5]);
    foreach ([fn() => $s->filter('none'), fn() => $full->addMany(['c', 'd']), fn() => $f->addMany(['a', 1.5]), fn() => $f[1.5],
        fn() => $s->create('f', 1), fn() => $s->create('g', 1, kind: 'none'), fn() => $f->close() ?? $f->has('a')] as $call) {
        try {
            $call();
            echo "nothing was thrown\n";
        } catch (Throwable) {
        }
    }
    if ($i % 100 === 0) {
        $s->names();
        iterator_to_array($s);
        $filter->stat();
        $s->openOrCreate("f", 1000, kind: 'counting');
        $build = $s->build('b', hashSet: 'xxh' . ($i % 1 + 3), ifChanged: true);
        $build->addMany($keys);
        $i % 200 ? $build->publish() : null;
    }
};
$resident = function () {
    preg_match('/VmRSS:\s+(\d+)/', file_get_contents('/proc/self/status'), $found);
    return (int) $found[1];
};
for ($i = 0; $i < 500; $i++) {
    $round($i);
}
gc_collect_cycles();
$php = memory_get_usage();
$all = $resident();
for ($i = 0; $i < 10000; $i++) {
    $round($i);
}
gc_collect_cycles();
show(memory_get_usage() - $php < 500);
// A few bytes a round that the library leaves would be megabytes; the noise is some hundred KiB.
if ($resident() - $all > 2048 && !getenv('ASAN_OPTIONS')) {
    echo $resident() - $all, " KiB more\n";
}
?>
--EXPECT--
true

--TEST--
Handles that are kept, used and closed on both sides of a fork
--FILE--
<?php
require __DIR__ . '/support.inc';
$path = scratch();
$store = new Tamis\Store($path);
$used = $store->create('used', 1000);
$used->add('before');
$store->create('idle', 1000)->add('before'); // kept, without an object
function in_child(callable $call): void
{
    $child = pcntl_fork();
    if ($child === 0) {
        exit($call() ? 0 : 1); // the extension closes the child's handles
    }
    pcntl_waitpid($child, $status);
    show($status);
}
in_child(fn() => $used->has('before') && $used->add('child') && $store->filter('idle')->has('before') &&
    $store->filter('idle')->add('child'));
show($used->has('child'), $used->add('parent'), $store->filter('idle')->has('child'), $store->filter('idle')->add('parent'));
echo "a child of a child\n";
in_child(function () use ($used) {
    $child = pcntl_fork();
    if ($child === 0) {
        exit($used->add('grandchild') ? 0 : 1);
    }
    pcntl_waitpid($child, $status);
    return $status === 0 && $used->has('grandchild');
});
show($used->has('grandchild'));
echo "a child closes, opens and makes\n";
in_child(function () use ($store, $used) {
    $used->close();
    ini_set('tamis.open_filters', '0');
    $store->filter('idle')->close();
    return published($store->build('list'), ['x'])['published'] && $store->create('of the child', 100)->add('y');
});
show($used->add('later'), $store->filter('list')->has('x'), $store->filter('of the child')->has('y'));
echo "a child drops what the parent has open\n";
in_child(fn() => $store->drop('idle') === null && $store->create('idle', 100)->add('anew'));
show($store->filter('idle')->hasMany(['before', 'anew']));
echo "a child is killed\n";
in_child(function () use ($used) {
    $used->add('told');
    posix_kill(getmypid(), SIGKILL);
});
show($used->has('told'), $used->add('last'), $used->sync());
echo "the parent's handle, begun and left to the child\n";
$build = $store->build('half');
$build->addMany(['a']);
in_child(function () use (&$build) {
    $build->close();
    return true;
});
$build->addMany(['b']);
show($build->publish()['keys'], $store->filter('half')->hasMany(['a', 'b', 'c']));
?>
--EXTENSIONS--
posix
--EXPECT--
0
true true true true
a child of a child
0
true
a child closes, opens and makes
0
true true true
a child drops what the parent has open
0
[false,true]
a child is killed
9
true true null
the parent's handle, begun and left to the child
0
2 [true,true,false]

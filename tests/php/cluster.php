<?php
// SPDX-License-Identifier: BSD-2-Clause
/* cluster.php PORT: our classes on a cluster, by phpredis, before and after the slot of the key `a` has moved. */
require __DIR__ . '/../../tools/php/classes/autoload.php';

final class Few extends Tamis\Buckets\Bucket
{
    protected $hashFunction = ['fnv'];
    protected $length = 4096;
}

/** What a call throws. */
function thrown(callable $call): string
{
    try {
        $call();
    } catch (Tamis\Buckets\ServerException $e) {
        return $e->getMessage();
    }
    return 'nothing';
}

$cluster = new RedisCluster(null, ["127.0.0.1:$argv[1]"]);
$cluster->setOption(Redis::OPT_PREFIX, 'app:');
foreach (['a', 'b', 'c', 'd'] as $name) { // of slots of all three masters
    $few = new Few($cluster, $name);
    echo json_encode([$few->exists('x'), $few->add('x'), $few->addMany(['q' => 'x', 'y']), $few->existsMany(['y', 'z'])]), "\n";
}
$bloom = new Tamis\Buckets\RedisBloom($cluster);
$bloom->reserve('small', 0.01, 2, nonScaling: true);
echo json_encode([$bloom->mAdd('small', ['x', 'y']), $bloom->card('small')]), "\n";
echo thrown(fn() => $bloom->mAdd('small', ['v', 'w'])), "\n", thrown(fn() => $bloom->reserve('small', 0.01, 2)), "\n";
$cluster->set('string', 'bits');
echo thrown(fn() => (new Few($cluster, 'string'))->exists('x')), "\n";

echo "move\n";
fgets(STDIN);
$few = new Few($cluster, 'a');
echo json_encode([$few->exists('x'), $few->exists('z'), $few->add('z')]), "\n";

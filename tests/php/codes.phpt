--TEST--
Each error code has an exception of its own, with the library's sentence
--EXTENSIONS--
posix
--INI--
tamis.open_filters=0
error_log=/dev/null
--FILE--
<?php
require __DIR__ . '/support.inc';
use Tamis\Store;
$path = scratch();
$store = new Store($path, busyTimeout: 0);
$store->create('f', 1000)->add('a');
$seen = [];
function expect(string $class, int $code, string $words, callable $call)
{
    global $seen;
    try {
        $call();
        echo "$class: nothing was thrown\n";
    } catch (Tamis\Exception $e) {
        $is = get_class($e) === "Tamis\\Exception\\{$class}Exception" && $e->getCode() === $code &&
            get_parent_class($e) === 'Tamis\\Exception' && $e instanceof RuntimeException && $e->answers === null &&
            str_contains($e->getMessage(), $words);
        if (!$is) {
            echo "$class: ", get_class($e), ' ', $e->getCode(), ': ', $e->getMessage(), "\n";
        }
        $seen[$class] = $code;
    }
}
expect('Invalid', -1, 'a filter\'s name cannot be empty', fn() => $store->filter(''));
expect('NotFound', -2, "no such filter: 'none'", fn() => $store->filter('none'));
expect('Exists', -3, "'f'", fn() => $store->create('f', 1000));
expect('Mismatch', -4, "'f'", fn() => $store->openOrCreate('f', 2000));
expect('NoStore', -5, "$path.no", fn() => new Store("$path.no", create: false));
expect('ReadOnly', -6, 'read', fn() => (new Store($path, readOnly: true))->drop('f'));
expect('NoSpace', -8, 'free some room', fn() => $store->create('huge', 1 << 42));

// Somebody without the right.
$user = posix_geteuid();
chmod($path, 0);
$user === 0 && posix_seteuid(65534);
expect('Access', -7, $path, fn() => new Store($path, busyTimeout: 1));
posix_seteuid($user);
chmod($path, 0700);

// Damaged, foreign and newer files.
$segment = glob("$path/segments/*.seg")[0];
$fail = fn() => (new Store($path))->filter('f');
foreach ([['Foreign', -12, 0, 'garbage', 'is not a segment of Tamis'], ['Version', -13, 8, pack('V', 99), 'use a newer Tamis'],
    ['Corrupt', -11, 64, 'xxxx', 'damaged header']] as [$class, $code, $at, $bytes, $words]) {
    $mend = spoil($segment, $at, $bytes);
    expect($class, $code, $words, $fail);
    $mend();
}
// A file that is cut short under an open filter, and then made long again: the system could not give a page.
$f = $store->filter('f');
$good = file_get_contents($segment);
$file = fopen($segment, 'r+');
ftruncate($file, 4096);
expect('Corrupt', -11, 'was truncated by somebody else', fn() => $f->has('a'));
fwrite($file, $good);
expect('Io', -10, 'could not give a page', fn() => $f->has('a'));
show($store->filter('f')->has('a')); // a handle that has failed is not kept
$f->close();

// In use, dropped, full, of another kind.
$lock = fopen("$path/catalog.lock", 'r');
flock($lock, LOCK_EX);
expect('Busy', -19, 'has held a lock', fn() => $store->names());
fclose($lock);
$f = $store->filter('f');
$store->drop('f');
expect('Dropped', -14, 'f', fn() => $f->has('a'));
$small = $store->create('small', 1, onFull: 'refuse');
$small->add('a');
expect('Full', -18, 'small', fn() => $small->add('b'));
expect('Unsupported', -15, 'small', fn() => $small->remove('a'));

// Limits of the system, each in a process of its own.
$open = 'try { $all = []; $s = new Tamis\Store(' . var_export($path, true) . '); ' .
    'for (;;) $all[] = [fopen("/dev/null", "r"), $s->count()]; ' .
    '} catch (Tamis\Exception $e) { echo get_class($e), " ", $e->getCode(); }';
echo php($open, 'ulimit -n 20'), "\n";
// Under AddressSanitizer nothing runs in so few addresses.
echo getenv('ASAN_OPTIONS') ? "Tamis\\Exception\\NoMemoryException -9" : php($open, 'ulimit -v 400000'), "\n";

// System has no fault that is easily made; it, and Closed, have classes as the others have.
foreach (['Closed', 'System', 'Limit', 'NoMemory', ...array_keys($seen)] as $class) {
    $class = new ReflectionClass("Tamis\\Exception\\{$class}Exception");
    if ($class->getParentClass()->getName() !== 'Tamis\Exception') {
        echo $class->getName(), " is of another family\n";
    }
}
asort($seen);
echo count($seen), ' ', implode(' ', $seen), "\n";
?>
--EXPECT--
true
Tamis\Exception\LimitException -16
Tamis\Exception\NoMemoryException -9
16 -19 -18 -15 -14 -13 -12 -11 -10 -8 -7 -6 -5 -4 -3 -2 -1

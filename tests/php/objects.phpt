--TEST--
Objects are not made, copied, written down, compared or inherited from, each with a sentence
--INI--
zend.exception_ignore_args=0
--FILE--
<?php
require __DIR__ . '/support.inc';
$store = new Tamis\Store(scratch());
$filter = $store->create('f', 100);
$build = $store->build('b');
$said = []; // by text, in which the class is CLASS: those of which it is true
foreach ([$store, $filter, $build] as $object) {
    $class = get_class($object);
    ob_start();
    foreach ([fn() => clone $object, fn() => serialize($object), fn() => serialize([$object]),
        fn() => unserialize('O:' . strlen($class) . ":\"$class\":0:{}"), fn() => $object->property,
        fn() => $object->property = 1, fn() => (new ReflectionClass($class))->newInstanceWithoutConstructor(),
        fn() => $object->none()] as $call) {
        echo '  ', sentence(function () use ($call) {
            set_error_handler(fn($number, $text) => throw new ErrorException($text));
            try {
                return $call();
            } finally {
                restore_error_handler();
            }
        }), "\n";
    }
    echo '  ', php("class Mine extends $class {}"), "\n";
    show($object, (array) $object, isset($object->property), (new ReflectionClass($class))->isFinal());
    $said[str_replace($class, 'CLASS', ob_get_clean())][] = $class;
}
foreach ($said as $text => $classes) {
    echo implode(' ', $classes), "\n$text";
}
echo sentence(fn() => new Tamis\Filter), "\n", sentence(fn() => new Tamis\Build), "\n",
    sentence(fn() => $store->__construct()), "\n";
echo "two objects of one filter are two objects\n";
$same = $store->filter('f');
show($same == $filter, $same === $filter, $filter == $filter, $store->create('g', 100) == $filter);
$same->add('a');
show($filter->has('a'));
$same = null;
show($filter->has('a'));
echo "an exception carries what one of its family carries\n";
$e = new Tamis\Exception\FullException('text', -18, new LogicException('before'));
show($e->getMessage(), $e->getCode(), $e->getPrevious()->getMessage(), $e->answers);
echo "a stack trace does not show a key\n";
$filter->close();
foreach ([fn() => $filter->add('secret'), fn() => $filter->has('secret'), fn() => $filter->remove('secret'),
    fn() => $filter->count('secret')] as $call) {
    try {
        $call();
    } catch (Tamis\Exception\ClosedException $e) {
        $arguments = $e->getTrace()[0]['args'];
        show($arguments[0] instanceof SensitiveParameterValue || PHP_VERSION_ID < 80200);
    }
}
echo "a store is gone through as its names\n";
foreach ($store as $i => $name) {
    echo "$i $name\n";
    foreach ($store as $inner) { // by two at once
        $store->drop($inner);    // and while filters go
        break;
    }
}
show(iterator_to_array($store), count($store));
?>
--EXPECT--
Tamis\Store Tamis\Filter Tamis\Build
  Error 0: Trying to clone an uncloneable object of class CLASS
  Exception 0: Serialization of 'CLASS' is not allowed
  Exception 0: Serialization of 'CLASS' is not allowed
  Exception 0: Unserialization of 'CLASS' is not allowed
  ErrorException 0: Undefined property: CLASS::$property
  Error 0: Cannot create dynamic property CLASS::$property
  ReflectionException 0: Class CLASS is an internal class marked as final that cannot be instantiated without invoking its constructor
  Error 0: Call to undefined method CLASS::none()
  
Fatal error: Class Mine cannot extend final class CLASS in Command line code on line 1

{} [] false true
Error 0: Call to private Tamis\Filter::__construct() from global scope
Error 0: Call to private Tamis\Build::__construct() from global scope
Error 0: the store was opened already
two objects of one filter are two objects
false false true false
true
true
an exception carries what one of its family carries
"text" -18 "before" null
a stack trace does not show a key
true
true
true
true
a store is gone through as its names
0 f
1 g
[] 0

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
foreach ([$store, $filter, $build] as $object) {
    $class = get_class($object);
    echo "$class\n";
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
    echo '  ', json_encode($object), ' ', json_encode((array) $object), "\n";
    var_dump(isset($object->property), (new ReflectionClass($class))->isFinal());
}
echo sentence(fn() => new Tamis\Filter), "\n", sentence(fn() => new Tamis\Build), "\n",
    sentence(fn() => $store->__construct()), "\n";
echo "two objects of one filter are two objects\n";
$same = $store->filter('f');
var_dump($same == $filter, $same === $filter, $filter == $filter, $store->create('g', 100) == $filter);
$same->add('a');
var_dump($filter->has('a'));
$same = null;
var_dump($filter->has('a'));
echo "an exception carries what one of its family carries\n";
$e = new Tamis\Exception\FullException('text', -18, new LogicException('before'));
var_dump($e->getMessage(), $e->getCode(), $e->getPrevious()->getMessage(), $e->answers);
echo "a stack trace does not show a key\n";
$filter->close();
foreach ([fn() => $filter->add('secret'), fn() => $filter->has('secret'), fn() => $filter->remove('secret'),
    fn() => $filter->count('secret')] as $call) {
    try {
        $call();
    } catch (Tamis\Exception\ClosedException $e) {
        $arguments = $e->getTrace()[0]['args'];
        var_dump($arguments[0] instanceof SensitiveParameterValue || PHP_VERSION_ID < 80200);
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
var_dump(iterator_to_array($store), count($store));
?>
--EXPECT--
Tamis\Store
  Error 0: Trying to clone an uncloneable object of class Tamis\Store
  Exception 0: Serialization of 'Tamis\Store' is not allowed
  Exception 0: Serialization of 'Tamis\Store' is not allowed
  Exception 0: Unserialization of 'Tamis\Store' is not allowed
  ErrorException 0: Undefined property: Tamis\Store::$property
  Error 0: Cannot create dynamic property Tamis\Store::$property
  ReflectionException 0: Class Tamis\Store is an internal class marked as final that cannot be instantiated without invoking its constructor
  Error 0: Call to undefined method Tamis\Store::none()
  
Fatal error: Class Mine cannot extend final class Tamis\Store in Command line code on line 1

  {} []
bool(false)
bool(true)
Tamis\Filter
  Error 0: Trying to clone an uncloneable object of class Tamis\Filter
  Exception 0: Serialization of 'Tamis\Filter' is not allowed
  Exception 0: Serialization of 'Tamis\Filter' is not allowed
  Exception 0: Unserialization of 'Tamis\Filter' is not allowed
  ErrorException 0: Undefined property: Tamis\Filter::$property
  Error 0: Cannot create dynamic property Tamis\Filter::$property
  ReflectionException 0: Class Tamis\Filter is an internal class marked as final that cannot be instantiated without invoking its constructor
  Error 0: Call to undefined method Tamis\Filter::none()
  
Fatal error: Class Mine cannot extend final class Tamis\Filter in Command line code on line 1

  {} []
bool(false)
bool(true)
Tamis\Build
  Error 0: Trying to clone an uncloneable object of class Tamis\Build
  Exception 0: Serialization of 'Tamis\Build' is not allowed
  Exception 0: Serialization of 'Tamis\Build' is not allowed
  Exception 0: Unserialization of 'Tamis\Build' is not allowed
  ErrorException 0: Undefined property: Tamis\Build::$property
  Error 0: Cannot create dynamic property Tamis\Build::$property
  ReflectionException 0: Class Tamis\Build is an internal class marked as final that cannot be instantiated without invoking its constructor
  Error 0: Call to undefined method Tamis\Build::none()
  
Fatal error: Class Mine cannot extend final class Tamis\Build in Command line code on line 1

  {} []
bool(false)
bool(true)
Error 0: Call to private Tamis\Filter::__construct() from global scope
Error 0: Call to private Tamis\Build::__construct() from global scope
Error 0: the store was opened already
two objects of one filter are two objects
bool(false)
bool(false)
bool(true)
bool(false)
bool(true)
bool(true)
an exception carries what one of its family carries
string(4) "text"
int(-18)
string(6) "before"
NULL
a stack trace does not show a key
bool(true)
bool(true)
bool(true)
bool(true)
a store is gone through as its names
0 f
1 g
array(0) {
}
int(0)

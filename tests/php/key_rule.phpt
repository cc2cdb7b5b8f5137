--TEST--
keyRule: all spellings of a name are one key; hasName() asks for a name and its parents
--FILE--
<?php
/* Seen to fail before there was keyRule: Error, unknown named parameter. */
require __DIR__ . '/support.inc';
$store = new Tamis\Store(scratch());
$hosts = $store->create('hosts', 1000, 1e-9, keyRule: 'name');
show($hosts->addMany(['ADS.Example.', 'ads.example']), $hosts->has('Ads.EXAMPLE'), $hosts->stat()['key_rule']);
show($hosts->hasName('www.Ads.example'), $hosts->hasName('ADS.example.'), $hosts->hasName('example'), $hosts->hasName(''));
/* A kept handle is taken only for the same rule, whatever memory the text of the rule is in. */
foreach (['name', 'na' . strtolower('ME'), 'bytes', null] as $rule) {
    try {
        show($store->openOrCreate('hosts', 1000, 1e-9, keyRule: $rule)->add('ads.EXAMPLE'));
    } catch (Tamis\Exception\MismatchException $e) {
        echo $e->getMessage(), "\n";
    }
}
$build = $store->build('list', 1e-6, keyRule: 'name');
$build->addMany(['Bad.Example.', 'bad.example']);
$build->except(['Good.BAD.example']);
show($build->publish()['distinct'], $store['list']->hasName('x.bad.example'), $store['list']->hasName('x.good.bad.example'));
echo sentence(fn() => $store->create('x', 10, keyRule: "na\0me")), "\n";
echo strtok(sentence(fn() => $store->create('x', 10, keyRule: 'colour')), ';'), "\n"; // then the rules that there are
$hosts->close();
echo sentence(fn() => $hosts->hasName('a')), "\n";
?>
--EXPECT--
[true,false] true "name"
"Ads.example" "ADS.example." null null
false
false
the filter 'hosts' exists with key rule name, not bytes; ask for the same, or choose another name
the filter 'hosts' exists with key rule name, not bytes; ask for the same, or choose another name
1 "bad.example" null
ValueError 0: Tamis\Store::create(): Argument #16 ($keyRule) must not contain any null bytes
Tamis\Exception\InvalidException -1: there is no key rule 'colour'
Tamis\Exception\ClosedException 0: the filter is closed; open it again

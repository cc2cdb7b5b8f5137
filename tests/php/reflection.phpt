--TEST--
Reflection of the extension is that of its stubs: classes, parents, methods, parameters, defaults, types
--FILE--
<?php
require __DIR__ . '/support.inc';
// The stubs are PHP.  Declared below another namespace they can be compared with what the extension says of itself.
function described(ReflectionClass $class): array
{
    $own = fn(string $text) => str_replace('Stubs\\', '', $text);
    $lines = [$own($class->getName()) . ' is ' . ($class->isFinal() ? 'final ' : '') .
        $own($class->getParentClass() ? $class->getParentClass()->getName() : 'nothing')];
    $interfaces = $class->getInterfaceNames();
    sort($interfaces);
    $lines[] = implode(' ', $interfaces);
    foreach ($class->getMethods() as $method) {
        if ($method->getDeclaringClass()->getName() !== $class->getName()) {
            continue;
        }
        $parameters = array_map(fn($p) => $p->getType() . ($p->allowsNull() ? ' or null' : '') . " \${$p->getName()}" .
            ($p->isPassedByReference() ? ' by reference' : '') . ($p->isVariadic() ? ' and more' : '') .
            ($p->isOptional() ? ' = ' . var_export($p->getDefaultValue(), true) : ''), $method->getParameters());
        $lines[] = implode(' ', Reflection::getModifierNames($method->getModifiers())) . " {$method->getName()}(" .
            implode(', ', $parameters) . '): ' . $own((string) $method->getReturnType());
    }
    foreach ($class->getProperties() as $property) {
        if ($property->getDeclaringClass()->getName() === $class->getName()) {
            $lines[] = implode(' ', Reflection::getModifierNames($property->getModifiers())) . " {$property->getType()} " .
                "\${$property->getName()} = " . var_export($property->getDefaultValue(), true);
        }
    }
    sort($lines);
    return $lines;
}
foreach (glob(getenv('TAMIS_PHP_STUBS') . '/*.stub.php') as $file) {
    $text = preg_replace(['/^<\?php/', '/\\\\Tamis\\\\/', '/^namespace Tamis/m'], ['', '\Stubs\Tamis\\', 'namespace Stubs\Tamis'],
        file_get_contents($file));
    eval($text);
}
$classes = array_filter(get_declared_classes(), fn($class) => str_starts_with($class, 'Tamis\\'));
$stubs = array_filter(get_declared_classes(), fn($class) => str_starts_with($class, 'Stubs\\'));
$names = fn($all) => array_values(array_map(fn($name) => str_replace('Stubs\\', '', $name), $all));
show(count($classes), array_diff($names($stubs), $names($classes)), array_diff($names($classes), $names($stubs)));
$lines = 0;
foreach ($classes as $class) {
    $is = described(new ReflectionClass($class));
    $said = described(new ReflectionClass("Stubs\\$class"));
    $lines += count($is);
    if ($is !== $said) {
        echo "$class\n  the extension: ", implode("\n    ", array_diff($is, $said)), "\n  the stub: ",
            implode("\n    ", array_diff($said, $is)), "\n";
    }
}
show($lines > 80);
$extension = new ReflectionExtension('tamis');
show(array_keys($extension->getINIEntries()), $extension->getFunctions(), count($extension->getClassNames()));
?>
--EXPECT--
24 [] []
true
["tamis.store","tamis.open_filters"] [] 24

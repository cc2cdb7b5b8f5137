--TEST--
opcache.preload: a class that is preloaded uses the extension, and the preload may add
--FILE--
<?php
require __DIR__ . '/support.inc';
$path = scratch();
$settings = '-d zend_extension=opcache -d opcache.enable_cli=1 -d opcache.preload=' . __DIR__ . '/preload.inc ' .
    '-d opcache.preload_user=' . posix_getpwuid(posix_geteuid())['name'];
putenv("TAMIS_PRELOAD_STORE=$path");
putenv('TAMIS_PHP=' . getenv('TAMIS_PHP') . " $settings");
for ($i = 0; $i < 2; $i++) {
    echo php('$seen = Seen::filter(); echo json_encode([$seen->has("in the preload"), ' .
        '$seen->add("in the script"), class_exists("Seen", false), get_included_files() === []]);'), "\n";
}
?>
--EXTENSIONS--
posix
--EXPECT--
[true,true,true,false]
[true,false,true,false]

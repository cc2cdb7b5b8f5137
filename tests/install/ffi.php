<?php
// SPDX-License-Identifier: BSD-2-Clause
// ffi.php HEADER LIBRARY STORE: what tamis_ffi.h is for, from PHP: the header parses, and the calls work.
[, $header, $library, $path] = $argv;
$tamis = FFI::cdef(file_get_contents($header), $library);

function done(int $rc): int
{
    global $tamis;
    if ($rc < 0) {
        throw new Exception($tamis->tamis_last_error());
    }
    return $rc;
}

function is(mixed $expected, mixed $got): void
{
    if ($expected !== $got) {
        throw new Exception(var_export($got, true) . ' is not ' . var_export($expected, true));
    }
}

function sized(string $name): FFI\CData
{
    global $tamis;
    $struct = $tamis->new("struct $name");
    $struct->size = FFI::sizeof($struct);
    return $struct;
}

$store = $tamis->new('tamis_store *');
$seen = $tamis->new('tamis_filter *');
done($tamis->tamis_store_open($path, $tamis->TAMIS_OPEN_CREATE, FFI::addr($store)));
$spec = sized('tamis_filter_spec');
$spec->capacity = 1000;
$spec->fp_rate = 1e-6;
done($tamis->tamis_filter_create($store, 'seen', FFI::addr($spec), FFI::addr($seen)));
is(1, done($tamis->tamis_filter_add($seen, 'a', 1)));
is(0, done($tamis->tamis_filter_add($seen, 'a', 1)));
is(1, done($tamis->tamis_filter_contains($seen, 'a', 1)));
is(0, done($tamis->tamis_filter_contains($seen, 'b', 1)));
$stat = sized('tamis_filter_stat');
done($tamis->tamis_filter_stat($seen, FFI::addr($stat)));
is('seen', FFI::string($stat->name));
is(1, $stat->items);
is(1000, $stat->capacity);
is(1e-6, $stat->fp_rate);
is(FFI::sizeof($stat), $stat->size);
$names = [];
done($tamis->tamis_store_list($store, null, function ($context, $row) use (&$names) {
    $names[] = FFI::string($row->name);
    return 0;
}, null));
is(['seen'], $names);
$stat->size = 0;
is($tamis->TAMIS_EINVAL, $tamis->tamis_filter_stat($seen, FFI::addr($stat)));
is(true, str_contains($tamis->tamis_last_error(), 'sizeof(struct tamis_filter_stat)'));
done($tamis->tamis_filter_close($seen));
$tamis->tamis_store_close($store);
echo 'PHP ', PHP_VERSION, "\n";

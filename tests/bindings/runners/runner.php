<?php
// SPDX-License-Identifier: BSD-2-Clause
// The runner of the PHP extension: README.md beside this folder says what a runner is.

use Tamis\{Build, Exception, Filter, Store};

/** The binding cannot do what a step asks. */
final class Lacks extends \Exception
{
}

const STRIDES = [7368787, 15485863, 32452843, 49979687, 67867967, 86028121, 104395301];

function key_of(string|array $value): string
{
    return is_string($value) ? $value : hex2bin($value['hex']);
}

function keys_of(array $values): array
{
    return array_map(key_of(...), $values);
}

function numbers(array $answers): array
{
    return array_map(fn ($answer) => $answer === null ? 2 : (int) $answer, $answers);
}

/** The named arguments of Store::create() and the like, for the fields of a spec. */
function spec(string $call, ?array $given, array $names): array
{
    $arguments = [];
    foreach ($given ?? [] as $name => $value) {
        if ($name === 'flags') {
            foreach ($value as $flag) {
                if ($flag === 'DURABLE' && in_array('durable', $names)) {
                    $arguments['durable'] = true;
                } elseif ($flag === 'FROM_FIRST' && in_array('window', $names)) {
                    $arguments['windowFrom'] = 'first';
                } else {
                    throw new Lacks("$call($flag)");
                }
            }
            continue;
        }
        if ($name === 'window_ns') {
            [$name, $value] = ['window', $value / 1e9];
        }
        if (!in_array($name, $names)) {
            throw new Lacks("$call($name)");
        }
        $arguments[lcfirst(str_replace('_', '', ucwords($name, '_')))] = $value;
    }
    return $arguments;
}

const CREATE = ['capacity', 'fp_rate', 'kind', 'hash_set', 'seed', 'k', 'm_bits', 'on_full', 'window', 'window_items', 'slices',
    'counter_bits', 'durable', 'key_rule'];
const BUILD = ['fp_rate', 'kind', 'capacity', 'hash_set', 'key_rule'];

/** One function for each of the library's that the extension has; it takes what the step is on, and its "with". */
function calls(Runner $runner): array
{
    $flag = fn (array $with, string $flag) => in_array($flag, $with['flags'] ?? []);
    $only = function (string $call, array $with, string ...$known) {
        foreach (array_diff($with['flags'] ?? [], $known) as $flag) {
            throw new Lacks("$call($flag)");
        }
    };
    return [
        'tamis_store_open' => function ($_, $with) use ($flag, $only) {
            $only('tamis_store_open', $with, 'CREATE', 'READ_ONLY');
            return new Store($with['path'], create: $flag($with, 'CREATE'), readOnly: $flag($with, 'READ_ONLY'));
        },
        'tamis_store_open_with' => function ($_, $with) use ($flag, $only) {
            $only('tamis_store_open_with', $with, 'CREATE', 'READ_ONLY');
            return new Store($with['path'], create: $flag($with, 'CREATE'), readOnly: $flag($with, 'READ_ONLY'),
                mode: ($with['mode'] ?? 0) ?: null,
                busyTimeout: ($with['busy_timeout_ms'] ?? 0) ? max($with['busy_timeout_ms'], 0) / 1000 : 10.0);
        },
        'tamis_store_close' => fn (Store $store) => $store->close(),
        'tamis_store_list' => fn (Store $store, $with) => array_map(fn ($name) => ['name' => $name], $store->names($with['prefix'])),
        'tamis_filter_create' => fn (Store $store, $with) => $store->create($with['name'],
            ...spec('tamis_filter_create', $with['spec'], CREATE)),
        'tamis_filter_open_or_create' => fn (Store $store, $with) => $store->openOrCreate($with['name'],
            ...spec('tamis_filter_open_or_create', $with['spec'], CREATE)),
        'tamis_filter_open' => function (Store $store, $with) use ($flag, $only) {
            $only('tamis_filter_open', $with, 'POPULATE');
            return $store->filter($with['name'], $flag($with, 'POPULATE'));
        },
        'tamis_filter_exists' => fn (Store $store, $with) => $store->has($with['name']),
        'tamis_filter_created_at' => fn (Filter $filter) => (string) $filter->stat()['created_at'],
        'tamis_filter_close' => fn (Filter $filter) => $filter->close(),
        'tamis_filter_drop' => fn (Store $store, $with) => $store->drop($with['name']),
        'tamis_filter_rename' => fn (Store $store, $with) => $store->rename($with['old_name'], $with['new_name']),
        'tamis_filter_set_pages' => fn (Store $store, $with) => $store->setPages($with['name'], $with['pages']),
        'tamis_filter_rotate' => fn (Filter $filter) => $filter->rotate(),
        'tamis_filter_sync' => fn (Filter $filter) => $filter->sync(),
        'tamis_filter_accept' => fn (Filter $filter) => $filter->accept(),
        'tamis_filter_add' => fn (Filter $filter, $with) => $filter->add(key_of($with['key'])),
        'tamis_filter_contains' => fn (Filter $filter, $with) => $filter->has(key_of($with['key'])),
        'tamis_filter_contains_name' => fn (Filter $filter, $with) => $filter->hasName(key_of($with['key'])),
        'tamis_filter_remove' => fn (Filter $filter, $with) => $filter->remove(key_of($with['key'])),
        'tamis_filter_count' => fn (Filter $filter, $with) => $filter->count(key_of($with['key'])),
        'tamis_filter_add_batch' => fn (Filter $filter, $with) => numbers($filter->addMany(keys_of($with['keys']))),
        'tamis_filter_contains_batch' => fn (Filter $filter, $with) => numbers($filter->hasMany(keys_of($with['keys']))),
        'tamis_filter_remove_batch' => fn (Filter $filter, $with) => numbers($filter->removeMany(keys_of($with['keys']))),
        'tamis_filter_count_batch' => fn (Filter $filter, $with) => $filter->countMany(keys_of($with['keys'])),
        'tamis_filter_stat' => fn (Filter $filter) => $filter->stat(),
        'tamis_filter_items' => fn (Filter $filter) => $filter->items(),
        'tamis_filter_publish' => function (Store $store, $with) use ($flag, $only) {
            $given = $with['spec'] ?? [];
            spec('tamis_filter_publish', array_diff_key($given, ['flags' => 0, 'keep' => 0]), []);
            $only('tamis_filter_publish', $given, 'IF_CHANGED', 'KEEP', 'NEWER');
            return ['published' => $store->publishFile($with['name'], $with['file'], $with['format'],
                ifChanged: $flag($given, 'IF_CHANGED'), keep: $given['keep'] ?? null, newer: $flag($given, 'NEWER'))];
        },
        'tamis_build_begin' => function (Store $store, $with) use ($flag, $only) {
            $given = $with['spec'] ?? [];
            $only('tamis_build_begin', $given, 'IF_CHANGED', 'KEEP');
            $filter = spec('tamis_build_begin', $given['filter'] ?? null, BUILD);
            spec('tamis_build_begin', array_diff_key($given, ['filter' => 0, 'flags' => 0, 'keep' => 0]), []);
            return $store->build($with['name'], ...$filter, ifChanged: $flag($given, 'IF_CHANGED'), keep: $given['keep'] ?? null);
        },
        'tamis_build_add' => fn (Build $build, $with) => $build->addMany(keys_of($with['keys'])),
        'tamis_build_against' => fn (Build $build, $with) => $build->against(keys_of($with['keys'])),
        'tamis_build_except' => fn (Build $build, $with) => $build->except(keys_of($with['keys'])),
        'tamis_build_publish' => function (Build $build) {
            $result = $build->publish();
            return ['key_digest' => bin2hex($result['key_digest'])] + $result;
        },
        'tamis_build_close' => fn (Build $build) => $build->close(),
        'tamis_filter_rollback' => fn (Store $store, $with) => $store->rollback($with['name'], $with['generation']),
        'tamis_last_error' => fn () => $runner->message,
    ];
}

final class Runner
{
    public string $message = '';
    private array $handles = [];
    public readonly array $calls;

    public function __construct()
    {
        $this->calls = calls($this);
    }

    private function code(Exception $error): string
    {
        static $codes = [-1 => 'EINVAL', 'ENOTFOUND', 'EEXIST', 'EMISMATCH', 'ENOSTORE', 'EREADONLY', 'EACCESS', 'ENOSPACE', 'ENOMEM',
            'EIO', 'ECORRUPT', 'EFOREIGN', 'EVERSION', 'EDROPPED', 'EUNSUPPORTED', 'ELIMIT', 'ESYSTEM', 'EFULL', 'EBUSY'];
        return 'TAMIS_' . array_values($codes)[-$error->getCode() - 1];
    }

    private function call(array $step): array
    {
        $call = $this->calls[$step['call']] ?? null;
        if ($call === null) {
            return ['lacks' => $step['call']];
        }
        try {
            $value = $call(isset($step['on']) ? $this->handles[$step['on']] : null, $step['with'] ?? []);
        } catch (Lacks $lacks) {
            return ['lacks' => $lacks->getMessage()];
        } catch (\Tamis\Exception\ClosedException $error) {
            return ['error' => 'CLOSED', 'message' => $error->getMessage()];
        } catch (Exception $error) {
            $this->message = $error->getMessage();
            $answers = $error->answers === null ? [] : ['answers' => numbers($error->answers)];
            return ['error' => $this->code($error), 'message' => $this->message] + $answers;
        } catch (\ValueError | \TypeError $error) {
            return ['error' => 'INVALID', 'message' => $error->getMessage()];
        }
        if (is_object($value)) {
            $this->handles[$step['as'] ?? ''] = $value;
            $value = null;
        }
        return ['value' => $value];
    }

    public function answer(array $step): array
    {
        if (($step['case'] ?? '') === 'more filters than the system lets open') {
            return ['cannot' => 'a process has one handle for each filter'];
        }
        if (isset($step['case'])) {
            $this->handles = [];
            return ['value' => null];
        }
        return $this->call($step);
    }
}

function race(string $path, string $name, int $first, int $count, int $seed, int $batch, string $out): void
{
    $seen = (new Store($path, create: false))->filter($name);
    echo "ready\n";
    fgets(STDIN);
    $file = fopen($out, 'a');
    [$start, $stride] = [$seed * 104729, STRIDES[$seed % 7]];
    for ($i = 0; $i < $count; $i += $batch) {
        $keys = [];
        for ($j = $i; $j < min($i + $batch, $count); $j++) {
            $number = $first + ($start + $j * $stride) % $count;
            $keys[$number] = "key-$number";
        }
        // The answers have the indexes of the keys.
        $new = $batch === 1 ? [$number => $seen->add($keys[$number])] : $seen->addMany($keys);
        $lines = implode('', array_map(fn ($number) => "$number\n", array_keys(array_filter($new))));
        $lines === '' || fwrite($file, $lines);
    }
}

function found(string $path, string $name, int $first, int $count): void
{
    $seen = (new Store($path, create: false))->filter($name);
    $hits = 0;
    for ($i = $first; $i < $first + $count; $i += 4096) {
        $numbers = range($i, min($i + 4096, $first + $count) - 1);
        $hits += array_sum($seen->hasMany(array_map(fn ($number) => "key-$number", $numbers)));
    }
    echo "$hits\n";
}

function steps(): void
{
    $runner = new Runner();
    while (($line = fgets(STDIN)) !== false) {
        echo json_encode($runner->answer(json_decode($line, true, flags: JSON_THROW_ON_ERROR)), JSON_THROW_ON_ERROR), "\n";
    }
}

ini_set('memory_limit', '512M');
$words = array_slice($argv, 1);
match ($words[0] ?? '') {
    'functions' => print(json_encode(array_keys((new Runner())->calls))),
    'race' => race($words[1], $words[2], (int) $words[3], (int) $words[4], (int) $words[5], (int) $words[6], $words[7]),
    'found' => found($words[1], $words[2], (int) $words[3], (int) $words[4]),
    '' => steps(),
};

<?php
// SPDX-License-Identifier: BSD-2-Clause
declare(strict_types=1);

namespace Tamis\Buckets;

/**
 * Filters of a Redis server with the module, by phpredis or predis, or of a cluster of such servers, by phpredis.  The client's
 * prefix of keys is heeded.  A filter may be in shards, as `tamis create --shards` makes it.
 */
final class RedisFilters extends Filters
{
    private const NO_KEY = 'ERR not found';
    private const WRONG_TYPE = 'WRONGTYPE';
    private const KEYS_OF_A_COMMAND = 4096;
    private const DESCRIPTION_IS_GOOD_FOR_NS = 1_000_000_000;
    /** What asks a shard: a command that makes no filter, so that a shard which is gone is noticed. */
    private const TO_A_SHARD = ['BF.MADD' => 'TAMIS.ADD', 'BF.MEXISTS' => 'TAMIS.CHECK'];

    /** @var array<string, array{int, int}> filters in shards: how many, and when that was read */
    private array $shards = [];

    public function __construct(private readonly \Redis|\RedisCluster|\Predis\ClientInterface $client)
    {
    }

    public function create(string $name, Shape $shape): void
    {
        $this->reserve($name, $shape);
    }

    public function add(string $name, string $key, Shape $shape): bool
    {
        return $this->addMany($name, [$key], $shape)[0];
    }

    public function has(string $name, string $key): bool
    {
        return $this->hasMany($name, [$key])[0];
    }

    public function addMany(string $name, array $keys, Shape $shape): array
    {
        try {
            return $this->sendMany('TAMIS.ADD', $name, $keys);
        } catch (ServerException $e) {
            self::mustBeMissing($e);
        }
        $this->reserve($name, $shape, 'IFMISSING');
        return $this->sendMany('TAMIS.ADD', $name, $keys);
    }

    public function hasMany(string $name, array $keys): array
    {
        try { // BF.MEXISTS would answer 0 for a string that was not imported yet
            return $this->sendMany('TAMIS.CHECK', $name, $keys);
        } catch (ServerException $e) {
            self::mustBeMissing($e);
        }
        return array_fill_keys(array_keys($keys), false);
    }

    public function items(string $name): int
    {
        try {
            return $this->send('BF.CARD', $this->key($name));
        } catch (ServerException $e) {
            $count = $this->shardsOf($name, $e);
        }
        $items = 0;
        for ($i = 0; $i < $count; $i++) {
            $items += current($this->toShard($name, $i, fn(string $shard): array => // BF.CARD would answer 0 for one that is gone
                $this->send('BF.INFO', $this->key($shard), 'ITEMS')));
        }
        return $items;
    }

    /**
     * Sends a command that answers 1 or 0 for each of its keys; several times, if there are many, so that the server
     * answers others in between, and if the filter is in shards.
     *
     * @return array<bool> with the indexes of $keys
     */
    public function sendMany(string $command, string $name, array $keys): array
    {
        [$count, $readAt] = $this->shards[$name] ?? [0, 0];
        if ($count === 0 || hrtime(true) - $readAt > self::DESCRIPTION_IS_GOOD_FOR_NS) {
            try {
                return $this->sendToOne($command, $name, $keys);
            } catch (ServerException $e) {
                $count = $this->shardsOf($name, $e);
            }
        }
        $answers = [];
        foreach (Shards::split($keys, $count) as $i => $some) {
            $answers += $this->toShard($name, $i, fn(string $shard): array =>
                $this->sendToOne(self::TO_A_SHARD[$command] ?? $command, $shard, $some));
        }
        return array_replace($keys, $answers); // in the order of the keys
    }

    /** How many shards a filter has that was taken for one key, with that error; throws it, if it is in no shards. */
    private function shardsOf(string $name, ServerException $e): int
    {
        unset($this->shards[$name]);
        if (!str_starts_with($e->getMessage(), self::WRONG_TYPE)) {
            throw $e;
        }
        try {
            [$version, $state, $count] = $this->send('HMGET', $this->key($name), 'tamis', 'state', 'shards');
        } catch (ServerException) {
            throw $e; // of another type, such as a string that was not imported yet
        }
        if ($version === '2') {
            throw new ServerException("the filter '$name' is in shards and has a key rule, and this class cannot tell which shard a key is in: ask it by "
                . "'tamis', or keep such a filter as one key");
        }
        if ($version !== '1' || $count < 2 || $count > 65536) {
            throw $e;
        }
        if ($state !== 'ready') {
            throw new ServerException("the filter '$name' is not ready ($state): 'tamis info' says what was begun, and how it ends");
        }
        $this->shards[$name] = [(int) $count, hrtime(true)];
        return (int) $count;
    }

    /** Calls with the name of a shard, which has to be there. */
    private function toShard(string $name, int $i, \Closure $call): mixed
    {
        $shard = Shards::name($name, $i);
        try {
            return $call($shard);
        } catch (ServerException $e) {
            unset($this->shards[$name]);
            if (!str_starts_with($e->getMessage(), self::NO_KEY)) {
                throw $e;
            }
            throw new ServerException("the filter '$name' lacks its shard '$shard': if it was not dropped, the shard's keys are "
                . "lost unless you have a copy, and 'tamis repair $name' makes it anew, empty", previous: $e);
        }
    }

    /** Of a filter that is one key. */
    private function sendToOne(string $command, string $name, array $keys): array
    {
        $answers = [];
        foreach (array_chunk($keys, self::KEYS_OF_A_COMMAND, true) as $some) {
            $answers += $this->sendSome($command, $name, $some);
        }
        return $answers;
    }

    private function sendSome(string $command, string $name, array $keys): array
    {
        $answers = $this->send($command, $this->key($name), ...array_values($keys));
        $named = [];
        foreach (array_keys($keys) as $i => $index) {
            $named[$index] = match ($answers[$i] ?? null) {
                1, true => true, // bool: RESP3
                0, false => false,
                // The error is the last of the answers; a RedisCluster loses its words.
                default => throw new ServerException((string) end($answers) ?: "$command: the server refused a key"),
            };
        }
        return $named;
    }

    /** The key as the client's own commands would name it. */
    public function key(string $name): string
    {
        if ($this->client instanceof \Predis\ClientInterface) {
            return ($this->client->getOptions()->prefix?->getPrefix() ?? '') . $name;
        }
        return $this->client->_prefix($name);
    }

    /** Sends a command, whose second word is its key.  An error of the server is thrown. */
    public function send(string|int|float ...$words): mixed
    {
        $words = array_map(strval(...), $words);
        return match (true) {
            $this->client instanceof \Predis\ClientInterface => $this->sendByPredis($words),
            $this->client instanceof \Redis => $this->sendByExtension($words),
            default => $this->sendByCluster($words),
        };
    }

    /**
     * RedisCluster::rawCommand() finds the node by its first argument, to which it puts the prefix.  It does not go where a
     * node sends it whose slot has moved; other commands do, and remember.
     */
    private function sendByCluster(array $words): mixed
    {
        $name = substr($words[1], strlen($this->client->_prefix('')));
        try {
            return $this->sendByExtension([$name, ...$words]);
        } catch (\RedisClusterException) {
            $this->client->exists($name);
            return $this->sendByExtension([$name, ...$words]);
        }
    }

    /** phpredis answers false for an error that begins with ERR, and throws others. */
    private function sendByExtension(array $words): mixed
    {
        $this->client->clearLastError();
        try {
            $answer = $this->client->rawCommand(...$words);
        } catch (\RedisException | \RedisClusterException $e) {
            if ($this->client->getLastError() === null) { // of the connection
                throw $e;
            }
            throw new ServerException($e->getMessage(), previous: $e);
        }
        if ($this->client->getLastError() !== null) {
            throw new ServerException($this->client->getLastError());
        }
        if ($answer === $this->client) {
            throw new \LogicException('the client is in MULTI or in a pipeline, where there are no answers');
        }
        return $answer;
    }

    private function sendByPredis(array $words): mixed
    {
        $answer = $this->client->executeRaw($words, $failed);
        if ($failed) {
            throw new ServerException($answer);
        }
        return $answer;
    }

    private static function mustBeMissing(ServerException $e): void
    {
        if (!str_starts_with($e->getMessage(), self::NO_KEY)) {
            throw $e;
        }
    }

    private function reserve(string $name, Shape $shape, string ...$more): void
    {
        $words = ['TAMIS.RESERVE', $this->key($name), $shape->fpRate, $shape->capacity];
        $named = ['KIND' => $shape->kind, 'HASHSET' => $shape->hashSet, 'BITS' => $shape->mBits ?: null,
                  'HASHES' => $shape->k ?: null, 'ONFULL' => $shape->onFull];
        foreach (array_filter($named, static fn(mixed $value): bool => $value !== null) as $word => $value) {
            array_push($words, $word, $value);
        }
        $this->send(...$words, ...$more);
    }
}

<?php
// SPDX-License-Identifier: BSD-2-Clause
declare(strict_types=1);

namespace Tamis\Buckets;

/**
 * Filters of a Redis server with the module, by phpredis or predis, or of a cluster of such servers, by phpredis.  The client's
 * prefix of keys is heeded.
 */
final class RedisFilters extends Filters
{
    private const NO_KEY = 'ERR not found';
    private const KEYS_OF_A_COMMAND = 4096;

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
        return $this->send('BF.CARD', $this->key($name));
    }

    /**
     * Sends a command that answers 1 or 0 for each of its keys; several times, if there are many, so that the server
     * answers others in between.
     *
     * @return array<bool> with the indexes of $keys
     */
    public function sendMany(string $command, string $name, array $keys): array
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

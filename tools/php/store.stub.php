<?php
/** @generate-class-entries */
// SPDX-License-Identifier: BSD-2-Clause

namespace Tamis {
    /**
     * A directory of named filters, which many processes share without a server.
     * @strict-properties
     * @not-serializable
     */
    final class Store implements \ArrayAccess, \Countable, \IteratorAggregate
    {
        /** @param string|null $path null: the ini setting tamis.store */
        public function __construct(?string $path = null, bool $create = true, bool $readOnly = false,
                                    ?int $mode = null, float $busyTimeout = 10.0) {}

        /** Opens a filter, or takes the handle that this process has kept. */
        public function filter(string $name, bool $populate = false): Filter {}

        /**
         * Makes a filter.
         *
         * @param string $windowFrom "last": a window counts from the last add of a key; "first": from its first, so a key that
         *     keeps coming is new again once a window
         * @param string|null $keyRule what the key of a record is: null for "bytes", "name" for hosts, "url" for URLs (docs/keys.md)
         */
        public function create(string $name, int $capacity = 0, float $fpRate = 0.0, ?string $kind = null,
                               ?string $hashSet = null, int $seed = 0, int $k = 0, int $mBits = 0,
                               ?string $onFull = null, float $window = 0.0, int $windowItems = 0, int $slices = 0,
                               int $counterBits = 0, bool $durable = false, string $windowFrom = "last",
                               ?string $keyRule = null): Filter {}

        /**
         * Opens a filter, or makes it if there is none.
         *
         * @param bool $whateverIsThere a filter that is there is taken as it is, and the other arguments only say what is made
         *     if there is none; false: MismatchException, if what is there differs from them
         */
        public function openOrCreate(string $name, int $capacity = 0, float $fpRate = 0.0, ?string $kind = null,
                                     ?string $hashSet = null, int $seed = 0, int $k = 0, int $mBits = 0,
                                     ?string $onFull = null, float $window = 0.0, int $windowItems = 0,
                                     int $slices = 0, int $counterBits = 0, bool $durable = false,
                                     string $windowFrom = "last", ?string $keyRule = null,
                                     bool $whateverIsThere = false): Filter {}

        /**
         * Begins the next generation of a filter, which is made anew as a whole.
         *
         * @param string|null $keyRule as of create(); null: that of the filter, or "bytes" for a new one
         */
        public function build(string $name, float $fpRate = 0.0, ?string $kind = null, int $capacity = 0,
                              ?string $hashSet = null, bool $ifChanged = false, ?int $keep = null,
                              ?string $keyRule = null): Build {}

        /**
         * Makes a file that `tamis export` wrote the next generation of a filter, in one step, as a build does.
         *
         * @param bool $ifChanged publish nothing if that list is in force already
         * @param int|null $keep how many older generations are kept; null: as before
         * @param bool $newer only what was made after the list in force: a MismatchException of an older one, and nothing of that list
         * @return bool false: nothing was new
         */
        public function publishFile(string $name, string $file, string $format = "tamis", bool $ifChanged = false,
                                    ?int $keep = null, bool $newer = false): bool {}

        public function drop(string $name): void {}

        public function rename(string $from, string $to): void {}

        /** @param string $pages "auto", "small" or "huge": in which pages of memory the filter is mapped */
        public function setPages(string $name, string $pages): void {}

        /** @param int $generation 0: the newest before the one in force */
        public function rollback(string $name, int $generation = 0): void {}

        public function names(string $prefix = ""): array {}

        public function has(string $name): bool {}

        public function path(): string {}

        public function close(): void {}

        public function count(): int {}

        public function getIterator(): \Iterator {}

        /** @implementation-alias Tamis\Store::has */
        public function offsetExists(mixed $offset): bool {}

        public function offsetGet(mixed $offset): Filter {}

        public function offsetSet(mixed $offset, mixed $value): void {}

        public function offsetUnset(mixed $offset): void {}
    }
}

<?php
/** @generate-class-entries */
// SPDX-License-Identifier: BSD-2-Clause

namespace Tamis {
    /**
     * An open filter.  Store::filter(), create() and openOrCreate() make one.  A key may be a password or an address, so
     * stack traces do not show it.
     * @strict-properties
     * @not-serializable
     */
    final class Filter implements \ArrayAccess, \Countable
    {
        private function __construct() {}

        /** Adds a key.  True: it was new, and of all processes at most this one was told so. */
        public function add(#[\SensitiveParameter] string $key): bool {}

        public function has(#[\SensitiveParameter] string $key): bool {}

        /**
         * Asks for a name and its parents (docs/keys.md): the nearest that is in the filter, as $name spells it; null: none
         * of them is.
         */
        public function hasName(#[\SensitiveParameter] string $name): ?string {}

        /** Takes a key off once (kind counting); false: it was not there. */
        public function remove(#[\SensitiveParameter] string $key): bool {}

        /** How often the key is there (kind counting); without a key, items(). */
        public function count(#[\SensitiveParameter] ?string $key = null): int {}

        /** How many keys were new. */
        public function items(): int {}

        /**
         * An array of bool with the indexes of $keys: true if the key was new.  A generator, or another object that is
         * iterated, is gone through to its end first, so if it throws nothing was added; its answers are a list.
         */
        public function addMany(\Traversable|array $keys): array {}

        public function hasMany(\Traversable|array $keys): array {}

        public function removeMany(\Traversable|array $keys): array {}

        public function countMany(\Traversable|array $keys): array {}

        public function stat(): array {}

        /** Brings all that was added to the disk. */
        public function sync(): void {}

        /** Begins a new slice of the window. */
        public function rotate(): void {}

        /** Says that keys that a power cut took were dealt with. */
        public function accept(): void {}

        /** Ends the use of this object.  The process keeps the handle for the next request. */
        public function close(): void {}

        public function offsetExists(mixed $offset): bool {}

        /** @implementation-alias Tamis\Filter::offsetExists */
        public function offsetGet(mixed $offset): bool {}

        public function offsetSet(mixed $offset, mixed $value): void {}

        public function offsetUnset(mixed $offset): void {}
    }
}

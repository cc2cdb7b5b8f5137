<?php
/** @generate-class-entries */
// SPDX-License-Identifier: BSD-2-Clause

namespace Tamis {
    /**
     * The next generation of a filter, while it is made; Store::build() begins it.
     * @strict-properties
     * @not-serializable
     */
    final class Build
    {
        private function __construct() {}

        /** An object that is iterated is not kept: if it throws in the middle, the keys before that may be in. */
        public function addMany(\Traversable|array $keys): void {}

        /** Known good keys: those that would answer yes become exceptions. */
        public function against(\Traversable|array $keys): void {}

        /** Keys that must answer absent in any case. */
        public function except(\Traversable|array $keys): void {}

        /** Makes the generation, verifies it and puts it in force. */
        public function publish(): array {}

        /** Gives the build up, unless it is published. */
        public function close(): void {}
    }
}

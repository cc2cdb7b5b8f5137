<?php
// SPDX-License-Identifier: BSD-2-Clause
declare(strict_types=1);

namespace Tamis\Buckets;

/** What a filter is made with if it is not there.  0 and null leave the choice to Tamis. */
final class Shape
{
    public function __construct(
        public readonly int $capacity = 0,
        public readonly float $fpRate = 0.0,
        public readonly ?string $kind = null,
        public readonly ?string $hashSet = null,
        public readonly int $mBits = 0,
        public readonly int $k = 0,
        public readonly ?string $onFull = null,
    ) {
    }
}

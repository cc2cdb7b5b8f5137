<?php
// SPDX-License-Identifier: BSD-2-Clause
declare(strict_types=1);

namespace Tamis\Buckets;

/** What a Redis server answers as an error, in its words.  A store throws Tamis\Exception instead. */
final class ServerException extends \RuntimeException
{
}

<?php
// SPDX-License-Identifier: BSD-2-Clause
// errors.c has these classes in a table, so nothing is generated from this; a test holds it to them.

namespace Tamis {
    /** Below it is an exception for each error code of the library; getCode() is that code. */
    class Exception extends \RuntimeException
    {
        /** Of a call for many keys: what was answered before the error, null for keys that were refused. */
        public ?array $answers = null;
    }
}

namespace Tamis\Exception {
    class ClosedException extends \Tamis\Exception {}
    class InvalidException extends \Tamis\Exception {}
    class NotFoundException extends \Tamis\Exception {}
    class ExistsException extends \Tamis\Exception {}
    class MismatchException extends \Tamis\Exception {}
    class NoStoreException extends \Tamis\Exception {}
    class ReadOnlyException extends \Tamis\Exception {}
    class AccessException extends \Tamis\Exception {}
    class NoSpaceException extends \Tamis\Exception {}
    class NoMemoryException extends \Tamis\Exception {}
    class IoException extends \Tamis\Exception {}
    class CorruptException extends \Tamis\Exception {}
    class ForeignException extends \Tamis\Exception {}
    class VersionException extends \Tamis\Exception {}
    class DroppedException extends \Tamis\Exception {}
    class UnsupportedException extends \Tamis\Exception {}
    class LimitException extends \Tamis\Exception {}
    class SystemException extends \Tamis\Exception {}
    class FullException extends \Tamis\Exception {}
    class BusyException extends \Tamis\Exception {}
}

// SPDX-License-Identifier: BSD-2-Clause

package tamis

// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"unsafe"
)

// A Code is an error code of the library.  It is what errors.Is compares:
//
//	if errors.Is(err, tamis.ErrNotFound) { ... }
type Code int32

// The codes of the library, and what they say of a filter or store.
const (
	ErrInvalid     Code = C.TAMIS_EINVAL       // an argument is outside what the call accepts
	ErrNotFound    Code = C.TAMIS_ENOTFOUND    // no such filter in the store; also fs.ErrNotExist
	ErrExist       Code = C.TAMIS_EEXIST       // a filter of that name exists already; also fs.ErrExist
	ErrMismatch    Code = C.TAMIS_EMISMATCH    // two filters, or a filter and what is asked for, differ
	ErrNoStore     Code = C.TAMIS_ENOSTORE     // there is no store at that path; also fs.ErrNotExist
	ErrReadOnly    Code = C.TAMIS_EREADONLY    // the store, the handle or the kind cannot be written to
	ErrAccess      Code = C.TAMIS_EACCESS      // the system denies access to a file; also fs.ErrPermission
	ErrNoSpace     Code = C.TAMIS_ENOSPACE     // the file system has not enough room
	ErrNoMemory    Code = C.TAMIS_ENOMEM       // out of memory
	ErrIO          Code = C.TAMIS_EIO          // the system reports an input/output error
	ErrCorrupt     Code = C.TAMIS_ECORRUPT     // a file of the store, or a stream, is damaged
	ErrForeign     Code = C.TAMIS_EFOREIGN     // a file or stream is not of Tamis, or belongs to another store
	ErrVersion     Code = C.TAMIS_EVERSION     // a file or stream was written by a newer version of Tamis
	ErrDropped     Code = C.TAMIS_EDROPPED     // the filter was dropped while this handle was open
	ErrUnsupported Code = C.TAMIS_EUNSUPPORTED // this kind, hash set or build of the library cannot do that
	ErrLimit       Code = C.TAMIS_ELIMIT       // a limit of the system is reached (open files, mappings, quota)
	ErrSystem      Code = C.TAMIS_ESYSTEM      // a system call failed in a way that has no code of its own
	ErrFull        Code = C.TAMIS_EFULL        // the filter is full and was made to refuse more
	ErrBusy        Code = C.TAMIS_EBUSY        // another process has held a lock of the store for too long
)

// ErrClosed is the error of calls on a store, filter, build or watch that was closed.  It is also fs.ErrClosed.
var ErrClosed = fmt.Errorf("tamis: closed before this call: %w", fs.ErrClosed)

// Name returns the name of the code in C, such as "TAMIS_ENOTFOUND".
func (c Code) Name() string { return C.GoString(C.tamis_error_name(C.int(c))) }

// Error returns a few words for the code, which are the same whatever failed.
func (c Code) Error() string { return "tamis: " + C.GoString(C.tamis_error_message(C.int(c))) }

// Is makes the codes that have a counterpart in io/fs equal to it for errors.Is.
func (c Code) Is(target error) bool {
	switch c {
	case ErrNotFound, ErrNoStore:
		return target == fs.ErrNotExist
	case ErrExist:
		return target == fs.ErrExist
	case ErrAccess:
		return target == fs.ErrPermission
	}
	return false
}

// An Error is what a call of the library failed with.
type Error struct {
	Code     Code
	Sentence string // what was tried, on what, and what mends it
}

// Error returns the sentence.
func (e *Error) Error() string { return "tamis: " + e.Sentence }

// Unwrap returns the code.
func (e *Error) Unwrap() error { return e.Code }

// failed makes the error of an answer with a rc below 0, and frees its sentence.
func failed(answer C.struct_tamis_go_answer) error {
	sentence := C.GoString(answer.sentence)
	C.free(unsafe.Pointer(answer.sentence))
	return &Error{Code(answer.rc), sentence}
}

// invalid is for what the binding itself refuses.
func invalid(format string, args ...any) error {
	return &Error{ErrInvalid, fmt.Sprintf(format, args...)}
}

// isBusy tells the one error that a call which was given up may have.
func isBusy(err error) bool { return errors.Is(err, ErrBusy) }

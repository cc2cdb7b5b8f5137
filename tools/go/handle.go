// SPDX-License-Identifier: BSD-2-Clause

package tamis

// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"
)

// uses counts the calls that run on a handle of C, so that Close frees none under a call.  The zero value is that of a handle that was
// never opened, which counts as closed.
type uses struct {
	state atomic.Int64 // calls that run, and `closing` once Close has begun
	idle  chan struct{}
}

const closing = 1 << 62

// open makes the handle usable; before any other goroutine knows it.
func (u *uses) open() { u.idle = make(chan struct{}, 1) }

// enter begins a call; if it returns nil, leave ends it.
func (u *uses) enter() error {
	if u.idle == nil {
		return ErrClosed
	}
	if u.state.Add(1)&closing != 0 {
		u.leave()
		return ErrClosed
	}
	return nil
}

func (u *uses) leave() {
	if u.state.Add(-1) == closing {
		select { // the last call that Close waits for; or one that came later, to which nobody listens
		case u.idle <- struct{}{}:
		default:
		}
	}
}

// close calls closer, for the first who calls it, when all calls have ended.  It does not wait for that below a function that C calls:
// it may be one of those calls that has come there.
func (u *uses) close(closer func() error) error {
	if u.idle == nil {
		return nil
	}
	before := u.state.Or(closing)
	if before&closing != 0 {
		return nil
	}
	if before == 0 {
		return closer()
	}
	if C.tamis_go_is_called() != 0 {
		go func() {
			<-u.idle
			_ = closer()
		}()
		return nil
	}
	<-u.idle
	return closer()
}

// A stopper gives up calls of C when a context ends: they look at a word of C's memory.
type stopper struct {
	word *C.int32_t // nil: the context never ends
	stop func() bool
	done chan struct{}
}

func newStopper(ctx context.Context) stopper {
	if ctx.Done() == nil {
		return stopper{}
	}
	s := stopper{word: (*C.int32_t)(C.calloc(1, C.sizeof_int32_t)), done: make(chan struct{})}
	s.stop = context.AfterFunc(ctx, func() {
		atomic.StoreInt32((*int32)(unsafe.Pointer(s.word)), 1)
		close(s.done)
	})
	return s
}

func (s stopper) free() {
	if s.word == nil {
		return
	}
	if !s.stop() {
		<-s.done // it has begun: not before it has written
	}
	C.free(unsafe.Pointer(s.word))
}

// call makes a call of C, or several, on one thread.  What it returns below 0 becomes an error: that of the context, if the call was
// given up because that has ended.
func call[T C.int | C.int64_t](ctx context.Context, f func() T) (T, error) {
	if err := ctx.Err(); err != nil {
		return 0, context.Cause(ctx)
	}
	s := newStopper(ctx)
	defer s.free()
	runtime.LockOSThread() // the sentence of an error is the thread's
	defer runtime.UnlockOSThread()
	before := C.tamis_go_enter(s.word)
	rc := f()
	C.tamis_go_enter(before)
	if rc >= 0 {
		return rc, nil
	}
	err := error(&Error{Code(rc), C.GoString(C.tamis_last_error())})
	if isBusy(err) && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return 0, err
}

// plain is call for what does not wait.
func plain[T C.int | C.int64_t](f func() T) (T, error) { return call(context.Background(), f) }

// whole refuses a string that C would take for a shorter one.
func whole(what, text string) error {
	if i := strings.IndexByte(text, 0); i >= 0 {
		return invalid("%s has a NUL byte, at byte %d of %q; leave it out", what, i, text)
	}
	return nil
}

// cstring copies a string for C.
func cstring(what, text string) (*C.char, error) {
	if err := whole(what, text); err != nil {
		return nil, err
	}
	return C.CString(text), nil
}

// cnames copies names for C: a table and the names, in one piece, to be freed at once.
func cnames(names []string) (**C.char, error) {
	bytes := len(names) * C.sizeof_size_t
	for _, name := range names {
		if err := whole("a name", name); err != nil {
			return nil, err
		}
		bytes += len(name) + 1
	}
	memory := C.malloc(C.size_t(bytes + 1))
	table := unsafe.Slice((**C.char)(memory), len(names))
	text := unsafe.Slice((*byte)(memory), bytes)
	at := len(names) * C.sizeof_size_t
	for i, name := range names {
		table[i] = (*C.char)(unsafe.Add(memory, at))
		copy(text[at:], name)
		text[at+len(name)] = 0
		at += len(name) + 1
	}
	return (**C.char)(memory), nil
}

func free[T any](memory *T) { C.free(unsafe.Pointer(memory)) }

// SPDX-License-Identifier: BSD-2-Clause

package tamis

// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"context"
	"io"
	"runtime/cgo"
	"unsafe"
)

// A caller is what C hands back to a function of Go: its functions, and what came of them.
type caller struct {
	ctx      context.Context
	item     func(item unsafe.Pointer, number uint64) error
	progress func(phase uint32, done, all uint64) error
	reader   io.Reader
	writer   io.Writer
	err      error // of one of these
	panicked any   // no panic may run through the frames of C
}

// hold makes the address that C hands back; drop gives it back.
func (c *caller) hold() unsafe.Pointer {
	handle := C.malloc(C.sizeof_size_t)
	*(*cgo.Handle)(handle) = cgo.NewHandle(c)
	return handle
}

func drop(handle unsafe.Pointer) {
	(*(*cgo.Handle)(handle)).Delete()
	C.free(handle)
}

// with calls f with that address, and returns what the functions of Go failed with rather than what C says of that.
func (c *caller) with(f func(handle unsafe.Pointer) error) error {
	handle := c.hold()
	defer drop(handle)
	return c.outcome(f(handle))
}

func (c *caller) outcome(err error) error {
	if c.panicked != nil {
		panic(c.panicked)
	}
	if c.err != nil {
		err = c.err
	}
	return err
}

// guarded runs a function of Go below C: 0, or what has C end its call.
func guarded(handle unsafe.Pointer, f func(c *caller) error) (rc C.int) {
	c := (*(*cgo.Handle)(handle)).Value().(*caller)
	defer func() {
		if panicked := recover(); panicked != nil {
			c.panicked = panicked
			rc = C.TAMIS_ESYSTEM
		}
	}()
	if err := f(c); err != nil {
		c.err = err
		return C.TAMIS_ESYSTEM
	}
	return 0
}

//export tamisGoItem
func tamisGoItem(handle, item unsafe.Pointer, number C.uint64_t) C.int {
	return guarded(handle, func(c *caller) error { return c.item(item, uint64(number)) })
}

//export tamisGoProgress
func tamisGoProgress(handle unsafe.Pointer, phase C.uint32_t, done, all C.uint64_t) C.int {
	return guarded(handle, func(c *caller) error {
		if c.ctx != nil && c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		if c.progress == nil {
			return nil
		}
		return c.progress(uint32(phase), uint64(done), uint64(all))
	})
}

//export tamisGoRead
func tamisGoRead(handle, buffer unsafe.Pointer, bytes C.size_t) C.int64_t {
	var got int
	rc := guarded(handle, func(c *caller) error {
		if c.ctx != nil && c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		var err error
		got, err = io.ReadAtLeast(c.reader, unsafe.Slice((*byte)(buffer), int(bytes)), 1)
		if err == io.EOF {
			return nil
		}
		return err
	})
	if rc < 0 {
		return C.int64_t(rc)
	}
	return C.int64_t(got)
}

//export tamisGoWrite
func tamisGoWrite(handle, buffer unsafe.Pointer, bytes C.size_t) C.int {
	return guarded(handle, func(c *caller) error {
		if c.ctx != nil && c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		_, err := c.writer.Write(unsafe.Slice((*byte)(buffer), int(bytes)))
		return err
	})
}

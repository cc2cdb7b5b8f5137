// SPDX-License-Identifier: BSD-2-Clause

package tamis

// #include "shim.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// lent is the memory of a key for the time of one call of C, which does not keep it.
func lent[K string | []byte](key *K) (unsafe.Pointer, C.size_t) {
	switch k := any(key).(type) {
	case *string:
		return unsafe.Pointer(unsafe.StringData(*k)), C.size_t(len(*k))
	case *[]byte:
		return unsafe.Pointer(unsafe.SliceData(*k)), C.size_t(len(*k))
	}
	panic("unreachable")
}

// Add adds a key.  True: it was new, and of all processes and goroutines that add it, at most one is told so.
func (f *Filter) Add(key []byte) (bool, error) {
	if err := f.uses.enter(); err != nil {
		return false, err
	}
	answer := C.tamis_go_add(f.c, (*C.char)(unsafe.Pointer(unsafe.SliceData(key))), C.size_t(len(key)))
	return f.told(answer)
}

// AddString is Add for a string.
func (f *Filter) AddString(key string) (bool, error) {
	if err := f.uses.enter(); err != nil {
		return false, err
	}
	answer := C.tamis_go_add(f.c, (*C.char)(unsafe.Pointer(unsafe.StringData(key))), C.size_t(len(key)))
	return f.told(answer)
}

// Contains tells whether a key is there, or seems to be.
func (f *Filter) Contains(key []byte) (bool, error) {
	if err := f.uses.enter(); err != nil {
		return false, err
	}
	answer := C.tamis_go_contains(f.c, (*C.char)(unsafe.Pointer(unsafe.SliceData(key))), C.size_t(len(key)))
	return f.told(answer)
}

// ContainsString is Contains for a string.
func (f *Filter) ContainsString(key string) (bool, error) {
	if err := f.uses.enter(); err != nil {
		return false, err
	}
	answer := C.tamis_go_contains(f.c, (*C.char)(unsafe.Pointer(unsafe.StringData(key))), C.size_t(len(key)))
	return f.told(answer)
}

// ContainsName asks for a name and its parents: the nearest that is there, as name spells it.
func (f *Filter) ContainsName(name []byte) (found []byte, ok bool, err error) {
	if err := f.uses.enter(); err != nil {
		return nil, false, err
	}
	answer := C.tamis_go_contains_name(f.c, (*C.char)(unsafe.Pointer(unsafe.SliceData(name))), C.size_t(len(name)))
	if ok, err = f.told(answer); ok {
		found = name[answer.rc-1:]
	}
	return found, ok, err
}

// ContainsNameString is ContainsName for a string.
func (f *Filter) ContainsNameString(name string) (found string, ok bool, err error) {
	if err := f.uses.enter(); err != nil {
		return "", false, err
	}
	answer := C.tamis_go_contains_name(f.c, (*C.char)(unsafe.Pointer(unsafe.StringData(name))), C.size_t(len(name)))
	if ok, err = f.told(answer); ok {
		found = name[answer.rc-1:]
	}
	return found, ok, err
}

// Remove takes a key of a filter of kind counting off once.  True: it was there.  Remove only what was added.
func (f *Filter) Remove(key []byte) (bool, error) {
	if err := f.uses.enter(); err != nil {
		return false, err
	}
	answer := C.tamis_go_remove(f.c, (*C.char)(unsafe.Pointer(unsafe.SliceData(key))), C.size_t(len(key)))
	return f.told(answer)
}

// RemoveString is Remove for a string.
func (f *Filter) RemoveString(key string) (bool, error) {
	if err := f.uses.enter(); err != nil {
		return false, err
	}
	answer := C.tamis_go_remove(f.c, (*C.char)(unsafe.Pointer(unsafe.StringData(key))), C.size_t(len(key)))
	return f.told(answer)
}

// Count returns how often a key of a filter of kind counting was added and not removed.
func (f *Filter) Count(key []byte) (uint64, error) {
	if err := f.uses.enter(); err != nil {
		return 0, err
	}
	answer := C.tamis_go_count(f.c, (*C.char)(unsafe.Pointer(unsafe.SliceData(key))), C.size_t(len(key)))
	_, err := f.told(answer)
	return uint64(max(answer.rc, 0)), err
}

// CountString is Count for a string.
func (f *Filter) CountString(key string) (uint64, error) {
	if err := f.uses.enter(); err != nil {
		return 0, err
	}
	answer := C.tamis_go_count(f.c, (*C.char)(unsafe.Pointer(unsafe.StringData(key))), C.size_t(len(key)))
	_, err := f.told(answer)
	return uint64(max(answer.rc, 0)), err
}

// told ends a call.
func (f *Filter) told(answer C.struct_tamis_go_answer) (bool, error) {
	f.uses.leave()
	runtime.KeepAlive(f)
	if answer.rc < 0 {
		return false, failed(answer)
	}
	return answer.rc > 0, nil
}

// Prefetch has the processor fetch what a call for this key is going to read, and does not wait for it.  It pays where there is
// something else to do for some hundred nanoseconds, and many keys go faster in a batch.
func (f *Filter) Prefetch(key []byte) error {
	if err := f.uses.enter(); err != nil {
		return err
	}
	defer f.uses.leave()
	if rc := C.tamis_filter_prefetch(f.c, unsafe.Pointer(unsafe.SliceData(key)), C.size_t(len(key))); rc < 0 {
		return Code(rc)
	}
	return nil
}

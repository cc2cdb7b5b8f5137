// SPDX-License-Identifier: BSD-2-Clause

package tamis

// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"context"
	"runtime"
	"sync"
	"unsafe"
)

// An Answer is what a batch says of one key.
type Answer uint8

const (
	No      Answer = 0                      // the key was there already, or is absent
	Yes     Answer = 1                      // the key is new, or is there
	Refused Answer = C.TAMIS_ANSWER_REFUSED // after an error: nothing was done for this key
)

// One call of C takes so many keys, and keys of so many bytes together.
const (
	batchKeys  = 4096
	batchBytes = 512 << 10
)

// AddBatch adds many keys, and returns how many were new.
//
// answers is nil, or has room for an Answer for each key: Yes for a new one.  After an error a key that was not added has Refused, and
// the others have their answer: nobody is told again that they were new.  Keys that were refused may be added again.  Many keys go to C in
// calls of up to 4,096; when ctx ends, the batch ends between two of them, and where it waits for another process.
func (f *Filter) AddBatch(ctx context.Context, keys [][]byte, answers []Answer) (int, error) {
	return answered(f, ctx, C.TAMIS_GO_ADD, keys, answers)
}

// AddStrings is AddBatch for strings.
func (f *Filter) AddStrings(ctx context.Context, keys []string, answers []Answer) (int, error) {
	return answered(f, ctx, C.TAMIS_GO_ADD, keys, answers)
}

// ContainsBatch asks for many keys, and returns how many are there, or seem to be.  answers is as in AddBatch.
func (f *Filter) ContainsBatch(keys [][]byte, answers []Answer) (int, error) {
	return answered(f, context.Background(), C.TAMIS_GO_CONTAINS, keys, answers)
}

// ContainsStrings is ContainsBatch for strings.
func (f *Filter) ContainsStrings(keys []string, answers []Answer) (int, error) {
	return answered(f, context.Background(), C.TAMIS_GO_CONTAINS, keys, answers)
}

// RemoveBatch removes many keys of a filter of kind counting, and returns how many were there.  answers is as in AddBatch.
func (f *Filter) RemoveBatch(ctx context.Context, keys [][]byte, answers []Answer) (int, error) {
	return answered(f, ctx, C.TAMIS_GO_REMOVE, keys, answers)
}

// RemoveStrings is RemoveBatch for strings.
func (f *Filter) RemoveStrings(ctx context.Context, keys []string, answers []Answer) (int, error) {
	return answered(f, ctx, C.TAMIS_GO_REMOVE, keys, answers)
}

// CountBatch counts many keys of a filter of kind counting, and returns how many are there.  counts has room for each key.
func (f *Filter) CountBatch(keys [][]byte, counts []uint64) (int, error) {
	return counted(f, keys, counts)
}

// CountStrings is CountBatch for strings.
func (f *Filter) CountStrings(keys []string, counts []uint64) (int, error) {
	return counted(f, keys, counts)
}

func answered[K string | []byte](f *Filter, ctx context.Context, which C.enum_tamis_go_batch, keys []K, answers []Answer) (int, error) {
	if answers != nil && len(answers) < len(keys) {
		return 0, invalid("%d keys, and room for %d answers; give nil, or room for all", len(keys), len(answers))
	}
	all, done, err := batch(f, ctx, which, keys, func(i int) unsafe.Pointer {
		if answers == nil {
			return nil
		}
		return unsafe.Pointer(&answers[i])
	})
	if err != nil && answers != nil {
		for i := done; i < len(keys); i++ {
			answers[i] = Refused
		}
	}
	return all, err
}

func counted[K string | []byte](f *Filter, keys []K, counts []uint64) (int, error) {
	if len(counts) < len(keys) {
		return 0, invalid("%d keys, and room for %d counts; give room for all", len(keys), len(counts))
	}
	all, _, err := batch(f, context.Background(), C.TAMIS_GO_COUNT, keys, func(i int) unsafe.Pointer {
		return unsafe.Pointer(&counts[i])
	})
	return all, err
}

// batch returns how many answers were not 0, and how many keys C has seen.
func batch[K string | []byte](f *Filter, ctx context.Context, which C.enum_tamis_go_batch, keys []K,
	answers func(int) unsafe.Pointer) (all, done int, err error) {
	if err := f.uses.enter(); err != nil {
		return 0, 0, err
	}
	defer f.uses.leave()
	defer runtime.KeepAlive(f)
	s := newStopper(ctx)
	defer s.free()
	a := arenas.Get().(*arena)
	defer arenas.Put(a)
	for done < len(keys) || len(keys) == 0 {
		if ctx.Err() != nil {
			return all, done, context.Cause(ctx)
		}
		count := fill(a, keys[done:])
		var into unsafe.Pointer
		if count > 0 {
			into = answers(done)
		}
		answer := C.tamis_go_batch(f.c, which, a.all(), C.size_t(count), into, s.word)
		a.clear()
		done += count
		if answer.rc < 0 {
			err = failed(answer)
			if isBusy(err) && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return all, done, err
		}
		all += int(answer.rc)
		if len(keys) == 0 {
			break
		}
	}
	return all, done, nil
}

// A lentKey is struct tamis_key.  Its pointer is a number for Go: the collector must not follow what is left in memory of C.
type lentKey struct{ data, bytes uintptr }

// An arena is memory of C in which the keys of a batch lie one behind the other.  Pinning each key instead (runtime.Pinner) takes three
// times as long as copying a URL: tools/go/bench measures both.
type arena struct {
	keys   []lentKey
	text   []byte
	pinner runtime.Pinner // of a key that is larger than text
}

var arenas = sync.Pool{New: func() any {
	memory := C.malloc(batchKeys*C.sizeof_struct_tamis_key + batchBytes)
	a := &arena{
		keys: unsafe.Slice((*lentKey)(memory), batchKeys),
		text: unsafe.Slice((*byte)(unsafe.Add(memory, batchKeys*C.sizeof_struct_tamis_key)), batchBytes),
	}
	runtime.AddCleanup(a, func(memory unsafe.Pointer) { C.free(memory) }, memory)
	return a
}}

// fill puts as many keys as there is room for into the arena, and returns how many.  The first one may be of any length.  clear ends it.
func fill[K string | []byte](a *arena, keys []K) int {
	at, base := 0, uintptr(unsafe.Pointer(&a.text[0]))
	for i := range keys {
		bytes := len(keys[i])
		switch {
		case i == batchKeys:
			return i
		case bytes <= batchBytes-at:
			a.keys[i] = lentKey{base + uintptr(at), uintptr(bytes)}
			at += copy(a.text[at:], keys[i])
		case i == 0:
			data, _ := lent(&keys[i])
			a.pinner.Pin(data)
			a.keys[i] = lentKey{uintptr(data), uintptr(bytes)}
			return 1
		default:
			return i
		}
	}
	return len(keys)
}

func (a *arena) clear() { a.pinner.Unpin() }

func (a *arena) all() *C.struct_tamis_key { return (*C.struct_tamis_key)(unsafe.Pointer(&a.keys[0])) }

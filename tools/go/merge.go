// SPDX-License-Identifier: BSD-2-Clause

package tamis

// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"context"
	"runtime"
	"time"
	"unsafe"
)

// Progress is told how far a call is, and ends it by an error, which the call then returns.  nil: nobody is told.
type Progress func(doneBytes, allBytes uint64) error

// merged calls f with what is to be merged.
func merged(ctx context.Context, sources []*Filter, intersect bool, progress Progress, f func(m *C.struct_tamis_merge) C.int) error {
	table := (**C.tamis_filter)(C.calloc(C.size_t(len(sources)+1), C.sizeof_size_t))
	defer free(table)
	defer runtime.KeepAlive(sources)
	for i, source := range sources {
		if err := source.uses.enter(); err != nil {
			return err
		}
		defer source.uses.leave()
		unsafe.Slice(table, len(sources))[i] = source.c
	}
	return newProgress(ctx, progress).with(func(handle unsafe.Pointer) error {
		m := C.struct_tamis_merge{
			size: C.sizeof_struct_tamis_merge, sources: table, count: C.size_t(len(sources)),
			flags:    flag[C.uint32_t](intersect, C.TAMIS_MERGE_INTERSECT),
			progress: (*[0]byte)(C.tamis_go_progress), context: handle,
		}
		_, err := call(ctx, func() C.int { return f(&m) })
		return err
	})
}

// Merge brings all keys of the sources into the filter, which may be in use.
func (f *Filter) Merge(ctx context.Context, progress Progress, sources ...*Filter) error {
	if err := f.uses.enter(); err != nil {
		return err
	}
	defer f.uses.leave()
	return merged(ctx, sources, false, progress, func(m *C.struct_tamis_merge) C.int { return C.tamis_filter_merge(f.c, m) })
}

// CreateMerged makes a filter of the keys that are in any of the sources, or in all of them where intersect is true, and opens it.
func (s *Store) CreateMerged(ctx context.Context, name string, intersect bool, progress Progress, sources ...*Filter) (*Filter, error) {
	text, err := cstring("the name of a filter", name)
	if err != nil {
		return nil, err
	}
	defer free(text)
	if err = s.uses.enter(); err != nil {
		return nil, err
	}
	defer s.uses.leave()
	var c *C.tamis_filter
	err = merged(ctx, sources, intersect, progress, func(m *C.struct_tamis_merge) C.int {
		return C.tamis_filter_create_merged(s.c, text, m, &c)
	})
	return opened(c, err)
}

// Like returns the spec that makes a filter which can be merged with this one.
func (f *Filter) Like() (*Spec, error) {
	c := C.struct_tamis_filter_spec{size: C.sizeof_struct_tamis_filter_spec}
	name := (*C.char)(C.calloc(1, C.TAMIS_HASH_SET_NAME_MAX+1))
	defer free(name)
	var keyRule string
	err := f.quick(func() C.int {
		rc := C.tamis_filter_like(f.c, &c, name)
		if c.key_rule != nil { // it is the filter's, which may be closed afterwards
			keyRule = C.GoString(c.key_rule)
		}
		return rc
	})
	if err != nil {
		return nil, err
	}
	spec := &Spec{
		Capacity: uint64(c.capacity), FPRate: float64(c.fp_rate), Kind: Kind(c.kind), K: uint32(c.k), MBits: uint64(c.m_bits),
		HashSet: C.GoString(name), Seed: uint64(c.seed), OnFull: OnFull(c.on_full), Slices: uint32(c.slices),
		Window: time.Duration(c.window_ns), WindowItems: uint64(c.window_items), CounterBits: uint32(c.counter_bits),
		Flags: FilterFlags(c.flags), Pages: Pages(c.pages), KeyRule: keyRule,
	}
	for i := range spec.Secret {
		spec.Secret[i] = byte(c.secret[i])
	}
	return spec, nil
}

// Comparison is how much two filters have in common, in keys.
type Comparison struct {
	ItemsA, ItemsB float64
	ItemsUnion     float64 // in a or b
	ItemsBoth      float64 // in a and b
	Jaccard        float64 // ItemsBoth / ItemsUnion
	Error          float64 // of ItemsBoth: two times in three it is nearer than this
}

// Compare tells how much the filter has in common with another.  It reads both completely.
func (f *Filter) Compare(other *Filter) (Comparison, error) {
	if err := other.uses.enter(); err != nil {
		return Comparison{}, err
	}
	defer runtime.KeepAlive(other)
	defer other.uses.leave()
	c := C.struct_tamis_comparison{size: C.sizeof_struct_tamis_comparison}
	err := f.quick(func() C.int { return C.tamis_filter_compare(f.c, other.c, &c) })
	return Comparison{float64(c.items_a), float64(c.items_b), float64(c.items_union), float64(c.items_both), float64(c.jaccard),
		float64(c.error)}, err
}

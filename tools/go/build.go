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

// BuildPhase is what a build does now.
type BuildPhase uint32

const (
	BuildReading    BuildPhase = C.TAMIS_BUILD_READING    // done: keys added so far; all: 0
	BuildSorting    BuildPhase = C.TAMIS_BUILD_SORTING    // done, all: keys that are brought in order
	BuildMaking     BuildPhase = C.TAMIS_BUILD_MAKING     // done, all: distinct keys that are in
	BuildVerifying  BuildPhase = C.TAMIS_BUILD_VERIFYING  // done, all: keys asked for
	BuildPublishing BuildPhase = C.TAMIS_BUILD_PUBLISHING // done, all: 0 and 1, then 1 and 1
)

// BuildOptions are how a filter is built.  nil and all zero are as it was built before, or kind fuse at 1 %.
type BuildOptions struct {
	Spec        *Spec
	MemoryBytes uint64 // for the keys; what does not fit goes through a file; 0: a quarter of what is free
	Threads     int    // 0: as many as processors
	IfChanged   bool   // publish nothing if nothing has changed
	Keep        *int   // older generations that are kept; nil: as before
	Progress    func(phase BuildPhase, done, all uint64) error
}

// BuildResult is what a build did.
type BuildResult struct {
	Published  bool   // false: IfChanged was given, and nothing has changed
	Keys       uint64 // that were added, with those that came again
	Distinct   uint64
	Generation uint64
	Exceptions uint64
	Found      uint64 // known good keys that answered yes, and became exceptions
	Conflicts  uint64 // known good keys that were added too
	Sampled    uint64
	SampledYes uint64
	SizeBytes  uint64
	KeyDigest  [16]byte
}

// A Build makes the next generation of a filter from all of its keys, under readers that never stop.  One goroutine at a time uses it:
// others wait for their turn.
type Build struct {
	uses    uses
	turn    chan struct{}
	memory  *buildMemory
	caller  *caller
	ctx     context.Context
	cleanup runtime.Cleanup
}

// buildMemory is what C has of a build.
type buildMemory struct {
	c      *C.tamis_build
	spec   *C.struct_tamis_filter_spec
	handle unsafe.Pointer
}

func (m *buildMemory) free() {
	C.tamis_build_close(m.c)
	freeSpec(m.spec)
	drop(m.handle)
}

// Build begins a build of the filter of that name, which need not exist yet.  When ctx ends, the calls of the build end.
func (s *Store) Build(ctx context.Context, name string, options *BuildOptions) (*Build, error) {
	if options == nil {
		options = &BuildOptions{}
	}
	spec, err := options.Spec.c()
	if err != nil {
		return nil, err
	}
	c := &caller{ctx: ctx}
	if options.Progress != nil {
		c.progress = func(phase uint32, done, all uint64) error { return options.Progress(BuildPhase(phase), done, all) }
	}
	m := &buildMemory{spec: spec, handle: c.hold()}
	given := C.struct_tamis_build_spec{size: C.sizeof_struct_tamis_build_spec, filter: spec, memory_bytes: C.uint64_t(options.MemoryBytes),
		threads: C.uint32_t(options.Threads), flags: flag[C.uint32_t](options.IfChanged, C.TAMIS_BUILD_IF_CHANGED),
		progress: (*[0]byte)(C.tamis_go_build_progress), context: m.handle}
	if options.Keep != nil {
		given.flags |= C.TAMIS_BUILD_KEEP
		given.keep = C.uint32_t(*options.Keep)
	}
	err = c.outcome(s.onName(ctx, name, func(name *C.char) C.int { return C.tamis_build_begin(s.c, name, &given, &m.c) }))
	if err != nil {
		m.free()
		return nil, err
	}
	b := &Build{memory: m, caller: c, ctx: ctx, turn: make(chan struct{}, 1)}
	b.uses.open()
	b.cleanup = runtime.AddCleanup(b, func(m *buildMemory) { go m.free() }, m)
	return b, nil
}

// on makes a call of C on the build.
func (b *Build) on(f func() C.int) (C.int, error) {
	if err := b.uses.enter(); err != nil {
		return 0, err
	}
	defer runtime.KeepAlive(b)
	defer b.uses.leave()
	b.turn <- struct{}{}
	defer func() { <-b.turn }()
	b.caller.err, b.caller.panicked = nil, nil
	rc, err := call(b.ctx, f)
	return rc, b.caller.outcome(err)
}

// given hands keys to C, in calls of up to 4,096.
func given[K string | []byte](b *Build, keys []K, f func(keys *C.struct_tamis_key, count C.size_t) C.int) error {
	a := arenas.Get().(*arena)
	defer arenas.Put(a)
	defer a.clear() // also if a function of the caller's panics
	for {
		count := fill(a, keys)
		_, err := b.on(func() C.int { return f(a.all(), C.size_t(count)) })
		a.clear()
		if keys = keys[count:]; err != nil || len(keys) == 0 {
			return err
		}
	}
}

func addTo(b *Build) func(*C.struct_tamis_key, C.size_t) C.int {
	return func(keys *C.struct_tamis_key, count C.size_t) C.int {
		return C.tamis_build_add(b.memory.c, keys, count)
	}
}

func againstIn(b *Build) func(*C.struct_tamis_key, C.size_t) C.int {
	return func(keys *C.struct_tamis_key, count C.size_t) C.int {
		return C.tamis_build_against(b.memory.c, keys, count)
	}
}

func exceptIn(b *Build) func(*C.struct_tamis_key, C.size_t) C.int {
	return func(keys *C.struct_tamis_key, count C.size_t) C.int {
		return C.tamis_build_except(b.memory.c, keys, count)
	}
}

// Add adds keys that the generation is to have.
func (b *Build) Add(keys [][]byte) error { return given(b, keys, addTo(b)) }

// AddStrings is Add for strings.
func (b *Build) AddStrings(keys []string) error { return given(b, keys, addTo(b)) }

// Against gives keys that are known to be good: those to which the generation would answer yes although they were not added become
// exceptions.
func (b *Build) Against(keys [][]byte) error { return given(b, keys, againstIn(b)) }

// AgainstStrings is Against for strings.
func (b *Build) AgainstStrings(keys []string) error { return given(b, keys, againstIn(b)) }

// Except gives keys that must answer absent whatever was added.
func (b *Build) Except(keys [][]byte) error { return given(b, keys, exceptIn(b)) }

// ExceptStrings is Except for strings.
func (b *Build) ExceptStrings(keys []string) error { return given(b, keys, exceptIn(b)) }

// Publish makes the generation, verifies it and puts it in force.  Close is still to be called.
func (b *Build) Publish() (BuildResult, error) {
	c := C.struct_tamis_build_result{size: C.sizeof_struct_tamis_build_result}
	rc, err := b.on(func() C.int { return C.tamis_build_publish(b.memory.c, &c) })
	if err != nil {
		return BuildResult{}, err
	}
	made := BuildResult{Published: rc == 1, Keys: uint64(c.keys), Distinct: uint64(c.distinct), Generation: uint64(c.generation),
		Exceptions: uint64(c.exceptions), Found: uint64(c.found), Conflicts: uint64(c.conflicts), Sampled: uint64(c.sampled),
		SampledYes: uint64(c.sampled_yes), SizeBytes: uint64(c.size_bytes)}
	for i := range made.KeyDigest {
		made.KeyDigest[i] = byte(c.key_digest[i])
	}
	return made, nil
}

// Close gives the build back, published or not.
func (b *Build) Close() error {
	return b.uses.close(func() error {
		b.cleanup.Stop()
		b.memory.free()
		return nil
	})
}

// ---- Generations --------------------------------------------------------------------------------

// A Generation is a version of a filter: the one in force, or one that is kept.
type Generation struct {
	Generation   uint64
	InForce      bool
	Kind         Kind
	SegmentCount uint32
	Items        uint64
	SizeBytes    uint64
	FPRate       float64
	Exceptions   uint64
	PublishedAt  time.Time
	KeyDigest    [16]byte
}

// Generations returns the generations of a filter, the oldest first.
func (s *Store) Generations(ctx context.Context, name string) ([]Generation, error) {
	var found []Generation
	c := &caller{item: func(item unsafe.Pointer, _ uint64) error {
		g := (*C.struct_tamis_generation_stat)(item)
		made := Generation{Generation: uint64(g.generation), InForce: g.in_force != 0, Kind: Kind(g.kind),
			SegmentCount: uint32(g.segment_count), Items: uint64(g.items), SizeBytes: uint64(g.size_bytes), FPRate: float64(g.fp_rate),
			Exceptions: uint64(g.exceptions), PublishedAt: untilTime(g.published_at)}
		for i := range made.KeyDigest {
			made.KeyDigest[i] = byte(g.key_digest[i])
		}
		found = append(found, made)
		return nil
	}}
	err := c.with(func(handle unsafe.Pointer) error {
		return s.onName(ctx, name, func(name *C.char) C.int {
			return C.tamis_filter_generations(s.c, name, (*C.tamis_generation_fn)(C.tamis_go_each_generation), handle)
		})
	})
	return found, err
}

// Rollback puts a kept generation in force again; 0: the newest before the one in force.
func (s *Store) Rollback(ctx context.Context, name string, generation uint64) error {
	return s.onName(ctx, name, func(name *C.char) C.int {
		return C.tamis_filter_rollback(s.c, name, C.uint64_t(generation))
	})
}

// ---- Exceptions -----------------------------------------------------------------------------------

// Except adds keys to the exceptions of a filter, which answer absent whatever its bits say.  It returns how many were none yet.
func (s *Store) Except(ctx context.Context, name string, keys [][]byte) (int, error) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	table := pinned(&pinner, keys)
	return s.counting(ctx, name, func(name *C.char) C.int64_t {
		return C.tamis_filter_except(s.c, name, table, C.size_t(len(keys)))
	})
}

// Unexcept takes keys off the exceptions, and returns how many were some.  answers is nil, or gets Yes for each that was.
func (s *Store) Unexcept(ctx context.Context, name string, keys [][]byte, answers []Answer) (int, error) {
	if answers != nil && len(answers) < len(keys) {
		return 0, invalid("%d keys, and room for %d answers; give nil, or room for all", len(keys), len(answers))
	}
	var pinner runtime.Pinner
	defer pinner.Unpin()
	table := pinned(&pinner, keys)
	return s.counting(ctx, name, func(name *C.char) C.int64_t {
		return C.tamis_filter_unexcept(s.c, name, table, C.size_t(len(keys)), (*C.uint8_t)(unsafe.SliceData(answers)))
	})
}

func (s *Store) counting(ctx context.Context, name string, f func(name *C.char) C.int64_t) (int, error) {
	text, err := cstring("the name of a filter", name)
	if err != nil {
		return 0, err
	}
	defer free(text)
	if err = s.uses.enter(); err != nil {
		return 0, err
	}
	defer s.uses.leave()
	count, err := call(ctx, func() C.int64_t { return f(text) })
	return int(count), err
}

// exception is a caller that hands a copy of each key on.
func exception(f func(key []byte, generation uint64) error) *caller {
	return &caller{item: func(item unsafe.Pointer, generation uint64) error {
		key := (*C.struct_tamis_key)(item)
		return f(C.GoBytes(key.data, C.int(key.bytes)), generation)
	}}
}

// EachException calls f for each exception of a filter, in order of their bytes, until it returns an error.  generation is 0, or the one
// whose build found it.
func (s *Store) EachException(ctx context.Context, name string, f func(key []byte, generation uint64) error) error {
	return exception(f).with(func(handle unsafe.Pointer) error {
		return s.onName(ctx, name, func(name *C.char) C.int {
			return C.tamis_filter_exceptions(s.c, name, (*C.tamis_exception_fn)(C.tamis_go_each_exception), handle)
		})
	})
}

// EachException is that of the filter of an open handle, whatever its name is now.
func (f *Filter) EachException(ctx context.Context, each func(key []byte, generation uint64) error) error {
	return exception(each).with(func(handle unsafe.Pointer) error {
		return f.on(ctx, func() C.int {
			return C.tamis_filter_each_exception(f.c, (*C.tamis_exception_fn)(C.tamis_go_each_exception), handle)
		})
	})
}

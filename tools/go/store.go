// SPDX-License-Identifier: BSD-2-Clause

package tamis

// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"context"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

// A Store is a directory of filters, which many processes share without a server.
type Store struct {
	uses    uses
	c       *C.tamis_store
	path    string
	cleanup runtime.Cleanup
}

// StoreOptions are how a store is opened.  The zero value, like nil, makes a store where there is none.
type StoreOptions struct {
	ReadOnly       bool          // every filter is opened read-only; nothing is made and nothing written
	MustExist      bool          // ErrNoStore where there is none
	Mode           uint32        // of a new store, 0600 to 0666; 0: 0666 less umask
	BusyTimeout    time.Duration // how long calls wait for another process; 0: 10 s; below 0: not at all
	ForceNetworkFS bool          // accept a network file system, at your own risk
}

func (o *StoreOptions) c(ctx context.Context) (C.struct_tamis_store_options, error) {
	options := C.struct_tamis_store_options{size: C.sizeof_struct_tamis_store_options, busy_fn: (*C.tamis_busy_fn)(C.tamis_go_busy),
		busy_every_ms: 10} // for the end of a context
	if o == nil {
		o = &StoreOptions{}
	}
	options.mode = C.uint32_t(o.Mode)
	switch {
	case o.ReadOnly:
		options.flags = C.TAMIS_OPEN_READ_ONLY
	case !o.MustExist:
		options.flags = C.TAMIS_OPEN_CREATE
	}
	if o.ForceNetworkFS {
		options.flags |= C.TAMIS_OPEN_FORCE_NETWORK_FS
	}
	if o.BusyTimeout != 0 {
		milliseconds, err := milliseconds(o.BusyTimeout)
		if err != nil {
			return options, err
		}
		options.busy_timeout_ms = milliseconds
	}
	return options, nil
}

// milliseconds rounds up; below 0 it is -1.
func milliseconds(timeout time.Duration) (C.int64_t, error) {
	if timeout < 0 {
		return -1, nil
	}
	if timeout > C.TAMIS_BUSY_TIMEOUT_MAX*time.Millisecond {
		return 0, invalid("a busy timeout of %v is out of range; a day is the most", timeout)
	}
	return C.int64_t((timeout + time.Millisecond - 1) / time.Millisecond), nil
}

// Open opens the store in a directory, and makes it unless the options say otherwise.
func Open(ctx context.Context, path string, options *StoreOptions) (*Store, error) {
	given, err := options.c(ctx)
	if err != nil {
		return nil, err
	}
	absolute, err := storePath(path)
	if err != nil {
		return nil, err
	}
	text, err := cstring("the path of a store", absolute)
	if err != nil {
		return nil, err
	}
	defer free(text)
	var c *C.tamis_store
	if _, err = call(ctx, func() C.int { return C.tamis_store_open_with(text, &given, &c) }); err != nil {
		return nil, err
	}
	s := &Store{c: c, path: absolute}
	s.uses.open()
	s.cleanup = runtime.AddCleanup(s, func(c *C.tamis_store) { C.tamis_store_close(c) }, c)
	return s, nil
}

// storePath makes a path absolute, but for what the library refuses with a reason: none, and URLs.
func storePath(path string) (string, error) {
	if path == "" || strings.Contains(path, "://") {
		return path, nil
	}
	return filepath.Abs(path)
}

// Path returns the directory, as an absolute path.
func (s *Store) Path() string { return s.path }

// Close gives the store back.  Filters that were opened from it stay usable.
func (s *Store) Close() error {
	return s.uses.close(func() error {
		s.cleanup.Stop()
		C.tamis_store_close(s.c)
		return nil
	})
}

// on makes a call of C on the store.
func (s *Store) on(ctx context.Context, f func() C.int) error {
	if err := s.uses.enter(); err != nil {
		return err
	}
	defer s.uses.leave()
	_, err := call(ctx, f)
	return err
}

// onName is on for what takes a name.
func (s *Store) onName(ctx context.Context, name string, f func(name *C.char) C.int) error {
	text, err := cstring("the name of a filter", name)
	if err != nil {
		return err
	}
	defer free(text)
	return s.on(ctx, func() C.int { return f(text) })
}

// SetBusyTimeout sets how long calls of this store and its filters wait for another process, from now on; 0: not at all.
func (s *Store) SetBusyTimeout(timeout time.Duration) error {
	wanted, err := milliseconds(timeout)
	if err != nil {
		return err
	}
	return s.on(context.Background(), func() C.int { return C.tamis_store_set_busy_timeout(s.c, wanted) })
}

// List returns what is known of each filter whose name begins with prefix, in byte order of the names.
func (s *Store) List(ctx context.Context, prefix string) ([]Stat, error) {
	return s.list(ctx, prefix, func(text *C.char, handle unsafe.Pointer) C.int {
		return C.tamis_store_list_live(s.c, text, (*C.tamis_list_fn)(C.tamis_go_each_stat), handle)
	})
}

// ListCatalog is List without a look at the files of the filters: items and states are those of the last close or sync.
func (s *Store) ListCatalog(ctx context.Context, prefix string) ([]Stat, error) {
	return s.list(ctx, prefix, func(text *C.char, handle unsafe.Pointer) C.int {
		return C.tamis_store_list(s.c, text, (*C.tamis_list_fn)(C.tamis_go_each_stat), handle)
	})
}

// stats is a caller that collects what a list tells.
func stats(ctx context.Context, into *[]Stat) *caller {
	return &caller{item: func(item unsafe.Pointer, _ uint64) error {
		*into = append(*into, newStat((*C.struct_tamis_filter_stat)(item)))
		return ctx.Err()
	}}
}

func (s *Store) list(ctx context.Context, prefix string, f func(*C.char, unsafe.Pointer) C.int) ([]Stat, error) {
	var found []Stat
	text, err := cstring("a prefix", prefix)
	if err != nil {
		return nil, err
	}
	defer free(text)
	err = stats(ctx, &found).with(func(handle unsafe.Pointer) error {
		return s.on(ctx, func() C.int { return f(text, handle) })
	})
	return found, err
}

// A Problem is what Verify found.
type Problem struct {
	Filter string // its name, or "" if the file belongs to none
	File   string // inside the store
	Offset uint64 // byte in that file; 0: the file as a whole
	Code   Code   // 0: it only looks odd
	Reason string
}

// Verify checks the files of a filter, or of all where name is "".  It returns the problems, and what only looks odd (Code 0).
// progress is nil, or is told how far it is, and ends the check by an error.
func (s *Store) Verify(ctx context.Context, name string, progress func(doneBytes, allBytes uint64) error) ([]Problem, error) {
	var problems []Problem
	c := newProgress(ctx, progress)
	c.item = func(item unsafe.Pointer, _ uint64) error {
		p := (*C.struct_tamis_problem)(item)
		problems = append(problems, Problem{C.GoString(p.filter), C.GoString(p.file), uint64(p.offset), Code(p.error),
			C.GoString(p.reason)})
		return nil
	}
	var text *C.char
	if name != "" {
		var err error
		if text, err = cstring("the name of a filter", name); err != nil {
			return nil, err
		}
		defer free(text)
	}
	err := s.uses.enter()
	if err != nil {
		return nil, err
	}
	defer s.uses.leave()
	err = c.with(func(handle unsafe.Pointer) error {
		options := C.struct_tamis_verify_options{
			size: C.sizeof_struct_tamis_verify_options, fn: (*C.tamis_problem_fn)(C.tamis_go_each_problem),
			progress: (*[0]byte)(C.tamis_go_progress), context: handle,
		}
		_, err := call(ctx, func() C.int64_t { return C.tamis_store_verify_with(s.c, text, &options) })
		return err
	})
	return problems, err
}

func newProgress(ctx context.Context, progress func(done, all uint64) error) *caller {
	c := &caller{ctx: ctx}
	if progress != nil {
		c.progress = func(_ uint32, done, all uint64) error { return progress(done, all) }
	}
	return c
}

// Backup copies the store, while it is in use, into a directory that does not exist yet or is empty.  It returns the number of filters.
func (s *Store) Backup(ctx context.Context, path string, progress func(doneBytes, allBytes uint64) error) (int, error) {
	text, err := cstring("the path of a copy", path)
	if err != nil {
		return 0, err
	}
	defer free(text)
	if err = s.uses.enter(); err != nil {
		return 0, err
	}
	defer s.uses.leave()
	var filters C.int64_t
	err = newProgress(ctx, progress).with(func(handle unsafe.Pointer) error {
		filters, err = call(ctx, func() C.int64_t {
			return C.tamis_store_backup(s.c, text, (*[0]byte)(C.tamis_go_progress), handle)
		})
		return err
	})
	return int(filters), err
}

// A RepairStep is what Repair did, or found and left alone.
type RepairStep struct {
	Filter string // its name, or ""
	File   string // inside the store
	Code   Code   // 0: done; else why it could not be, or must not be
	What   string
}

// RepairOptions are how a store is repaired; all false is a good default.
type RepairOptions struct {
	DryRun         bool // say what would be done, change nothing
	Rebuild        bool // make the catalog anew although it can be read: it is older than the segments
	ForceNetworkFS bool
	Progress       func(doneBytes, allBytes uint64) error // while segments are read; nil: nobody is told
}

// Repair repairs a damaged store, and returns the steps, of which the first result is the number that were done.
func Repair(ctx context.Context, path string, options *RepairOptions) (int, []RepairStep, error) {
	if options == nil {
		options = &RepairOptions{}
	}
	text, err := cstring("the path of a store", path)
	if err != nil {
		return 0, nil, err
	}
	defer free(text)
	var steps []RepairStep
	var done C.int64_t
	c := newProgress(ctx, options.Progress)
	c.item = func(item unsafe.Pointer, _ uint64) error {
		s := (*C.struct_tamis_repair_step)(item)
		steps = append(steps, RepairStep{C.GoString(s.filter), C.GoString(s.file), Code(s.error), C.GoString(s.what)})
		return nil
	}
	err = c.with(func(handle unsafe.Pointer) error {
		given := C.struct_tamis_repair_options{
			size: C.sizeof_struct_tamis_repair_options, fn: (*C.tamis_repair_fn)(C.tamis_go_each_step),
			progress: (*[0]byte)(C.tamis_go_progress), context: handle,
		}
		given.flags = flag[C.uint32_t](options.DryRun, C.TAMIS_REPAIR_DRY_RUN) | flag[C.uint32_t](options.Rebuild, C.TAMIS_REPAIR_REBUILD) |
			flag[C.uint32_t](options.ForceNetworkFS, C.TAMIS_REPAIR_FORCE_NETWORK_FS)
		done, err = call(ctx, func() C.int64_t { return C.tamis_store_repair_with(text, &given) })
		return err
	})
	return int(done), steps, err
}

func flag[T ~uint32 | ~uint64](is bool, value T) T {
	if is {
		return value
	}
	return 0
}

// A Watch is a list that is looked at again and again, at no cost to the processes that use the store.
type Watch struct {
	uses    uses
	c       *C.tamis_watch
	turn    chan struct{} // one goroutine at a time
	cleanup runtime.Cleanup
}

// Watch makes a watch of the filters whose names begin with prefix.
func (s *Store) Watch(prefix string) (*Watch, error) {
	var c *C.tamis_watch
	err := s.onName(context.Background(), prefix, func(text *C.char) C.int { return C.tamis_watch_new(s.c, text, &c) })
	if err != nil {
		return nil, err
	}
	w := &Watch{c: c, turn: make(chan struct{}, 1)}
	w.uses.open()
	w.cleanup = runtime.AddCleanup(w, func(c *C.tamis_watch) { C.tamis_watch_free(c) }, c)
	return w, nil
}

// Look returns what List would, and in NewKeys of each filter how many keys were new since the look before.
func (w *Watch) Look(ctx context.Context) ([]Stat, error) {
	if err := w.uses.enter(); err != nil {
		return nil, err
	}
	defer w.uses.leave()
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	var found []Stat
	err := stats(ctx, &found).with(func(handle unsafe.Pointer) error {
		_, err := call(ctx, func() C.int {
			return C.tamis_watch_look(w.c, (*C.tamis_list_fn)(C.tamis_go_each_stat), handle)
		})
		return err
	})
	return found, err
}

// Close gives the watch back.
func (w *Watch) Close() error {
	return w.uses.close(func() error {
		w.cleanup.Stop()
		C.tamis_watch_free(w.c)
		return nil
	})
}

// untilTime is a time of the library: nanoseconds since 1970, 0 for never.
func untilTime(ns C.int64_t) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(ns))
}

// limit is a number for which the library has a word for "none": -1 here.
func limit(number C.uint64_t) int64 {
	if number > math.MaxInt64 {
		return -1
	}
	return int64(number)
}

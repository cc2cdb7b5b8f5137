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

// A Filter is an open filter.  Any number of goroutines and processes may use it at once.
type Filter struct {
	uses    uses
	c       *C.tamis_filter
	cleanup runtime.Cleanup
}

// OnFull is what happens when a filter holds as many keys as it was made for.
type OnFull uint32

const (
	OnFullDefault OnFull = C.TAMIS_ON_FULL_DEFAULT // grow; warn with MBits and for kind counting
	OnFullGrow    OnFull = C.TAMIS_ON_FULL_GROW    // a further, larger segment takes the new keys
	OnFullRefuse  OnFull = C.TAMIS_ON_FULL_REFUSE  // a new key is refused, ErrFull
	OnFullWarn    OnFull = C.TAMIS_ON_FULL_WARN    // keys are still taken, the rate gets worse
)

// String returns "grow", "refuse" or "warn"; "" for the default.
func (o OnFull) String() string { return C.GoString(C.tamis_on_full_name(C.uint32_t(o))) }

// Pages are the pages of memory in which a filter is mapped.
type Pages uint32

const (
	PagesAuto  Pages = C.TAMIS_PAGES_AUTO
	PagesSmall Pages = C.TAMIS_PAGES_SMALL
	PagesHuge  Pages = C.TAMIS_PAGES_HUGE
)

// String returns "auto", "small" or "huge".
func (p Pages) String() string { return C.GoString(C.tamis_pages_name(C.uint32_t(p))) }

// FilterFlags are properties of a filter, as bits.
type FilterFlags uint32

const (
	Durable   FilterFlags = C.TAMIS_FILTER_DURABLE    // an add says true only once a power cut cannot take the key
	Owned     FilterFlags = C.TAMIS_FILTER_OWNED      // its program drops it when it is done with it
	FromFirst FilterFlags = C.TAMIS_FILTER_FROM_FIRST // of a window: remembered from the first add on, not the last
)

// A Spec is what a filter is to be.  All zero but Capacity is a good default.
type Spec struct {
	Capacity    uint64  // distinct keys for which the rate holds
	FPRate      float64 // rate of false positives; 0: 1 %
	Kind        Kind
	K           uint32 // with MBits, kind bloom only: the geometry
	MBits       uint64
	HashSet     string // "": xxh3
	Seed        uint64
	OnFull      OnFull
	Slices      uint32        // of the window; 0: 10
	Window      time.Duration // keys are remembered for it and at most a slice longer; 0: for ever
	WindowItems uint64        // a window in keys
	CounterBits uint32        // kind counting: 4, 8, 16 or 32; 0: 4
	Flags       FilterFlags
	Secret      [C.TAMIS_SECRET_BYTES]byte // the key of the hash set sip; all 0: a random one
	Pages       Pages
	KeyRule     string // what the key of a record is, such as "name" for hosts, "url" for URLs; "": bytes
}

// c makes a spec of C in memory of C; to be freed by freeSpec.
func (s *Spec) c() (*C.struct_tamis_filter_spec, error) {
	if s == nil {
		s = &Spec{}
	}
	if err := whole("a hash set", s.HashSet); err != nil {
		return nil, err
	}
	if err := whole("a key rule", s.KeyRule); err != nil {
		return nil, err
	}
	c := (*C.struct_tamis_filter_spec)(C.calloc(1, C.sizeof_struct_tamis_filter_spec))
	*c = C.struct_tamis_filter_spec{
		size: C.sizeof_struct_tamis_filter_spec, capacity: C.uint64_t(s.Capacity), fp_rate: C.double(s.FPRate),
		kind: C.uint32_t(s.Kind), k: C.uint32_t(s.K), m_bits: C.uint64_t(s.MBits), seed: C.uint64_t(s.Seed),
		on_full: C.uint32_t(s.OnFull), slices: C.uint32_t(s.Slices), window_ns: C.int64_t(s.Window),
		window_items: C.uint64_t(s.WindowItems), counter_bits: C.uint32_t(s.CounterBits), flags: C.uint32_t(s.Flags),
		pages: C.uint32_t(s.Pages),
	}
	for i, b := range s.Secret {
		c.secret[i] = C.uint8_t(b)
	}
	if s.HashSet != "" {
		c.hash_set = C.CString(s.HashSet)
	}
	if s.KeyRule != "" {
		c.key_rule = C.CString(s.KeyRule)
	}
	return c, nil
}

func freeSpec(c *C.struct_tamis_filter_spec) {
	C.free(unsafe.Pointer(c.hash_set))
	C.free(unsafe.Pointer(c.key_rule))
	C.free(unsafe.Pointer(c))
}

// with calls f with a spec of C.
func (s *Spec) with(f func(c *C.struct_tamis_filter_spec) error) error {
	c, err := s.c()
	if err != nil {
		return err
	}
	defer freeSpec(c)
	return f(c)
}

// Check tells whether a filter of that name and spec would be accepted, and whether the store at storePath has room for it.  With
// storePath "" it checks name and spec alone.
func Check(ctx context.Context, storePath, name string, spec *Spec) error {
	var path *C.char
	if storePath != "" {
		var err error
		if path, err = cstring("the path of a store", storePath); err != nil {
			return err
		}
		defer free(path)
	}
	text, err := cstring("the name of a filter", name)
	if err != nil {
		return err
	}
	defer free(text)
	return spec.with(func(c *C.struct_tamis_filter_spec) error {
		_, err := call(ctx, func() C.int { return C.tamis_filter_check(path, text, c) })
		return err
	})
}

// opened makes the handle of what C has opened.
func opened(c *C.tamis_filter, err error) (*Filter, error) {
	if err != nil {
		return nil, err
	}
	f := &Filter{c: c}
	f.uses.open()
	f.cleanup = runtime.AddCleanup(f, func(c *C.tamis_filter) { go C.tamis_filter_close(c) }, c) // it may wait for the disk
	return f, nil
}

// Create makes an empty filter and opens it.
func (s *Store) Create(ctx context.Context, name string, spec *Spec) (*Filter, error) {
	var c *C.tamis_filter
	return opened(c, spec.with(func(spec *C.struct_tamis_filter_spec) error {
		return s.onName(ctx, name, func(name *C.char) C.int { return C.tamis_filter_create(s.c, name, spec, &c) })
	}))
}

// OpenOrCreate opens a filter, or makes it if there is none; of many processes one makes it.  ErrMismatch names the first field in which
// the filter that is there differs from spec.
func (s *Store) OpenOrCreate(ctx context.Context, name string, spec *Spec) (*Filter, error) {
	var c *C.tamis_filter
	err := spec.with(func(spec *C.struct_tamis_filter_spec) error {
		return s.onName(ctx, name, func(name *C.char) C.int { return C.tamis_filter_open_or_create(s.c, name, spec, &c) })
	})
	return opened(c, err)
}

// OpenFlags are how a filter is opened; several may be or-ed.
type OpenFlags uint32

const (
	ReadOnly OpenFlags = C.TAMIS_OPEN_READ_ONLY
	NoSync   OpenFlags = C.TAMIS_OPEN_NO_SYNC  // closing it brings nothing to the disk, a later sync does
	Populate OpenFlags = C.TAMIS_OPEN_POPULATE // bring all of it into memory first
)

// Open opens a filter.
func (s *Store) Open(ctx context.Context, name string, flags OpenFlags) (*Filter, error) {
	var c *C.tamis_filter
	err := s.onName(ctx, name, func(name *C.char) C.int { return C.tamis_filter_open(s.c, name, C.uint32_t(flags), &c) })
	return opened(c, err)
}

// OpenAt opens a filter and, for it alone, its store: for programs that start often.  Close closes both.
func OpenAt(ctx context.Context, path string, options *StoreOptions, name string, flags OpenFlags) (*Filter, error) {
	given, err := options.c(ctx)
	if err != nil {
		return nil, err
	}
	absolute, err := storePath(path)
	if err != nil {
		return nil, err
	}
	where, err := cstring("the path of a store", absolute)
	if err != nil {
		return nil, err
	}
	defer free(where)
	text, err := cstring("the name of a filter", name)
	if err != nil {
		return nil, err
	}
	defer free(text)
	var c *C.tamis_filter
	_, err = call(ctx, func() C.int { return C.tamis_filter_open_at(where, &given, text, C.uint32_t(flags), &c) })
	return opened(c, err)
}

// CreateMany makes many filters of one spec, without opening them, and returns how many were made.  With ifMissing a filter that is there
// already, and is what the spec says, is left as it is.
func (s *Store) CreateMany(ctx context.Context, names []string, spec *Spec, ifMissing bool) (int, error) {
	table, err := cnames(names)
	if err != nil {
		return 0, err
	}
	defer free(table)
	if err = s.uses.enter(); err != nil {
		return 0, err
	}
	defer s.uses.leave()
	var made C.int64_t
	err = spec.with(func(c *C.struct_tamis_filter_spec) error {
		flags := C.uint32_t(flag[C.uint32_t](ifMissing, C.TAMIS_MANY_IF_MISSING))
		made, err = call(ctx, func() C.int64_t {
			return C.tamis_filter_create_many(s.c, table, C.size_t(len(names)), c, flags)
		})
		return err
	})
	return int(made), err
}

// pinned makes a table of keys that stay where they are until the pinner is done.
func pinned[K string | []byte](pinner *runtime.Pinner, keys []K) *C.struct_tamis_key {
	if len(keys) == 0 {
		return nil
	}
	table := make([]C.struct_tamis_key, len(keys))
	for i := range keys {
		data, bytes := lent(&keys[i])
		if bytes > 0 {
			pinner.Pin(data)
			table[i] = C.struct_tamis_key{data, bytes}
		}
	}
	pinner.Pin(&table[0])
	return &table[0]
}

// Exists tells whether there is a filter of that name, without opening it.
func (s *Store) Exists(ctx context.Context, name string) (bool, error) {
	var rc C.int
	err := s.onName(ctx, name, func(name *C.char) C.int {
		rc = C.tamis_filter_exists(s.c, name)
		return rc
	})
	return rc > 0, err
}

// Drop removes a filter and its files.  Handles that are open on it get ErrDropped.
func (s *Store) Drop(ctx context.Context, name string) error {
	return s.onName(ctx, name, func(name *C.char) C.int { return C.tamis_filter_drop(s.c, name) })
}

// DropMany drops filters in few changes of the store, and returns how many; a name that no filter has is passed over.  createdAt is nil,
// or says when each was made: a name that another filter has by now is passed over, too.
func (s *Store) DropMany(ctx context.Context, names []string, createdAt []time.Time) (int, error) {
	var times []C.int64_t
	if createdAt != nil {
		if len(createdAt) != len(names) {
			return 0, invalid("%d names, and %d times; give nil, or one for each", len(names), len(createdAt))
		}
		for _, t := range createdAt {
			times = append(times, C.int64_t(t.UnixNano()))
		}
	}
	table, err := cnames(names)
	if err != nil {
		return 0, err
	}
	defer free(table)
	if err = s.uses.enter(); err != nil {
		return 0, err
	}
	defer s.uses.leave()
	dropped, err := call(ctx, func() C.int64_t {
		return C.tamis_filter_drop_many(s.c, table, unsafe.SliceData(times), C.size_t(len(names)))
	})
	return int(max(dropped, 0)), err
}

// Rename gives a filter another name; open handles go on.
func (s *Store) Rename(ctx context.Context, oldName, newName string) error {
	text, err := cstring("the name of a filter", newName)
	if err != nil {
		return err
	}
	defer free(text)
	return s.onName(ctx, oldName, func(name *C.char) C.int { return C.tamis_filter_rename(s.c, name, text) })
}

// SetOwned sets or clears the flag Owned of a filter.
func (s *Store) SetOwned(ctx context.Context, name string, owned bool) error {
	return s.onName(ctx, name, func(name *C.char) C.int {
		return C.tamis_filter_set_owned(s.c, name, C.int(flag[C.uint32_t](owned, 1)))
	})
}

// SetPages changes in which pages of memory a filter is mapped, for all processes.
func (s *Store) SetPages(ctx context.Context, name string, pages Pages) error {
	return s.onName(ctx, name, func(name *C.char) C.int {
		return C.tamis_filter_set_pages(s.c, name, C.uint32_t(pages))
	})
}

// ---- An open filter -------------------------------------------------------------------------

// Close gives the handle back.  The last of all processes that has added keys brings them to the disk.  The handle is gone whatever is
// returned.
func (f *Filter) Close() error {
	return f.uses.close(func() error {
		f.cleanup.Stop()
		_, err := plain(func() C.int { return C.tamis_filter_close(f.c) })
		return err
	})
}

// Release gives the handle back at once: nothing is brought to the disk.
func (f *Filter) Release() {
	_ = f.uses.close(func() error {
		f.cleanup.Stop()
		C.tamis_filter_release(f.c)
		return nil
	})
}

// on makes a call of C on the filter.
func (f *Filter) on(ctx context.Context, work func() C.int) error {
	if err := f.uses.enter(); err != nil {
		return err
	}
	defer runtime.KeepAlive(f)
	defer f.uses.leave()
	_, err := call(ctx, work)
	return err
}

// quick is on for what waits for nobody.
func (f *Filter) quick(work func() C.int) error { return f.on(context.Background(), work) }

// CreatedAt returns when the filter was created.
func (f *Filter) CreatedAt() (time.Time, error) {
	var ns C.int64_t
	err := f.quick(func() C.int {
		ns = C.tamis_filter_created_at(f.c)
		return 0
	})
	return untilTime(ns), err
}

// Sync makes a checkpoint: all keys whose add had returned survive a power cut then.
func (f *Filter) Sync(ctx context.Context) error {
	return f.on(ctx, func() C.int { return C.tamis_filter_sync(f.c) })
}

// SetSyncInterval makes a checkpoint every interval, by a thread of C; 0 ends that.
func (f *Filter) SetSyncInterval(interval time.Duration) error {
	return f.quick(func() C.int { return C.tamis_filter_set_sync_interval(f.c, C.int64_t(interval)) })
}

// Rotate begins a new slice of the window now.
func (f *Filter) Rotate(ctx context.Context) error {
	return f.on(ctx, func() C.int { return C.tamis_filter_rotate(f.c) })
}

// Accept says that the keys that may be missing since the machine went down were dealt with.
func (f *Filter) Accept(ctx context.Context) error {
	return f.on(ctx, func() C.int { return C.tamis_filter_accept(f.c) })
}

// A Wait is what MayWait tells.
type Wait int

const (
	AddAtOnce       Wait = C.TAMIS_ADD_AT_ONCE
	AddWantsPrepare Wait = C.TAMIS_ADD_WANTS_PREPARE // there is room; another goroutine should call Prepare soon
	AddMayWait      Wait = C.TAMIS_ADD_MAY_WAIT
)

// MayWait tells whether an add of so many keys may have to wait for the disk.
func (f *Filter) MayWait(keys int) (Wait, error) {
	var rc C.int
	err := f.quick(func() C.int {
		rc = C.tamis_filter_may_wait(f.c, C.size_t(keys))
		return rc
	})
	return Wait(max(rc, 0)), err
}

// Prepare does what the next adds would wait for, of so many new keys; 0: their number is not known.
func (f *Filter) Prepare(ctx context.Context, keys uint64) error {
	return f.on(ctx, func() C.int { return C.tamis_filter_prepare(f.c, C.uint64_t(keys)) })
}

// Mapped is how this process has a filter mapped.
type Mapped struct {
	Bytes     uint64 // of all segments
	Present   uint64 // of these, in memory
	HugeBytes uint64 // of these, mapped by entries of 2 MiB
	Wanted    Pages  // what the newest segment is to have now
	Obstacle  string // why huge ones are wanted and not had; ""
}

// Mapped tells how this process has the filter mapped.
func (f *Filter) Mapped() (Mapped, error) {
	m := C.struct_tamis_filter_mapped{size: C.sizeof_struct_tamis_filter_mapped}
	err := f.quick(func() C.int { return C.tamis_filter_mapped(f.c, &m) })
	return Mapped{uint64(m.bytes), uint64(m.present), uint64(m.huge_bytes), Pages(m.wanted), C.GoString(m.obstacle)}, err
}

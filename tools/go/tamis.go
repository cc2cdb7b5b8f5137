// SPDX-License-Identifier: BSD-2-Clause

// Package tamis is for filters that many processes share and that survive restarts: have we seen this key before?
//
//	store, err := tamis.Open(ctx, "/var/lib/crawl", nil)
//	seen, err := store.OpenOrCreate(ctx, "seen", &tamis.Spec{Capacity: 10_000_000, FPRate: 0.001})
//	if isNew, err := seen.AddString("https://example.com/"); err == nil && isNew {
//		// of all processes and goroutines, this one was told so
//	}
//
// A Store is a directory; a Filter is an open filter of it.  Processes in Go, C, Python, PHP, Rust, Node, Java and the shell use one
// store at the same time.  Many keys go by AddStrings, AddBatch and the like, which are several times as fast for each key.
//
// All methods may be called from many goroutines at once.  Close waits for calls that run, and later calls return ErrClosed.  Within a
// function that the library calls, such as one for progress, Close does not wait: the handle is closed when the calls have ended, and what
// the closing fails with is lost.  What is not closed is closed when the garbage collector finds it, which may be late or never: close what
// you open.
//
// Each error of the library is an *Error with a sentence, and errors.Is compares it with the codes ErrNotFound, ErrBusy and so on.
// Calls that take a context may wait for another process, or take long.  When the context ends, such a call ends too, some
// milliseconds later where it waits for a lock, and returns the context's error.
package tamis

// #cgo !tamis_installed CFLAGS: -I${SRCDIR}/../../store/include
// #cgo tamis_installed pkg-config: tamis
// #cgo CFLAGS: -D_GNU_SOURCE -std=c11
// #cgo noescape tamis_go_add
// #cgo noescape tamis_go_contains
// #cgo noescape tamis_go_remove
// #cgo noescape tamis_go_count
// #cgo noescape tamis_go_batch
// #cgo nocallback tamis_go_add
// #cgo nocallback tamis_go_contains
// #cgo nocallback tamis_go_remove
// #cgo nocallback tamis_go_count
// #cgo nocallback tamis_go_batch
// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"fmt"

	"tamis/internal/library"
)

//go:generate cmake -P library.cmake

// IsBuiltIn tells whether the library is in this program, and not in a libtamis of the system (build tag tamis_installed).
const IsBuiltIn = library.Digest != ""

// Version returns the version of the library, such as "0.1.0".
func Version() string { return C.GoString(C.tamis_version()) }

// SIMD returns which vector instructions batches use on this machine: "avx512", "avx2" or "portable".
func SIMD() string { return C.GoString(C.tamis_simd()) }

// A Kind is how a filter works.
type Kind uint32

const (
	KindDefault  Kind = C.TAMIS_KIND_DEFAULT  // in a Spec: blocked; bloom with MBits, K or another hash set than xxh3
	KindBlocked  Kind = C.TAMIS_KIND_BLOCKED  // one cache line a key
	KindBloom    Kind = C.TAMIS_KIND_BLOOM    // classic: K positions over all bits
	KindCounting Kind = C.TAMIS_KIND_COUNTING // keys can be removed and counted
	KindFuse     Kind = C.TAMIS_KIND_FUSE     // static, made by a Build
)

// A KindProperty is what a kind can do; several may be or-ed.
type KindProperty uint32

const (
	KindIsStatic     KindProperty = C.TAMIS_KIND_IS_STATIC      // made of all its keys by a build
	KindCounts       KindProperty = C.TAMIS_KIND_COUNTS         // keys can be removed and counted
	KindMayGrow      KindProperty = C.TAMIS_KIND_MAY_GROW       // may have several segments
	KindMayBeDurable KindProperty = C.TAMIS_KIND_MAY_BE_DURABLE // may have a log
	KindIsPlain      KindProperty = C.TAMIS_KIND_IS_PLAIN       // any m, k and hash set
)

// Kinds returns the kinds of this library.
func Kinds() []Kind {
	var kinds []Kind
	for kind := C.tamis_kind_next(C.TAMIS_KIND_DEFAULT); kind != C.TAMIS_KIND_DEFAULT; kind = C.tamis_kind_next(kind) {
		kinds = append(kinds, Kind(kind))
	}
	return kinds
}

// ParseKind finds the kind of a name.
func ParseKind(name string) (Kind, error) {
	text, err := cstring("the name of a kind", name)
	if err != nil {
		return 0, err
	}
	defer free(text)
	var kind C.uint32_t
	_, err = plain(func() C.int { return C.tamis_kind_from_name(text, &kind) })
	return Kind(kind), err
}

// String returns "blocked", "bloom", "counting" or "fuse".
func (k Kind) String() string {
	if name := C.tamis_kind_name(C.uint32_t(k)); name != nil {
		return C.GoString(name)
	}
	return fmt.Sprintf("Kind(%d)", uint32(k))
}

// Has tells whether the kind has all of these properties.
func (k Kind) Has(properties KindProperty) bool {
	return C.tamis_kind_has(C.uint32_t(k), C.uint32_t(properties)) != 0
}

// HashSets returns the names of the hash sets, without parameters.
func HashSets() []string {
	var sets []string
	for set := C.tamis_hash_set_next(nil); set != nil; set = C.tamis_hash_set_next(set) {
		sets = append(sets, C.GoString(set))
	}
	return sets
}

// HashSetWeakness returns what a filter of that hash set costs its owner, "" if there is nothing to say.
func HashSetWeakness(hashSet string) string {
	text, err := cstring("a hash set", hashSet)
	if err != nil {
		return ""
	}
	defer free(text)
	return C.GoString(C.tamis_hash_set_weakness(text))
}

// Formats returns the formats of Import and Export.
func Formats() []string {
	var formats []string
	for i := C.uint32_t(0); ; i++ {
		name := C.tamis_format_name(i)
		if name == nil {
			return formats
		}
		formats = append(formats, C.GoString(name))
	}
}

// SegmentFile returns where a segment is, below the directory of the store.
func SegmentFile(number uint64) string {
	var text [C.TAMIS_SEGMENT_FILE_BYTES]C.char
	return C.GoString(C.tamis_segment_file(C.uint64_t(number), &text[0]))
}

// ShardSeed is the seed of a shard, where none is asked for.
const ShardSeed = C.TAMIS_SHARD_SEED

// Shard returns the shard that a key belongs to where a filter is spread over `shards` filters: 0 to shards - 1.
func Shard[K string | []byte](key K, shards uint32) uint32 {
	data, bytes := lent(&key)
	return uint32(C.tamis_shard(data, bytes, C.uint32_t(shards)))
}

// SetLeastDescriptor has descriptors that filters keep open get numbers from `number` on, in the whole process.
func SetLeastDescriptor(number int) error {
	_, err := plain(func() C.int { return C.tamis_descriptors_set_least(C.int(number)) })
	return err
}

// LeaveSIGBUS is called before the first store is opened: the library then never installs its handler of SIGBUS.  With the handler, a
// file that somebody has truncated is ErrCorrupt or ErrIO of the call that meets it; without it, it ends the program.
func LeaveSIGBUS() { C.tamis_sigbus_leave() }

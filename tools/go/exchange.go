// SPDX-License-Identifier: BSD-2-Clause

package tamis

// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"context"
	"io"
	"runtime"
	"time"
	"unsafe"
)

// ImportFlags are how a stream is taken, as bits.
type ImportFlags uint64

const (
	ImportHead    ImportFlags = C.TAMIS_IMPORT_HEAD     // the source ends after the head; WriteData brings the data
	ImportAsThere ImportFlags = C.TAMIS_IMPORT_AS_THERE // a full filter goes on as in RedisBloom
	ImportOwned   ImportFlags = C.TAMIS_IMPORT_OWNED
	ImportDurable ImportFlags = C.TAMIS_IMPORT_DURABLE
)

// An ImportSpec is what a stream does not tell.
type ImportSpec struct {
	HashSet      string
	MBits        uint64
	K            uint32
	Capacity     uint64
	FPRate       float64
	SealCapacity uint64 // not 0: an empty segment of that capacity on top, where new keys go
	SealRate     float64
	Flags        ImportFlags
	CreatedAt    time.Time // zero: now
	Origin       string    // where the stream is, for Stat to tell
	StreamBytes  uint64    // of the whole stream; 0: not known
}

// with calls f with the spec of C.
func (s *ImportSpec) with(f func(c *C.struct_tamis_import_spec) error) error {
	if s == nil {
		return f(nil)
	}
	c := (*C.struct_tamis_import_spec)(C.calloc(1, C.sizeof_struct_tamis_import_spec))
	defer free(c)
	c.size = C.sizeof_struct_tamis_import_spec
	c.m_bits, c.k, c.capacity, c.fp_rate = C.uint64_t(s.MBits), C.uint32_t(s.K), C.uint64_t(s.Capacity), C.double(s.FPRate)
	c.seal_capacity, c.seal_rate, c.flags = C.uint64_t(s.SealCapacity), C.double(s.SealRate), C.uint32_t(s.Flags)
	if !s.CreatedAt.IsZero() {
		c.created_at = C.int64_t(s.CreatedAt.UnixNano())
	}
	var err error
	if s.HashSet != "" {
		if c.hash_set, err = cstring("a hash set", s.HashSet); err != nil {
			return err
		}
		defer free(c.hash_set)
	}
	if s.Origin != "" {
		if c.origin, err = cstring("where a stream is", s.Origin); err != nil {
			return err
		}
		defer free(c.origin)
	}
	return f(c)
}

// read calls f with a source that reads from r.
func read(ctx context.Context, r io.Reader, s *ImportSpec, f func(source *C.struct_tamis_source) error) error {
	return (&caller{ctx: ctx, reader: r}).with(func(handle unsafe.Pointer) error {
		source := C.struct_tamis_source{size: C.sizeof_struct_tamis_source, read: (*[0]byte)(C.tamis_go_read), context: handle}
		if s != nil {
			source.bytes = C.uint64_t(s.StreamBytes)
		}
		return f(&source)
	})
}

// Import makes a filter of a stream in one of Formats, and opens it.  spec may be nil.
func (s *Store) Import(ctx context.Context, name, format string, r io.Reader, spec *ImportSpec) (*Filter, error) {
	kind, err := cstring("a format", format)
	if err != nil {
		return nil, err
	}
	defer free(kind)
	var c *C.tamis_filter
	err = spec.with(func(given *C.struct_tamis_import_spec) error {
		return read(ctx, r, spec, func(source *C.struct_tamis_source) error {
			return s.onName(ctx, name, func(name *C.char) C.int {
				return C.tamis_filter_import(s.c, name, kind, given, source, &c)
			})
		})
	})
	return opened(c, err)
}

// PublishOptions are how a stream is published; nil and all zero are a good default.
type PublishOptions struct {
	Import    *ImportSpec
	Except    [][]byte // keys that must answer absent whatever the stream has
	IfChanged bool     // publish nothing if the stream's list is in force already
	Newer     bool     // publish only what was made after the list in force: ErrMismatch if it is older, and nothing if it is that list
	Keep      *int     // older generations that are kept; nil: as before
}

// PublishResult is what came of it.
type PublishResult struct {
	Published  bool // false: IfChanged or Newer was given, and nothing is new
	Generation uint64
	Exceptions uint64
	SizeBytes  uint64
	Digest     [16]byte
}

// Publish makes a stream the next generation of a filter, whatever that was, in one step.
func (s *Store) Publish(ctx context.Context, name, format string, r io.Reader, options *PublishOptions) (PublishResult, error) {
	if options == nil {
		options = &PublishOptions{}
	}
	kind, err := cstring("a format", format)
	if err != nil {
		return PublishResult{}, err
	}
	defer free(kind)
	var pinner runtime.Pinner
	defer pinner.Unpin()
	except := pinned(&pinner, options.Except)
	result := C.struct_tamis_publish_result{size: C.sizeof_struct_tamis_publish_result}
	var rc C.int
	err = options.Import.with(func(given *C.struct_tamis_import_spec) error {
		return read(ctx, r, options.Import, func(source *C.struct_tamis_source) error {
			spec := C.struct_tamis_publish_spec{size: C.sizeof_struct_tamis_publish_spec, except: except,
				except_count: C.uint64_t(len(options.Except)), flags: flag[C.uint32_t](options.IfChanged, C.TAMIS_PUBLISH_IF_CHANGED)}
			spec._import = given
			if options.Keep != nil {
				spec.flags |= C.TAMIS_PUBLISH_KEEP
				spec.keep = C.uint32_t(*options.Keep)
			}
			spec.flags |= flag[C.uint32_t](options.Newer, C.TAMIS_PUBLISH_NEWER)
			return s.onName(ctx, name, func(name *C.char) C.int {
				rc = C.tamis_filter_publish(s.c, name, kind, &spec, source, &result)
				return rc
			})
		})
	})
	made := PublishResult{Published: rc == 1, Generation: uint64(result.generation), Exceptions: uint64(result.exceptions),
		SizeBytes: uint64(result.size_bytes)}
	for i := range made.Digest {
		made.Digest[i] = byte(result.digest[i])
	}
	return made, err
}

// ExportFlags are how a stream is written, as bits.
type ExportFlags uint32

const (
	ExportWithKey           ExportFlags = C.TAMIS_EXPORT_WITH_KEY // also what is secret: a seed other than 0, the key of sip
	ExportWithoutExceptions ExportFlags = C.TAMIS_EXPORT_WITHOUT_EXCEPTIONS
	ExportWithDigest        ExportFlags = C.TAMIS_EXPORT_WITH_DIGEST // the stream begins with its digest
)

// Export writes the filter as a stream in one of Formats.
func (f *Filter) Export(ctx context.Context, w io.Writer, format string, flags ExportFlags) error {
	_, err := f.ExportPart(ctx, w, format, flags, 0, 0)
	return err
}

// ExportPart writes `bytes` bytes of the stream from byte `from` on, or what there is of them; 0 and 0: all of it.  It returns the length
// of the whole stream.
func (f *Filter) ExportPart(ctx context.Context, w io.Writer, format string, flags ExportFlags, from, bytes uint64) (uint64, error) {
	kind, err := cstring("a format", format)
	if err != nil {
		return 0, err
	}
	defer free(kind)
	all := (*C.uint64_t)(C.calloc(1, C.sizeof_uint64_t))
	defer free(all)
	err = (&caller{ctx: ctx, writer: w}).with(func(handle unsafe.Pointer) error {
		sink := C.struct_tamis_sink{size: C.sizeof_struct_tamis_sink, write: (*[0]byte)(C.tamis_go_write), context: handle,
			from: C.uint64_t(from), bytes: C.uint64_t(bytes), all_bytes: all}
		return f.on(ctx, func() C.int { return C.tamis_filter_export(f.c, kind, C.uint32_t(flags), &sink) })
	})
	return uint64(*all), err
}

// ReadData reads bytes of the data of segment `index`, as they lie in its file, into buffer.
func (f *Filter) ReadData(index int, offset uint64, buffer []byte) error {
	return f.quick(func() C.int {
		return C.tamis_filter_read_data(f.c, C.uint32_t(index), C.uint64_t(offset), unsafe.Pointer(unsafe.SliceData(buffer)),
			C.size_t(len(buffer)))
	})
}

// WriteData sets in the data of segment `index` each bit that is set in data, and clears none.
func (f *Filter) WriteData(index int, offset uint64, data []byte) error {
	return f.quick(func() C.int {
		return C.tamis_filter_write_data(f.c, C.uint32_t(index), C.uint64_t(offset), unsafe.Pointer(unsafe.SliceData(data)),
			C.size_t(len(data)))
	})
}

// SetBit sets a bit of segment `index` of a filter of kind bloom, and returns the bit from before.
func (f *Filter) SetBit(index int, position uint64) (bool, error) {
	var rc C.int
	err := f.quick(func() C.int {
		rc = C.tamis_filter_set_bit(f.c, C.uint32_t(index), C.uint64_t(position))
		return rc
	})
	return rc > 0, err
}

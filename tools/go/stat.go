// SPDX-License-Identifier: BSD-2-Clause

package tamis

// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"strings"
	"time"
	"unsafe"
)

// A State is how a filter is, as bits; 0 is ok.
type State uint32

const (
	StateFull     State = C.TAMIS_STATE_FULL     // as many keys as it was made for, or it takes no more
	StateDegraded State = C.TAMIS_STATE_DEGRADED // a sync failed, and no later one has brought all to the disk
	StateUnclean  State = C.TAMIS_STATE_UNCLEAN  // the machine went down: keys may be missing
	StateDamaged  State = C.TAMIS_STATE_DAMAGED  // wrong bytes were found in it
	StateOver     State = C.TAMIS_STATE_OVER     // it holds more keys than its rate allows
)

// String returns "ok", or names such as "full,over".
func (s State) String() string {
	var names []string
	for bit, name := range []string{"full", "degraded", "unclean", "damaged", "over"} {
		if s>>bit&1 != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "ok"
	}
	return strings.Join(names, ",")
}

// Stat is what is known of a filter.  A zero time means never.
type Stat struct {
	Name            string
	HashSet         string
	Kind            Kind // of the newest segment, as are HashSet, K and Seed
	K               uint32
	MBits           uint64 // sum over the segments, as are SizeBytes and Items
	Seed            uint64
	Capacity        uint64
	FPRate          float64 // that the filter was made for, at capacity
	Items           uint64
	SizeBytes       uint64
	PredictedRate   float64 // at the present number of items
	Generation      uint64  // goes up with every published change
	SegmentCount    uint32
	State           State
	CreatedAt       time.Time
	PublishedAt     time.Time
	CheckpointedAt  time.Time
	Window          time.Duration
	WindowItems     uint64
	Slices          uint32
	OnFull          OnFull
	CounterBits     uint32
	FingerprintBits uint32
	Exceptions      uint64
	Keep            uint32 // older generations that are kept
	Flags           FilterFlags
	UncleanSince    time.Time
	DegradedSince   time.Time
	BitsPerKey      float64
	LiveSlices      uint64
	Room            int64 // keys before it needs another segment, or refuses; -1: any number, or not known
	LacksBytes      uint64
	NewKeys         uint64 // Watch.Look: keys that were new since the look before
	Pages           Pages
	ImportedAt      time.Time
	ImportedFrom    string
	ImportedDigest  string

	ImportedSignedAt      time.Time
	ImportedSignedBy      string
	ImportedSignedComment string

	MissingKeys uint64 // of an unclean filter: how many are known to be missing; 0: not known
	KeyRule     string // what the key of a record is, such as "bytes"
}

func newStat(c *C.struct_tamis_filter_stat) Stat {
	return Stat{
		Name: C.GoString(&c.name[0]), HashSet: C.GoString(&c.hash_set[0]), Kind: Kind(c.kind), K: uint32(c.k),
		MBits: uint64(c.m_bits), Seed: uint64(c.seed), Capacity: uint64(c.capacity), FPRate: float64(c.fp_rate),
		Items: uint64(c.items), SizeBytes: uint64(c.size_bytes), PredictedRate: float64(c.predicted_rate),
		Generation: uint64(c.generation), SegmentCount: uint32(c.segment_count), State: State(c.state),
		CreatedAt: untilTime(c.created_at), PublishedAt: untilTime(c.published_at), CheckpointedAt: untilTime(c.checkpointed_at),
		Window: time.Duration(c.window_ns), WindowItems: uint64(c.window_items), Slices: uint32(c.slices),
		OnFull: OnFull(c.on_full), CounterBits: uint32(c.counter_bits), FingerprintBits: uint32(c.fingerprint_bits),
		Exceptions: uint64(c.exceptions), Keep: uint32(c.keep), Flags: FilterFlags(c.flags),
		UncleanSince: untilTime(c.unclean_since), DegradedSince: untilTime(c.degraded_since), BitsPerKey: float64(c.bits_per_key),
		LiveSlices: uint64(c.live_slices), Room: limit(c.room), LacksBytes: uint64(c.lacks_bytes), NewKeys: uint64(c.new_keys),
		Pages: Pages(c.pages), ImportedAt: untilTime(c.imported_at), ImportedFrom: C.GoString(&c.imported_from[0]),
		ImportedDigest: C.GoString(&c.imported_digest[0]), ImportedSignedAt: untilTime(c.imported_signed_at),
		ImportedSignedBy:      C.GoString(&c.imported_signed_by[0]),
		ImportedSignedComment: C.GoString(&c.imported_signed_comment[0]),
		MissingKeys:           uint64(c.missing_keys),
		KeyRule:               C.GoString(&c.key_rule[0]),
	}
}

// Stat returns what is known of the filter now.  It reads no bits, so it costs microseconds.
func (f *Filter) Stat() (Stat, error) {
	c := C.struct_tamis_filter_stat{size: C.sizeof_struct_tamis_filter_stat}
	if err := f.quick(func() C.int { return C.tamis_filter_stat(f.c, &c) }); err != nil {
		return Stat{}, err
	}
	return newStat(&c), nil
}

// Items returns how many keys were new, less those that were removed.
func (f *Filter) Items() (uint64, error) {
	if err := f.uses.enter(); err != nil {
		return 0, err
	}
	defer f.uses.leave()
	items, err := plain(func() C.int64_t { return C.tamis_filter_items(f.c) })
	return uint64(items), err
}

// SegmentFlags are properties of a segment, as bits.
type SegmentFlags uint64

const (
	SegmentItemsEstimated SegmentFlags = C.TAMIS_SEGMENT_ITEMS_ESTIMATED // imported or merged
	SegmentSealed         SegmentFlags = C.TAMIS_SEGMENT_SEALED          // nobody adds to it, and it has checksums
	SegmentPast           SegmentFlags = C.TAMIS_SEGMENT_PAST            // the window no longer reaches it
)

// SegmentStat is what is known of one segment of a filter.
type SegmentStat struct {
	HashSet         string
	Number          uint64 // SegmentFile says where it is
	Kind            Kind
	K               uint32
	Words           uint32
	BitOrder        uint32
	MBits           uint64
	Seed            uint64
	Capacity        uint64
	FPRate          float64
	Items           uint64
	FileBytes       uint64
	DataOffset      uint64
	DataBytes       uint64
	CreatedAt       time.Time
	Ones            uint64  // set bits; by Fill alone, as the two below and ItemsEstimated
	Fill            float64 // Ones / MBits
	FPRateNow       float64
	Flags           SegmentFlags
	Slice           uint64
	SliceStart      time.Time
	Step            uint32
	CounterBits     uint32
	ItemsEstimated  uint64
	FingerprintBits uint32
	Pieces          uint32
}

func (f *Filter) segment(get func(c *C.struct_tamis_segment_stat) C.int) (SegmentStat, error) {
	c := C.struct_tamis_segment_stat{size: C.sizeof_struct_tamis_segment_stat}
	if err := f.quick(func() C.int { return get(&c) }); err != nil {
		return SegmentStat{}, err
	}
	return SegmentStat{
		HashSet: C.GoString(&c.hash_set[0]), Number: uint64(c.number), Kind: Kind(c.kind), K: uint32(c.k), Words: uint32(c.words),
		BitOrder: uint32(c.bit_order), MBits: uint64(c.m_bits), Seed: uint64(c.seed), Capacity: uint64(c.capacity),
		FPRate: float64(c.fp_rate), Items: uint64(c.items), FileBytes: uint64(c.file_bytes), DataOffset: uint64(c.data_offset),
		DataBytes: uint64(c.data_bytes), CreatedAt: untilTime(c.created_at), Ones: uint64(c.ones), Fill: float64(c.fill),
		FPRateNow: float64(c.fp_rate_now), Flags: SegmentFlags(c.flags), Slice: uint64(c.slice), SliceStart: untilTime(c.slice_start),
		Step: uint32(c.step), CounterBits: uint32(c.counter_bits), ItemsEstimated: uint64(c.items_estimated),
		FingerprintBits: uint32(c.fingerprint_bits), Pieces: uint32(c.pieces),
	}, nil
}

// Segment describes segment `index` (0 is the oldest) without its bits.
func (f *Filter) Segment(index int) (SegmentStat, error) {
	return f.segment(func(c *C.struct_tamis_segment_stat) C.int { return C.tamis_filter_segment(f.c, C.uint32_t(index), c) })
}

// Fill is Segment, and counts the bits that are set.  It reads the whole segment.
func (f *Filter) Fill(index int) (SegmentStat, error) {
	return f.segment(func(c *C.struct_tamis_segment_stat) C.int { return C.tamis_filter_fill(f.c, C.uint32_t(index), c) })
}

// FillMap tells how full each of `parts` equal parts of a segment is, 0 to 1.
func (f *Filter) FillMap(index, parts int) ([]float64, error) {
	shares := make([]float64, max(parts, 0))
	err := f.quick(func() C.int {
		return C.tamis_filter_fill_map(f.c, C.uint32_t(index), (*C.double)(unsafe.SliceData(shares)), C.size_t(len(shares)))
	})
	return shares, err
}

// ---- Where a key goes -------------------------------------------------------------------------

// Explanation is where a key goes.
type Explanation struct {
	Hashes    string // hash values, separated by commas
	Positions []uint64
}

func explain(k int, get func(c *C.struct_tamis_explanation) C.int, run func(func() C.int) error) (Explanation, error) {
	bytes := 64*k + 64
	c := C.struct_tamis_explanation{size: C.sizeof_struct_tamis_explanation, hashes: (*C.char)(C.malloc(C.size_t(bytes))),
		hashes_bytes: C.size_t(bytes), positions: (*C.uint64_t)(C.malloc(C.size_t(8 * k))), positions_max: C.size_t(k)}
	defer free(c.hashes)
	defer free(c.positions)
	if err := run(func() C.int { return get(&c) }); err != nil {
		return Explanation{}, err
	}
	made := Explanation{Hashes: C.GoString(c.hashes)}
	for _, position := range unsafe.Slice(c.positions, int(c.positions_count)) {
		made.Positions = append(made.Positions, uint64(position))
	}
	return made, nil
}

// Explain returns the hash values and bit positions of a key in segment `index`.
func (f *Filter) Explain(index int, key []byte) (Explanation, error) {
	return explain(C.TAMIS_K_MAX, func(c *C.struct_tamis_explanation) C.int {
		return C.tamis_filter_explain(f.c, C.uint32_t(index), unsafe.Pointer(unsafe.SliceData(key)), C.size_t(len(key)), c)
	}, f.quick)
}

// Explain is the same for a hash set, m and k without a filter (kind bloom).
func Explain(hashSet string, mBits uint64, k uint32, seed uint64, key []byte) (Explanation, error) {
	text, err := cstring("a hash set", hashSet)
	if err != nil {
		return Explanation{}, err
	}
	defer free(text)
	return explain(int(max(min(k, 1<<20), C.TAMIS_K_MAX)), func(c *C.struct_tamis_explanation) C.int {
		return C.tamis_explain(text, C.uint64_t(mBits), C.uint32_t(k), C.uint64_t(seed), unsafe.Pointer(unsafe.SliceData(key)),
			C.size_t(len(key)), c)
	}, func(work func() C.int) error {
		_, err := plain(work)
		return err
	})
}

// SPDX-License-Identifier: BSD-2-Clause

package tamis

// #include "shim.h"
import "C"

// Sizing is the size of a filter: as an argument of Size what is known, the rest 0; as a result all of it.
type Sizing struct {
	Kind            Kind // 0 is blocked
	K               uint32
	Capacity        uint64
	MBits           uint64
	FPRate          float64
	PredictedRate   float64 // when Capacity keys are in
	BitsPerKey      float64
	DataBytes       uint64
	FileBytes       uint64
	Words           uint32
	CounterBits     uint32
	FingerprintBits uint32
	Pieces          uint32
}

// Size completes a sizing from any two, or three, of Capacity, FPRate, MBits and K.
func Size(known Sizing) (Sizing, error) {
	c := C.struct_tamis_sizing{
		size: C.sizeof_struct_tamis_sizing, kind: C.uint32_t(known.Kind), k: C.uint32_t(known.K),
		capacity: C.uint64_t(known.Capacity), m_bits: C.uint64_t(known.MBits), fp_rate: C.double(known.FPRate),
		counter_bits: C.uint32_t(known.CounterBits),
	}
	if _, err := plain(func() C.int { return C.tamis_size(&c) }); err != nil {
		return Sizing{}, err
	}
	return Sizing{Kind(c.kind), uint32(c.k), uint64(c.capacity), uint64(c.m_bits), float64(c.fp_rate), float64(c.predicted_rate),
		float64(c.bits_per_key), uint64(c.data_bytes), uint64(c.file_bytes), uint32(c.words), uint32(c.counter_bits),
		uint32(c.fingerprint_bits), uint32(c.pieces)}, nil
}

// PredictRate returns the rate of false positives of a filter of that kind, m and k with n keys in it; NaN where there is none.
func PredictRate(kind Kind, mBits uint64, k uint32, n uint64) float64 {
	return float64(C.tamis_predict_rate(C.uint32_t(kind), C.uint64_t(mBits), C.uint32_t(k), C.uint64_t(n)))
}

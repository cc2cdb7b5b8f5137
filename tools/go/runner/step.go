// SPDX-License-Identifier: BSD-2-Clause

package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"tamis"
)

// A step is one line of the input.
type step struct {
	Case   *string        `json:"case"`
	Call   string         `json:"call"`
	On     string         `json:"on"`
	With   map[string]any `json:"with"`
	As     string         `json:"as"`
	runner *runner
}

// lacking is what the binding cannot say.
type lacking string

func (l lacking) Error() string { return "the binding lacks " + string(l) }

// misused is an argument that the language has no type for.
type misused string

func (m misused) Error() string { return string(m) }

var background = context.Background()

// guarded turns what an argument is not into an error.
func (s *step) guarded(function func(s *step) (any, error)) (value any, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			wrong, ok := thrown.(misused)
			if !ok {
				panic(thrown)
			}
			err = wrong
		}
	}()
	return function(s)
}

func handle[T any](s *step, name string) T {
	h, ok := s.runner.handles[name].(T)
	if !ok {
		panic(misused(fmt.Sprintf("%q is a handle of another sort", name)))
	}
	return h
}

func (s *step) store() *tamis.Store   { return handle[*tamis.Store](s, s.On) }
func (s *step) filter() *tamis.Filter { return handle[*tamis.Filter](s, s.On) }
func (s *step) build() *tamis.Build   { return handle[*tamis.Build](s, s.On) }
func (s *step) watch() *tamis.Watch   { return handle[*tamis.Watch](s, s.On) }

// ---- Arguments ------------------------------------------------------------------------------

func (s *step) text(name string) string { return text(s.With[name]) }

func text(value any) string {
	switch t := value.(type) {
	case nil:
		return ""
	case string:
		return t
	}
	panic(misused(fmt.Sprintf("%v is no text", value)))
}

func integer[T int | int64 | int32 | uint32 | uint64](value any) T {
	switch n := value.(type) {
	case nil:
		return 0
	case bool:
		if n {
			return 1
		}
		return 0
	case json.Number:
		var zero T
		if any(zero) == any(uint64(0)) {
			if u, err := strconv.ParseUint(n.String(), 10, 64); err == nil {
				return T(u)
			}
		}
		i, err := n.Int64()
		if made := T(i); err == nil && int64(made) == i {
			return made
		}
	}
	panic(misused(fmt.Sprintf("%v is no such number", value)))
}

func real(value any) float64 {
	if value == nil {
		return 0
	}
	if n, ok := value.(json.Number); ok {
		if f, err := n.Float64(); err == nil {
			return f
		}
	}
	panic(misused(fmt.Sprintf("%v is no number", value)))
}

func key(value any) (text string, data []byte) {
	switch k := value.(type) {
	case string:
		return k, nil
	case map[string]any:
		if data, err := hex.DecodeString(k["hex"].(string)); err == nil {
			return "", append([]byte{}, data...)
		}
	}
	panic(misused(fmt.Sprintf("%v is no key", value)))
}

// byKey calls the one function for a text, the other for bytes.
func byKey[T any](s *step, ofText func(string) (T, error), ofBytes func([]byte) (T, error)) (T, error) {
	text, data := key(s.With["key"])
	if data != nil {
		return ofBytes(data)
	}
	return ofText(text)
}

func list(value any) []any {
	switch l := value.(type) {
	case nil:
		return nil
	case []any:
		return l
	}
	panic(misused(fmt.Sprintf("%v is no list", value)))
}

func texts(value any) []string {
	var made []string
	for _, each := range list(value) {
		made = append(made, text(each))
	}
	return made
}

// keys returns texts if all keys are that, else bytes.
func keys(value any) ([]string, [][]byte) {
	var strings []string
	var data [][]byte
	for _, each := range list(value) {
		text, bytes := key(each)
		if bytes == nil {
			strings = append(strings, text)
			bytes = []byte(text)
		}
		data = append(data, bytes)
	}
	if len(strings) == len(data) {
		return strings, nil
	}
	return nil, data
}

func allBytes(value any) [][]byte {
	strings, data := keys(value)
	for _, each := range strings {
		data = append(data, []byte(each))
	}
	return data
}

// asked are the flags that somebody has asked for since this step began.
var asked = map[string]bool{}

// unasked returns a flag in what a step gives that nobody has asked for, so that it was passed over.
func unasked(value any) string {
	switch of := value.(type) {
	case map[string]any:
		for name, inner := range of {
			if name == "flags" {
				for _, word := range texts(inner) {
					if !asked[word] {
						return word
					}
				}
			} else if word := unasked(inner); word != "" {
				return word
			}
		}
	case []any:
		for _, inner := range of {
			if word := unasked(inner); word != "" {
				return word
			}
		}
	}
	return ""
}

func words[T ~uint32 | ~uint64](value any, known map[string]T) T {
	var bits T
	for word := range known {
		asked[word] = true
	}
	for _, word := range texts(value) {
		bit, ok := known[word]
		if !ok {
			panic(misused(fmt.Sprintf("%q is no flag", word)))
		}
		bits |= bit
	}
	return bits
}

func has(value any, word string) bool {
	asked[word] = true
	for _, each := range texts(value) {
		if each == word {
			return true
		}
	}
	return false
}

func word[T fmt.Stringer](value any, known ...T) T {
	name := text(value)
	for _, each := range known {
		if each.String() == name {
			return each
		}
	}
	panic(misused(fmt.Sprintf("%q is no such word", name)))
}

func kindOf(value any) tamis.Kind {
	if value == nil || value == "" {
		return tamis.KindDefault
	}
	return word(value, tamis.Kinds()...)
}

func pagesOf(value any) tamis.Pages {
	if value == nil {
		return tamis.PagesAuto
	}
	return word(value, tamis.PagesAuto, tamis.PagesSmall, tamis.PagesHuge)
}

func object(value any) map[string]any {
	made, _ := value.(map[string]any)
	return made
}

func spec(value any) *tamis.Spec {
	if value == nil {
		return nil
	}
	of := object(value)
	made := &tamis.Spec{
		Capacity: integer[uint64](of["capacity"]), FPRate: real(of["fp_rate"]), Kind: kindOf(of["kind"]), K: integer[uint32](of["k"]),
		MBits: integer[uint64](of["m_bits"]), HashSet: text(of["hash_set"]), Seed: integer[uint64](of["seed"]),
		KeyRule: text(of["key_rule"]), Slices: integer[uint32](of["slices"]), Window: time.Duration(integer[int64](of["window_ns"])),
		WindowItems: integer[uint64](of["window_items"]), CounterBits: integer[uint32](of["counter_bits"]), Pages: pagesOf(of["pages"]),
		Flags: words(of["flags"], map[string]tamis.FilterFlags{"DURABLE": tamis.Durable, "OWNED": tamis.Owned,
			"FROM_FIRST": tamis.FromFirst}),
	}
	if of["on_full"] != nil {
		made.OnFull = word(of["on_full"], tamis.OnFullGrow, tamis.OnFullRefuse, tamis.OnFullWarn)
	}
	secret, err := hex.DecodeString(text(of["secret"]))
	if err != nil || copy(made.Secret[:], secret) < len(secret) {
		panic(misused("that is no secret"))
	}
	return made
}

func importSpec(value any) *tamis.ImportSpec {
	if value == nil {
		return nil
	}
	of := object(value)
	return &tamis.ImportSpec{
		HashSet: text(of["hash_set"]), MBits: integer[uint64](of["m_bits"]), K: integer[uint32](of["k"]),
		Capacity: integer[uint64](of["capacity"]), FPRate: real(of["fp_rate"]), SealCapacity: integer[uint64](of["seal_capacity"]),
		SealRate: real(of["seal_rate"]), Origin: text(of["origin"]),
		Flags: words(of["flags"], map[string]tamis.ImportFlags{"HEAD": tamis.ImportHead, "AS_THERE": tamis.ImportAsThere,
			"OWNED": tamis.ImportOwned, "DURABLE": tamis.ImportDurable}),
	}
}

// kept is a number of generations, if it is given.
func kept(of map[string]any) *int {
	if !has(of["flags"], "KEEP") {
		return nil
	}
	keep := integer[int](of["keep"])
	return &keep
}

// ---- Values -----------------------------------------------------------------------------------

func one(is bool, err error) (any, error) {
	if is {
		return 1, err
	}
	return 0, err
}

func none(err error) (any, error) { return nil, err }

func number[T int | int64 | uint64](n T, err error) (any, error) {
	return json.Number(fmt.Sprint(n)), err
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func orNone(text string, is bool) any {
	if !is {
		return nil
	}
	return text
}

func ns(t time.Time) json.Number {
	if t.IsZero() {
		return "0"
	}
	return json.Number(fmt.Sprint(t.UnixNano()))
}

func answersOf(answers []tamis.Answer) []int {
	made := make([]int, len(answers))
	for i, each := range answers {
		made[i] = int(each)
	}
	return made
}

// fieldOf is a value as the driver reads it.
func fieldOf(value any) any {
	switch v := value.(type) {
	case time.Time:
		return ns(v)
	case time.Duration:
		return v.Nanoseconds()
	case bool:
		if v {
			return 1
		}
		return 0
	}
	return value
}

// statOf has the names that bindings show.
func statOf(s tamis.Stat) map[string]any {
	fields := map[string]any{
		"name": s.Name, "kind": s.Kind.String(), "hash_set": s.HashSet, "k": s.K, "m_bits": s.MBits, "seed": s.Seed,
		"capacity": s.Capacity, "fp_rate": s.FPRate, "items": s.Items, "size_bytes": s.SizeBytes, "predicted_rate": s.PredictedRate,
		"generation": s.Generation, "segment_count": s.SegmentCount, "state": s.State, "created_at": ns(s.CreatedAt),
		"published_at": ns(s.PublishedAt), "checkpointed_at": ns(s.CheckpointedAt), "window_ns": s.Window.Nanoseconds(),
		"window_items": s.WindowItems, "slices": s.Slices, "live_slices": s.LiveSlices, "on_full": s.OnFull.String(),
		"counter_bits": s.CounterBits, "fingerprint_bits": s.FingerprintBits, "exceptions": s.Exceptions, "keep": s.Keep,
		"durable": s.Flags&tamis.Durable != 0, "window_from": nil, "unclean_since": ns(s.UncleanSince),
		"degraded_since": ns(s.DegradedSince), "bits_per_key": s.BitsPerKey, "room": nil, "pages": s.Pages.String(),
		"lacks_bytes": s.LacksBytes, "imported_at": ns(s.ImportedAt), "imported_from": s.ImportedFrom,
		"imported_digest": s.ImportedDigest, "imported_signed_at": ns(s.ImportedSignedAt),
		"imported_signed_by": s.ImportedSignedBy, "imported_signed_comment": s.ImportedSignedComment, "new_keys": s.NewKeys,
		"missing_keys": s.MissingKeys, "key_rule": s.KeyRule,
	}
	if s.Room >= 0 {
		fields["room"] = s.Room
	}
	if s.Window != 0 || s.WindowItems != 0 {
		fields["window_from"] = "last"
		if s.Flags&tamis.FromFirst != 0 {
			fields["window_from"] = "first"
		}
	}
	return fields
}

func statsOf(stats []tamis.Stat, err error) (any, error) {
	made := []any{}
	for _, each := range stats {
		made = append(made, statOf(each))
	}
	return made, err
}

func segmentOf(s tamis.SegmentStat, err error) (any, error) {
	return map[string]any{
		"hash_set": s.HashSet, "number": s.Number, "kind": s.Kind.String(), "k": s.K, "words": s.Words, "bit_order": s.BitOrder,
		"m_bits": s.MBits, "seed": s.Seed, "capacity": s.Capacity, "fp_rate": s.FPRate, "items": s.Items, "file_bytes": s.FileBytes,
		"data_offset": s.DataOffset, "data_bytes": s.DataBytes, "created_at": ns(s.CreatedAt), "ones": s.Ones, "fill": s.Fill,
		"fp_rate_now": s.FPRateNow, "flags": s.Flags, "slice": s.Slice, "slice_start": ns(s.SliceStart), "step": s.Step,
		"counter_bits": s.CounterBits, "items_estimated": s.ItemsEstimated, "fingerprint_bits": s.FingerprintBits, "pieces": s.Pieces,
	}, err
}

func specOf(s *tamis.Spec, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	var flags []string
	for _, flag := range []struct {
		bit  tamis.FilterFlags
		name string
	}{{tamis.Durable, "DURABLE"}, {tamis.Owned, "OWNED"}, {tamis.FromFirst, "FROM_FIRST"}} {
		if s.Flags&flag.bit != 0 {
			flags = append(flags, flag.name)
		}
	}
	made := map[string]any{
		"capacity": s.Capacity, "fp_rate": s.FPRate, "kind": s.Kind.String(), "k": s.K, "m_bits": s.MBits, "hash_set": s.HashSet,
		"seed": s.Seed, "on_full": s.OnFull.String(), "slices": s.Slices, "window_ns": s.Window.Nanoseconds(),
		"window_items": s.WindowItems, "counter_bits": s.CounterBits, "flags": flags, "pages": s.Pages.String(),
		"key_rule": orNull(s.KeyRule),
	}
	if s.Secret != [16]byte{} {
		made["secret"] = hex.EncodeToString(s.Secret[:])
	}
	return made, nil
}

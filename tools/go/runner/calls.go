// SPDX-License-Identifier: BSD-2-Clause

package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"time"

	"tamis"
)

var openFlags = map[string]tamis.OpenFlags{"READ_ONLY": tamis.ReadOnly, "NO_SYNC": tamis.NoSync, "POPULATE": tamis.Populate}

// calls are the functions of tamis.h that the binding has.
var calls = map[string]func(s *step) (any, error){}

func init() {
	for _, some := range []map[string]func(s *step) (any, error){stores, filters, keyed, inside, streams, builds, library} {
		for name, function := range some {
			calls[name] = function
		}
	}
}

func options(s *step) *tamis.StoreOptions {
	made := &tamis.StoreOptions{
		ReadOnly: has(s.With["flags"], "READ_ONLY"), MustExist: !has(s.With["flags"], "CREATE"),
		ForceNetworkFS: has(s.With["flags"], "FORCE_NETWORK_FS"), Mode: integer[uint32](s.With["mode"]),
		BusyTimeout: time.Duration(integer[int64](s.With["busy_timeout_ms"])) * time.Millisecond,
	}
	return made
}

func open(s *step) (any, error) { return tamis.Open(background, s.text("path"), options(s)) }

func verify(s *step) (any, error) {
	problems, err := s.store().Verify(background, s.text("name"), func(_, _ uint64) error { return nil })
	count := 0
	for _, each := range problems {
		if each.Code != 0 {
			count++
		}
	}
	return count, err
}

func repair(s *step) (any, error) {
	flags := s.With["flags"]
	done, _, err := tamis.Repair(background, s.text("path"), &tamis.RepairOptions{DryRun: has(flags, "DRY_RUN"),
		Rebuild: has(flags, "REBUILD"), ForceNetworkFS: has(flags, "FORCE_NETWORK_FS")})
	return done, err
}

var stores = map[string]func(s *step) (any, error){
	"tamis_store_open":      open,
	"tamis_store_open_with": open,
	"tamis_store_set_busy_timeout": func(s *step) (any, error) {
		return none(s.store().SetBusyTimeout(time.Duration(integer[int64](s.With["milliseconds"])) * time.Millisecond))
	},
	"tamis_descriptors_set_least": func(s *step) (any, error) {
		return none(tamis.SetLeastDescriptor(integer[int](s.With["number"])))
	},
	"tamis_store_close":     func(s *step) (any, error) { return none(s.store().Close()) },
	"tamis_store_list":      func(s *step) (any, error) { return statsOf(s.store().ListCatalog(background, s.text("prefix"))) },
	"tamis_store_list_live": func(s *step) (any, error) { return statsOf(s.store().List(background, s.text("prefix"))) },
	"tamis_watch_new":       func(s *step) (any, error) { return s.store().Watch(s.text("prefix")) },
	"tamis_watch_look":      func(s *step) (any, error) { return statsOf(s.watch().Look(background)) },
	"tamis_watch_free":      func(s *step) (any, error) { return none(s.watch().Close()) },
	"tamis_store_verify":    verify, "tamis_store_verify_with": verify,
	"tamis_store_repair": repair, "tamis_store_repair_with": repair,
	"tamis_store_backup": func(s *step) (any, error) { return s.store().Backup(background, s.text("path"), nil) },
}

func dropMany(s *step) (any, error) {
	var times []time.Time
	for _, each := range list(s.With["created_at_of"]) {
		at, err := handle[*tamis.Filter](s, text(each)).CreatedAt()
		if err != nil {
			return nil, err
		}
		times = append(times, at)
	}
	return s.store().DropMany(background, texts(s.With["names"]), times)
}

var filters = map[string]func(s *step) (any, error){
	"tamis_hash_set_weakness": func(s *step) (any, error) { return orNull(tamis.HashSetWeakness(s.text("hash_set"))), nil },
	"tamis_on_full_name": func(s *step) (any, error) {
		return orNull(tamis.OnFull(integer[uint32](s.With["on_full"])).String()), nil
	},
	"tamis_pages_name": func(s *step) (any, error) { return orNull(tamis.Pages(integer[uint32](s.With["pages"])).String()), nil },
	"tamis_filter_check": func(s *step) (any, error) {
		return none(tamis.Check(background, s.text("path"), s.text("name"), spec(s.With["spec"])))
	},
	"tamis_filter_create": func(s *step) (any, error) {
		return s.store().Create(background, s.text("name"), spec(s.With["spec"]))
	},
	"tamis_filter_open_or_create": func(s *step) (any, error) {
		return s.store().OpenOrCreate(background, s.text("name"), spec(s.With["spec"]))
	},
	"tamis_filter_create_many": func(s *step) (any, error) {
		return s.store().CreateMany(background, texts(s.With["names"]), spec(s.With["spec"]), has(s.With["flags"], "IF_MISSING"))
	},
	"tamis_filter_open": func(s *step) (any, error) {
		return s.store().Open(background, s.text("name"), words(s.With["flags"], openFlags))
	},
	"tamis_filter_open_at": func(s *step) (any, error) {
		return tamis.OpenAt(background, s.text("path"), &tamis.StoreOptions{MustExist: true}, s.text("name"),
			words(s.With["flags"], openFlags))
	},
	"tamis_filter_exists": func(s *step) (any, error) { return one(s.store().Exists(background, s.text("name"))) },
	"tamis_filter_created_at": func(s *step) (any, error) {
		at, err := s.filter().CreatedAt()
		return ns(at), err
	},
	"tamis_filter_close":   func(s *step) (any, error) { return none(s.filter().Close()) },
	"tamis_filter_release": func(s *step) (any, error) { s.filter().Release(); return nil, nil },
	"tamis_filter_may_wait": func(s *step) (any, error) {
		wait, err := s.filter().MayWait(integer[int](s.With["keys"]))
		return int(wait), err
	},
	"tamis_filter_prepare": func(s *step) (any, error) {
		return none(s.filter().Prepare(background, integer[uint64](s.With["keys"])))
	},
	"tamis_filter_drop":      func(s *step) (any, error) { return none(s.store().Drop(background, s.text("name"))) },
	"tamis_filter_drop_many": dropMany,
	"tamis_filter_rename": func(s *step) (any, error) {
		return none(s.store().Rename(background, s.text("old_name"), s.text("new_name")))
	},
	"tamis_filter_set_owned": func(s *step) (any, error) {
		return none(s.store().SetOwned(background, s.text("name"), integer[int](s.With["owned"]) != 0))
	},
	"tamis_filter_set_pages": func(s *step) (any, error) {
		return none(s.store().SetPages(background, s.text("name"), pagesOf(s.With["pages"])))
	},
	"tamis_filter_mapped": func(s *step) (any, error) {
		m, err := s.filter().Mapped()
		return map[string]any{"bytes": m.Bytes, "present": m.Present, "huge_bytes": m.HugeBytes, "wanted": m.Wanted.String(),
			"obstacle": orNull(m.Obstacle)}, err
	},
	"tamis_filter_rotate": func(s *step) (any, error) { return none(s.filter().Rotate(background)) },
	"tamis_filter_sync":   func(s *step) (any, error) { return none(s.filter().Sync(background)) },
	"tamis_filter_set_sync_interval": func(s *step) (any, error) {
		return none(s.filter().SetSyncInterval(time.Duration(integer[int64](s.With["interval_ns"]))))
	},
	"tamis_filter_accept": func(s *step) (any, error) { return none(s.filter().Accept(background)) },
}

// many is a batch: the answers, or with an error those of the keys that were dealt with.
func many(s *step, ofTexts func([]string, []tamis.Answer) (int, error), ofBytes func([][]byte, []tamis.Answer) (int, error)) (any, error) {
	strings, data := keys(s.With["keys"])
	answers := make([]tamis.Answer, max(len(strings), len(data)))
	var err error
	if data != nil {
		_, err = ofBytes(data, answers)
	} else {
		_, err = ofTexts(strings, answers)
	}
	return answersOf(answers), err
}

var keyed = map[string]func(s *step) (any, error){
	"tamis_filter_add": func(s *step) (any, error) { return one(byKey(s, s.filter().AddString, s.filter().Add)) },
	"tamis_filter_contains": func(s *step) (any, error) {
		return one(byKey(s, s.filter().ContainsString, s.filter().Contains))
	},
	"tamis_filter_remove": func(s *step) (any, error) { return one(byKey(s, s.filter().RemoveString, s.filter().Remove)) },
	"tamis_filter_count":  func(s *step) (any, error) { return number(byKey(s, s.filter().CountString, s.filter().Count)) },
	"tamis_filter_contains_name": func(s *step) (any, error) {
		text, data := key(s.With["key"])
		if data != nil {
			found, ok, err := s.filter().ContainsName(data)
			return orNone(string(found), ok), err
		}
		found, ok, err := s.filter().ContainsNameString(text)
		return orNone(found, ok), err
	},
	"tamis_filter_prefetch": func(s *step) (any, error) {
		text, data := key(s.With["key"])
		return none(s.filter().Prefetch(append(data, text...)))
	},
	"tamis_filter_add_batch": func(s *step) (any, error) {
		return many(s, func(keys []string, answers []tamis.Answer) (int, error) {
			return s.filter().AddStrings(background, keys, answers)
		}, func(keys [][]byte, answers []tamis.Answer) (int, error) {
			return s.filter().AddBatch(background, keys, answers)
		})
	},
	"tamis_filter_contains_batch": func(s *step) (any, error) {
		return many(s, s.filter().ContainsStrings, s.filter().ContainsBatch)
	},
	"tamis_filter_remove_batch": func(s *step) (any, error) {
		return many(s, func(keys []string, answers []tamis.Answer) (int, error) {
			return s.filter().RemoveStrings(background, keys, answers)
		}, func(keys [][]byte, answers []tamis.Answer) (int, error) {
			return s.filter().RemoveBatch(background, keys, answers)
		})
	},
	"tamis_filter_count_batch": func(s *step) (any, error) {
		counted := allBytes(s.With["keys"])
		counts := make([]uint64, len(counted))
		_, err := s.filter().CountBatch(counted, counts)
		return counts, err
	},
	"tamis_shard": func(s *step) (any, error) {
		text, data := key(s.With["key"])
		if data != nil {
			return tamis.Shard(data, integer[uint32](s.With["shards"])), nil
		}
		return tamis.Shard(text, integer[uint32](s.With["shards"])), nil
	},
}

func explanation(e tamis.Explanation, err error) (any, error) {
	return map[string]any{"hashes": e.Hashes, "positions": e.Positions}, err
}

func bytesOf(s *step, name string) []byte {
	text, data := key(s.With[name])
	return append(data, text...)
}

func sizing(s *step) (any, error) {
	of := object(s.With["sizing"])
	made, err := tamis.Size(tamis.Sizing{Kind: kindOf(of["kind"]), K: integer[uint32](of["k"]), Capacity: integer[uint64](of["capacity"]),
		MBits: integer[uint64](of["m_bits"]), FPRate: real(of["fp_rate"]), CounterBits: integer[uint32](of["counter_bits"])})
	return map[string]any{"kind": made.Kind.String(), "k": made.K, "capacity": made.Capacity, "m_bits": made.MBits, "fp_rate": made.FPRate,
		"predicted_rate": made.PredictedRate, "bits_per_key": made.BitsPerKey, "data_bytes": made.DataBytes, "file_bytes": made.FileBytes,
		"words": made.Words, "counter_bits": made.CounterBits, "fingerprint_bits": made.FingerprintBits, "pieces": made.Pieces}, err
}

func field(s *step) (any, error) {
	of, by := tamis.FieldsOf(integer[uint32](s.With["of"])), tamis.ShownBy(integer[uint32](s.With["shown_by"]))
	fields, err := tamis.Fields(of, by)
	index := integer[int](s.With["index"])
	if err != nil || index >= len(fields) {
		return nil, err
	}
	f := fields[index]
	return map[string]any{"name": f.Name, "info_name": orNull(f.InfoName), "reply_name": orNull(f.ReplyName), "unit": f.Unit,
		"sentence": f.Sentence, "lacking": orNull(f.Lacking), "of": of, "number": f.Number, "type": f.Type, "sum": f.Sum}, nil
}

func fieldGet(s *step) (any, error) {
	fields, err := s.filter().Fields(tamis.ShownBy(integer[uint32](s.With["shown_by"])))
	index := integer[int](s.With["index"])
	if err != nil || index >= len(fields) {
		return nil, err
	}
	return fieldOf(fields[index].Value), nil
}

var inside = map[string]func(s *step) (any, error){
	"tamis_filter_stat": func(s *step) (any, error) {
		stat, err := s.filter().Stat()
		return statOf(stat), err
	},
	"tamis_filter_items":   func(s *step) (any, error) { return number(s.filter().Items()) },
	"tamis_filter_segment": func(s *step) (any, error) { return segmentOf(s.filter().Segment(integer[int](s.With["index"]))) },
	"tamis_filter_fill":    func(s *step) (any, error) { return segmentOf(s.filter().Fill(integer[int](s.With["index"]))) },
	"tamis_segment_file": func(s *step) (any, error) {
		return tamis.SegmentFile(integer[uint64](s.With["number"])), nil
	},
	"tamis_filter_explain": func(s *step) (any, error) {
		return explanation(s.filter().Explain(integer[int](s.With["index"]), bytesOf(s, "key")))
	},
	"tamis_explain": func(s *step) (any, error) {
		return explanation(tamis.Explain(s.text("hash_set"), integer[uint64](s.With["m_bits"]), integer[uint32](s.With["k"]),
			integer[uint64](s.With["seed"]), bytesOf(s, "key")))
	},
	"tamis_filter_fill_map": func(s *step) (any, error) {
		return s.filter().FillMap(integer[int](s.With["index"]), integer[int](s.With["count"]))
	},
	"tamis_field":     field,
	"tamis_field_get": fieldGet,
	"tamis_size":      sizing,
	"tamis_predict_rate": func(s *step) (any, error) {
		rate := tamis.PredictRate(kindOf(s.With["kind"]), integer[uint64](s.With["m_bits"]), integer[uint32](s.With["k"]),
			integer[uint64](s.With["n"]))
		if math.IsNaN(rate) {
			return nil, nil
		}
		return rate, nil
	},
	"tamis_filter_like": func(s *step) (any, error) { return specOf(s.filter().Like()) },
	"tamis_filter_compare": func(s *step) (any, error) {
		c, err := s.filter().Compare(handle[*tamis.Filter](s, s.text("other")))
		return map[string]any{"items_a": c.ItemsA, "items_b": c.ItemsB, "items_union": c.ItemsUnion, "items_both": c.ItemsBoth,
			"jaccard": c.Jaccard, "error": c.Error}, err
	},
}

func sources(s *step) []*tamis.Filter {
	var made []*tamis.Filter
	for _, name := range texts(s.With["sources"]) {
		made = append(made, handle[*tamis.Filter](s, name))
	}
	return made
}

func merge(s *step) (any, error) {
	if has(s.With["flags"], "INTERSECT") {
		return nil, lacking("tamis_filter_merge(flags)") // the library refuses it there, so there is no argument for it
	}
	return none(s.filter().Merge(background, nil, sources(s)...))
}

func importing(s *step) (any, error) {
	file, err := os.Open(s.text("file"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return s.store().Import(background, s.text("name"), s.text("format"), file, importSpec(s.With["spec"]))
}

func publishing(s *step) (any, error) {
	file, err := os.Open(s.text("file"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	of := object(s.With["spec"])
	r, err := s.store().Publish(background, s.text("name"), s.text("format"), file, &tamis.PublishOptions{
		Import: importSpec(of["import"]), Except: allBytes(of["except"]), IfChanged: has(of["flags"], "IF_CHANGED"), Newer: has(of["flags"], "NEWER"), Keep: kept(of)})
	published, _ := one(r.Published, nil)
	return map[string]any{"published": published, "generation": r.Generation, "exceptions": r.Exceptions, "size_bytes": r.SizeBytes,
		"digest": hex.EncodeToString(r.Digest[:])}, err
}

func exporting(s *step) (any, error) {
	var stream bytes.Buffer
	err := s.filter().Export(background, &stream, s.text("format"), words(s.With["flags"], map[string]tamis.ExportFlags{
		"WITH_KEY": tamis.ExportWithKey, "WITHOUT_EXCEPTIONS": tamis.ExportWithoutExceptions, "WITH_DIGEST": tamis.ExportWithDigest}))
	if err != nil {
		return nil, err
	}
	return none(os.WriteFile(s.text("file"), stream.Bytes(), 0o666))
}

func readData(s *step) (any, error) {
	buffer := make([]byte, integer[int](s.With["bytes"]))
	err := s.filter().ReadData(integer[int](s.With["index"]), integer[uint64](s.With["offset"]), buffer)
	return hex.EncodeToString(buffer), err
}

var streams = map[string]func(s *step) (any, error){
	"tamis_filter_merge": merge,
	"tamis_filter_create_merged": func(s *step) (any, error) {
		return s.store().CreateMerged(background, s.text("name"), has(s.With["flags"], "INTERSECT"), nil, sources(s)...)
	},
	"tamis_format_name": func(s *step) (any, error) {
		formats, index := tamis.Formats(), integer[int](s.With["index"])
		if index >= len(formats) {
			return nil, nil
		}
		return formats[index], nil
	},
	"tamis_filter_import":    importing,
	"tamis_filter_publish":   publishing,
	"tamis_filter_export":    exporting,
	"tamis_filter_read_data": readData,
	"tamis_filter_write_data": func(s *step) (any, error) {
		return none(s.filter().WriteData(integer[int](s.With["index"]), integer[uint64](s.With["offset"]), bytesOf(s, "data")))
	},
	"tamis_filter_set_bit": func(s *step) (any, error) {
		return one(s.filter().SetBit(integer[int](s.With["index"]), integer[uint64](s.With["position"])))
	},
}

func begin(s *step) (any, error) {
	of := object(s.With["spec"])
	return s.store().Build(background, s.text("name"), &tamis.BuildOptions{Spec: spec(of["filter"]),
		MemoryBytes: integer[uint64](of["memory_bytes"]), Threads: integer[int](of["threads"]),
		IfChanged: has(of["flags"], "IF_CHANGED"), Keep: kept(of)})
}

func given(s *step, ofTexts func([]string) error, ofBytes func([][]byte) error) (any, error) {
	strings, data := keys(s.With["keys"])
	if data != nil {
		return none(ofBytes(data))
	}
	return none(ofTexts(strings))
}

func published(s *step) (any, error) {
	r, err := s.build().Publish()
	is, _ := one(r.Published, nil)
	return map[string]any{"published": is, "keys": r.Keys, "distinct": r.Distinct, "generation": r.Generation, "exceptions": r.Exceptions,
		"found": r.Found, "conflicts": r.Conflicts, "sampled": r.Sampled, "sampled_yes": r.SampledYes, "size_bytes": r.SizeBytes,
		"key_digest": hex.EncodeToString(r.KeyDigest[:])}, err
}

func generations(s *step) (any, error) {
	found, err := s.store().Generations(background, s.text("name"))
	made := []any{}
	for _, g := range found {
		inForce, _ := one(g.InForce, nil)
		made = append(made, map[string]any{"generation": g.Generation, "in_force": inForce, "kind": g.Kind.String(),
			"segment_count": g.SegmentCount, "items": g.Items, "size_bytes": g.SizeBytes, "fp_rate": g.FPRate, "exceptions": g.Exceptions,
			"published_at": ns(g.PublishedAt), "key_digest": hex.EncodeToString(g.KeyDigest[:])})
	}
	return made, err
}

// exceptions collects what `each` tells.
func exceptions(each func(f func(key []byte, generation uint64) error) error) (any, error) {
	found := []string{}
	err := each(func(key []byte, _ uint64) error {
		found = append(found, hex.EncodeToString(key))
		return nil
	})
	return found, err
}

func unexcept(s *step) (any, error) {
	taken := allBytes(s.With["keys"])
	answers := make([]tamis.Answer, len(taken))
	_, err := s.store().Unexcept(background, s.text("name"), taken, answers)
	return answersOf(answers), err
}

var builds = map[string]func(s *step) (any, error){
	"tamis_build_begin": begin,
	"tamis_build_add":   func(s *step) (any, error) { return given(s, s.build().AddStrings, s.build().Add) },
	"tamis_build_against": func(s *step) (any, error) {
		return given(s, s.build().AgainstStrings, s.build().Against)
	},
	"tamis_build_except":       func(s *step) (any, error) { return given(s, s.build().ExceptStrings, s.build().Except) },
	"tamis_build_publish":      published,
	"tamis_build_close":        func(s *step) (any, error) { return none(s.build().Close()) },
	"tamis_filter_generations": generations,
	"tamis_filter_rollback": func(s *step) (any, error) {
		return none(s.store().Rollback(background, s.text("name"), integer[uint64](s.With["generation"])))
	},
	"tamis_filter_except": func(s *step) (any, error) {
		return s.store().Except(background, s.text("name"), allBytes(s.With["keys"]))
	},
	"tamis_filter_unexcept": unexcept,
	"tamis_filter_exceptions": func(s *step) (any, error) {
		return exceptions(func(f func([]byte, uint64) error) error {
			return s.store().EachException(background, s.text("name"), f)
		})
	},
	"tamis_filter_each_exception": func(s *step) (any, error) {
		return exceptions(func(f func([]byte, uint64) error) error { return s.filter().EachException(background, f) })
	},
}

// next is the one after `of` in a list, the first after none, and none after the last.
func next[T comparable](all []T, of, none T) T {
	if of == none {
		return all[0]
	}
	for i, each := range all[:len(all)-1] {
		if each == of {
			return all[i+1]
		}
	}
	return none
}

var library = map[string]func(s *step) (any, error){
	"tamis_version": func(*step) (any, error) { return tamis.Version(), nil },
	"tamis_simd":    func(*step) (any, error) { return tamis.SIMD(), nil },
	"tamis_error_name": func(s *step) (any, error) {
		return tamis.Code(integer[int32](s.With["error"])).Name(), nil
	},
	"tamis_error_message": func(s *step) (any, error) {
		return tamis.Code(integer[int32](s.With["error"])).Error()[len("tamis: "):], nil
	},
	"tamis_last_error": func(s *step) (any, error) { return s.runner.sentence, nil },
	"tamis_kind_name": func(s *step) (any, error) {
		kind := tamis.Kind(integer[uint32](s.With["kind"]))
		if kind.String() == fmt.Sprintf("Kind(%d)", uint32(kind)) {
			return nil, nil
		}
		return kind.String(), nil
	},
	"tamis_kind_has": func(s *step) (any, error) {
		return one(tamis.Kind(integer[uint32](s.With["kind"])).Has(tamis.KindProperty(integer[uint32](s.With["property"]))), nil)
	},
	"tamis_kind_next": func(s *step) (any, error) {
		return next(tamis.Kinds(), tamis.Kind(integer[uint32](s.With["kind"])), tamis.KindDefault), nil
	},
	"tamis_kind_from_name": func(s *step) (any, error) {
		kind, err := tamis.ParseKind(s.text("name"))
		return uint32(kind), err
	},
	"tamis_hash_set_next": func(s *step) (any, error) { return orNull(next(tamis.HashSets(), s.text("hash_set"), "")), nil },
	"tamis_sigbus_leave":  func(*step) (any, error) { tamis.LeaveSIGBUS(); return nil, nil },
}

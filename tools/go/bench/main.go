// SPDX-License-Identifier: BSD-2-Clause

// Command bench measures the calls of package tamis beside the library's own and beside bits-and-blooms/bloom: nanoseconds of processor
// time a key, the least of some rounds.
//
//	go -C tools/go/bench run . [-keys N] [-rounds N]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"github.com/bits-and-blooms/bloom/v3"

	"tamis"
)

const batchOf = 1000

func main() {
	log.SetFlags(0)
	keys := flag.Int("keys", 4_000_000, "URLs of 70 bytes")
	rounds := flag.Int("rounds", 3, "of which the least counts")
	flag.Parse()
	if err := run(*keys, *rounds); err != nil {
		log.Fatal(err)
	}
}

// spent is the processor time of this process, which a machine with other work inflates less than the clock.
func spent() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// A way to do something with all keys; prepare, which may be nil, is not measured.
type way struct{ prepare, run func() }

// A row is a line of the table: nanoseconds a key of some ways, of each the least.
type row struct {
	name  string
	ways  []way
	least []float64
}

// measure runs each way of each row in each round, so that all see the same machine.
func measure(rows []*row, rounds, keys int) {
	for range rounds {
		for _, r := range rows {
			for i, way := range r.ways {
				if len(r.least) == i {
					r.least = append(r.least, 0)
				}
				if way.prepare != nil {
					way.prepare()
				}
				before := spent()
				way.run()
				if ns := float64(spent()-before) / float64(keys); r.least[i] == 0 || ns < r.least[i] {
					r.least[i] = ns
				}
			}
		}
	}
}

func (r *row) String() string {
	line := fmt.Sprintf("%-24s", r.name)
	for _, ns := range r.least {
		line += fmt.Sprintf(" %10.0f", ns)
	}
	return line
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// A table is a filter of Tamis, in Go and in C, and one of bits-and-blooms.
type table struct {
	store   *tamis.Store
	filter  *tamis.Filter
	library *library
	peer    *bloom.BloomFilter
	made    int
}

// renew puts empty filters in the place of those before.
func (t *table) renew(capacity int) {
	ctx := context.Background()
	if t.filter != nil {
		t.library.close()
		_ = t.filter.Close()
		if err := t.store.Drop(ctx, fmt.Sprint("f", t.made)); err != nil {
			log.Fatal(err)
		}
	}
	t.made++
	name := fmt.Sprint("f", t.made)
	t.filter = must(t.store.Create(ctx, name, &tamis.Spec{Capacity: uint64(capacity), FPRate: 0.01}))
	t.library.open(t.store.Path(), name)
	t.peer = bloom.NewWithEstimates(uint(capacity), 0.01)
}

func run(keys, rounds int) error {
	directory, err := os.MkdirTemp("", "tamis-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	urls := make([]string, keys)
	for i := range urls {
		urls[i] = fmt.Sprintf("https://www.example.org/articles/2026/%09d/a-page-of-some-name.html", i)
	}
	t := &table{store: must(tamis.Open(context.Background(), directory, nil)), library: newLibrary(urls)}
	defer t.store.Close()
	rows := t.rows(urls)
	measure(rows, rounds, keys)
	fmt.Printf("%d URLs of %d bytes, 1 %%, %s, %s, %d processors; ns of processor time a key, the least of %d\n", keys, len(urls[0]),
		runtime.Version(), tamis.SIMD(), runtime.NumCPU(), rounds)
	fmt.Printf("%-24s %10s %10s %10s\n", "", "tamis, Go", "tamis, C", "bloom/v3")
	for _, r := range rows {
		fmt.Println(r)
	}
	hand(urls, rounds)
	return nil
}

// inBatches calls f for each batch of the URLs.
func inBatches(urls []string, f func(part []string)) func() {
	return func() {
		for at := 0; at < len(urls); at += batchOf {
			f(urls[at:min(at+batchOf, len(urls))])
		}
	}
}

func (t *table) rows(urls []string) []*row {
	ctx, answers := context.Background(), make([]tamis.Answer, batchOf)
	each := func(f func(url string)) func() {
		return func() {
			for _, url := range urls {
				f(url)
			}
		}
	}
	own := func(batch int, asks bool) func() { return func() { t.library.run(batch, asks) } }
	fresh := func() { t.renew(len(urls)) }
	return []*row{
		{name: "add one", ways: []way{
			{fresh, each(func(url string) { must(t.filter.AddString(url)) })},
			{fresh, own(1, false)},
			{fresh, each(func(url string) { t.peer.TestOrAddString(url) })},
		}},
		{name: "ask one", ways: []way{
			{func() { t.library.run(batchOf, false) }, each(func(url string) { must(t.filter.ContainsString(url)) })},
			{nil, own(1, true)},
			{nil, each(func(url string) { t.peer.TestString(url) })},
		}},
		{name: "add 1,000 at once", ways: []way{
			{fresh, inBatches(urls, func(part []string) { must(t.filter.AddStrings(ctx, part, answers)) })},
			{fresh, own(batchOf, false)},
		}},
		{name: "ask 1,000 at once", ways: []way{
			{nil, inBatches(urls, func(part []string) { must(t.filter.ContainsStrings(part, answers)) })},
			{nil, own(batchOf, true)},
		}},
	}
}

// hand measures two ways to hand keys to C: to copy them one behind the other, or to pin each.
func hand(urls []string, rounds int) {
	arena := make([]byte, 0, batchOf*len(urls[0]))
	r := &row{ways: []way{
		{nil, inBatches(urls, func(part []string) {
			arena = arena[:0]
			for _, url := range part {
				arena = append(arena, url...)
			}
		})},
		{nil, inBatches(urls, func(part []string) {
			var pinner runtime.Pinner
			for _, url := range part {
				pinner.Pin(unsafe.StringData(url))
			}
			pinner.Unpin()
		})},
	}}
	measure([]*row{r}, rounds, len(urls))
	fmt.Printf("handing a key to C: copying %.1f, pinning %.1f\n", r.least[0], r.least[1])
}

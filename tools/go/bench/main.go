// SPDX-License-Identifier: BSD-2-Clause

// Command bench measures the calls of package tamis beside the library's own and beside bits-and-blooms/bloom: nanoseconds a key,
// the least of some rounds.
//
//	go -C tools/go/bench run . [-keys N] [-rounds N] [-filter N]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"sync"
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

// least is the shortest of some rounds, in nanoseconds a key.
func least(rounds, keys int, begin func(), f func()) float64 {
	best := 0.0
	for range rounds {
		begin()
		start := time.Now()
		f()
		if ns := float64(time.Since(start).Nanoseconds()) / float64(keys); best == 0 || ns < best {
			best = ns
		}
	}
	return best
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

type table struct {
	store  *tamis.Store
	filter *tamis.Filter
	made   int
}

// renew makes an empty filter in the place of the one before.
func (t *table) renew(capacity int) {
	ctx := context.Background()
	if t.filter != nil {
		name := fmt.Sprint("f", t.made)
		_ = t.filter.Close()
		if err := t.store.Drop(ctx, name); err != nil {
			log.Fatal(err)
		}
	}
	t.made++
	t.filter = must(t.store.Create(ctx, fmt.Sprint("f", t.made), &tamis.Spec{Capacity: uint64(capacity), FPRate: 0.01}))
}

func run(keys, rounds int) error {
	directory, err := os.MkdirTemp("", "tamis-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	ctx := context.Background()
	t := &table{store: must(tamis.Open(ctx, directory, nil))}
	defer t.store.Close()
	urls := make([]string, keys)
	for i := range urls {
		urls[i] = fmt.Sprintf("https://www.example.org/articles/2026/%09d/a-page-of-some-name.html", i)
	}
	fresh := func() { t.renew(keys) }
	none := func() {}
	answers := make([]tamis.Answer, batchOf)

	// batches calls f for each batch of the URLs.
	batches := func(f func(part []string)) func() {
		return func() {
			for at := 0; at < keys; at += batchOf {
				f(urls[at:min(at+batchOf, keys)])
			}
		}
	}
	addMany := least(rounds, keys, fresh, batches(func(part []string) { must(t.filter.AddStrings(ctx, part, answers)) }))
	askMany := least(rounds, keys, none, batches(func(part []string) { must(t.filter.ContainsStrings(part, answers)) }))
	askOne := least(rounds, keys, none, func() {
		for _, url := range urls {
			must(t.filter.ContainsString(url))
		}
	})
	askTwo := least(rounds, keys, none, func() {
		var group sync.WaitGroup
		for half := range 2 {
			group.Add(1)
			go func() {
				defer group.Done()
				for _, url := range urls[half*keys/2 : (half+1)*keys/2] {
					must(t.filter.ContainsString(url))
				}
			}()
		}
		group.Wait()
	})
	addOne := least(rounds, keys, fresh, func() {
		for _, url := range urls {
			must(t.filter.AddString(url))
		}
	})

	fresh()
	c := newLibrary(directory, fmt.Sprint("f", t.made), urls)
	own := func(batch int, asks bool, begin func()) float64 {
		best := 0.0
		for range rounds {
			begin()
			if ns := c.run(batch, asks); best == 0 || ns < best {
				best = ns
			}
		}
		return best
	}
	again := func() {
		fresh()
		c = newLibrary(directory, fmt.Sprint("f", t.made), urls)
	}
	cAddMany := own(batchOf, false, again)
	cAskMany := own(batchOf, true, none)
	cAskOne := own(1, true, none)
	cAddOne := own(1, false, again)

	var peer *bloom.BloomFilter
	peerAdd := least(rounds, keys, func() { peer = bloom.NewWithEstimates(uint(keys), 0.01) }, func() {
		for _, url := range urls {
			peer.TestOrAddString(url)
		}
	})
	peerAsk := least(rounds, keys, none, func() {
		for _, url := range urls {
			peer.TestString(url)
		}
	})

	fmt.Printf("%d URLs of %d bytes, 1 %%, %s, %s, %d processors; ns a key, the least of %d\n", keys, len(urls[0]), runtime.Version(),
		tamis.SIMD(), runtime.NumCPU(), rounds)
	fmt.Printf("%-34s %10s %10s %10s\n", "", "tamis, Go", "tamis, C", "bloom/v3")
	fmt.Printf("%-34s %10.0f %10.0f %10.0f\n", "add one", addOne, cAddOne, peerAdd)
	fmt.Printf("%-34s %10.0f %10.0f %10.0f\n", "ask one", askOne, cAskOne, peerAsk)
	fmt.Printf("%-34s %10.0f\n", "ask one, two goroutines", askTwo)
	fmt.Printf("%-34s %10.0f %10.0f\n", "add 1,000 at once", addMany, cAddMany)
	fmt.Printf("%-34s %10.0f %10.0f\n", "ask 1,000 at once", askMany, cAskMany)
	hand(urls, rounds, batches)
	return nil
}

// hand measures two ways to hand keys to C: to pin each, or to copy them one behind the other.
func hand(urls []string, rounds int, batches func(func([]string)) func()) {
	arena := make([]byte, 0, batchOf*len(urls[0]))
	copied := least(rounds, len(urls), func() {}, batches(func(part []string) {
		arena = arena[:0]
		for _, url := range part {
			arena = append(arena, url...)
		}
	}))
	pinned := least(rounds, len(urls), func() {}, batches(func(part []string) {
		var pinner runtime.Pinner
		for _, url := range part {
			pinner.Pin(unsafe.StringData(url))
		}
		pinner.Unpin()
	}))
	fmt.Printf("handing keys to C: copying them %.1f, pinning them %.1f\n", copied, pinned)
}

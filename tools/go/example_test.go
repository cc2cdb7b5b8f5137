// SPDX-License-Identifier: BSD-2-Clause

package tamis_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"tamis"
)

// open is where the examples are: a directory that the caller removes.
func open() (*tamis.Store, func()) {
	directory, err := os.MkdirTemp("", "tamis-example-")
	if err != nil {
		log.Fatal(err)
	}
	store, err := tamis.Open(context.Background(), directory, nil)
	if err != nil {
		log.Fatal(err)
	}
	return store, func() { _, _ = store.Close(), os.RemoveAll(directory) }
}

func ExampleStore_OpenOrCreate() {
	store, end := open()
	defer end()
	seen, err := store.OpenOrCreate(context.Background(), "seen", &tamis.Spec{Capacity: 1_000_000, FPRate: 0.001})
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	for _, url := range []string{"https://a.example/", "https://b.example/", "https://a.example/"} {
		isNew, err := seen.AddString(url)
		fmt.Println(isNew, err)
	}
	// Output:
	// true <nil>
	// true <nil>
	// false <nil>
}

func ExampleFilter_AddStrings() {
	store, end := open()
	defer end()
	seen, err := store.Create(context.Background(), "seen", &tamis.Spec{Capacity: 1_000_000})
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	urls := []string{"https://a.example/", "https://b.example/", "https://a.example/"}
	answers := make([]tamis.Answer, len(urls))
	n, err := seen.AddStrings(context.Background(), urls, answers)
	fmt.Println(n, answers, err)
	// Output: 2 [1 1 0] <nil>
}

// A filter that forgets: a key is new again a day after it was new.
func ExampleSpec_window() {
	store, end := open()
	defer end()
	_, err := store.Create(context.Background(), "today", &tamis.Spec{Capacity: 100_000, Window: 24 * time.Hour, Flags: tamis.FromFirst})
	if err != nil {
		log.Fatal(err)
	}
	_, err = store.OpenOrCreate(context.Background(), "today", &tamis.Spec{Capacity: 100_000, Window: time.Hour, Flags: tamis.FromFirst})
	fmt.Println(errors.Is(err, tamis.ErrMismatch))
	// Output: true
}

func ExampleStore_Build() {
	store, end := open()
	defer end()
	build, err := store.Build(context.Background(), "blacklist", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer build.Close()
	if err = build.AddStrings([]string{"a.example", "b.example", "a.example"}); err != nil {
		log.Fatal(err)
	}
	result, err := build.Publish()
	fmt.Println(result.Keys, result.Distinct, err)
	// Output: 3 2 <nil>
}

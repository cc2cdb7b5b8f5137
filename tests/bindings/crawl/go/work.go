// SPDX-License-Identifier: BSD-2-Clause

// The queue of ../README.md, for crawlers in Go.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"tamis"
)

const (
	fileURLs = 10
	overTime = time.Second
)

type work struct {
	queued, finished *tamis.Filter
	directory, name  string
	count            atomic.Int64
}

// A file of the queue that this crawler has claimed, and those of its URLs that are to be fetched.
type claimed struct {
	path string
	urls []string
}

func begin(ctx context.Context, store, directory, name string) (*work, error) {
	w := &work{directory: directory, name: name}
	s, err := tamis.Open(ctx, store, nil)
	if err == nil {
		w.queued, err = s.Open(ctx, "queued", 0)
	}
	if err == nil {
		w.finished, err = s.Open(ctx, "finished", 0)
	}
	for _, part := range []string{"claimed", "found"} {
		if err == nil {
			err = w.putBack(filepath.Join(directory, part, name))
		}
	}
	return w, err
}

// putBack gives back what a crawler of this name had when it was killed.
func (w *work) putBack(directory string) error {
	if err := os.MkdirAll(directory, 0o777); err != nil {
		return err
	}
	files, err := os.ReadDir(directory)
	for _, file := range files {
		path := filepath.Join(directory, file.Name())
		if strings.HasSuffix(path, ".new") {
			err = errors.Join(err, os.Remove(path))
		} else {
			err = errors.Join(err, os.Rename(path, filepath.Join(w.directory, "queue", file.Name())))
		}
	}
	return err
}

// claim returns nil where there is no file now.
func (w *work) claim(ctx context.Context) (*claimed, error) {
	files, err := os.ReadDir(filepath.Join(w.directory, "queue"))
	for _, file := range files {
		mine := filepath.Join(w.directory, "claimed", w.name, file.Name())
		err := os.Rename(filepath.Join(w.directory, "queue", file.Name()), mine)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another crawler has it
		} else if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(mine)
		if err != nil {
			return nil, err
		}
		all := strings.Fields(string(text))
		done := make([]tamis.Answer, len(all))
		_, err = w.finished.ContainsStrings(all, done)
		c := &claimed{path: mine}
		for i, url := range all {
			if done[i] != tamis.Yes {
				c.urls = append(c.urls, url)
			}
		}
		return c, err
	}
	return nil, err
}

// put brings the links that nobody has found before into the queue.
func (w *work) put(ctx context.Context, links []string) error {
	file := fmt.Sprintf("%s-%d-%d", w.name, os.Getpid(), w.count.Add(1))
	found := filepath.Join(w.directory, "found", w.name, file)
	if err := os.WriteFile(found, []byte(strings.Join(links, "\n")), 0o666); err != nil {
		return err
	}
	answers := make([]tamis.Answer, len(links))
	if _, err := w.queued.AddStrings(ctx, links, answers); err != nil {
		return err
	}
	var isNew []string
	for i, link := range links {
		if answers[i] == tamis.Yes {
			isNew = append(isNew, link)
		}
	}
	for i := 0; i < len(isNew); i += fileURLs {
		part := fmt.Sprintf("%s-%d", found, i)
		text := strings.Join(isNew[i:min(i+fileURLs, len(isNew))], "\n")
		if err := os.WriteFile(part+".new", []byte(text), 0o666); err != nil {
			return err
		}
		if err := os.Rename(part+".new", filepath.Join(w.directory, "queue", filepath.Base(part))); err != nil {
			return err
		}
	}
	return os.Remove(found)
}

func (w *work) finish(ctx context.Context, c *claimed) error {
	if _, err := w.finished.AddStrings(ctx, c.urls, nil); err != nil {
		return err
	}
	return os.Remove(c.path)
}

// isEmpty tells whether no crawler has anything, nor the queue.
func (w *work) isEmpty() bool {
	for _, part := range []string{"queue/*", "claimed/*/*", "found/*/*"} {
		if files, err := filepath.Glob(filepath.Join(w.directory, part)); err != nil || len(files) > 0 {
			return false
		}
	}
	return true
}

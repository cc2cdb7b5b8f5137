// SPDX-License-Identifier: BSD-2-Clause

// A crawler of ../README.md, by colly: go run . STORE QUEUE NAME SITE.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/gocolly/colly/v2"
)

const workers = 4 // each has a file of the queue in its hands

// A page's links, of all pages of a file.
type links struct {
	mutex sync.Mutex
	found []string
}

func (l *links) add(url string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.found = append(l.found, url)
}

func newCollector(name string) *colly.Collector {
	c := colly.NewCollector(colly.UserAgent(name), colly.AllowURLRevisit())
	c.ParseHTTPErrorResponse = true
	c.SetRedirectHandler(func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse })
	c.OnResponse(func(r *colly.Response) {
		if to := r.Headers.Get("Location"); to != "" {
			r.Ctx.GetAny("links").(*links).add(r.Request.AbsoluteURL(to))
		}
	})
	c.OnHTML("a[href]", func(e *colly.HTMLElement) {
		e.Request.Ctx.GetAny("links").(*links).add(e.Request.AbsoluteURL(e.Attr("href")))
	})
	return c
}

// fetch fetches the pages of a file side by side, and returns their links.
func fetch(c *colly.Collector, urls []string) ([]string, error) {
	var group sync.WaitGroup
	all := &links{}
	failures := make(chan error, len(urls))
	for _, url := range urls {
		group.Add(1)
		go func() {
			defer group.Done()
			ctx := colly.NewContext()
			ctx.Put("links", all)
			if err := c.Request(http.MethodGet, url, nil, ctx, nil); err != nil {
				failures <- err
			}
		}()
	}
	group.Wait()
	select {
	case err := <-failures:
		return nil, err
	default:
		return all.found, nil
	}
}

func crawl(ctx context.Context, w *work, c *colly.Collector) error {
	var empty time.Time
	for {
		file, err := w.claim(ctx)
		if err != nil {
			return err
		}
		if file == nil {
			if !w.isEmpty() {
				empty = time.Time{}
			} else if empty.IsZero() {
				empty = time.Now()
			} else if time.Since(empty) > overTime {
				return nil
			}
			time.Sleep(50 * time.Millisecond)
			continue
		}
		found, err := fetch(c, file.urls)
		if err == nil {
			err = w.put(ctx, found)
		}
		if err == nil {
			err = w.finish(ctx, file)
		}
		if err != nil {
			return err
		}
	}
}

func main() {
	ctx := context.Background()
	store, queue, name, site := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	if response, err := http.Get(site + "/ready"); err != nil {
		log.Fatal(err)
	} else if err = response.Body.Close(); err != nil {
		log.Fatal(err)
	}
	w, err := begin(ctx, store, queue, name)
	if err != nil {
		log.Fatal(err)
	}
	c := newCollector(name)
	var group sync.WaitGroup
	for range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			if err := crawl(ctx, w, c); err != nil {
				log.Fatal(err)
			}
		}()
	}
	group.Wait()
}

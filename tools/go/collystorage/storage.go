// SPDX-License-Identifier: BSD-2-Clause

// Package collystorage lets collectors of colly in several processes share what they have visited: each page is fetched once by all of
// them together, and not again when a crawl is started again.
//
//	store, err := tamis.Open(ctx, "/var/lib/crawl", nil)
//	seen, err := store.OpenOrCreate(ctx, "colly", &tamis.Spec{Capacity: 10_000_000, FPRate: 0.0001})
//	c := colly.NewCollector()
//	err = c.SetStorage(collystorage.New(seen))
//
// Cookies are in the memory of each process.  A new page is taken for visited, and missed, at the rate of the filter.
//
// # Who fetches a page
//
// Colly asks a storage in two calls: IsVisited, and if that says no, Visited.  Of processes, or goroutines of one, that ask for a page at
// the same time all are told that nobody has visited it.  So Visited is where it is decided: it adds the page to the filter, which tells
// one of them that the page is new, and returns a *colly.AlreadyVisitedError to the others.  Visit returns that to its caller, as it
// does for any page that was visited before.  IsVisited adds nothing, so HasVisited of a collector may be called at any time.
//
// A request that colly makes without looking, such as Retry or Head, may be redirected to a page that was visited.  Colly calls Visited
// for it although IsVisited said yes, and gets no error.
package collystorage

import (
	"encoding/binary"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/gocolly/colly/v2"
	"github.com/gocolly/colly/v2/storage"

	"tamis"
)

// A Storage is a storage.Storage over a filter.  It does not close the filter.
type Storage struct {
	seen    *tamis.Filter
	cookies storage.InMemoryStorage
	asked   asked
}

var _ storage.Storage = (*Storage)(nil)

// New makes a storage.  Processes whose filter is the same share what they have visited.
func New(seen *tamis.Filter) *Storage { return &Storage{seen: seen} }

// Init is called by colly.
func (s *Storage) Init() error { return s.cookies.Init() }

func key(requestID uint64) []byte { return binary.LittleEndian.AppendUint64(nil, requestID) }

// IsVisited tells whether anybody has visited the page.
func (s *Storage) IsVisited(requestID uint64) (bool, error) {
	is, err := s.seen.Contains(key(requestID))
	if err == nil {
		s.asked.told(requestID, is)
	}
	return is, err
}

// Visited says that this process visits the page.  A *colly.AlreadyVisitedError says that another one, or another goroutine, was told so
// since IsVisited said no.
func (s *Storage) Visited(requestID uint64) error {
	isNew, err := s.seen.Add(key(requestID))
	if err != nil {
		return err
	}
	if !s.asked.knew(requestID) && !isNew {
		return taken(requestID)
	}
	return nil
}

// Cookies returns the cookies for a page.
func (s *Storage) Cookies(u *url.URL) string { return s.cookies.Cookies(u) }

// SetCookies keeps the cookies of a page, in the memory of this process.
func (s *Storage) SetCookies(u *url.URL, cookies string) { s.cookies.SetCookies(u, cookies) }

// taken is the error of a page that another one visits.
type taken uint64

func (t taken) Error() string {
	return fmt.Sprintf("request %#x was begun elsewhere at the same time", uint64(t))
}

// As makes it a *colly.AlreadyVisitedError.  Its Destination is empty: colly tells a storage no URL.
func (t taken) As(target any) bool {
	into, ok := target.(**colly.AlreadyVisitedError)
	if ok {
		*into = &colly.AlreadyVisitedError{Destination: &url.URL{}}
	}
	return ok
}

// asked remembers for a minute or two what IsVisited has answered, so that Visited knows whether colly calls it after a yes.
type asked struct {
	lock        sync.Mutex
	now, before map[uint64]told
	since       time.Time
}

// told is what was answered for a page: so many times no, to callers who have not come to Visited yet; and whether yes was among it.
type told struct {
	no  int
	yes bool
}

func (a *asked) of(requestID uint64) told {
	if found, ok := a.now[requestID]; ok {
		return found
	}
	return a.before[requestID]
}

func (a *asked) told(requestID uint64, yes bool) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.now == nil || time.Since(a.since) > time.Minute {
		a.now, a.before, a.since = map[uint64]told{}, a.now, time.Now()
	}
	was := a.of(requestID)
	if yes {
		was.yes = true
	} else {
		was.no++
	}
	a.now[requestID] = was
}

// knew tells whether the caller of Visited was told yes.  Where some were told no and others yes, the first who come count as the former:
// to refuse one who knew costs a redirect, to let one pass who did not costs a page that is fetched twice.
func (a *asked) knew(requestID uint64) bool {
	a.lock.Lock()
	defer a.lock.Unlock()
	was := a.of(requestID)
	if was.no > 0 {
		was.no--
		a.now[requestID] = was
		return false
	}
	return was.yes
}

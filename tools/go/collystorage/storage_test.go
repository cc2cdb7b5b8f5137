// SPDX-License-Identifier: BSD-2-Clause

package collystorage_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocolly/colly/v2"

	"tamis"
	"tamis/collystorage"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func filter(t *testing.T, path string) *tamis.Filter {
	t.Helper()
	store, err := tamis.Open(t.Context(), path, nil)
	must(t, err)
	seen, err := store.OpenOrCreate(t.Context(), "colly", &tamis.Spec{Capacity: 100000, FPRate: 1e-9})
	must(t, err)
	t.Cleanup(func() { _, _ = seen.Close(), store.Close() })
	return seen
}

func isVisited(err error) bool {
	var visited *colly.AlreadyVisitedError
	return errors.As(err, &visited) && visited.Destination != nil
}

// Two processes, or goroutines, ask before either says that it visits.  Seen to fail where Visited returned nil to all.
func TestOneOfTwoWhoAskedVisits(t *testing.T) {
	seen := filter(t, t.TempDir())
	one, other := collystorage.New(seen), collystorage.New(seen)
	for page, storages := range [][2]*collystorage.Storage{{one, other}, {one, one}} {
		id := uint64(page)
		for _, s := range storages {
			is, err := s.IsVisited(id)
			must(t, err)
			if is {
				t.Error("a page was visited that nobody has visited")
			}
		}
		must(t, storages[0].Visited(id))
		if is, err := one.IsVisited(id); err != nil || !is { // a third one, who does not disturb the second
			t.Errorf("%v, %v", is, err)
		}
		if err := storages[1].Visited(id); !isVisited(err) {
			t.Errorf("the second one was told %v", err)
		}
	}
}

// site is pages 0 to `pages` - 1, each with links to some others, and redirects to them; it counts.
type site struct {
	*httptest.Server
	starting sync.WaitGroup
	lock     sync.Mutex
	fetched  map[string]int
}

func (s *site) times(path string) int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.fetched[path]
}

func newSite(t *testing.T, pages, crawlers int) *site {
	s := &site{fetched: map[string]int{}}
	s.starting.Add(crawlers)
	link := func(n int) string { return fmt.Sprintf(`<a href="/page/%d">x</a> <a href="/goto/%d">y</a> `, n, n) }
	handler := http.NewServeMux()
	handler.HandleFunc("/start/{n}", func(w http.ResponseWriter, r *http.Request) {
		s.starting.Done() // all processes get the same links at the same time
		s.starting.Wait()
		for n := range pages {
			fmt.Fprint(w, link(n))
		}
	})
	handler.HandleFunc("/page/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		time.Sleep(time.Duration(n%5) * time.Millisecond)
		for i := range 10 {
			fmt.Fprint(w, link((n*31+i*i*7)%pages))
		}
	})
	handler.HandleFunc("/goto/{n}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/page/"+r.PathValue("n"), http.StatusFound)
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.lock.Lock()
		s.fetched[r.URL.Path]++
		s.lock.Unlock()
		w.Header().Set("Content-Type", "text/html")
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func collector(seen *tamis.Filter) (*colly.Collector, error) {
	c := colly.NewCollector(colly.Async(true))
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: 8}); err != nil {
		return nil, err
	}
	c.OnHTML("a[href]", func(e *colly.HTMLElement) {
		_ = e.Request.Visit(e.Attr("href"))
	})
	return c, c.SetStorage(collystorage.New(seen))
}

// crawl is what each process does: from a start page of its own, as the first one to get a page has what is behind it.
func crawl(ctx context.Context, path, start string) error {
	store, err := tamis.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	seen, err := store.OpenOrCreate(ctx, "colly", &tamis.Spec{Capacity: 100000, FPRate: 1e-9})
	if err != nil {
		return err
	}
	c, err := collector(seen)
	if err != nil {
		return err
	}
	if err = c.Visit(start); err != nil {
		return err
	}
	c.Wait()
	return seen.Close()
}

func TestMain(m *testing.M) {
	if path, start, ok := strings.Cut(os.Getenv("TAMIS_GO_CRAWL"), " "); ok {
		if err := crawl(context.Background(), path, start); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Where Visited returned nil to all, one run of three was seen to fail; the test above fails always then.
func TestProcessesFetchEachPageOnce(t *testing.T) {
	const pages, processes = 600, 4
	s, path := newSite(t, pages, processes), t.TempDir()
	var children []*exec.Cmd
	for n := range processes {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), fmt.Sprintf("TAMIS_GO_CRAWL=%s %s/start/%d", path, s.URL, n))
		child.Stderr = os.Stderr
		must(t, child.Start())
		children = append(children, child)
	}
	for _, child := range children {
		must(t, child.Wait())
	}
	for n := range pages {
		for _, path := range []string{"/page/", "/goto/"} {
			if got := s.times(path + strconv.Itoa(n)); got != 1 {
				t.Errorf("%s%d was fetched %d times", path, n, got)
			}
		}
	}
	if err := crawl(t.Context(), path, s.URL+"/start/0"); !isVisited(err) {
		t.Errorf("a crawl that is started again got %v", err)
	}
}

func TestHasVisitedDoesNotVisit(t *testing.T) {
	s := newSite(t, 3, 1)
	c, err := collector(filter(t, t.TempDir()))
	must(t, err)
	for range 2 {
		is, err := c.HasVisited(s.URL + "/page/1")
		must(t, err)
		if is {
			t.Error("a page was visited that was only asked for")
		}
	}
	must(t, c.Visit(s.URL+"/page/1"))
	c.Wait()
	if s.times("/page/1") != 1 {
		t.Errorf("fetched %d times", s.times("/page/1"))
	}
	is, err := c.HasVisited(s.URL + "/page/1")
	must(t, err)
	if !is {
		t.Error("a page that was visited was not")
	}
}

// Head does not look, and may come by a redirect to what was visited.  Seen to fail where Visited refused every page that it knew.
func TestRequestsThatDoNotLookMayBeRedirected(t *testing.T) {
	s := newSite(t, 3, 1)
	c := colly.NewCollector()
	must(t, c.SetStorage(collystorage.New(filter(t, t.TempDir()))))
	must(t, c.Visit(s.URL+"/page/1"))
	must(t, c.Head(s.URL+"/goto/1"))
	if err := c.Visit(s.URL + "/goto/1"); !isVisited(err) {
		t.Errorf("a redirect to a page that was visited gave %v", err)
	}
}

func TestCookiesAreKept(t *testing.T) {
	s := collystorage.New(filter(t, t.TempDir()))
	must(t, s.Init())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("name"); err == nil {
			fmt.Fprint(w, c.Value)
		}
		http.SetCookie(w, &http.Cookie{Name: "name", Value: "value"})
	}))
	defer server.Close()
	c := colly.NewCollector()
	must(t, c.SetStorage(s))
	var body string
	c.OnResponse(func(r *colly.Response) { body = string(r.Body) })
	must(t, c.Visit(server.URL+"/1"))
	must(t, c.Visit(server.URL+"/2"))
	if body != "value" {
		t.Errorf("%q came", body)
	}
}

func TestErrorsOfTheFilterEndTheVisit(t *testing.T) {
	seen := filter(t, t.TempDir())
	c := colly.NewCollector()
	must(t, c.SetStorage(collystorage.New(seen)))
	must(t, seen.Close())
	if err := c.Visit("http://localhost/"); !errors.Is(err, tamis.ErrClosed) {
		t.Errorf("%v came", err)
	}
}

package statuspage_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/dashboard-api/internal/wsconn/wsconntest"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestLiveStream(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	id := r.target("internal name")
	page := r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{id}})}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.pages.Run(ctx) }()
	server := httptest.NewServer(r.pages)
	defer server.Close()
	defer func() { cancel(); <-ended }()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/s/main/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got := answer.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("%d %s", answer.StatusCode, got)
	}
	lines := bufio.NewScanner(answer.Body)
	until := func(want string) {
		t.Helper()
		for lines.Scan() {
			if text := lines.Text(); strings.HasPrefix(text, "data: ") {
				contains(t, text, `"ch":"page:main"`, "!internal", "!example", "!eu")
				if strings.Contains(text, want) {
					return
				}
			}
		}
		t.Fatalf("no %s: %v", want, lines.Err())
	}
	until(`"state":"no_data"`)
	r.pass(time.Second)
	r.result(id, uptime.StatusUp)
	until(`"state":"up"`)
	r.pass(time.Second)
	r.result(id, uptime.StatusDown)
	until(`"components":[{"id":1,"state":"down"}]`)

	var state struct {
		State, Tag string
		Components []struct{ State string }
	}
	if err := json.Unmarshal(r.get("/s/main/state.json").Body.Bytes(), &state); err != nil || state.State != "down" || state.Components[0].State != "down" {
		t.Errorf("%+v %v", state, err)
	}
	contains(t, r.get("/s/main").Body.String(), `data-tag="`+state.Tag+`"`)
	r.post(page, pagestore.Body{Title: "x", Kind: pagestore.KindIncident, Updates: []pagestore.Update{{At: noon, State: pagestore.Investigating, Text: "y"}}}, time.Time{})
	before := state.Tag
	if err := json.Unmarshal(r.get("/s/main/state.json").Body.Bytes(), &state); err != nil || state.Tag == before {
		t.Errorf("a post is no news: %v", err)
	}
	r.pages.LetGo()
	for lines.Scan() { // it ends
	}
	if heard := r.hub.Heard(); len(heard) > 0 {
		t.Errorf("heard by nobody: %v", heard)
	}
}

// Who reads by a socket is told as long as the socket is open, not only while it is opened.
func TestLiveSocket(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	page := r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{Name: "Site", Rule: pagestore.RuleManual, State: pagestore.Up})}})
	ctx, url, stop := r.live(r.pages)
	defer stop()
	conn, err := wsconntest.Dial(ctx, url, "/s/main/live")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Write(ctx, `{"t":"sub","id":"1","ch":"page:main"}`); err != nil {
		t.Fatal(err)
	}
	until := func(wanted ...string) string {
		t.Helper()
		for {
			text, err := conn.Read(ctx)
			if err != nil {
				t.Fatalf("no %v: %v", wanted, err)
			}
			if !slices.ContainsFunc(wanted, func(want string) bool { return !strings.Contains(text, want) }) {
				return text
			}
		}
	}
	until(`"t":"ok"`)
	before := until(`"t":"delta"`, `"state":"up"`)
	r.pass(3 * time.Second)
	r.post(page, pagestore.Body{Title: "x", Kind: pagestore.KindIncident, Updates: []pagestore.Update{{At: noon, State: pagestore.Investigating, Text: "y"}}}, time.Time{})
	if after := until(`"t":"delta"`); after == before {
		t.Errorf("a post is no news: %s", after)
	}
}

// Accounts read the channels of pages beside all others, on the socket of the API: of what is
// published, also of a page with a password, and for as long as they are subscribed.
func TestPageOnTheSocketOfTheAPI(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	terms := pagestore.Terms{Title: "Acme", PasswordHash: "x", Groups: components(pagestore.Component{Name: "Site", Rule: pagestore.RuleManual, State: pagestore.Up})}
	page := r.page(pagestore.Page{Slug: "main", Terms: terms})
	draft := r.page(pagestore.Page{Slug: "draft", Terms: pagestore.Terms{Title: "Draft"}})
	publish := func(id int64, is bool) {
		t.Helper()
		if _, err := r.store.Update(t.Context(), id, r.now(), nil, func(p *pagestore.Page) error { p.Published = is; return nil }); err != nil {
			t.Fatal(err)
		}
		r.pages.Changed()
	}
	publish(draft.ID, false)
	api := r.api()
	ctx, url, stop := r.live(api)
	defer stop()
	conn, err := wsconntest.Dial(ctx, url, "/api/v1/live", r.signUp(api))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	say := func(kind, slug string) {
		t.Helper()
		if err := conn.Write(ctx, `{"t":"`+kind+`","id":"1","ch":"page:`+slug+`"}`); err != nil {
			t.Fatal(err)
		}
	}
	until := func(want string) {
		t.Helper()
		for {
			text, err := conn.Read(ctx)
			if err != nil {
				t.Fatalf("no %s: %v", want, err)
			}
			if strings.Contains(text, want) {
				return
			}
			if strings.Contains(text, `"t":"delta"`) {
				t.Fatalf("%s before %s", text, want)
			}
		}
	}
	for _, slug := range []string{"draft", "nobodys", "main"} { // of the last one something is told by itself
		say("sub", slug)
		until(`"t":"ok","id":"1","ch":"page:` + slug + `"`)
	}
	until(`"id":"main","item":{"state":"up"`)
	r.edit(page, func(t *pagestore.Terms) { t.Groups[0].Components[0].State = pagestore.Down })
	until(`"id":"main","item":{"state":"down"`)
	publish(draft.ID, true) // what is not published has said nothing until now
	until(`"op":"upsert","id":"draft"`)
	publish(draft.ID, false)
	until(`"ops":[{"op":"remove","id":"draft"}]`)

	say("unsub", "main")
	heard := func(want ...string) {
		t.Helper()
		for ctx.Err() == nil {
			if got := slices.Sorted(maps.Keys(r.hub.Heard())); slices.Equal(got, want) {
				return
			}
			<-time.After(10 * time.Millisecond) // the server has yet to see it
		}
		t.Fatalf("heard %v, want %v", r.hub.Heard(), want)
	}
	heard("draft", "nobodys")
	conn.Close()
	heard()
}

// A state that comes and goes between two looks is told to those who loaded the page meanwhile.
func TestLiveTellsOfWhatWasHandedOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	page := r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{Name: "Site", Rule: pagestore.RuleManual, State: pagestore.Up})}})
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	ended := make(chan error, 1)
	go func() { ended <- r.pages.Run(ctx) }()
	server := httptest.NewServer(r.pages)
	defer server.Close()
	defer func() { cancel(); <-ended }()
	lines := r.events(ctx, server.URL+"/s/main/events")
	until := func(what string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), what) {
				return
			}
		}
		t.Fatalf("no %s: %v", what, lines.Err())
	}
	until(`"state":"up"`) // as it was when they came
	until(`"state":"up"`) // by the first look
	for _, state := range []string{pagestore.Down, pagestore.Up} {
		r.edit(page, func(t *pagestore.Terms) { t.Groups[0].Components[0].State = state })
		contains(t, r.get("/s/main/state.json").Body.String(), `"state":"`+state+`"`)
	}
	until(`"state":"up"`)
}

// shelved is a store of one page, in memory.
type shelved struct {
	mu   sync.Mutex
	page pagestore.Page
}

func (s *shelved) edit(change func(*pagestore.Terms)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.page.Terms)
}

func (s *shelved) Published(context.Context, time.Time) ([]pagestore.Page, map[int64][]pagestore.Post, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []pagestore.Page{s.page}, nil, nil
}

func (s *shelved) Hosts(context.Context) ([]string, error) { return nil, nil }

type noWindows struct{}

func (noWindows) Holding(context.Context, time.Time) ([]maintenancestore.Window, error) {
	return nil, nil
}

// streamed reads the event stream of a page in a bubble of time, until it ends or the test does.
func streamed(t *testing.T, s *shelved) (answer *httptest.ResponseRecorder, ended chan struct{}) {
	answer, ended, _ = reading(t, inMemory(s), "192.0.2.1:1")
	return answer, ended
}

func inMemory(s *shelved) *statuspage.Pages {
	return statuspage.New(statuspage.Options{Store: s, Windows: noWindows{}, Live: live.New(live.Options{}), Fingerprint: func(text string) string { return text }, TrustProxy: true, Log: slog.New(slog.DiscardHandler)})
}

// reading is the same from an address, through proxies that say theirs.
func reading(t *testing.T, pages *statuspage.Pages, address string, through ...string) (answer *httptest.ResponseRecorder, ended chan struct{}, leave func()) {
	answer = httptest.NewRecorder()
	ended, leave = coming(t, pages, answer, func(r *http.Request) {
		r.RemoteAddr = address
		if len(through) > 0 {
			r.Header.Set("X-Forwarded-For", strings.Join(through, ", "))
		}
	})
	return answer, ended, leave
}

// coming is the same for a request as it may be.
func coming(t *testing.T, pages *statuspage.Pages, answer http.ResponseWriter, options ...option) (ended chan struct{}, leave func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended = make(chan struct{})
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/s/main/events", nil)
	for _, o := range options {
		o(request)
	}
	go func() {
		defer close(ended)
		pages.ServeHTTP(answer, request)
	}()
	leave = func() { cancel(); <-ended }
	t.Cleanup(leave)
	synctest.Wait()
	return ended, leave
}

// One address takes 50 places and no more, however it comes; the others have theirs, and a place
// that is left is free.
func TestLiveConnectionsOfOneAddress(t *testing.T) {
	t.Parallel()
	for name, who := range map[string]struct {
		one   func(n int) []string // address, and what proxies say
		other []string
	}{
		"IPv4":              {func(n int) []string { return []string{fmt.Sprintf("192.0.2.1:%d", n)} }, []string{"192.0.2.2:1"}},
		"IPv6":              {func(n int) []string { return []string{fmt.Sprintf("[2001:db8::%x]:1", n)} }, []string{"[2001:db8:0:1::1]:1"}},
		"behind a proxy":    {func(int) []string { return []string{"10.0.0.1:1", "198.51.100.7"} }, []string{"10.0.0.1:1", "198.51.100.8"}},
		"with made-up hops": {func(n int) []string { return []string{"10.0.0.1:1", fmt.Sprintf("203.0.113.%d", n), "198.51.100.7"} }, []string{"10.0.0.1:1", "198.51.100.8"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				pages := inMemory(&shelved{page: pagestore.Page{ID: 1, Slug: "main"}})
				var leave func()
				read := func(from []string) (code int, header http.Header) {
					var answer *httptest.ResponseRecorder
					answer, _, leave = reading(t, pages, from[0], from[1:]...)
					return answer.Code, answer.Header()
				}
				for n := range 50 {
					if code, _ := read(who.one(n + 1)); code != http.StatusOK {
						t.Fatalf("the %dth: %d", n+1, code)
					}
				}
				last := leave
				if code, header := read(who.one(51)); code != http.StatusTooManyRequests || header.Get("Retry-After") == "" {
					t.Errorf("one more: %d %v", code, header)
				}
				if code, _ := read(who.other); code != http.StatusOK {
					t.Errorf("another address: %d", code)
				}
				last()
				if code, _ := read(who.one(52)); code != http.StatusOK {
					t.Errorf("where one has left: %d", code)
				}
			})
		})
	}
}

// Sockets and streams of an address are counted together; who gets none is still answered.
func TestLiveConnectionsOfBothKinds(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme"}})
	server := httptest.NewServer(r.pages)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	var first *wsconntest.Client
	for n := range 25 {
		conn, err := wsconntest.Dial(ctx, server.URL, "/s/main/live")
		if err != nil {
			t.Fatal(n, err)
		}
		defer conn.Close()
		if first == nil {
			first = conn
		}
		r.events(ctx, server.URL+"/s/main/events")
	}
	if _, err := wsconntest.Dial(ctx, server.URL, "/s/main/live"); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("a socket more: %v", err)
	}
	for path, want := range map[string]int{"/s/main/events": http.StatusTooManyRequests, "/s/main/state.json": http.StatusOK, "/s/main": http.StatusOK} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %s, want %d", path, answer.Status, want)
		}
	}
	first.Close()
	for ctx.Err() == nil { // the server has yet to see that it is gone
		conn, err := wsconntest.Dial(ctx, server.URL, "/s/main/live")
		if err == nil {
			conn.Close()
			return
		}
	}
	t.Error("a place that was left is not free")
}

// A stream with nothing to say says so: a page that hears nothing must take it for cut off.
func TestStreamBreathes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer, ended := streamed(t, &shelved{page: pagestore.Page{ID: 1, Slug: "main"}})
		time.Sleep(46 * time.Second)
		synctest.Wait()
		if n := strings.Count(answer.Body.String(), `data: {"t":"ping"}`); n != 3 {
			t.Errorf("%d pings in 46 s: %s", n, answer.Body)
		}
		select {
		case <-ended:
			t.Error("it has ended")
		default:
		}
	})
}

// Who may not see a page any more hears nothing of it after five seconds, also where another node
// was told.
func TestStreamEndsForWhoMayNotSee(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*pagestore.Terms){
		"another list of addresses": func(t *pagestore.Terms) { t.Allow = []string{"198.51.100.0/24"} },
		"a password":                func(t *pagestore.Terms) { t.PasswordHash = "x" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &shelved{page: pagestore.Page{ID: 1, Slug: "main", Terms: pagestore.Terms{Allow: []string{"192.0.2.0/24"}}}}
				_, ended := streamed(t, s)
				time.Sleep(61 * time.Second)
				select {
				case <-ended:
					t.Error("it ended for somebody who may see it")
				default:
				}
				s.edit(change)
				time.Sleep(5 * time.Second)
				synctest.Wait()
				select {
				case <-ended:
				default:
					t.Error("it goes on")
				}
			})
		})
	}
}

// A changed password, and a changed list of addresses, end what was opened by the old ones: streams
// and sockets.
func TestRevokedReaders(t *testing.T) {
	t.Parallel()
	hashes := make([]string, 2)
	for i, password := range []string{"open sesame", "another one"} {
		var err error
		if hashes[i], err = cheap.Hash(t.Context(), password); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(*pagestore.Terms){
		"password": func(t *pagestore.Terms) { t.PasswordHash = hashes[1] },
		"list":     func(t *pagestore.Terms) { t.Allow = []string{"198.51.100.0/24"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, testbackend.SQLite(t))
			page := r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", PasswordHash: hashes[0], Allow: []string{"127.0.0.0/8", "::1"}}})
			ctx, cancel := context.WithTimeout(t.Context(), hang)
			var loops sync.WaitGroup
			loops.Go(func() { _ = r.sockets.Run(ctx) })
			server := httptest.NewServer(r.pages)
			defer server.Close()
			defer func() { cancel(); loops.Wait() }()
			client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			answer, err := client.PostForm(server.URL+"/s/main", url.Values{"password": {"open sesame"}})
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusSeeOther {
				t.Fatal(answer.Status)
			}
			cookie := answer.Cookies()[0].Name + "=" + answer.Cookies()[0].Value
			if _, err := wsconntest.Dial(ctx, server.URL, "/s/main/live"); err == nil {
				t.Error("a socket without the password")
			}
			conn, err := wsconntest.Dial(ctx, server.URL, "/s/main/live", cookie)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			lines := r.events(ctx, server.URL+"/s/main/events", header("Cookie", cookie))

			r.edit(page, change)
			for _, err := conn.Read(ctx); err == nil; _, err = conn.Read(ctx) {
			}
			for lines.Scan() {
			}
			if ctx.Err() != nil {
				t.Error("they do not end")
			}
		})
	}
}

// told is an event of a stream: where its reader is then, and what it says.
type told struct {
	id, state string
	from, seq uint64
}

// readable is an answer that can be read while it is written.
type readable struct {
	mu sync.Mutex
	*httptest.ResponseRecorder
}

func (a *readable) Write(text []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ResponseRecorder.Write(text)
}

func (a *readable) text() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.Body.String()
}

// heard are the events of a stream up to now. They follow each other without a gap, and the id of each
// is where it leads to.
func heard(t *testing.T, answer *readable) (all []told) {
	t.Helper()
	for part := range strings.SplitSeq(answer.text(), "\n\n") {
		id, data, found := strings.Cut(strings.TrimPrefix(part, "id: "), "\ndata: ")
		if !found {
			continue
		}
		var delta live.Delta[live.Op[string, statuspage.Now]]
		if err := json.Unmarshal([]byte(data), &delta); err != nil || delta.T != "delta" || delta.Ch != "page:main" || len(delta.Ops) == 0 {
			t.Fatalf("%s: %v", data, err)
		}
		last := delta.Ops[len(delta.Ops)-1]
		if at := live.ParsePosition(id); at == nil || at.Seq != delta.Seq || last.ID != "main" || last.Item == nil {
			t.Fatalf("%s: %s", id, data)
		}
		if n := len(all); n > 0 && all[n-1].seq != delta.FromSeq {
			t.Errorf("after %d: %s", all[n-1].seq, data)
		}
		all = append(all, told{id, last.Item.State, delta.FromSeq, delta.Seq})
	}
	return all
}

// Who comes back to a stream gets what they missed, or how it is now: there is no gap, whoever else
// read meanwhile, how long ever they were away, and whichever node they come to.
func TestAStreamGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelved{page: pagestore.Page{ID: 1, Slug: "main", Terms: pagestore.Terms{Groups: components(pagestore.Component{ID: 1, Name: "Site", Rule: pagestore.RuleManual, State: pagestore.Up})}}}
		pages := inMemory(s)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = pages.Run(ctx) }()
		defer func() { cancel(); <-ended }()
		become := func(state string) {
			s.edit(func(t *pagestore.Terms) {
				t.Groups = components(pagestore.Component{ID: 1, Name: "Site", Rule: pagestore.RuleManual, State: state})
			})
			time.Sleep(5 * time.Second) // another node changed it: it is seen soon
			synctest.Wait()
		}
		// come opens a stream, and gives what it says at once.
		come := func(pages *statuspage.Pages, options ...option) (said []told, answer *readable, leave func()) {
			t.Helper()
			answer = &readable{ResponseRecorder: httptest.NewRecorder()}
			_, leave = coming(t, pages, answer, options...)
			return heard(t, answer), answer, leave
		}
		lastID := func(id string) option { return header("Last-Event-ID", id) }

		said, first, leave := come(pages)
		if len(said) != 1 || said[0].state != "up" || said[0].from != said[0].seq {
			t.Fatalf("who comes from nowhere is told %+v", said)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		leave()
		said = heard(t, first)
		left := said[len(said)-1]

		// Nobody reads meanwhile: nobody looks, either.
		become(pagestore.Down)
		said, answer, leave := come(pages, lastID(left.id))
		if len(said) != 0 {
			t.Errorf("nothing was told, and who comes back hears %+v", said)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if said = heard(t, answer); len(said) == 0 || said[0].from != left.seq || said[len(said)-1].state != "down" {
			t.Errorf("after %s: %+v", left.id, said)
		}
		left = said[len(said)-1]
		leave()

		// Others read meanwhile.
		_, other, stop := come(pages)
		defer stop()
		become(pagestore.Degraded)
		become(pagestore.Maintenance)
		here := heard(t, other)
		for name, where := range map[string]option{
			"by the header":            lastID(left.id),
			"as the page's own script": func(r *http.Request) { r.URL.RawQuery = "from=" + url.QueryEscape(left.id) },
			"by both, the header counts": func(r *http.Request) {
				r.URL.RawQuery = "from=" + url.QueryEscape(here[len(here)-1].id)
				lastID(left.id)(r)
			},
		} {
			said, _, leave := come(pages, where)
			if len(said) != 1 || said[0].from != left.seq || said[0].state != "maintenance" || said[0].id != here[len(here)-1].id {
				t.Errorf("%s, after %s: %+v, where others were told %+v", name, left.id, said, here)
			}
			leave()
		}
		newest := here[len(here)-1]
		if said, _, leave = come(pages, lastID(newest.id)); len(said) != 0 {
			t.Errorf("who has missed nothing is told %+v", said)
		}
		leave()

		// What they come from is nowhere here, or not any more: they are told how it is, at once, and go on.
		elsewhere := inMemory(s) // nobody has looked there yet
		time.Sleep(10 * time.Minute)
		become(pagestore.Up) // and what was told ten minutes ago is let go of
		for name, c := range map[string]struct {
			pages *statuspage.Pages
			id    string
		}{
			"another node": {elsewhere, newest.id}, "long ago": {pages, left.id}, "ahead": {pages, strings.Split(newest.id, ".")[0] + ".4711."}, "nonsense": {pages, "x"},
		} {
			said, answer, leave := come(c.pages, lastID(c.id))
			if len(said) != 1 || said[0].state != "up" || said[0].from != said[0].seq {
				t.Errorf("%s: %+v", name, said)
			}
			c.pages.Live.Page("main", statuspage.Now{State: "down"})
			synctest.Wait()
			if said = heard(t, answer); len(said) != 2 || said[1].state != "down" {
				t.Errorf("%s goes on with %+v", name, said)
			}
			leave()
		}
	})
}

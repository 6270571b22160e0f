package statuspage_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/wsconn/wsconntest"
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
}

// Who reads by a socket is told as long as the socket is open, not only while it is opened.
func TestLiveSocket(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	page := r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{Name: "Site", Rule: pagestore.RuleManual, State: pagestore.Up})}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	var loops sync.WaitGroup
	loops.Go(func() { _ = r.pages.Run(ctx) })
	loops.Go(func() { _ = r.sockets.Run(ctx) })
	server := httptest.NewServer(r.pages)
	defer server.Close()
	defer func() { cancel(); loops.Wait() }()

	conn, err := wsconntest.Dial(ctx, server.URL, "/s/main/live")
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

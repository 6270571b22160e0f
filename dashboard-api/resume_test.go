package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// reader reads the targets of whichever node, and goes on where it was cut off.
type reader struct {
	*node
	at    string // the id of the last event
	seen  []uint32
	fresh int // how often it had to begin anew
}

// newEvents reads an event stream.
func newEvents(from io.Reader) func() (id, data string, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	return func() (id, data string, err error) {
		for lines.Scan() {
			switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
			case "id":
				id = value
			case "data":
				data = value
			case "":
				return id, data, nil
			}
		}
		return id, data, cmp.Or(lines.Err(), io.ErrUnexpectedEOF)
	}
}

// read reads a node until enough says so.
func (r *reader) read(n *node, enough func() bool) {
	r.Helper()
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, n.url+"/api/v1/live/events?ch=targets", nil)
	if err != nil {
		r.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+testKey)
	if r.at != "" {
		request.Header.Set("Last-Event-ID", r.at)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != http.StatusOK {
		r.Fatalf("%v %v", answer, err)
	}
	defer answer.Body.Close()
	decoder, id := newEvents(answer.Body), ""
	for !enough() {
		data := ""
		if id, data, err = decoder(); err != nil {
			r.Fatal(err)
		}
		var m struct {
			T         string
			Recovered bool
			Ops       []struct {
				Item struct {
					Ticks []struct {
						TotalUS uint32 `json:"total_us"`
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			r.Fatalf("%v in %s", err, data)
		}
		if m.T == "ok" && !m.Recovered {
			r.fresh++
		}
		for _, o := range m.Ops {
			for _, tick := range o.Item.Ticks {
				r.seen = append(r.seen, tick.TotalUS)
			}
		}
		if id != "" {
			r.at = id
		}
	}
}

// A reader is cut off from one node, goes to the other and back, and to one that starts cold:
// it misses no result, gets none twice and all in their order, and never needs a snapshot.
func TestReadersGoOnAtOtherNodes(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	slot, sent := time.Now().UTC().Add(-time.Second), uint32(0)
	send := func(n int) {
		t.Helper()
		for range n {
			sent++
			at := slot.Add(time.Duration(sent) * time.Millisecond)
			p.announce(uptime.Result{ScheduledAt: at, CheckedAt: at, IngestedAt: at, Status: uptime.StatusUp, TotalUS: sent})
		}
	}
	nodes := []*node{p.node(), p.node()}
	r := &reader{node: nodes[0]}
	for round := range 6 {
		if round == 4 {
			nodes = append(nodes, p.node()) // cold
		}
		if round > 0 {
			send(3) // while it reads nobody
		}
		more, began := false, r.fresh
		r.read(nodes[round%len(nodes)], func() bool {
			if !more && (r.fresh > began || round > 0 && slices.Contains(r.seen, sent)) { // it reads, or has what it missed
				more = true
				send(2)
			}
			return more && slices.Contains(r.seen, sent)
		})
	}
	want := make([]uint32, sent)
	for i := range want {
		want[i] = uint32(i) + 1
	}
	if !slices.Equal(r.seen, want) || r.fresh != 1 {
		t.Errorf("read %v of %d, and began %d times", r.seen, sent, r.fresh)
	}
	if parts := strings.Split(r.at, "."); len(parts) != 3 || parts[2] == "" {
		t.Errorf("the last place is %s", fmt.Sprint(r.at))
	}
}

package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Whatever happens in an incident is told live by every node, in its order: opened, noted,
// acknowledged, resolved.
func TestIncidentsAreToldLiveByEveryNode(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	nodes := []*node{p.node(), p.node()}
	measured := func(status uptime.Status, failure uptime.Failure) {
		t.Helper()
		at := time.Now().UTC()
		p.announce(uptime.Result{ScheduledAt: at.Truncate(time.Millisecond), CheckedAt: at, IngestedAt: at, Status: status, Failure: failure})
	}
	feeds := []*tape{nodes[0].watch("incidents"), nodes[1].watch("incidents")}
	told := func(what, text string) {
		t.Helper()
		for i, n := range nodes {
			n.await(what, func() bool { return strings.Contains(feeds[i].String(), text) })
		}
	}
	told("subscribed", `"ch":"incidents"`)
	measured(uptime.StatusDown, uptime.FailureTimeout)
	told("it was opened", `"state":"open"`)
	code, text := nodes[1].call("GET", "/api/v1/incidents?state=open", "")
	var list struct{ Items []struct{ ID int64 } }
	if err := json.Unmarshal([]byte(text), &list); err != nil || code != http.StatusOK || len(list.Items) != 1 {
		t.Fatalf("%d %s", code, text)
	}
	if code, text := nodes[0].call("POST", "/api/v1/incidents/1:acknowledge", `{"text":"mine"}`); code != http.StatusOK {
		t.Fatalf("%d %s", code, text)
	}
	told("it was acknowledged", `"state":"acknowledged"`)
	measured(uptime.StatusUp, "")
	told("it is over", `"state":"resolved"`)
	for _, feed := range feeds {
		var order []int
		for _, state := range []string{"open", "acknowledged", "resolved"} {
			order = append(order, strings.Index(feed.String(), `"state":"`+state+`"`))
		}
		if !slices.IsSorted(order) {
			t.Errorf("out of order: %s", feed.String())
		}
	}
}

// timelines is a table of entries that can be committed out of order.
type timelines struct {
	entries []incidentstore.Entry
	asked   int
}

func (l *timelines) NewestEntry(context.Context) (newest int64, err error) {
	for _, e := range l.entries {
		newest = max(newest, e.ID)
	}
	return newest, nil
}

func (l *timelines) EntriesAfter(_ context.Context, id int64, limit int) (found []incidentstore.Entry, err error) {
	l.asked++
	slices.SortFunc(l.entries, func(a, b incidentstore.Entry) int { return int(a.ID - b.ID) })
	for _, e := range l.entries {
		if e.ID > id && len(found) < limit {
			found = append(found, e)
		}
	}
	return found, nil
}

func (l *timelines) Some(_ context.Context, ids []int64) (all []incidentstore.Incident, err error) {
	for _, id := range ids {
		all = append(all, incidentstore.Incident{ID: id})
	}
	return all, nil
}

// An entry that is committed behind others is told, and nothing is told twice, however many there are.
func TestEntriesCommittedOutOfOrderAreTold(t *testing.T) {
	t.Parallel()
	hub, table := live.New(live.Options{}), &timelines{entries: []incidentstore.Entry{{ID: 10_000, Incident: 1}}}
	f := &incidentFeed{store: table, hub: hub, log: slog.New(slog.DiscardHandler), told: map[int64]time.Time{}}
	if err := f.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if err := f.look(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	sub, _, _, _ := hub.Subscribe("incidents", nil)
	told := func(after time.Duration, want ...int64) {
		t.Helper()
		now = now.Add(after)
		if err := f.look(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		var delta struct{ Ops []struct{ ID int64 } }
		if message := sub.Poll(); message != nil {
			if err := json.Unmarshal(message, &delta); err != nil {
				t.Fatal(err)
			}
		}
		var got []int64
		for _, o := range delta.Ops {
			got = append(got, o.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	}
	told(time.Second)
	table.entries = append(table.entries, incidentstore.Entry{ID: 10_002, Incident: 2}, incidentstore.Entry{ID: 10_003, Incident: 2})
	told(time.Second, 2)
	table.entries = append(table.entries, incidentstore.Entry{ID: 10_001, Incident: 3})
	told(30*time.Second, 3)
	told(2 * time.Minute)
	if len(f.told) != 0 || f.after != 10_003 {
		t.Errorf("remembers %d, after %d", len(f.told), f.after)
	}
	var many []int64
	for id := range int64(3 * entriesAtOnce) {
		table.entries = append(table.entries, incidentstore.Entry{ID: 20_000 + id, Incident: 100 + id})
		many = append(many, 100+id)
	}
	told(time.Second, many...)
}

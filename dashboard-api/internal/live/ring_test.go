package live

import (
	"fmt"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// The feed holds five minutes of what a node is made for, within its bound: whoever was away for
// as long is told each tick once, and each target once, as it is now.
func TestTheFeedHoldsFiveMinutes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ targets, interval int }{{2000, 30}, {10_000, 60}} { // in three regions: 200 and 500 results a second
		if testing.Short() && c.targets > 2000 {
			continue
		}
		now := time.Date(2026, 3, 1, 12, 0, 0, 123e6, time.UTC)
		h := New(Options{Now: func() time.Time { return now }})
		regions := []string{"ap-south", "eu-west", "us-east"}
		var all []uptime.Target
		for id := range int64(c.targets) {
			one := target(id + 1)
			one.Name = fmt.Sprintf("service-%d.shop.example.com", id)
			one.URL = "https://" + one.Name + "/health"
			one.Interval = time.Duration(c.interval) * time.Second
			all = append(all, one)
		}
		h.Load(all, nil, regions)
		h.flush(0)
		said, second := 0, c.targets*len(regions)/c.interval
		run := func(seconds int) {
			for range seconds {
				now = now.Add(time.Second)
				results := make([]uptime.Result, second)
				for i := range results {
					results[i] = result(int64(said%c.targets)+1, regions[said/c.targets%len(regions)], now, uptime.StatusUp)
					said++
				}
				h.Apply(results)
				h.flush(0)
			}
		}
		run(c.interval)
		before := h.Snapshot()
		reader, _, _, _ := h.Subscribe("targets", &Position{Epoch: before.Epoch, Seq: before.Seq})
		one, _, _, _ := h.Subscribe("target:1", nil)
		run(300)
		f := &h.targets
		t.Logf("%d targets: %d MB, %d bytes an operation", c.targets, f.bytes>>20, f.bytes/(300*second))
		if held := now.Sub(f.frames[0].at); held < feedAge || f.bytes > feedBytes {
			t.Errorf("%d targets: %v are held in %d MB", c.targets, held, f.bytes>>20)
		}
		counted := 0
		for _, fr := range f.frames {
			for i := range fr.ops {
				counted += fr.ops[i].size()
			}
		}
		if counted != f.bytes || len(f.newest) != c.targets {
			t.Errorf("%d targets: %d bytes are said to be %d; %d are the newest", c.targets, counted, f.bytes, len(f.newest))
		}
		if _, at, recovered, _ := h.Subscribe("targets", &Position{Epoch: before.Epoch, Seq: before.Seq}); !recovered || at.Seq != before.Seq {
			t.Errorf("%d targets: %+v, %v", c.targets, at, recovered)
		}
		newest := map[int64]Target{}
		for _, item := range h.Snapshot().Items {
			newest[item.ID] = item
		}
		told := func(d delta, targets, ticks int) {
			t.Helper()
			seen := map[string]bool{}
			for _, o := range d.Ops {
				for _, tick := range o.Item.Ticks {
					seen[fmt.Sprint(o.Item.ID, tick.At, tick.Region)] = true
					ticks--
				}
				if at := newest[o.Item.ID]; !at.LastResultAt.Equal(*o.Item.LastResultAt) || len(at.RegionStates) != len(o.Item.RegionStates) {
					t.Fatalf("not how it is now: %+v", o.Item)
				}
				targets--
			}
			if d.T != "delta" || d.Seq != f.seq || targets != 0 || ticks != 0 {
				t.Errorf("%d targets: %s to %d; %d targets, %d ticks missing", c.targets, d.T, d.Seq, targets, ticks)
			}
		}
		d := decode(t, reader.Poll())
		if d.FromSeq != before.Seq {
			t.Errorf("from %d", d.FromSeq)
		}
		told(d, c.targets, 300*second)
		told(decode(t, one.Poll()), 1, 300*second/c.targets)
		h.Remove(1)
		if d := decode(t, one.Poll()); len(d.Ops) != 1 || d.Ops[0].Op != "remove" {
			t.Errorf("%+v", d)
		}
	}
}

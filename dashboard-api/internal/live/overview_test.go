package live

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// The worst first, then by name as people read it; all are counted, whatever is shown.
func TestOverviewBeginsWithTheWorst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		names := []string{"shop 10", "Shop 9", "éclair", "apple", "zoo", "shop 9", "paused", "silent"}
		targets := make([]uptime.Target, len(names))
		for i, name := range names {
			targets[i] = target(int64(i + 1))
			targets[i].Name, targets[i].Active = name, name != "paused"
		}
		h.Load(targets, nil, []string{"eu"})
		at := time.Now()
		for i, name := range names {
			status := uptime.StatusUp
			switch name {
			case "zoo":
				status = uptime.StatusDown
			case "shop 9":
				status = uptime.StatusDegraded
			case "paused", "silent":
				continue
			}
			h.Apply([]uptime.Result{result(int64(i+1), "eu", at.Add(-10*time.Second), uptime.StatusUp), result(int64(i+1), "eu", at, status)})
		}
		frameNow()
		all := []string{"zoo down", "shop 9 degraded", "silent no_data", "apple up", "éclair up", "Shop 9 up", "shop 10 up", "paused paused"}
		for _, first := range []int{0, 1, 4, 8, 200} {
			o := h.Overview(first)
			var got []string
			for _, item := range o.Items {
				got = append(got, fmt.Sprintf("%s %s", item.Name, item.State))
			}
			if want := all[:min(first, len(all))]; !slices.Equal(got, want) {
				t.Errorf("first %d: %q, want %q", first, got, want)
			}
			if want := (Counts{Up: 4, Degraded: 1, Down: 1, NoData: 1, Paused: 1}); o.Counts != want || o.Total != 8 || len(o.Regions) != 0 {
				t.Errorf("first %d: %+v of %d", first, o.Counts, o.Total)
			}
		}
		if ticks := h.Overview(1).Items[0].Ticks; len(ticks) != 2 {
			t.Errorf("%d ticks, want both", len(ticks))
		}

		pass(time.Minute) // nothing is measured any more
		if o := h.Overview(1); o.Counts.NoData != 7 || o.Counts.Up != 0 || o.Items[0].Name != "apple" {
			t.Errorf("a minute later: %+v", o)
		}
	})
}

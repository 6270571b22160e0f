package live

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// What was measured while a target was maintained stays told as such when that is over, for as long
// as a bar shows it, and nothing else does.
func TestMaintenanceThatIsOverIsStillTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		slot := time.Now()
		h.Load([]uptime.Target{target(1), target(2)}, []uptime.Result{result(1, "eu", slot, uptime.StatusUp)}, []string{"eu"})
		window := verdict.Span{From: slot.Add(10 * time.Second), To: slot.Add(30 * time.Second)}
		tomorrow := verdict.Span{From: slot.Add(24 * time.Hour), To: slot.Add(25 * time.Hour)}
		longAgo := verdict.Span{From: slot.Add(-48 * time.Hour), To: slot.Add(-47 * time.Hour)}
		var reaches []time.Duration
		h.SetMaintenance(func(id int64, back time.Duration) []verdict.Span {
			reaches = append(reaches, back)
			if id == 1 {
				return []verdict.Span{longAgo, window, tomorrow}
			}
			return nil
		})
		if want := []time.Duration{15 * time.Minute, 15 * time.Minute}; !slices.Equal(reaches, want) {
			t.Errorf("asked for as far back as %v, want %v: 90 slots", reaches, want)
		}
		sub, _, _, _ := h.Subscribe("target:1", nil)
		told := func() string {
			all := h.Snapshot().Items[0].Maintained
			var text []string
			for _, s := range all {
				text = append(text, fmt.Sprint(s.From.Sub(slot), " to ", s.To.Sub(slot)))
			}
			return strings.Join(text, ", ")
		}
		if got := told(); got != "" {
			t.Errorf("before it: %s", got)
		}
		pass(20 * time.Second)
		h.Apply([]uptime.Result{result(1, "eu", slot.Add(20*time.Second), uptime.StatusDown)})
		if got := told(); got != "10s to 30s" {
			t.Errorf("within: %q", got)
		}
		pass(15 * time.Second)
		h.Apply([]uptime.Result{result(1, "eu", slot.Add(30*time.Second), uptime.StatusUp)})
		frameNow()
		item := h.Snapshot().Items[0]
		if got := told(); got != "10s to 30s" || item.State != verdict.StateUp {
			t.Errorf("after it: %q, %s", got, item.State)
		}
		last := sub.Poll()
		for next := last; next != nil; next = sub.Poll() {
			last = next
		}
		if ops := decode(t, last).Ops; len(ops[len(ops)-1].Item.Maintained) != 1 {
			t.Errorf("readers are told %s", last)
		}
		for range 200 { // the bar has moved on
			pass(10 * time.Second)
			h.Apply([]uptime.Result{result(1, "eu", time.Now(), uptime.StatusUp)})
		}
		if got := told(); got != "" {
			t.Errorf("long after it: %s", got)
		}
		text, err := json.Marshal(h.Snapshot())
		if err != nil || strings.Contains(string(text), "maintained") {
			t.Errorf("it is told of who was not: %v %s", err, text)
		}
	})
}

// A window that is made for a time that is over changes no state, and is told all the same.
func TestMaintenanceMadeAfterwardsIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		slot := time.Now()
		h.Load([]uptime.Target{target(1)}, []uptime.Result{result(1, "eu", slot, uptime.StatusUp)}, []string{"eu"})
		pass(5 * time.Second)
		sub, _, _, _ := h.Subscribe("target:1", nil)
		frameNow()
		sub.Poll()
		spans := []verdict.Span{{From: slot.Add(-time.Second), To: slot.Add(time.Second)}}
		set := func() { h.SetMaintenance(func(int64, time.Duration) []verdict.Span { return slices.Clone(spans) }) }
		set()
		frameNow()
		message := sub.Poll()
		if message == nil || len(decode(t, message).Ops[0].Item.Maintained) != 1 {
			t.Fatalf("readers are told %s", message)
		}
		spans = append(spans, verdict.Span{From: slot.Add(time.Hour), To: slot.Add(2 * time.Hour)})
		set()
		frameNow()
		if message := sub.Poll(); message != nil {
			t.Errorf("of what is to come readers are told %s", message)
		}
	})
}

// A job that pings once in years does not make the bar reach into the future.
func TestRareTargetsReachFarBack(t *testing.T) {
	t.Parallel()
	for _, interval := range []time.Duration{24 * time.Hour, 8 * 365 * 24 * time.Hour} {
		if got := back(interval); got < 90*24*time.Hour {
			t.Errorf("%v: %v", interval, got)
		}
	}
}

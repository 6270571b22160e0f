package rollup

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// The same results, sent in every way they can arrive, make the same figures, and more
// runs of the job after each step change nothing that one has not.
func TestEveryWayToArriveCountsOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k := &maker{rng: rand.New(rand.NewPCG(1, 1)), ingest: time.Now().Add(-time.Minute).Truncate(time.Millisecond)}
	targets, hours, runs := int64(5), 9, 3
	if testing.Short() {
		targets, hours, runs = 2, 2, 2
	}
	minutes := hours * 60
	from := time.Now().UTC().Truncate(day).Add(-day - time.Duration(hours/2)*hour) // across a day's end, long over
	var rows []uptime.Result
	for target := int64(1); target <= targets; target++ {
		for minute := range minutes {
			for _, region := range []string{"ap", "eu", "us"} {
				status := uptime.StatusUp
				switch {
				case k.rng.IntN(50) == 0:
					status = uptime.StatusDown
				case k.rng.IntN(20) == 0:
					status = uptime.Status(1 + k.rng.IntN(5))
				}
				if target == 1 && region == "us" && minute%7 == 0 {
					continue // nobody explains it yet
				}
				rows = append(rows, k.result(target, region, from.Add(time.Duration(minute)*time.Minute), status))
			}
		}
	}
	first := batch(rows...)
	again := first
	again.Attempt = 2
	rerun := func(status uptime.Status, every int) (changed []uptime.Result) {
		for i := 0; i < len(rows); i += every {
			changed = append(changed, k.result(rows[i].TargetID, rows[i].Region, rows[i].ScheduledAt, status))
		}
		return changed
	}
	var lateMissed, lateMeasured []uptime.Result
	for minute := 0; minute < minutes; minute += 7 {
		lateMissed = append(lateMissed, k.result(1, "us", from.Add(time.Duration(minute)*time.Minute), uptime.StatusMissed))
	}
	for i := 0; i < len(lateMissed); i += 2 {
		late := k.result(1, "us", lateMissed[i].ScheduledAt, uptime.StatusDown)
		late.Late = true
		lateMeasured = append(lateMeasured, late)
	}
	outranked := k.result(2, "eu", rows[len(rows)-1].ScheduledAt, uptime.StatusMissed)

	for _, step := range []struct {
		what        string
		send        func()
		corrections bool
	}{
		{"first send", func() { r.insert(t, first) }, false},
		{"same token", func() { r.insert(t, again) }, false},
		{"other batching", func() { r.insert(t, batch(rows[:len(rows)/3]...)); r.insert(t, batch(rows[len(rows)/4:]...)) }, false},
		{"run again with another status", func() { r.insert(t, batch(rerun(uptime.StatusDown, 11)...)) }, true},
		{"and once more", func() { r.insert(t, batch(rerun(uptime.StatusUp, 13)...)) }, true},
		{"late missed rows", func() { r.insert(t, batch(lateMissed...)) }, true},
		{"late measurements", func() { r.insert(t, batch(lateMeasured...)) }, true},
		{"a reason that is outranked", func() { r.insert(t, batch(outranked)) }, false},
	} {
		step.send()
		before := len(r.corrections)
		for n := range runs {
			r.run(t)
			r.check(t, fmt.Sprintf("%s, run %d", step.what, n+1))
		}
		if got := len(r.corrections) > before; got != step.corrections {
			t.Errorf("%s: corrections %v", step.what, got)
		}
	}
	if len(r.hourly) == 0 || len(r.daily) == 0 || len(r.corrections) == 0 {
		t.Errorf("%d hours, %d days, %d corrections", len(r.hourly), len(r.daily), len(r.corrections))
	}
}

package testhistory

import (
	"cmp"
	"maps"
	"slices"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// settled bounds the wait for an answer that was kept for a moment: longer means that it never comes.
const settled = 2 * time.Minute

// Check compares every answer with the model.
func (c *Chronicle) Check(what string) {
	c.Helper()
	rows := map[uptime.Slot]item{}
	var latest []item
	newest := map[string]item{}
	for slot, r := range c.kept {
		one := itemOf(r)
		rows[slot] = one
		latest = append(latest, one)
		if have, there := newest[one.Region]; !there || have.ScheduledAt.Before(one.ScheduledAt) {
			newest[one.Region] = one // and nothing of then says how the target is now
		}
	}
	slices.SortFunc(latest, func(a, b item) int {
		return cmp.Or(b.ScheduledAt.Compare(a.ScheduledAt), cmp.Compare(a.Region, b.Region))
	})
	var current []item
	for _, region := range slices.Sorted(maps.Keys(newest)) {
		current = append(current, newest[region])
	}
	hourly, daily := c.counts(hour), c.counts(day)
	revised, early, regional := map[cell]bool{}, map[cell]availability.Counts{}, maps.Clone(hourly)
	for at := range c.revised {
		revised[cell{at.region, at.at.Truncate(day)}] = true
	}
	from := c.from.Add(first).Truncate(hour)
	for at, n := range hourly {
		if !at.at.Before(from) && at.at.Before(from.Add(2*hour)) {
			early[at] = n
		}
	}
	maps.DeleteFunc(regional, func(at cell, _ availability.Counts) bool { return at.region == "" })

	var wrong string
	same := func(name string, want, got any) {
		if d := diff.Diff(want, got, diff.AllowUnexported(cell{})); d != "" {
			wrong += name + " (- model, + API): " + d
		}
	}
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(settled); ; <-ticker.C {
		wrong = ""
		same("results", rows, c.rows())
		same("latest", latest, c.latest())
		same("current", current, c.current())
		counts, corrected := c.days()
		same("uptime by day", daily, counts)
		same("revised days", revised, corrected)
		same("uptime of hours", early, c.hours(from, 2))
		all := map[cell]availability.Counts{}
		for _, region := range Regions() {
			maps.Copy(all, c.series(region))
		}
		same("series", regional, all)
		if wrong == "" {
			return
		}
		if time.Now().After(deadline) {
			c.Fatalf("%s: %s", what, wrong)
		}
	}
}

package testhistory

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	hour  = time.Hour
	day   = 24 * time.Hour
	first = 47*time.Hour + 10*time.Minute // of the range: across a day's end, in three hours
	slots = 75

	// Interval is how often the target is to be checked: so often that all slots are among the
	// newest that the API gives.
	Interval = 10 * time.Minute
)

// Regions are those that the target is to be checked from.
func Regions() []string { return []string{"eu", "us"} }

// Chronicle is a target's results as they were sent, and what the API has to say of them.
type Chronicle struct {
	testing.TB

	store     *resultstore.Store
	get       func(path string) (code int, answer string)
	id        int64
	from, to  time.Time
	kept      map[uptime.Slot]uptime.Result
	published map[cell]availability.Counts // by the last run, of closed hours; nil: none was
	revised   map[cell]bool
	clock     time.Time
}

type cell struct {
	region string
	at     time.Time
}

// New makes the chronicle of a target that has no results and gets none but these. Get asks
// the API.
func New(t testing.TB, store *resultstore.Store, id int64, get func(path string) (code int, answer string)) *Chronicle {
	today := time.Now().UTC().Truncate(day)
	return &Chronicle{
		TB: t, store: store, get: get, id: id, from: today.Add(-5 * day), to: today.Add(-day),
		kept: map[uptime.Slot]uptime.Result{}, revised: map[cell]bool{}, clock: time.Now().Add(-time.Minute),
	}
}

// Step is a way in which results arrive.
type Step struct {
	What string
	Send func()
}

// Steps are all of them, in their order.
func (c *Chronicle) Steps() []Step {
	var all []uptime.Result
	for n := range slots {
		for _, region := range Regions() {
			if region == "us" && nth(n, 9) {
				continue // nobody explains it yet
			}
			all = append(all, c.result(region, n, []uptime.Status{uptime.StatusUp, uptime.StatusUp, uptime.StatusDegraded, uptime.StatusUp, uptime.StatusDown, uptime.StatusUnknown}[(n*7+len(region)*n/3)%6]))
		}
	}
	again := func(region string, every int, status uptime.Status, late bool) func() {
		return func() {
			var rows []uptime.Result
			for n := range slots {
				if nth(n, every) {
					r := c.result(region, n, status)
					r.Late = late
					rows = append(rows, r)
				}
			}
			c.send("", rows...)
		}
	}
	token := uuid.Must(uuid.NewV7()).String()
	return []Step{
		{"first send", func() { c.send(token, all...) }},
		{"same token", func() { c.send(token, all...) }},
		{"other batching", func() { c.send("", all[:50]...); c.send("", all[40:]...) }},
		{"run again with another status", again("eu", 11, uptime.StatusDown, false)},
		{"late missed rows", again("us", 9, uptime.StatusMissed, false)},
		{"late measurements", again("us", 18, uptime.StatusDown, true)},
	}
}

// nth says whether a slot is one of each so many, of which the newest is one.
func nth(n, every int) bool { return (slots-1-n)%every == 0 }

// Published says that a run of the rollups has finished before anything was sent: whatever
// comes then is a correction of nothing.
func (c *Chronicle) Published() { c.published = map[cell]availability.Counts{} }

// Computed says that a run of the rollups has finished that saw all that was sent.
func (c *Chronicle) Computed() {
	counts := c.counts(hour)
	if c.published != nil {
		for at, is := range counts {
			if c.published[at] != is {
				c.revised[at] = true
			}
		}
	}
	c.published = counts
}

// End fails if too little has happened.
func (c *Chronicle) End() {
	c.Helper()
	if len(c.revised) == 0 || len(c.kept) != 2*slots {
		c.Errorf("%d hours were corrected, of %d results", len(c.revised), len(c.kept))
	}
}

// result is one of a slot within the range; each is newer than the one made before.
func (c *Chronicle) result(region string, n int, status uptime.Status) uptime.Result {
	c.clock = c.clock.Add(10 * time.Millisecond)
	r := uptime.Result{
		TargetID: c.id, Region: region, ScheduledAt: c.from.Add(first + time.Duration(n)*2*time.Minute), Status: status, Attempt: 1, Prober: "p1", IngestedAt: c.clock,
	}
	if !status.Measured() {
		r.Reason = uptime.ReasonLost
		return r
	}
	r.CheckedAt, r.HTTPStatus, r.TotalUS = r.ScheduledAt.Add(time.Millisecond), 200, uint32(1000+n)
	if status == uptime.StatusDown {
		r.Failure, r.HTTPStatus = uptime.FailureTimeout, 0
	}
	return r
}

// send inserts a batch under a token, "" for one of its own.
func (c *Chronicle) send(token string, rows ...uptime.Result) {
	c.Helper()
	if token == "" {
		token = uuid.Must(uuid.NewV7()).String()
	}
	if err := c.store.Insert(c.Context(), resultstore.Batch{Token: token, Prober: "p1", Region: "eu", Attempt: 1, Rows: rows}); err != nil {
		c.Fatal(err)
	}
	for _, r := range rows {
		if have, there := c.kept[r.Slot()]; !there || r.Revision() >= have.Revision() {
			c.kept[r.Slot()] = r
		}
	}
}

// counts by region ("" is the target as a whole) and piece of the range.
func (c *Chronicle) counts(width time.Duration) map[cell]availability.Counts {
	counts, together := map[cell]availability.Counts{}, map[time.Time]availability.Counts{}
	for slot, r := range c.kept {
		at := cell{slot.Region, slot.ScheduledAt.Truncate(width)}
		counts[at] = counts[at].Add(countOf(r.Status))
		together[slot.ScheduledAt] = together[slot.ScheduledAt].Add(countOf(r.Status))
	}
	for slot, of := range together {
		at := cell{"", slot.Truncate(width)}
		counts[at] = counts[at].Add(of.Fold())
	}
	return counts
}

func countOf(status uptime.Status) (n availability.Counts) {
	*[...]*uint64{uptime.StatusUp: &n.Up, uptime.StatusDegraded: &n.Degraded, uptime.StatusDown: &n.Down, uptime.StatusUnknown: &n.Unknown, uptime.StatusMissed: &n.Missed}[status] = 1
	return n
}

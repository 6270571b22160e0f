package cycle

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/uptime"
)

// caretaker is the stream as the upkeep sees it.
type caretaker struct {
	mu        sync.Mutex
	expired   map[string][]checkstream.Entry
	settled   []string
	groups    []string
	destroyed []string
	probers   []checkstream.Heartbeat
	forgotten []string
	trims     int
}

func (c *caretaker) Trim(context.Context) (checkstream.TrimReport, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trims++
	return checkstream.TrimReport{Removed: 1, OldestUnsettled: time.Now().Add(-time.Minute)}, nil
}

func (c *caretaker) Expired(_ context.Context, region string, _ time.Time, limit int) ([]checkstream.Entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(limit, len(c.expired[region]))
	out := c.expired[region][:n]
	c.expired[region] = c.expired[region][n:]
	return out, nil
}

func (c *caretaker) Settle(_ context.Context, region string, ids []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		c.settled = append(c.settled, region+" "+id)
	}
	return nil
}

func (c *caretaker) Groups(context.Context) (groups []checkstream.GroupInfo, err error) {
	for _, name := range c.groups {
		groups = append(groups, checkstream.GroupInfo{Region: name})
	}
	return groups, nil
}

func (c *caretaker) DestroyGroup(_ context.Context, region string) error {
	c.destroyed = append(c.destroyed, region)
	c.groups = slices.DeleteFunc(c.groups, func(name string) bool { return name == region })
	return nil
}

func (c *caretaker) Probers(context.Context) ([]checkstream.Heartbeat, error) { return c.probers, nil }

func (c *caretaker) ForgetProber(_ context.Context, region, name string) error {
	c.forgotten = append(c.forgotten, region+"/"+name)
	return nil
}

// tended is a house with one publisher at work and its caretaker.
func tended(t *testing.T) (*house, *publisher, *caretaker) {
	h := newHouse()
	h.furnish(10, 10*time.Second)
	p := h.start(t.Context(), "a", true, 0)
	care := &caretaker{expired: map[string][]checkstream.Entry{}, groups: []string{"eu", "us"}}
	p.loop.Upkeep = care
	time.Sleep(5*time.Second + 500*time.Millisecond)
	return h, p, care
}

func TestJanitorOwesRowsOnlyWhereDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, p, care := tended(t)
		defer p.stop()
		check := func(id int64, regions ...string) uptime.Check {
			return uptime.Check{TargetID: id, ScheduledAt: uptime.NextSlot(id, 10*time.Second, time.Now().Add(-time.Hour)), Interval: 10 * time.Second, Regions: regions}
		}
		gone := uptime.NextSlot(4, 10*time.Second, time.Now().Add(-2*time.Hour))
		care.expired["eu"] = []checkstream.Entry{
			{ID: "1", TargetID: 1, Check: check(1, "eu")},
			{ID: "2", TargetID: 2, Check: check(2, "us")},                         // not for this region
			{ID: "3", TargetID: 999, Check: check(999, "eu")},                     // deleted
			{ID: "4", TargetID: 4, Second: gone.Unix(), Gone: true},               // trimmed by somebody
			{ID: "5", TargetID: 5, Second: gone.Unix() - 3600*5 + 11, Gone: true}, // perhaps no slot of today's interval
			{ID: "6", TargetID: 6, Second: uptime.NextSlot(6, 10*time.Second, gone).Unix(), Err: errors.New("garbage")},
		}
		p.loop.janitor(t.Context())
		if len(care.settled) != 6 {
			t.Errorf("settled %v", care.settled)
		}
		reasons := map[int64]uptime.Reason{}
		for _, row := range h.results.rows {
			reasons[row.TargetID] = row.Reason
		}
		delete(reasons, 5)
		want := map[int64]uptime.Reason{1: uptime.ReasonRegionDown, 4: uptime.ReasonTrimmed, 6: uptime.ReasonRegionDown}
		if len(reasons) != len(want) {
			t.Errorf("rows %v, want %v", reasons, want)
		}
		for id, reason := range want {
			if reasons[id] != reason {
				t.Errorf("target %d: %q, want %q", id, reasons[id], reason)
			}
		}
	})
}

func TestJanitorSettlesOnlyAfterRowsAreDurable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, p, care := tended(t)
		defer p.stop()
		care.expired["us"] = []checkstream.Entry{{ID: "1", TargetID: 1, Check: uptime.Check{TargetID: 1, ScheduledAt: time.Now().Add(-time.Hour), Interval: time.Minute, Regions: []string{"us"}}}}
		h.results.mu.Lock()
		h.results.down = true
		h.results.mu.Unlock()
		p.loop.janitor(t.Context())
		if len(care.settled) > 0 {
			t.Error("settled without a row")
		}
		p.lease.give(false)
		care.expired["us"] = []checkstream.Entry{{ID: "2"}}
		p.loop.janitor(t.Context())
		p.loop.trim(t.Context())
		if len(care.settled) > 0 || care.trims > 0 {
			t.Error("a standby does the upkeep")
		}
	})
}

func TestJanitorNamesARedisOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, p, care := tended(t)
		defer p.stop()
		slot := uptime.NextSlot(1, 10*time.Second, time.Now())
		h.redis.set(func() { h.redis.down = true })
		time.Sleep(2 * time.Minute)
		h.redis.set(func() { h.redis.down = false })
		time.Sleep(5 * time.Minute)
		care.expired["eu"] = []checkstream.Entry{{ID: "1", TargetID: 1, Check: uptime.Check{TargetID: 1, ScheduledAt: slot, Interval: 10 * time.Second, Regions: []string{"eu"}}}}
		p.loop.janitor(t.Context())
		if row := h.results.rows[uptime.Slot{TargetID: 1, Region: "eu", ScheduledAt: slot}]; row.Reason != uptime.ReasonRedisDown {
			t.Errorf("reason %q", row.Reason)
		}
	})
}

func TestRegionsJoinAndRetire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, p, care := tended(t)
		defer p.stop()
		beat := func(region string, age time.Duration) checkstream.Heartbeat {
			return checkstream.Heartbeat{Region: region, Name: "n", Age: age, StartedAt: time.Now().Add(-time.Minute)}
		}
		care.probers = []checkstream.Heartbeat{beat("ap", 0), beat("sa", time.Minute), beat("Bad Name", 0), beat("eu", 0)}
		p.loop.adoptRegions(t.Context())
		time.Sleep(3 * time.Second)
		if got := p.loop.view.Load().Regions; !slices.Equal(got, []string{"ap", "eu", "us"}) || !h.redis.groups["ap"] {
			t.Errorf("regions %v", got)
		}
		h.database.setRegion("ap", false)
		time.Sleep(3 * time.Second)
		p.loop.adoptRegions(t.Context()) // its prober still runs
		time.Sleep(3 * time.Second)
		if got := p.loop.view.Load().Regions; !slices.Equal(got, []string{"eu", "us"}) {
			t.Errorf("a prober left running brought its region back: %v", got)
		}

		care.groups = []string{"ap", "eu", "us"}
		time.Sleep(3 * time.Minute)
		p.loop.janitor(t.Context())
		if len(care.destroyed) > 0 {
			t.Error("the group went before its entries were settled")
		}
		time.Sleep(5 * time.Minute)
		p.loop.janitor(t.Context())
		if len(care.destroyed) > 0 {
			t.Error("the group went under a running prober")
		}
		care.probers = nil
		p.loop.janitor(t.Context())
		if !slices.Equal(care.destroyed, []string{"ap"}) {
			t.Errorf("destroyed %v", care.destroyed)
		}

		fresh := beat("ap", 0)
		fresh.StartedAt = time.Now()
		care.probers = []checkstream.Heartbeat{fresh}
		p.loop.adoptRegions(t.Context())
		time.Sleep(3 * time.Second)
		if got := p.loop.view.Load().Regions; !slices.Equal(got, []string{"ap", "eu", "us"}) {
			t.Errorf("a prober started anew did not bring its region back: %v", got)
		}
	})
}

func TestJobsFollowTheLeaseAndSurviveAPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		p := h.start(t.Context(), "a", false, 0)
		ctx, cancel := context.WithCancel(t.Context())
		var runs atomic.Int64
		done := make(chan error)
		go func() {
			done <- runJobs(ctx, p.loop, []job{
				{"count", time.Second, time.Second, func(context.Context) error { runs.Add(1); return nil }},
				{"panics", time.Second, time.Second, func(context.Context) error { panic("boom") }},
			})
		}()
		time.Sleep(10 * time.Second)
		if runs.Load() != 0 {
			t.Errorf("a standby ran %d jobs", runs.Load())
		}
		p.lease.give(true)
		time.Sleep(10 * time.Second)
		if n := runs.Load(); n < 9 || n > 11 {
			t.Errorf("%d runs in 10 s", n)
		}
		if testutil.ToFloat64(p.loop.metrics.jobs.WithLabelValues("panics", "panic")) < 9 {
			t.Error("panics are not counted")
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		p.stop()
	})
}

type undertaker struct{ lines []ledger.Line }

func (u *undertaker) Sweep(context.Context, time.Time, time.Time) (ledger.Swept, error) {
	return ledger.Swept{To: time.Now(), Written: map[uptime.Reason]int64{uptime.ReasonLost: 3}}, nil
}

func (u *undertaker) Report(_ context.Context, from, to, published time.Time) ([]ledger.Line, error) {
	if to.Sub(from) != time.Hour || published.IsZero() {
		return nil, errors.New("not the last hour, or not told how far publishing is")
	}
	return u.lines, nil
}

func TestCoarseJobsTellWhatTheyDid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, p, care := tended(t)
		defer p.stop()
		u := &undertaker{lines: []ledger.Line{{Region: "eu", Planned: 60, Up: 50, Spooled: 8, Unexplained: 2}}}
		p.loop.Sweeper, p.loop.Accounts = u, u
		if err := p.loop.sweep(t.Context()); err != nil || testutil.ToFloat64(p.loop.metrics.swept) != 3 {
			t.Error("the sweep is not told")
		}
		account := func(what string, unexplained float64, series int) {
			t.Helper()
			p.loop.account(t.Context())
			if n := testutil.CollectAndCount(p.loop.metrics.account); n != series || unexplained > 0 && testutil.ToFloat64(p.loop.metrics.unexplained) != unexplained {
				t.Errorf("%s: %d series", what, n)
			}
		}
		account("at work", 2, 9)
		if n := testutil.ToFloat64(p.loop.metrics.account.WithLabelValues("eu", "spooled")); n != 8 {
			t.Errorf("%v spooled", n)
		}
		u.lines = nil
		account("the store is away", 0, 0)
		u.lines = []ledger.Line{{Region: "eu"}}
		p.lease.give(false)
		account("on standby", 0, 0)
		care.probers = []checkstream.Heartbeat{{Region: "eu", Name: "old", Age: 2 * time.Hour}, {Region: "eu", Name: "new"}, {Region: "eu", Name: "maintained", Age: 2 * time.Hour, Drain: &checkstream.Drain{}}}
		if err := p.loop.forgetProbers(t.Context()); err != nil || !slices.Equal(care.forgotten, []string{"eu/old"}) {
			t.Errorf("forgot %v", care.forgotten)
		}
	})
}

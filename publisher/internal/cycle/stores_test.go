package cycle

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// database holds versions, targets and gaps.
type database struct {
	mu       sync.Mutex
	down     bool
	tearOff  bool // Adopt commits and its answer is lost
	readOnly bool // a full disk, a replica: it answers and takes nothing
	unread   bool // it answers, but for the targets
	seq      int64
	targets  map[int64]uptime.Target
	versions []schedulestore.Version
	regions  []schedulestore.RegionVersion
	gaps     []schedulestore.Gap
	swept    time.Time
}

func newDatabase() *database { return &database{targets: map[int64]uptime.Target{}} }

func (d *database) read(fn func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		return errDown
	}
	fn()
	return nil
}

// save adds or changes a target; deleted ones go.
func (d *database) save(t uptime.Target, deleted bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seq++
	t.SpecVersion = d.seq
	d.targets[t.ID] = t
	if deleted {
		delete(d.targets, t.ID)
	}
	d.versions = append(d.versions, schedulestore.Version{Seq: d.seq, Deleted: deleted,
		Schedule: uptime.Schedule{TargetID: t.ID, Interval: t.Interval, Regions: t.Regions, Active: t.Active && !deleted}})
}

func (d *database) setRegion(name string, active bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seq++
	d.regions = append(d.regions, schedulestore.RegionVersion{Seq: d.seq, Region: name, Active: active})
}

func (d *database) Seq(context.Context) (seq int64, err error) {
	err = d.read(func() { seq = d.seq })
	return seq, err
}

func (d *database) EachVersion(_ context.Context, after int64, fn func(schedulestore.Version) error) error {
	var all []schedulestore.Version
	if err := d.read(func() { all = slices.Clone(d.versions) }); err != nil {
		return err
	}
	for _, v := range all {
		if v.Seq > after {
			if err := fn(v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *database) RegionVersions(_ context.Context, after int64) (all []schedulestore.RegionVersion, err error) {
	err = d.read(func() {
		all = slices.DeleteFunc(slices.Clone(d.regions), func(v schedulestore.RegionVersion) bool { return v.Seq <= after })
	})
	return all, err
}

func (d *database) write(fn func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down || d.readOnly {
		return errDown
	}
	fn()
	return nil
}

func (d *database) Adopt(_ context.Context, seq int64, from time.Time) (n int, err error) {
	err = d.write(func() {
		for i := range d.versions {
			if v := &d.versions[i]; v.Seq <= seq && v.EffectiveFrom.IsZero() {
				v.EffectiveFrom = from
				n++
			}
		}
		for i := range d.regions {
			if v := &d.regions[i]; v.Seq <= seq && v.EffectiveFrom.IsZero() {
				v.EffectiveFrom = from
				n++
			}
		}
		if d.tearOff {
			d.down = true
		}
	})
	if err == nil && d.tearOff {
		return 0, errDown
	}
	return n, err
}

func (d *database) AddRegion(_ context.Context, region string) (bool, error) {
	if err := d.read(func() {}); err != nil {
		return false, err
	}
	d.setRegion(region, true)
	return true, nil
}

func (d *database) AddGap(_ context.Context, reason uptime.Reason, from, to time.Time) error {
	return d.write(func() { d.gaps = append(d.gaps, schedulestore.Gap{Reason: reason, From: from, To: to}) })
}

func (d *database) Gaps(_ context.Context, from, to time.Time) (gaps []schedulestore.Gap, err error) {
	err = d.read(func() {
		gaps = slices.DeleteFunc(slices.Clone(d.gaps), func(g schedulestore.Gap) bool { return !g.From.Before(to) || !g.To.After(from) })
	})
	return gaps, err
}

func (d *database) SweptTo(context.Context) (time.Time, error) { return d.swept, nil }

func (d *database) SetSweptTo(_ context.Context, t time.Time) error {
	d.swept = t
	return nil
}

func (d *database) ByIDs(_ context.Context, ids []int64) (found []uptime.Target, err error) {
	err = d.read(func() {
		for _, id := range ids {
			if t, ok := d.targets[id]; ok {
				found = append(found, t)
			}
		}
	})
	return found, err
}

func (d *database) Each(_ context.Context, fn func(uptime.Target) error) error {
	var all []uptime.Target
	var unread bool
	if err := d.read(func() {
		unread = d.unread
		for _, t := range d.targets {
			all = append(all, t)
		}
	}); err != nil {
		return err
	}
	if unread {
		return errDown
	}
	for _, t := range all {
		if err := fn(t); err != nil {
			return err
		}
	}
	return nil
}

// results keeps missed rows and notes.
type results struct {
	mu    sync.Mutex
	down  bool
	slow  time.Duration // of each row
	rows  map[uptime.Slot]uptime.Result
	notes map[int64]resultstore.Cycle

	stored func() // after rows were stored
}

func newResults() *results {
	return &results{rows: map[uptime.Slot]uptime.Result{}, notes: map[int64]resultstore.Cycle{}}
}

func (s *results) RecordWait(ctx context.Context, rows []uptime.Result) error {
	select {
	case <-time.After(time.Duration(len(rows)) * s.slow):
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	if !s.down {
		for _, r := range rows {
			s.rows[r.Slot()] = r
		}
		if s.stored != nil {
			s.stored()
		}
		s.mu.Unlock()
		return nil
	}
	s.mu.Unlock()
	<-ctx.Done()
	return ctx.Err()
}

func (s *results) InsertCycles(_ context.Context, _ string, cycles []resultstore.Cycle) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return errDown
	}
	for _, c := range cycles {
		s.notes[c.Second.Unix()] = c
	}
	return nil
}

func (s *results) LastCycle(context.Context) (time.Time, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := int64(0)
	for second := range s.notes {
		last = max(last, second)
	}
	if s.down {
		return time.Time{}, false, errDown
	}
	return time.Unix(last, 0), last > 0, nil
}

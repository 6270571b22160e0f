package resultstore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// LeastRetention leaves a day for rows to arrive late, and one for the rollups.
	LeastRetention = 2 * day
	// Rows are refused a day before results of their time are dropped, and hours are computed
	// until half a day before: what is taken is rolled up, even if nobody did for half a day.
	refusedBefore = day
	leftBefore    = 12 * hour
	mostRetention = 3650 * day

	marksOutlive = 2 * day // a mark is needed for as long as its rows can be read
	// A print tells of results until the next one, which comes within a week.
	printsOutlive = 8 * day
	learnEvery    = 10 * time.Minute
	alterBound    = time.Minute
)

// Retentions say how long each tier is kept, in whole hours. Zero means: as it is.
type Retentions struct{ Raw, Hourly, Daily time.Duration }

// Valid says what is wrong with them, or nil. Every tier outlives the one it is made from.
func (r Retentions) Valid() error {
	for name, d := range map[string]time.Duration{"raw": r.Raw, "hourly": r.Hourly, "daily": r.Daily} {
		if d != 0 && (d < LeastRetention || d > mostRetention || d%hour != 0) {
			return fmt.Errorf("retention: %s %v is not a number of whole hours from %v to %v", name, d, LeastRetention, mostRetention)
		}
	}
	if r.Hourly != 0 && r.Raw > r.Hourly || r.Daily != 0 && max(r.Raw, r.Hourly) > r.Daily {
		return errors.New("retention: hourly must be kept as long as raw, and daily as long as hourly")
	}
	return nil
}

// tier is a table and the expression its rows age by.
type tier struct{ table, age string }

// tiers are the tables and what is wanted of each. Marks and prints go with what results keep,
// whoever said so and when.
func (r Retentions) tiers(raw time.Duration) map[tier]time.Duration {
	return map[tier]time.Duration{
		{"results", "toDateTime(scheduled_at)"}:  r.Raw,
		{"rollup_1h", "bucket"}:                  r.Hourly,
		{"corrections", "bucket"}:                r.Hourly,
		{"rollup_1d", "bucket"}:                  r.Daily,
		{"rollup_dirty", "toDateTime(dirty_at)"}: raw + marksOutlive,
		{"prints", "toDateTime(scheduled_at)"}:   raw + printsOutlive,
	}
}

// Kept reads how long each tier is kept. What was dropped does not come back when it is to be
// kept for longer: until results or hours are that old, it is as far as they go.
func (s *Store) Kept(ctx context.Context) (Retentions, error) {
	have, err := s.lifetimes(ctx)
	if err != nil {
		return Retentions{}, fmt.Errorf("read retention: %w", err)
	}
	if _, err := have.retentions(); err != nil {
		return Retentions{}, err
	}
	return have.kept(s.now()), nil
}

// Keep makes the tables keep each tier for as long as is wanted, and says which tables
// had to be altered. What is too old then is dropped in the background, by whole days, weeks
// and years.
func (s *Store) Keep(ctx context.Context, want Retentions) (altered []string, err error) {
	have, err := s.lifetimes(ctx)
	if err != nil {
		return nil, fmt.Errorf("read retention: %w", err)
	}
	kept, err := have.retentions()
	if err != nil {
		return nil, err
	}
	all := Retentions{Raw: orElse(want.Raw, kept.Raw), Hourly: orElse(want.Hourly, kept.Hourly), Daily: orElse(want.Daily, kept.Daily)}
	if err := all.Valid(); err != nil {
		return nil, err
	}
	for table, longer := range map[string]bool{"results": all.Raw > kept.Raw, "rollup_1h": all.Hourly > kept.Hourly} {
		if longer {
			if err := s.noteWhole(ctx, have, table); err != nil {
				return nil, err
			}
		}
	}
	for tier, d := range want.tiers(all.Raw) {
		if d == 0 || have.ttl[tier.table] == d {
			continue
		}
		if err := s.alter(ctx, fmt.Sprintf("ALTER TABLE %s MODIFY TTL %s + toIntervalHour(%d)", s.everywhere(tier.table), tier.age, int64(d/hour))); err != nil {
			return altered, fmt.Errorf("change retention of %s: %w", tier.table, err)
		}
		altered = append(altered, tier.table)
	}
	have.ttl["results"], have.ttl["rollup_1h"], have.ttl["rollup_1d"] = all.Raw, all.Hourly, all.Daily
	s.learnt(have.kept(s.now()))
	return altered, nil
}

func (s *Store) alter(ctx context.Context, sql string) error {
	ctx, cancel := context.WithTimeout(ctx, alterBound)
	defer cancel()
	return s.conn.Exec(ctx, sql)
}

// learnRetention reads how long results are kept, unless it was lately. If that fails,
// what was known before goes on counting.
func (s *Store) learnRetention(ctx context.Context) {
	now, last := s.now(), s.learned.Load()
	if last != 0 && now.Sub(time.Unix(0, last)) < learnEvery || !s.learned.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	kept, err := s.Kept(ctx)
	if err != nil {
		s.learned.CompareAndSwap(now.UnixNano(), last) // not learned after all
		return
	}
	s.learnt(kept)
}

func (s *Store) learnt(kept Retentions) {
	s.kept.Store(int64(kept.Raw))
	s.hourly.Store(int64(kept.Hourly))
	s.daily.Store(int64(kept.Daily))
}

// surelyKept is how long results are kept, read if it is not known yet: neither may a row
// be refused that would be kept, nor one stored that is about to be dropped.
func (s *Store) surelyKept(ctx context.Context) (time.Duration, error) {
	if d := s.kept.Load(); d != 0 {
		return time.Duration(d), nil
	}
	ctx, cancel := context.WithTimeout(ctx, insertBound)
	defer cancel()
	if err := s.Check(ctx); err != nil {
		return 0, err
	}
	if d := s.kept.Load(); d != 0 {
		return time.Duration(d), nil
	}
	kept, err := s.Kept(ctx)
	if err != nil {
		return 0, err
	}
	s.learnt(kept)
	return kept.Raw, nil
}

// OldestSlot is the first of which rows are taken when results are kept for a time. Those
// before could not surely be rolled up.
func OldestSlot(now time.Time, raw time.Duration) time.Time { return now.Add(refusedBefore - raw) }

// OldestHour is the first that may be computed: the results of those before may be dropped
// at any moment, and would be missed in the figures.
func OldestHour(now time.Time, raw time.Duration) time.Time {
	return now.Add(leftBefore - raw).Truncate(hour).Add(hour)
}

// TooOld says that results of a slot are not taken any more, as far as is known: an insert
// would refuse them. Before the table was asked nothing is too old.
func (s *Store) TooOld(slot time.Time) bool {
	d := s.kept.Load()
	return d != 0 && slot.Before(OldestSlot(s.now(), time.Duration(d)))
}

// RawKept is how long results are kept, as far as this store knows: what the table was last
// seen to say, at most ten minutes ago while ClickHouse is asked anything.
func (s *Store) RawKept() time.Duration {
	if d := s.kept.Load(); d != 0 {
		return time.Duration(d)
	}
	return Retention
}

// LastKept is how long each tier is kept, likewise.
func (s *Store) LastKept() Retentions {
	return Retentions{
		Raw:    s.RawKept(),
		Hourly: orElse(time.Duration(s.hourly.Load()), hourlyRetention),
		Daily:  orElse(time.Duration(s.daily.Load()), dailyRetention),
	}
}

func orElse(d, other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return d
}

func keys(m map[string]string) (all []string) {
	for key := range m {
		all = append(all, key)
	}
	return all
}

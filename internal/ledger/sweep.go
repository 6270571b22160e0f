package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	sweeper    = "_sweep"            // the prober column of the rows it writes
	rowsAtOnce = 5_000               // missing rows made durable together
	retention  = 29 * 24 * time.Hour // of rows, less a day: older ones cannot be told from lost ones
	holdMost   = 6 * time.Hour       // rows that stay on a disk for longer are not waited for
)

// Cursor keeps how far the sweep has come, and the gaps whose cause is known.
type Cursor interface {
	SweptTo(ctx context.Context) (time.Time, error)
	SetSweptTo(ctx context.Context, t time.Time) error
	Gaps(ctx context.Context, from, to time.Time) ([]schedulestore.Gap, error)
}

// SlotSource streams every slot in [from, to) that has a row.
type SlotSource interface {
	SlotsSeen(ctx context.Context, from, to time.Time, fn func(uptime.Slot) error) error
}

// Rows makes rows durable.
type Rows interface {
	RecordWait(ctx context.Context, rows []uptime.Result) error
}

// Sweeper explains what nobody explained. It is not safe for concurrent use.
type Sweeper struct {
	versions VersionSource
	cursor   Cursor
	slots    SlotSource
	rows     Rows
	spools   Spools
	settle   time.Duration
	// How far slots are done ahead of the stored cursor: all but those that were held
	// then, and those with the shortest expiry. It saves reading, nothing rests on it.
	aheadTo, shortTo int64
	held             holds // at the last sweep
}

// NewSweeper makes a sweeper of its sources. Slots that a live prober may have on
// its disk are left alone (a nil spools means none are); the others are explained
// once they are past their expiry by more than settle.
func NewSweeper(versions VersionSource, cursor Cursor, slots SlotSource, rows Rows, spools Spools, settle time.Duration) *Sweeper {
	return &Sweeper{versions: versions, cursor: cursor, slots: slots, rows: rows, spools: spools, settle: settle}
}

// Swept is what one Sweep did.
type Swept struct {
	To      time.Time // every slot before it is explained; also when the sweep failed
	Planned int64
	Held    int64 // without a row that may be on a prober's disk
	Written map[uptime.Reason]int64
}

// Sweep explains every slot that is owed at now, and not after published: what
// the publisher has not come to yet is not lost. It goes on from the stored
// cursor in slices of ten minutes until it is done or ctx ends.
func (s *Sweeper) Sweep(ctx context.Context, now, published time.Time) (Swept, error) {
	done := Swept{Written: map[uptime.Reason]int64{}}
	from, err := s.start(ctx, now)
	if err != nil || from == 0 {
		return done, err
	}
	done.To = time.UnixMilli(from).UTC()
	held := s.hold(ctx, now)
	limit := ceilMilli(published)
	all := min(limit, now.Add(-uptime.Expiry(uptime.MaxInterval)-s.settle).UnixMilli())
	err = s.slices(ctx, from, min(all, held.first()), never, held, &done, func(to int64) error {
		from, done.To = to, time.UnixMilli(to).UTC()
		return s.cursor.SetSweptTo(ctx, done.To)
	})
	if err != nil {
		return done, err
	}
	err = s.slices(ctx, max(from, s.aheadTo), all, never, held, &done, func(to int64) error {
		s.aheadTo = to
		return nil
	})
	if err != nil {
		return done, err
	}
	shortest := uptime.Expiry(uptime.MinInterval)
	short := min(limit, now.Add(-shortest-s.settle).UnixMilli())
	err = s.slices(ctx, max(from, all, s.shortTo), short, shortest.Milliseconds(), held, &done, func(to int64) error {
		s.shortTo = to
		return nil
	})
	return done, err
}

// hold asks what is on disks. Where less is than at the last sweep, what was passed
// over then is looked at again.
func (s *Sweeper) hold(ctx context.Context, now time.Time) holds {
	held := holds{}
	oldest := now.Add(-holdMost).UnixMilli()
	for region, kept := range keptIn(s.spools.ask(ctx)) {
		if stretch := kept.within(span{oldest, never}); !stretch.empty() {
			held[region] = stretch
		}
	}
	if held.releases(s.held) {
		s.aheadTo, s.shortTo = 0, 0
	}
	s.held = held
	return held
}

// slices explains [from, to) slice by slice, telling after each how far it is.
func (s *Sweeper) slices(ctx context.Context, from, to, maxExpiry int64, held holds, done *Swept, reached func(int64) error) error {
	for from < to {
		slice := span{from, min(from+sliceLength, to)}
		if err := s.explain(ctx, slice, maxExpiry, held, done); err != nil {
			return err
		}
		if err := reached(slice.to); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		from = slice.to
	}
	return nil
}

// start is the stored cursor, else the first instant anything was planned; 0
// when nothing ever was.
func (s *Sweeper) start(ctx context.Context, now time.Time) (int64, error) {
	swept, err := s.cursor.SweptTo(ctx)
	if err != nil {
		return 0, fmt.Errorf("sweep: %w", err)
	}
	oldest := now.Add(-retention).UnixMilli()
	if !swept.IsZero() {
		return max(ceilMilli(swept), oldest), nil
	}
	first := int64(never)
	err = s.versions.EachVersion(ctx, 0, func(v schedulestore.Version) error {
		if !v.EffectiveFrom.IsZero() {
			first = min(first, ceilMilli(v.EffectiveFrom))
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("sweep: %w", err)
	}
	if first == never {
		return 0, nil
	}
	return max(first, oldest), nil
}

// explain writes a row for each planned slot of the slice that has none and is not
// held, for targets whose expiry is at most maxExpiry.
func (s *Sweeper) explain(ctx context.Context, slice span, maxExpiry int64, held holds, done *Swept) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	from, to := time.UnixMilli(slice.from), time.UnixMilli(slice.to)
	plan, err := Load(ctx, s.versions, from, to)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	gaps, err := s.cursor.Gaps(ctx, from, to)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	have := newSeen(plan, slice)
	err = s.slots.SlotsSeen(ctx, from, to, func(slot uptime.Slot) error {
		have.mark(slot)
		return nil
	})
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	var missing []uptime.Result
	for i := range plan.targets {
		t := &plan.targets[i]
		for r, name := range plan.Regions {
			plan.each(t, r, slice, func(ph phase, stretch span) {
				if ph.expiry() > maxExpiry {
					return
				}
				ph.slots(t.id, stretch, func(ms int64) {
					done.Planned++
					slot := uptime.Slot{TargetID: t.id, Region: name, ScheduledAt: time.UnixMilli(ms).UTC()}
					switch {
					case have.has(i, r, slot):
					case held.have(name, ms):
						done.Held++
					default:
						missing = append(missing, row(slot, ph.seq, reasonAt(gaps, slot.ScheduledAt)))
					}
				})
			})
		}
		if len(missing) >= rowsAtOnce {
			if err := s.write(ctx, missing, done); err != nil {
				return err
			}
			missing = nil
		}
	}
	return s.write(ctx, missing, done)
}

func (s *Sweeper) write(ctx context.Context, missing []uptime.Result, done *Swept) error {
	if len(missing) == 0 {
		return nil
	}
	if err := s.rows.RecordWait(ctx, missing); err != nil {
		return fmt.Errorf("sweep: write %d missed slots: %w", len(missing), err)
	}
	for _, r := range missing {
		done.Written[r.Reason]++
	}
	return nil
}

// row is dated before its slot's check was published: of two reasons the later one
// counts, and everybody else's is better than a sweep's, whenever it comes.
func row(slot uptime.Slot, seq int64, reason uptime.Reason) uptime.Result {
	return uptime.Result{TargetID: slot.TargetID, Region: slot.Region, ScheduledAt: slot.ScheduledAt, IngestedAt: slot.ScheduledAt.Add(-time.Minute),
		Status: uptime.StatusMissed, Reason: reason, Prober: sweeper, SpecVersion: seq}
}

// reasonAt is the reason of the gap that holds an instant: the narrowest, as the
// most telling. Without one the slot is lost.
func reasonAt(gaps []schedulestore.Gap, at time.Time) uptime.Reason {
	reason, narrowest := uptime.ReasonLost, time.Duration(never)
	for _, g := range gaps {
		if width := g.To.Sub(g.From); !at.Before(g.From) && at.Before(g.To) && width < narrowest {
			reason, narrowest = g.Reason, width
		}
	}
	return reason
}

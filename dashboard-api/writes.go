package main

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/answercache"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	// feedPatience is how long a feed may say nothing: it has a pulse every 2 s.
	feedPatience  = 4 * time.Second
	marksLook     = time.Second
	marksPatience = 4 * time.Second
	// marksBack is how much later than it was made a mark may come to be seen.
	marksBack = 2 * time.Minute
	// rolledPatience is for three looks at the rollups.
	rolledPatience = 3*rollupsLook + 5*time.Second
	// mostMarks is from when on every answer is dropped, not those of what was marked.
	mostMarks = 200_000
)

// hears follows the feeds, and tells the kept answers while they are heard.
type hears struct{ results, changes *livefeed.Follower }

func heard(f *livefeed.Follower, kept *answercache.Cache) hears {
	return hears{f.WithPulse(kept.Source(feedPatience).Beat), f.WithPulse(kept.Source(feedPatience).Beat)}
}

func (h hears) Follow(ctx context.Context, fromID string, fn func(id string, results []uptime.Result) error) error {
	return h.results.Follow(ctx, fromID, fn)
}

func (h hears) FollowChanges(ctx context.Context, fn func([]livefeed.Change) error) error {
	return h.changes.FollowChanges(ctx, fn)
}

// marked knows what rows arrived.
type marked interface {
	ServerTime(context.Context) (time.Time, error)
	Marks(ctx context.Context, back time.Duration) ([]resultstore.Mark, error)
}

// writes tells the kept answers what was written, by looking into the store: rows that were
// announced to nobody, and rollups, which change a while after their rows.
type writes struct {
	kept           *answercache.Cache
	store          marked
	marks, rollups *answercache.Source

	looked time.Time // when marks were last looked for
	seen   map[markedHour]time.Time

	mu      sync.Mutex
	pending map[markedHour]time.Time // hours that the next run of the rollups will change
	all     time.Time                // what was marked until then is not known, and may be any hour; zero: all is known
	run     standing                 // how far the runs were when they were last told of
	rebuild rollupstore.Standing     // the last rebuild that was
}

type markedHour struct {
	target int64
	hour   time.Time
}

func (h markedHour) write() answercache.Write {
	return answercache.Write{Target: h.target, Span: availability.Span{From: h.hour, To: h.hour.Add(time.Hour)}}
}

func newWrites(kept *answercache.Cache, store marked) *writes {
	return &writes{
		kept: kept, store: store, marks: kept.Source(marksPatience), rollups: kept.Source(rolledPatience),
		seen: map[markedHour]time.Time{}, pending: map[markedHour]time.Time{},
	}
}

// Run looks until ctx ends. A look that fails is a silence.
func (w *writes) Run(ctx context.Context) error {
	return every(ctx, marksLook, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, marksPatience)
		defer cancel()
		_ = w.look(ctx)
	})
}

// look finds what was marked since it last did.
func (w *writes) look(ctx context.Context) error {
	began := time.Now()
	if began.Sub(w.looked) > marksBack/2 { // some may have been missed
		now, err := w.store.ServerTime(ctx)
		if err != nil {
			return err
		}
		w.owe(nil, now)
	}
	marks, err := w.store.Marks(ctx, marksBack)
	if err != nil {
		return err
	}
	fresh, seen := map[markedHour]time.Time{}, make(map[markedHour]time.Time, len(marks))
	for _, m := range marks {
		key := markedHour{m.TargetID, m.Hour}
		if seen[key] = m.At; !w.seen[key].Equal(m.At) {
			fresh[key] = m.At
		}
	}
	w.looked, w.seen = began, seen
	if len(marks) >= resultstore.MaxMarks {
		w.kept.Arriving(answercache.Everything())
		w.owe(nil, marks[0].At)
	} else {
		w.kept.Arriving(hoursOf(fresh)...)
		w.owe(fresh, time.Time{})
	}
	w.marks.Beat()
	return nil
}

// owe notes what the next runs of the rollups will change: hours, or all that was marked
// up to an instant.
func (w *writes) owe(hours map[markedHour]time.Time, all time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.Copy(w.pending, hours)
	if len(w.pending) > mostMarks {
		for _, at := range w.pending {
			if at.After(all) {
				all = at
			}
		}
		clear(w.pending)
	}
	if all.After(w.all) {
		w.all = all
	}
}

// rolled tells what a run of the rollups has changed so far, or a rebuild.
func (w *writes) rolled(state rollupstore.State, rebuild rollupstore.Standing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := standingOf(state); now != w.run {
		if w.all.IsZero() {
			w.kept.Changed(hoursOf(w.pending)...)
		} else {
			w.kept.Changed(answercache.Everything())
		}
		w.run = now
		done := now.succeeded.Add(-marksBack) // what was marked by then is in the rollups
		if w.all.Before(done) {
			w.all = time.Time{}
		}
		maps.DeleteFunc(w.pending, func(_ markedHour, at time.Time) bool { return at.Before(done) })
	}
	if rebuild != w.rebuild {
		for _, r := range [...]rollupstore.Standing{rebuild, w.rebuild} {
			w.kept.Changed(answercache.Write{Target: answercache.AllTargets, Span: availability.Span{From: r.From, To: r.To}})
		}
		w.rebuild = rebuild
	}
	w.rollups.Beat()
}

// standing is how far the runs of the rollups are.
type standing struct{ succeeded, under, before time.Time }

func standingOf(s rollupstore.State) standing {
	if s.Run == nil {
		return standing{succeeded: s.Succeeded}
	}
	return standing{s.Succeeded, s.Run.Version, s.Run.Before}
}

func hoursOf(marks map[markedHour]time.Time) []answercache.Write {
	found := make([]answercache.Write, 0, len(marks))
	for h := range marks {
		found = append(found, h.write())
	}
	return found
}

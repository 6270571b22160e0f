// Package troubles tells people what is wrong with the fleet itself, by the rules and channels
// by which they hear of targets.
//
// The node that evaluates tells. What is wrong is told when it has been for a minute, and that it
// is over when nothing was seen of it for a minute: so nobody hears of a prober that is started
// again, or of a node that takes over. What was told is in the database, and told once, whoever
// takes over then.
//
// It tells nothing when nobody holds the lease, which is in Redis, or when the database is away:
// that is for an alarm outside (package deadman).
package troubles

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/troublestore"
)

const (
	// Every is the time between two looks.
	Every = 5 * time.Second
	// Patience is how long something is to be wrong, or well again, before it is told.
	Patience = time.Minute

	// forget is how long a node may be without the lease and still count what it saw: one that
	// cannot evaluate leaves the lease to others, and gets it back when those cannot either.
	forget    = 30 * time.Second
	tellBound = 10 * time.Second
)

// Options of a Teller; all are required but Now.
type Options struct {
	// Leading says whether this node is the one to tell.
	Leading func() bool
	// Look gives what is wrong now; known is false while that cannot be said.
	Look  func(ctx context.Context) (found []troublestore.Trouble, known bool)
	Store Store
	Log   *slog.Logger
	Now   func() time.Time
	// Told is called when there is something to tell.
	Told func()
}

// Store keeps what was told.
type Store interface {
	Begin(ctx context.Context, t troublestore.Trouble, since, at time.Time) (fresh bool, err error)
	End(ctx context.Context, name string, at time.Time, says string) (ended bool, err error)
	Names(ctx context.Context) ([]string, error)
}

var _ Store = (*troublestore.Store)(nil)

// Teller tells. Run it once.
type Teller struct {
	Options
	wrong map[string]time.Time // since when, by name
	well  map[string]time.Time // since when, of what was told
	led   time.Time            // when this node had the lease last
	asked time.Time            // when it looked last
}

// New makes a teller.
func New(o Options) *Teller {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Teller{Options: o, wrong: map[string]time.Time{}, well: map[string]time.Time{}}
}

// Run looks until ctx ends.
func (t *Teller) Run(ctx context.Context) error {
	ticks := time.NewTicker(Every)
	defer ticks.Stop()
	for {
		t.once(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

func (t *Teller) once(ctx context.Context) {
	now, leading := t.Now(), t.Leading()
	if leading {
		t.led = now
	}
	if now.Sub(t.led) > forget || now.Sub(t.asked) > forget { // or it stood still
		clear(t.wrong)
		clear(t.well)
	}
	if t.asked = now; !leading && len(t.wrong) == 0 {
		return
	}
	found, known := t.Look(ctx)
	if !known || ctx.Err() != nil {
		return
	}
	for _, one := range found {
		if _, before := t.wrong[one.Name]; !before && leading {
			t.wrong[one.Name] = now
		}
		delete(t.well, one.Name)
	}
	for name := range t.wrong {
		if !slices.ContainsFunc(found, func(one troublestore.Trouble) bool { return one.Name == name }) {
			delete(t.wrong, name)
		}
	}
	if !leading {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellBound)
	defer cancel()
	if err := t.tell(ctx, found, now); err != nil {
		t.Log.Warn("what is wrong with the fleet is not told", "error", err)
	}
}

// tell begins and ends what has been wrong, or well, for long enough. What cannot be written is
// written at the next look.
func (t *Teller) tell(ctx context.Context, found []troublestore.Trouble, now time.Time) error {
	told, err := t.Store.Names(ctx)
	if err != nil {
		return err
	}
	for _, one := range found {
		if since := t.wrong[one.Name]; now.Sub(since) >= Patience && !slices.Contains(told, one.Name) {
			fresh, err := t.Store.Begin(ctx, one, since, now)
			if err != nil {
				return err
			}
			if fresh {
				t.Log.Warn("trouble of the fleet", "name", one.Name, "says", one.Says)
				t.Told()
			}
		}
	}
	for _, name := range told {
		if _, still := t.wrong[name]; still {
			continue
		}
		since, before := t.well[name]
		if !before {
			t.well[name] = now
			continue
		}
		if now.Sub(since) < Patience {
			continue
		}
		ended, err := t.Store.End(ctx, name, now, "It is well again, since "+since.UTC().Format("2006-01-02 15:04:05 UTC")+".")
		if err != nil {
			return err
		}
		if delete(t.well, name); ended {
			t.Log.Info("trouble of the fleet is over", "name", name)
			t.Told()
		}
	}
	return nil
}

package evaluator

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/selfdoubt"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

// windowKey names a blind window.
type windowKey struct {
	region string
	sign   selfdoubt.Sign
	from   int64
}

func keyOf(w selfdoubt.Window) windowKey { return windowKey{w.Region, w.Sign, w.From.UnixMilli()} }

// see shows an entry to the watch over the regions, and says whether a window began or ended.
func (f *fold) see(e *entry) (changed bool) {
	if r := e.round; r != nil {
		return f.watch.Canary(selfdoubt.Round{Region: r.Region, Prober: r.Prober, At: r.At.UTC().Truncate(time.Millisecond), Good: r.Good, Said: r.Said})
	}
	for i := range e.results {
		r := &e.results[i]
		t, found := f.targets[r.TargetID]
		if !found || r.Late || !r.Status.Measured() || uptime.ReservedRegion(r.Region) || !slices.Contains(t.Rules.Regions, r.Region) {
			continue
		}
		if f.watch.Take(selfdoubt.Result{TargetID: r.TargetID, Host: t.host, Region: r.Region, Slot: r.ScheduledAt.UTC(), At: e.at, Failing: r.Status == uptime.StatusDown}) {
			changed = true
		}
	}
	return changed
}

// doubt judges every target by the windows as they are now.
func (f *fold) doubt() {
	f.blind = f.watch.Windows()
	for _, t := range f.targets {
		blind := f.blindFor(t, f.now)
		if slices.Equal(blind, t.conditions.Blind) {
			continue
		}
		t.conditions.Blind = blind
		f.step(t, verdict.Tick(later(f.now, t.state.At)))
		f.schedule(t)
	}
}

// blindFor are the windows that say anything about a target: of a region that checks it, and
// not so old that all that is remembered of the region came later. Most of the time there are
// none, and a target without any is folded much quicker.
func (f *fold) blindFor(t *target, now time.Time) (all []verdict.Blindness) {
	for _, w := range f.blind {
		if !slices.Contains(t.Rules.Regions, w.Region) {
			continue
		}
		i := slices.IndexFunc(t.state.Regions, func(r verdict.RegionState) bool { return r.Region == w.Region })
		switch {
		case w.To.IsZero():
		case i >= 0 && !t.state.Regions[i].Floor.Before(w.To):
			continue
		case i < 0 && t.Rules.FreshUntil(w.To).Before(now): // what it saw then says nothing any more
			continue
		}
		all = append(all, w.Blindness)
	}
	return all
}

// retire ends what is open of regions that check nothing any more.
func (f *fold) retire() {
	asked := map[string]bool{}
	if slices.ContainsFunc(f.blind, open) {
		for _, t := range f.targets {
			for _, region := range t.Rules.Regions {
				asked[region] = true
			}
		}
	}
	changed := false
	for _, w := range f.blind {
		if open(w) && len(asked) > 0 && !asked[w.Region] { // without any region it is not known yet which there are
			changed = f.watch.Retire(w.Region, later(f.now, w.From)) || changed
		}
	}
	if changed {
		f.doubt()
	}
}

func open(w selfdoubt.Window) bool { return w.To.IsZero() }

// unwritten are the windows that are new, have more suspects, or are over, since the last commit.
func (f *fold) unwritten() (all []selfdoubt.Window) {
	if slices.ContainsFunc(f.blind, func(w selfdoubt.Window) bool { return open(w) && w.Sign == selfdoubt.SignMassChange }) {
		f.blind = f.watch.Windows()
	}
	for _, w := range f.blind {
		if kept, known := f.kept[keyOf(w)]; !known || open(kept) && (!open(w) || len(w.Suspects) > len(kept.Suspects)) {
			all = append(all, w)
		}
	}
	return all
}

// wrote says that they are written.
func (f *fold) wrote() {
	clear(f.kept)
	for _, w := range f.blind {
		f.kept[keyOf(w)] = w
	}
}

// errKnown ends the look back.
var errKnown = errors.New("what follows is folded")

// lookBack shows the watch over the regions what the stream still has of the time before the
// last commit, so that it knows what everybody saw last, and has it resume the windows that
// were committed. If the stream cannot be read, it knows those alone.
func (e *Evaluator) lookBack(ctx context.Context, f *fold, saved verdictstore.Saved, now time.Time) {
	ctx, stop := context.WithTimeout(ctx, lookBackBound)
	defer stop()
	from := strconv.FormatInt(now.Add(-livefeed.Keep).UnixMilli(), 10) + "-0"
	if livefeed.Before(from, saved.Entry) {
		ended := make(chan error, 1)
		entries := make(chan entry)
		go func() {
			ended <- e.Follower.Follow(ctx, from, stop, func(one entry) error {
				if livefeed.Before(saved.Entry, one.id) {
					return errKnown
				}
				select {
				case entries <- one:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
		}()
		for known := false; !known; {
			select {
			case one := <-entries:
				f.see(&one)
				f.recall(&one)
			case err := <-ended:
				if known = true; !errors.Is(err, errKnown) && ctx.Err() == nil {
					e.Log.Warn("what regions saw before is not known", "error", err)
				}
			case <-ctx.Done():
				known = true
			}
		}
	}
	f.watch.Resume(saved.Blind, later(now.UTC(), f.now))
}

package probe

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	freezeBeat  = 100 * time.Millisecond
	freezeLimit = time.Second
)

// freezeWatch notices that the whole process stood still (SIGSTOP, a paused
// machine, a starved scheduler) by a beat that came late. What a probe measured
// across such a gap is the gap, not the target.
type freezeWatch struct {
	base   time.Time    // all times below are monotonic ns since base
	last   atomic.Int64 // newest beat
	thawed atomic.Int64 // end of the newest freeze
	report func(gap time.Duration)
}

func newFreezeWatch(report func(time.Duration)) *freezeWatch {
	w := &freezeWatch{base: time.Now(), report: report}
	w.thawed.Store(-1)
	w.last.Store(-1)
	return w
}

func (w *freezeWatch) run(ctx context.Context) error {
	ticker := time.NewTicker(freezeBeat)
	defer ticker.Stop()
	w.last.Store(w.mark())
	defer w.last.Store(-1)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			now := w.mark()
			if gap := time.Duration(now - w.last.Load()); gap > freezeLimit {
				w.thawed.Store(now)
				w.report(gap)
			}
			w.last.Store(now)
		}
	}
}

// mark is the present, for a later frozenSince.
func (w *freezeWatch) mark() int64 { return int64(time.Since(w.base)) }

// frozenSince says whether the process stood still for more than freezeLimit of the time
// since mark, also when the beat has not noticed it yet. One that began between the end
// of a freeze and that beat was not frozen.
func (w *freezeWatch) frozenSince(mark int64) bool {
	if w.thawed.Load()-mark > int64(freezeLimit) {
		return true
	}
	last := w.last.Load()
	return last >= 0 && w.mark()-max(last, mark) > int64(freezeLimit)
}

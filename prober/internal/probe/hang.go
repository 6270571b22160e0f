package probe

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	hangGrace  = 2 * time.Second // after its timeout, or after the check was called off, a visit must be over
	maxHanging = 3               // visits of one target that may hang before it gets no more
)

// errand is one visit under way in a goroutine of its own. A visitor ends at its
// deadline: that is its contract, and a defect of ours when it does not. Then nobody
// waits for it any longer than the grace, and the errand is left to it.
type errand struct {
	check   uptime.Check
	show    bool
	outcome Outcome
	over    chan struct{} // gets one when the outcome is there, unless it was left
	timer   *time.Timer
	left    atomic.Bool // by whoever comes first: the end of the visit or of our patience
}

func newErrand() *errand {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &errand{over: make(chan struct{}, 1), timer: timer}
}

// bounded makes a visit in a goroutine of its own and waits for it, at most until the
// hard cap: the timeout and two seconds. A visit that is not over then goes on behind our
// back; a target of which three do gets no more visits, so that leaks are bounded.
func (e *Engine) bounded(ctx context.Context, check *uptime.Check, show bool, outcome *Outcome) {
	if e.hanging.of(visited(check)) >= maxHanging {
		outcome.unmeasured(uptime.ReasonProbeHang, "visits of this target never end: it gets no more until they do")
		return
	}
	r := e.errands.Get().(*errand)
	r.check, r.show = *check, show
	r.left.Store(false)
	mark := e.freeze.mark()
	r.timer.Reset(check.Timeout + hangGrace)
	go e.run(ctx, r)
	cancelled, thawed := ctx.Done(), false
	for {
		select {
		case <-r.over:
			r.timer.Stop()
			*outcome = r.outcome
			r.outcome = Outcome{}
			e.errands.Put(r)
			return
		case <-cancelled:
			cancelled = nil
			r.timer.Reset(hangGrace)
		case <-r.timer.C:
			if !thawed && e.freeze.frozenSince(mark) { // its time stood still too
				thawed = true
				r.timer.Reset(hangGrace)
				continue
			}
			if !r.left.CompareAndSwap(false, true) {
				continue // its outcome is on the way
			}
			e.hanging.begin(visited(check))
			e.metrics.hangs.Inc()
			e.log.Error("checker hangs", "kind", string(check.Kind), "target_id", check.TargetID, "timeout_ms", check.Timeout.Milliseconds())
			outcome.unmeasured(uptime.ReasonProbeHang, "the visit did not end at its timeout, nor two seconds later")
			return
		}
	}
}

func (e *Engine) run(ctx context.Context, r *errand) {
	growStack(0)
	e.visit(ctx, &r.check, r.show, &r.outcome)
	if r.left.CompareAndSwap(false, true) {
		r.over <- struct{}{}
		return
	}
	e.hanging.end(visited(&r.check))
	e.log.Warn("hanging checker has ended", "kind", string(r.check.Kind), "target_id", r.check.TargetID)
}

// growStack makes room on the stack of a goroutine that has just begun. A stack doubles
// when it is full and is copied then: without this a visit's does so twice, in the depth of
// dialling, where there is most to copy, and that is a twentieth of the CPU of a visit.
//
//go:noinline
func growStack(at int) byte {
	var room [5 << 10]byte // of 8 KiB, the size that visits end up with
	return room[at]
}

// hanging counts the visits that nobody waits for any more.
type hanging struct {
	total atomic.Int64
	mu    sync.Mutex
	count map[int64]int // by target, those with any
}

func newHanging() *hanging { return &hanging{count: make(map[int64]int)} }

func (h *hanging) of(target int64) int {
	if h.total.Load() == 0 {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count[target]
}

func (h *hanging) begin(target int64) { h.add(target, 1) }
func (h *hanging) end(target int64)   { h.add(target, -1) }

func (h *hanging) add(target int64, n int) {
	h.total.Add(int64(n))
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count[target] += n; h.count[target] == 0 {
		delete(h.count, target)
	}
}

package probe

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	hangGrace  = 2 * time.Second // after its timeout, or after the check was called off, a visit must be over
	hangLook   = 250 * time.Millisecond
	maxHanging = 3 // visits of one target that may hang before it gets no more
)

// errand is one visit under way, for those who wait for its outcome. A visitor ends at its
// deadline: that is its contract, and a defect of ours when it does not. Then nobody
// waits for it any longer than the grace, and the visit is left to itself.
type errand struct {
	ctx       context.Context //nolint:containedctx // it is the visit's, and looked at only while that is under way
	check     *uptime.Check
	attempt   uint8
	done      func(Outcome) // gets another outcome when the visit is left
	begun     int64         // as all times here by the engine's freezeWatch.mark
	end       int64         // the hard cap
	calledOff bool
	thawed    bool
}

// underway are all errands of an engine. One goroutine waits for all of them: a visit needs
// no timer, and no goroutine beside its own.
type underway struct {
	mu  sync.Mutex
	all map[*errand]struct{}
}

func (u *underway) begin(r *errand) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.all[r] = struct{}{}
}

// end says whether somebody still waits for the outcome.
func (u *underway) end(r *errand) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, awaited := u.all[r]
	delete(u.all, r)
	return awaited
}

// overdue takes out the errands that nobody shall wait for any longer, and says how many
// are left.
func (u *underway) overdue(now int64, frozenSince func(mark int64) bool) (late []*errand, left int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for r := range u.all {
		switch {
		case !r.calledOff && r.ctx.Err() != nil:
			r.calledOff, r.end = true, now+int64(hangGrace)
		case now < r.end:
		case !r.thawed && frozenSince(r.begun): // its time stood still too
			r.thawed, r.end = true, now+int64(hangGrace)
		default:
			delete(u.all, r)
			late = append(late, r)
		}
	}
	return late, len(u.all)
}

// bounded makes a visit, in this goroutine, and says whether somebody still waits for its
// outcome. At the hard cap, the timeout and two seconds, or two seconds after it was called
// off, done got another outcome instead. The visit then goes on behind our back; a target of
// which three do gets no more visits, so that leaks are bounded.
func (e *Engine) bounded(ctx context.Context, check *uptime.Check, attempt uint8, show bool, outcome *Outcome, done func(Outcome)) bool {
	if e.hanging.of(visited(check)) >= maxHanging {
		outcome.unmeasured(uptime.ReasonProbeHang, "visits of this target never end: it gets no more until they do")
		return true
	}
	now := e.freeze.mark()
	r := e.errands.Get().(*errand)
	*r = errand{ctx: ctx, check: check, attempt: attempt, done: done, begun: now, end: now + int64(check.Timeout+hangGrace)}
	e.underway.begin(r)
	e.visit(ctx, check, now, show, outcome)
	if !e.underway.end(r) {
		e.hanging.end(visited(check))
		e.log.Warn("hanging checker has ended", "kind", string(check.Kind), "target_id", check.TargetID)
		return false
	}
	*r = errand{}
	e.errands.Put(r)
	return true
}

// patience leaves visits that are not over at their hard cap, until ctx has ended and no
// visit is under way.
func (e *Engine) patience(ctx context.Context) {
	ticker := time.NewTicker(hangLook)
	defer ticker.Stop()
	ending := ctx.Done()
	for {
		select {
		case <-ticker.C:
		case <-ending:
			ending = nil
		}
		late, left := e.underway.overdue(e.freeze.mark(), e.freeze.frozenSince)
		for _, r := range late {
			e.leave(r)
		}
		if left == 0 && ctx.Err() != nil {
			return
		}
	}
}

func (e *Engine) leave(r *errand) {
	e.hanging.begin(visited(r.check))
	e.metrics.hangs.Inc()
	e.log.Error("checker hangs", "kind", string(r.check.Kind), "target_id", r.check.TargetID, "timeout_ms", r.check.Timeout.Milliseconds())
	var outcome Outcome
	outcome.unmeasured(uptime.ReasonProbeHang, "the visit did not end at its timeout, nor two seconds later")
	outcome.Attempts = r.attempt
	r.done(outcome)
}

// growStack makes room on the stack of a goroutine that has just begun a visit. A stack
// doubles when it is full and is copied then: without this a visit's does so again and again,
// in the depth of dialling and of TLS, where there is most to copy.
func growStack(check *uptime.Check) {
	if check.Kind == uptime.KindTLS || strings.HasPrefix(check.URL, "https:") || strings.HasPrefix(check.URL, "wss:") {
		grow16(0)
	} else {
		grow8(0)
	}
}

// grow8 makes the stack one of 8 KiB, the size that visits without TLS end up with.
//
//go:noinline
func grow8(at int) byte {
	var room [5 << 10]byte
	return room[at]
}

// grow16 is the same for visits over TLS.
//
//go:noinline
func grow16(at int) byte {
	var room [11 << 10]byte
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

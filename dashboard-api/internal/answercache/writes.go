package answercache

import (
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Settle is how long after its announcement a result may take until it can be read. What
// takes longer is told once more when it is stored.
const Settle = 3 * time.Second

// AllTargets stands for every target in a Write.
const AllTargets int64 = 0

// Write says that something of a target changed, or is about to: rows, or figures made of
// them, of slots in a span.
type Write struct {
	Target int64 // or AllTargets
	Span   availability.Span
}

// Everything is a write that changes every answer.
func Everything() Write { return Write{AllTargets, always()} }

// Listen has fn called with whatever the cache is told of from now on, and when that can be
// read: for others who keep what is made of rows. It must not block.
func (c *Cache) Listen(fn func(readable time.Time, writes []Write)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listener = fn
}

// tell hands on what was written. The caller does not hold the lock.
func (c *Cache) tell(settle time.Duration, writes []Write) {
	c.mu.Lock()
	fn, readable := c.listener, c.now().Add(settle)
	c.mu.Unlock()
	if fn != nil && len(writes) > 0 {
		fn(readable, writes)
	}
}

// Arriving tells of rows that were just announced or stored. They may take a moment
// until they can be read: until Settle is over nothing made of them is kept.
func (c *Cache) Arriving(writes ...Write) {
	if c == nil {
		return
	}
	defer c.tell(Settle, writes)
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for _, w := range writes {
		c.holds.add(w, now)
		c.drop(w)
	}
}

// Changed tells of figures that can be read as they are now.
func (c *Cache) Changed(writes ...Write) {
	if c == nil {
		return
	}
	defer c.tell(0, writes)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range writes {
		c.drop(w)
	}
}

// Forget drops all that is made of targets: they were changed, or deleted.
func (c *Cache) Forget(targets ...int64) {
	writes := make([]Write, len(targets))
	for i, id := range targets {
		writes[i] = Write{id, always()}
	}
	c.Changed(writes...)
}

// always is longer than any span of slots.
func always() availability.Span {
	return availability.Span{From: time.Unix(-1<<40, 0), To: time.Unix(1<<40, 0)}
}

// drop ends what a write changes. The caller holds the lock.
func (c *Cache) drop(w Write) {
	c.kept.dropOf(w.Target, w.Span)
	for _, f := range c.flights {
		if f.question.touches(w) {
			f.stale = true
		}
	}
}

func (q Question) touches(w Write) bool {
	return (w.Target == AllTargets || q.general() || slices.Contains(q.Targets, w.Target)) && q.Span.Touches(w.Span)
}

// anyTarget is what the rows of every target are noted under once more, for answers about all.
const anyTarget int64 = -1

// holds are the slots that were announced a moment ago, by target.
type holds struct {
	byTarget map[int64]hold
	swept    time.Time
}

// hold is a stretch in which rows may be announced and not readable.
type hold struct {
	span  availability.Span
	until time.Time
}

func newHolds() holds { return holds{byTarget: map[int64]hold{}} }

func (h *holds) add(w Write, now time.Time) {
	if now.Sub(h.swept) > Settle || now.Before(h.swept) {
		h.swept = now
		for id, old := range h.byTarget {
			if !now.Before(old.until) {
				delete(h.byTarget, id)
			}
		}
	}
	for _, id := range [...]int64{w.Target, anyTarget} {
		one, found := h.byTarget[id]
		if !found || !now.Before(one.until) {
			one.span = w.Span
		}
		if w.Span.From.Before(one.span.From) {
			one.span.From = w.Span.From
		}
		if w.Span.To.After(one.span.To) {
			one.span.To = w.Span.To
		}
		one.until = now.Add(Settle)
		h.byTarget[id] = one
	}
}

// touch says whether an answer may lack what was announced.
func (h *holds) touch(q Question, now time.Time) bool {
	held := func(id int64) bool {
		one, found := h.byTarget[id]
		return found && now.Before(one.until) && one.span.Touches(q.Span)
	}
	if q.general() {
		return held(anyTarget)
	}
	return held(AllTargets) || slices.ContainsFunc(q.Targets, held)
}

// Slots are the writes that results are.
func Slots(results []uptime.Result) []Write {
	writes := make([]Write, len(results))
	for i, r := range results {
		writes[i] = Write{r.TargetID, availability.Span{From: r.ScheduledAt, To: r.ScheduledAt.Add(time.Millisecond)}}
	}
	return writes
}

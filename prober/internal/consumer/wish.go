package consumer

import (
	"context"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
)

// restLook is how often a loop that rests looks whether it still should.
const restLook = 250 * time.Millisecond

// wish is whether people want this prober to take nothing on: its heartbeat brings it. The
// last one heard holds while Redis is away.
type wish struct {
	mu     sync.Mutex
	known  bool // a heartbeat was answered
	drain  bool
	taking int    // reads and takeovers that were begun before it was heard
	clear  bool   // since then nothing was found in our name that is not in hand
	told   string // the phase that was told last
}

// heard takes what the newest heartbeat brought.
func (w *wish) heard(drain bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clear = w.clear && drain && w.drain
	w.known, w.drain = true, drain
}

func (w *wish) wanted() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.drain
}

// begin asks whether something may be taken on. If so, end is due once that is in hand.
func (w *wish) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.drain {
		return false
	}
	w.taking++
	return true
}

func (w *wish) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taking--
}

// looked notes whether anything was found in our name.
func (w *wish) looked(clear bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clear = clear && w.drain
}

// resting says that it is wanted, and that nothing is being taken on any more.
func (w *wish) resting() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.drain && w.taking == 0
}

// empty says that besides, nothing is left in our name but what is in hand.
func (w *wish) empty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.drain && w.taking == 0 && w.clear
}

// newly says whether a phase is another one than that told last.
func (w *wish) newly(phase string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.told
	w.told = phase
	return old != phase
}

// Resting says that nothing may be taken on: somebody wants it so, or it is not known yet
// whether anybody does.
func (c *Consumer) Resting() bool {
	c.wish.mu.Lock()
	defer c.wish.mu.Unlock()
	return !c.wish.known || c.wish.drain
}

// phase is how far that is, for the heartbeat.
func (c *Consumer) phase() string {
	if !c.wish.wanted() {
		return ""
	}
	// In this order: whatever was being taken on is in hand by the time it is counted.
	if c.wish.empty() && c.flights.size() == 0 && !c.o.Busy() {
		return checkstream.Drained
	}
	return checkstream.Draining
}

// hear takes the answer to a heartbeat, and tells what becomes of it.
func (c *Consumer) hear(drain bool) {
	c.wish.heard(drain)
	phase := c.phase()
	if !c.wish.newly(phase) {
		return
	}
	switch phase {
	case checkstream.Draining:
		c.Log.Info("draining as somebody asked: nothing more is taken on", "in_hand", c.flights.size())
	case checkstream.Drained:
		c.Log.Info("drained: nothing is taken on until somebody resumes this prober")
	default:
		c.Log.Info("resumed: checks are taken on again")
	}
	c.o.Phase(phase)
}

// gather takes on, of all there is, only what is pending in our own name: from an earlier
// life, or delivered in a reply that was lost. Others leave that alone for long, since our
// heart beats.
func (c *Consumer) gather(ctx, probing context.Context, room checkstream.Room) (int, error) {
	for !c.wish.resting() { // a read is under way: what is in its reply is in our name, too
		if !c.wish.wanted() || !sleep(ctx, restLook) {
			return 0, nil
		}
	}
	n, complete, err := c.takeOwn(ctx, probing, room)
	c.wish.looked(err == nil && complete && n == 0)
	return n, err
}

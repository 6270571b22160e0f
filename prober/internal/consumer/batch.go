package consumer

import (
	"cmp"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/uptime"
)

// batch is the flights whose rows were handed to the recorder together. They have
// one answer, and one count of attempts.
type batch struct {
	flights []*flight
	rows    []uptime.Result // of each of them
	begun   time.Time
	attempt int // guarded by flights.mu: of the newest insert; another batch's luck does not change it
}

// begin hands measured flights over.
func (fs *flights) begin(b *batch) {
	b.begun = time.Now()
	for i, f := range b.flights {
		f.row = &b.rows[i]
	}
	fs.mu.Lock()
	fs.batches[b] = struct{}{}
	fs.mu.Unlock()
	fs.move(handedOver, b.flights...)
}

// end forgets a batch that has its answer.
func (fs *flights) end(b *batch) {
	fs.mu.Lock()
	delete(fs.batches, b)
	fs.mu.Unlock()
}

// phase follows the recorder. A phase that is the batch's state already is no event.
func (fs *flights) phase(b *batch, p recorder.Phase, attempt int) {
	var on event
	var to state
	switch p {
	case recorder.Inserting:
		on, to = insertBegun, recording
	case recorder.BackingOff:
		on, to = insertFailed, backingOff
	case recorder.Spooling:
		on, to = diverted, spooling
	default: // buffered
		return
	}
	fs.mu.Lock()
	b.attempt = attempt
	already := b.flights[0].state == to
	fs.mu.Unlock()
	if !already {
		fs.move(on, b.flights...)
	}
}

// markRefused notes why the store will never take a row, for the answer to its batch.
func (fs *flights) markRefused(row uptime.Result, reason string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.byID[entryID(row)]
	if f == nil {
		return
	}
	switch f.state {
	case recording, backingOff, spooling:
		f.refusal = reason
	}
}

// split gives the refused flights of a batch, and the others.
func (fs *flights) split(b *batch) (bad, good []*flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range b.flights {
		if f.refusal != "" {
			bad = append(bad, f)
		} else {
			good = append(good, f)
		}
	}
	return bad, good
}

// Held is what a prober has in hand, for health pages.
type Held struct {
	States   map[string]HeldState `json:"states"`
	Retrying []HeldBatch          `json:"retrying"` // batches after a failed insert, oldest first
	Illegal  int64                `json:"illegal_transitions"`
}

// HeldState is the entries of one state.
type HeldState struct {
	Entries  int   `json:"entries"`
	OldestMS int64 `json:"oldest_ms"` // how long the first of them has been in it
}

// HeldBatch is a batch that is being tried again.
type HeldBatch struct {
	State   string `json:"state"`
	Rows    int    `json:"rows"`
	Attempt int    `json:"attempt"`
	AgeMS   int64  `json:"age_ms"`
}

const maxRetryingShown = 20

// held looks at everything; it is for people and scrapers, not for every check.
func (fs *flights) held() Held {
	now := time.Now()
	h := Held{States: make(map[string]HeldState, settled), Retrying: []HeldBatch{}, Illegal: fs.illegal.Load()}
	var oldest [states]time.Duration
	fs.mu.Lock()
	for _, f := range fs.byID {
		oldest[f.state] = max(oldest[f.state], now.Sub(f.since))
	}
	for s := range settled {
		h.States[s.String()] = HeldState{Entries: fs.count[s], OldestMS: oldest[s].Milliseconds()}
	}
	for b := range fs.batches {
		if b.attempt > 1 || b.flights[0].state == backingOff {
			h.Retrying = append(h.Retrying, HeldBatch{State: b.flights[0].state.String(), Rows: len(b.flights), Attempt: b.attempt, AgeMS: now.Sub(b.begun).Milliseconds()})
		}
	}
	fs.mu.Unlock()
	slices.SortFunc(h.Retrying, func(a, b HeldBatch) int { return cmp.Compare(b.AgeMS, a.AgeMS) })
	h.Retrying = h.Retrying[:min(len(h.Retrying), maxRetryingShown)]
	return h
}

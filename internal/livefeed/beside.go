package livefeed

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/checkstream"
)

// Round is a canary round of a prober: whether it could reach what it always must be able
// to reach. Rounds lie in the stream of results, so that everybody knows which results
// came before one and which after.
type Round struct {
	Region string    `json:"region"`
	Prober string    `json:"prober"`
	At     time.Time `json:"at"` // when it ended, by the shared clock
	Good   bool      `json:"good"`
	Said   string    `json:"said,omitempty"` // of a bad one: which canaries failed, and how
}

const roundField = "c"

// AnnounceRound tells the followers about a canary round.
func (a *Announcer) AnnounceRound(ctx context.Context, r Round) error {
	content, err := json.Marshal(r)
	if err == nil {
		err = a.add.Run(ctx, a.client, []string{keyResults}, Keep.Milliseconds(), roundField, content).Err()
	}
	if err != nil {
		return fmt.Errorf("announce a canary round: %w", err)
	}
	return nil
}

// WithRounds gives another reading end of the same, which hands fn the canary rounds
// between the results, in their order. Without it they are passed over.
func (f *Follower) WithRounds(fn func(id string, r Round) error) *Follower {
	g := f.again()
	g.rounds = fn
	return g
}

// WithConfirmations is WithRounds for what regions saw that were asked to confirm a failure
// (checkstream.NewConfirm). Their probers write it when they settle the visit.
func (f *Follower) WithConfirmations(fn func(id string, o checkstream.VisitOutcome) error) *Follower {
	g := f.again()
	g.confirmations = fn
	return g
}

// beside delivers an entry that holds no results.
func (f *Follower) beside(m redis.XMessage) (is bool, err error) {
	if content, found := m.Values[roundField].(string); found {
		var r Round
		switch {
		case f.rounds == nil:
		case json.Unmarshal([]byte(content), &r) != nil:
			f.skipped.Add(1)
		default:
			err = f.rounds(m.ID, r)
		}
		return true, err
	}
	content, found := m.Values[checkstream.OutcomeField].(string)
	if !found || f.confirmations == nil {
		return found, nil
	}
	o, err := checkstream.DecodeOutcome(content)
	if err != nil {
		f.skipped.Add(1)
		return true, nil
	}
	// It counts as of when it was made, by the prober's clock; one that is ahead must not make
	// evidence of what is still to come.
	if announced := Announced(m.ID); o.CheckedAt.After(announced) {
		o.CheckedAt = announced
	}
	return true, f.confirmations(m.ID, o)
}

package livefeed

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
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
	return &Follower{commands: f.commands, reader: f.reader, pulse: f.pulse, rounds: fn}
}

// round delivers an entry if it is a round.
func (f *Follower) round(m redis.XMessage) (is bool, err error) {
	content, is := m.Values[roundField].(string)
	if !is || f.rounds == nil {
		return is, nil
	}
	var r Round
	if json.Unmarshal([]byte(content), &r) != nil {
		f.skipped.Add(1)
		return true, nil
	}
	return true, f.rounds(m.ID, r)
}

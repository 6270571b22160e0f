package main

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/rollupstore"
)

type asideNotes struct {
	rollupNotes
	state rollupstore.State
	aside []rollupstore.Bucket
}

func (n *asideNotes) State(context.Context) (rollupstore.State, error)    { return n.state, nil }
func (n *asideNotes) Aside(context.Context) ([]rollupstore.Bucket, error) { return n.aside, nil }

// What is missing is told within ten seconds: hours that are still had from results are not.
func TestStandingIsFollowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hour := func(n int) rollupstore.Bucket {
			from := time.Now().UTC().Truncate(time.Hour).Add(time.Duration(n) * time.Hour)
			return rollupstore.Bucket{From: from, To: from.Add(time.Hour)}
		}
		notes := &asideNotes{state: rollupstore.State{Succeeded: time.Now()}, aside: []rollupstore.Bucket{hour(-5), hour(-4), hour(0)}}
		begun, looks := time.Now().Add(-time.Hour), 0
		swept := func(context.Context) (time.Time, error) { // a minute further each time
			looks++
			return begun.Add(time.Duration(looks) * time.Minute), nil
		}
		var settled time.Time
		var aside availability.Spans
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			_ = followStanding(notes, swept, func(at time.Time, missing availability.Spans) { settled, aside = at, missing })(ctx)
		}()
		synctest.Wait()
		if !settled.Equal(begun.Add(time.Minute)) {
			t.Errorf("at first: settled until %v", settled)
		}
		time.Sleep(rollupsLook + time.Second)
		synctest.Wait()
		if want := (availability.Spans{{From: hour(-5).From, To: hour(-4).To}}); !settled.Equal(begun.Add(2*time.Minute)) || !slices.Equal(aside, want) {
			t.Errorf("settled until %v; missing %v, want %v", settled, aside, want)
		}
	})
}

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
		type standing struct {
			settled time.Time
			aside   availability.Spans
		}
		told := make(chan standing, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			_ = followStanding(notes, swept, func(settled time.Time, aside availability.Spans) { told <- standing{settled, aside} })(ctx)
		}()
		want, started := availability.Spans{{From: hour(-5).From, To: hour(-4).To}}, time.Now()
		for look := range 2 {
			got, after := <-told, time.Duration(look)*rollupsLook
			if took := time.Since(started); took != after || !got.settled.Equal(begun.Add(time.Duration(look+1)*time.Minute)) || !slices.Equal(got.aside, want) {
				t.Errorf("after %v: settled until %v; missing %v, want %v", took, got.settled, got.aside, want)
			}
		}
	})
}

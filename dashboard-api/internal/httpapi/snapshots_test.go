package httpapi

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"
)

// Few snapshots are made at once; others wait for their turn, but not for ever.
func TestSnapshotsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &api{showing: semaphore.NewWeighted(maxSnapshots)}
		for range maxSnapshots {
			if err := a.showTurn(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		begun := time.Now()
		var refused *Problem
		if err := a.showTurn(t.Context()); !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable || refused.GetHeaders().Get("Retry-After") == "" || time.Since(begun) != snapshotPatience {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if err := a.showTurn(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("of who is gone: %v", err)
		}
		time.AfterFunc(3*time.Second, func() { a.showing.Release(1) })
		if err := a.showTurn(t.Context()); err != nil {
			t.Errorf("once there is room: %v", err)
		}
	})
}

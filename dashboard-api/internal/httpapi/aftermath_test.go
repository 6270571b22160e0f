package httpapi

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/livefeed"
)

func TestTombstonesAreOwedUntilWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		redis := &fakeRedis{down: true}
		after := NewAftermath(redis, redis, discard())
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- after.Run(ctx) }()
		after.Add(livefeed.Change{TargetID: 1, Op: opDeleted})
		after.Add(livefeed.Change{TargetID: 2, Op: opCreated})
		time.Sleep(time.Minute)
		synctest.Wait()
		redis.mu.Lock()
		redis.down = false
		redis.mu.Unlock()
		time.Sleep(2 * aftermathRetry)
		synctest.Wait()
		if len(redis.buried) != 1 || redis.buried[0] != 1 || len(redis.changes) != 0 {
			t.Errorf("after the outage: buried %v, announced %v", redis.buried, redis.changes)
		}
		after.Add(livefeed.Change{TargetID: 3, Op: opDeleted})
		synctest.Wait()
		if len(redis.buried) != 2 || len(redis.changes) != 1 {
			t.Errorf("in normal times: buried %v, announced %v", redis.buried, redis.changes)
		}
		after.Add(livefeed.Change{TargetID: 4, Op: opDeleted}) // of the last request
		cancel()
		if <-ended; len(redis.buried) != 3 {
			t.Errorf("at the end: buried %v", redis.buried)
		}
	})
}

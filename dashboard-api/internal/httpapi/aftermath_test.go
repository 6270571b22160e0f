package httpapi

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/livefeed"
)

// fakeRedis notes what it is told, or fails.
type fakeRedis struct {
	mu      sync.Mutex
	hangs   bool
	asked   int // while it hung
	changes []livefeed.Change
	buried  []int64
}

func (f *fakeRedis) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// answer waits for ctx while Redis hangs, and notes what was told.
func (f *fakeRedis) answer(ctx context.Context, note func()) error {
	f.mu.Lock()
	hangs := f.hangs
	if hangs {
		f.asked++
	}
	f.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	f.set(note)
	return nil
}

func (f *fakeRedis) AnnounceChanges(ctx context.Context, changes ...livefeed.Change) error {
	return f.answer(ctx, func() { f.changes = append(f.changes, changes...) })
}

func (f *fakeRedis) Tombstone(ctx context.Context, ids ...int64) error {
	return f.answer(ctx, func() { f.buried = append(f.buried, ids...) })
}

func TestAftermathTriesOnceAndDelaysNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		redis := &fakeRedis{hangs: true}
		after := NewAftermath(redis, redis, discard())
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- after.Run(ctx) }()
		asked := time.Now()
		for id := range int64(1000) {
			after.Add(livefeed.Change{TargetID: id, Op: opDeleted})
			if id == 0 {
				synctest.Wait() // it is being told; the others wait behind it
			}
		}
		if waited := time.Since(asked); waited > 0 {
			t.Errorf("a thousand deletions waited %v for Redis", waited)
		}
		time.Sleep(2*aftermathCall + time.Second) // one call for the first, one for all the others
		synctest.Wait()
		redis.set(func() { redis.hangs = false })
		after.Add(livefeed.Change{TargetID: 7001, Op: opDeleted})
		after.Add(livefeed.Change{TargetID: 7002, Op: opCreated})
		synctest.Wait()
		if !slices.Equal(redis.buried, []int64{7001}) || len(redis.changes) != 2 {
			t.Errorf("once Redis is back: buried %v, announced %v", redis.buried, redis.changes)
		}
		redis.set(func() { redis.buried, redis.changes = nil, nil })
		var all []livefeed.Change
		for id := range int64(2*aftermathPart + 1) {
			all = append(all, livefeed.Change{TargetID: id, Op: opUpdated, Seq: id})
			after.Add(all[id])
		}
		synctest.Wait()
		if !slices.Equal(redis.changes, all) {
			t.Errorf("of %d changes %d were told", len(all), len(redis.changes))
		}
		redis.set(func() { redis.changes = nil })
		after.Add(livefeed.Change{TargetID: 7003, Op: opDeleted}) // of the last request
		cancel()
		if <-ended; !slices.Equal(redis.buried, []int64{7003}) || len(redis.changes) != 1 {
			t.Errorf("at the end: buried %v, announced %v", redis.buried, redis.changes)
		}
	})
}

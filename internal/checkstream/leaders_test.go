package checkstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	simTargets = 1200
	simSpan    = 80 // seconds published
	simChunk   = 25
)

// simPlan is what every leader computes for a second.
func simPlan(second int64) []uptime.Check {
	var due []uptime.Check
	for id := int64(1); id <= simTargets; id++ {
		slot := uptime.NextSlot(id, 10*time.Second, time.Unix(second, 0))
		if slot.Unix() == second {
			c := check(second, id)
			c.ScheduledAt, c.Interval = slot, 10*time.Second
			due = append(due, c)
		}
	}
	return due
}

// sim is several publishers that all believe to be the leader, crash and freeze
// anywhere, and three regions whose probers crash, too.
type sim struct {
	t        *testing.T
	r        *Redis
	from, to int64
	planned  map[string]bool
	added    atomic.Int64
	crashes  atomic.Int64
	longest  atomic.Int64
	finished chan struct{} // everything is published
	once     sync.Once
}

func (s *sim) wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// lead publishes from the checkpoint on until all seconds are there. Each round is a
// life of its own: it may end or stop for a while after any chunk.
func (s *sim) lead(ctx context.Context, random *rand.Rand) {
	p := NewPublisher(s.r)
	for ctx.Err() == nil {
		clock, err := p.Clock(ctx)
		if ctx.Err() != nil { // another has published the last second
			return
		}
		if err != nil {
			s.t.Errorf("clock: %v", err)
			return
		}
		if clock.Tick >= s.to {
			s.once.Do(func() { close(s.finished) })
			return
		}
		s.publishSecond(ctx, p, clock, random)
	}
}

func (s *sim) publishSecond(ctx context.Context, p *Publisher, clock Clock, random *rand.Rand) {
	second := clock.Tick + 1
	due := simPlan(second)
	for len(due) > 0 && due[0].TargetID <= clock.After {
		due = due[1:]
	}
	for {
		n := min(len(due), simChunk)
		last := n == len(due)
		switch random.IntN(40) {
		case 0:
			s.crashes.Add(1)
			return
		case 1: // frozen with an old idea of the world, then goes on
			s.wait(ctx, time.Duration(random.IntN(30))*time.Millisecond)
		}
		added, err := p.Publish(ctx, Chunk{Second: second, Seq: 1, Checks: due[:n], Last: last, BacklogMax: 2000})
		s.added.Add(int64(added))
		var full *FullError
		switch {
		case errors.Is(err, ErrStale), ctx.Err() != nil:
			return // somebody else has done it
		case errors.As(err, &full):
			s.wait(ctx, time.Millisecond)
			continue
		case err != nil:
			s.t.Errorf("publish: %v", err)
			return
		}
		if due = due[n:]; last {
			return
		}
	}
}

// probe settles a region's entries, in lives that end now and then with entries in hand.
func (s *sim) probe(ctx context.Context, region, name string, random *rand.Rand, settled *sync.Map) {
	for ctx.Err() == nil {
		c := NewConsumer(s.r, region, name)
		own, _, err := c.Own(ctx, Room{1000, 1000})
		for err == nil && ctx.Err() == nil {
			if len(own) > 0 && random.IntN(25) == 0 {
				s.crashes.Add(1)
				break
			}
			for _, e := range own {
				if e.Gone || e.Err != nil {
					s.t.Errorf("%s: %+v", region, e)
				}
				settled.Store(e.ID, true)
			}
			if len(own) > 0 {
				if err = c.Ack(ctx, idsOf(own)); err != nil {
					break
				}
			}
			own, err = c.Read(ctx, 1+random.IntN(120), 20*time.Millisecond)
		}
		if err != nil && ctx.Err() == nil {
			s.t.Errorf("%s: %v", region, err)
			return
		}
	}
}

func (s *sim) trim(ctx context.Context) {
	p := NewPublisher(s.r)
	for ctx.Err() == nil {
		report, err := p.Trim(ctx)
		if err != nil && ctx.Err() == nil {
			s.t.Errorf("trim: %v", err)
		}
		s.longest.Store(max(s.longest.Load(), report.Length))
		s.wait(ctx, 5*time.Millisecond)
	}
}

// Regression: several self-declared leaders lose nothing and double nothing.
//
// Promise: several publishers with crashes lose and double no slot
func TestLeadersWithCrashesLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	r := open(t, testbackend.Redis(t))
	regions := []string{"ap", "eu", "us"}
	must(t, NewPublisher(r).EnsureGroups(t.Context(), regions))
	now := redisNow(t, r)
	s := &sim{t: t, r: r, from: now - simSpan, to: now - 1, planned: make(map[string]bool), finished: make(chan struct{})}
	setTick(t, r, s.from-1)
	for second := s.from; second <= s.to; second++ {
		for _, c := range simPlan(second) {
			s.planned[entryID(second, c.TargetID)] = true
		}
	}

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var group sync.WaitGroup
	settled := make([]sync.Map, len(regions))
	for i := range 4 {
		group.Go(func() { s.lead(ctx, rand.New(rand.NewPCG(1, uint64(i)))) })
	}
	for i, region := range regions {
		for n := range 2 {
			group.Go(func() {
				s.probe(ctx, region, fmt.Sprint("p", n), rand.New(rand.NewPCG(uint64(i), uint64(n))), &settled[i])
			})
		}
	}
	group.Go(func() { s.trim(ctx) })

	fleet := NewFleet(r)
	select {
	case <-s.finished:
	case <-ctx.Done():
		t.Error("not everything was published in time")
	}
	for ctx.Err() == nil {
		groups, err := fleet.Groups(ctx)
		must(t, err)
		unsettled := 0
		for _, g := range groups {
			if g.Lag > 0 {
				unsettled++
			}
		}
		if unsettled == 0 {
			break
		}
		s.wait(ctx, 10*time.Millisecond)
	}
	cancel()
	group.Wait()

	info, err := r.commands.XInfoStream(t.Context(), keyChecks).Result()
	must(t, err)
	if n := int64(len(s.planned)); info.EntriesAdded != n || s.added.Load() != n {
		t.Errorf("%d planned, %d in the stream, %d reported", n, info.EntriesAdded, s.added.Load())
	}
	for i, region := range regions {
		count := 0
		settled[i].Range(func(id, _ any) bool {
			count++
			if !s.planned[id.(string)] {
				t.Errorf("%s: %v was never planned", region, id)
			}
			return true
		})
		if count != len(s.planned) {
			t.Errorf("%s settled %d of %d", region, count, len(s.planned))
		}
	}
	if s.longest.Load() > 2000+simChunk+200 || s.crashes.Load() == 0 {
		t.Errorf("stream grew to %d; %d crashes", s.longest.Load(), s.crashes.Load())
	}
	t.Logf("%d checks, %d regions, %d crashes, at most %d entries in the stream", len(s.planned), len(regions), s.crashes.Load(), s.longest.Load())
}

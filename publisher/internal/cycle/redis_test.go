package cycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

var errDown = errors.New("connection refused")

// redisServer is the stream of checks with the guards of the real scripts.
type redisServer struct {
	mu      sync.Mutex
	skew    time.Duration
	down    bool
	hangs   time.Duration // how long it takes to be down
	lose    func() bool   // whether the next reply gets lost
	exists  bool
	fresh   bool
	tick    int64
	seq     int64
	last    [2]int64 // second and target of the last entry
	length  int64
	drained bool // consumers keep the stream empty
	refused map[int64]int64
	groups  map[string]bool
	raised  []int64

	added     map[uptime.Slot]int // slots of all entries ever added
	addedAt   []time.Time         // Redis' time of every entry
	ahead     int64               // s: how far before its time the earliest entry was added
	unordered int
	twice     int
	noGroup   int
}

func newRedisServer() *redisServer {
	return &redisServer{refused: map[int64]int64{}, groups: map[string]bool{}, added: map[uptime.Slot]int{}, drained: true, lose: func() bool { return false }}
}

func (r *redisServer) now() time.Time { return time.Now().Add(r.skew) }

func (r *redisServer) loseData() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exists, r.fresh, r.tick, r.seq, r.last, r.length = false, false, 0, 0, [2]int64{}, 0
	r.refused, r.groups = map[int64]int64{}, map[string]bool{}
}

// remember gives a function that puts Redis back to what it is now: entries added
// since are gone, as if nobody had read them.
func (r *redisServer) remember() (restore func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tick, seq, last, length, added := r.tick, r.seq, r.last, r.length, maps.Clone(r.added)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.tick, r.seq, r.last, r.length, r.added = tick, seq, last, length, added
	}
}

func (r *redisServer) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// process is one publisher's connection: it can freeze and die in any call.
type process struct {
	*redisServer
	frozen atomic.Pointer[chan struct{}] // closed to go on
	dead   atomic.Bool
}

func (p *process) freeze() {
	gate := make(chan struct{})
	p.frozen.CompareAndSwap(nil, &gate)
}

func (p *process) thaw() {
	if gate := p.frozen.Swap(nil); gate != nil {
		close(*gate)
	}
}

func (p *process) wait() {
	if gate := p.frozen.Load(); gate != nil {
		<-*gate
	}
}

// call runs a script: refused connections, freezes before and after, lost replies.
func (p *process) call(script func() error) error {
	p.wait()
	defer p.wait() // the answer comes after the thaw
	if p.dead.Load() {
		return errDown
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		hangs := p.hangs
		p.mu.Unlock()
		time.Sleep(hangs)
		p.mu.Lock()
		return errDown
	}
	err := script()
	if p.lose() {
		return errDown
	}
	return err
}

func (p *process) Clock(context.Context) (clock checkstream.Clock, err error) {
	err = p.call(func() error {
		r := p.redisServer
		if !r.exists {
			r.exists, r.fresh, r.tick = true, true, r.now().Unix()+1
		}
		if r.last[0] > r.tick+1 {
			r.tick = r.last[0] - 1
		}
		if r.drained {
			r.length = 0
		}
		clock = checkstream.Clock{Tick: r.tick, Seq: r.seq, Now: r.now(), Fresh: r.fresh, Backlog: r.length}
		if r.last[0] == r.tick+1 {
			clock.After = r.last[1]
		}
		return nil
	})
	return clock, err
}

func (p *process) Raise(_ context.Context, seq int64) (tick int64, err error) {
	err = p.call(func() error {
		if !p.exists {
			return fmt.Errorf("%w: %w", checkstream.ErrGap, checkstream.ErrLost)
		}
		if seq < p.seq {
			return checkstream.ErrSuperseded
		}
		p.seq = seq
		p.raised = append(p.raised, seq)
		tick = max(p.tick, p.last[0])
		return nil
	})
	return tick, err
}

func (p *process) guard(seq, second int64) error {
	switch {
	case !p.exists:
		return fmt.Errorf("%w: %w", checkstream.ErrGap, checkstream.ErrLost)
	case seq < p.seq:
		return checkstream.ErrSuperseded
	case second > p.now().Unix()+3:
		return checkstream.ErrFuture
	}
	return nil
}

func (p *process) Publish(_ context.Context, c checkstream.Chunk) (added int, err error) {
	err = p.call(func() error {
		if err := p.guard(c.Seq, c.Second); err != nil {
			return err
		}
		if c.Second > p.tick+1 {
			return checkstream.ErrGap
		}
		if c.Second <= p.tick || p.last[0] > c.Second {
			return checkstream.ErrStale
		}
		if len(c.Checks) > checkstream.MaxChunk || !slices.IsSortedFunc(c.Checks, func(a, b uptime.Check) int { return int(a.TargetID - b.TargetID) }) {
			p.unordered++
		}
		var fresh []uptime.Check
		for _, check := range c.Checks {
			if c.Second > p.last[0] || check.TargetID > p.last[1] {
				fresh = append(fresh, check)
			}
		}
		if len(fresh) > 0 && c.BacklogMax > 0 && p.length >= c.BacklogMax {
			if known, found := p.refused[c.Second]; !found || fresh[0].TargetID < known {
				p.refused[c.Second] = fresh[0].TargetID
			}
			return &checkstream.FullError{FirstRefused: fresh[0].TargetID}
		}
		for _, check := range fresh {
			p.add(c.Second, check)
			added++
		}
		p.seq, p.fresh = c.Seq, false
		if c.Last {
			p.tick = c.Second
		}
		return nil
	})
	return added, err
}

func (p *process) add(second int64, check uptime.Check) {
	if check.ScheduledAt.Unix() != second {
		p.unordered++
	}
	for _, region := range check.Regions {
		p.added[check.Slot(region)]++
		if p.added[check.Slot(region)] > 1 {
			p.twice++
		}
		if !p.groups[region] {
			p.noGroup++
		}
	}
	p.ahead = max(p.ahead, second-p.now().Unix())
	p.last = [2]int64{second, check.TargetID}
	p.length++
	p.addedAt = append(p.addedAt, p.now())
}

func (p *process) Skip(_ context.Context, seq, to int64) error {
	return p.call(func() error {
		if err := p.guard(seq, to); err != nil {
			return err
		}
		if to <= p.tick || p.last[0] > to {
			return checkstream.ErrStale
		}
		p.tick, p.seq, p.fresh = to, seq, false
		return nil
	})
}

func (p *process) Refused(context.Context) (refused map[int64]int64, err error) {
	err = p.call(func() error {
		refused = map[int64]int64{}
		for second, id := range p.refused {
			refused[second] = id
		}
		return nil
	})
	return refused, err
}

func (p *process) ClearRefused(_ context.Context, second int64) error {
	return p.call(func() error { delete(p.refused, second); return nil })
}

func (p *process) EnsureGroups(_ context.Context, regions []string) error {
	return p.call(func() error {
		for _, region := range regions {
			p.groups[region] = true
		}
		return nil
	})
}

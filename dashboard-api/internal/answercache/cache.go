package answercache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/availability"
)

// MaxBytes is the bound of what is kept unless Options say otherwise.
const MaxBytes = 32 << 20

// Question names an answer, and says which writes change it.
type Question struct {
	Key     string
	Targets []int64           // whose rows it is made of; none: those of all
	Span    availability.Span // the slots it is made of; of one that moves with the clock those to come, too
}

// Answer is what the store said.
type Answer struct {
	Body  []byte    // never changed once it is an answer
	Until time.Time // it may be given again before; zero: never

	ETag string    // strong; set by the cache
	At   time.Time // when the store was asked; set by the cache
}

// Options of a cache.
type Options struct {
	MaxBytes int                   // 0: MaxBytes
	Now      func() time.Time      // nil: the machine's clock
	Metrics  prometheus.Registerer // nil: none
}

// Cache keeps answers. All methods are safe for concurrent use; telling a nil Cache of
// writes does nothing.
type Cache struct {
	now     func() time.Time
	most    int
	metrics *metrics

	mu      sync.Mutex
	clock   uint64 // orders readers and questions
	flights map[string]*flight
	kept    *shelf
	holds   holds
	sources []*Source

	listener func(readable time.Time, writes []Write) // nil: there is none
}

// New makes an empty cache. Without a Source it keeps nothing.
func New(o Options) *Cache {
	if o.MaxBytes <= 0 {
		o.MaxBytes = MaxBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Cache{now: o.Now, most: o.MaxBytes, flights: map[string]*flight{}, kept: newShelf(), holds: newHolds()}
	c.metrics = newMetrics(o.Metrics, c)
	return c
}

// flight is a question under way.
type flight struct {
	question Question
	begun    uint64
	at       time.Time
	stale    bool // something it may not have seen was written since it began
	held     bool // what was announced before it began may not be readable yet
	waiting  int
	cancel   context.CancelFunc

	done   chan struct{} // closed when answer and err are there
	answer Answer
	err    error
}

// Get gives the answer that is kept, or asks for one together with everybody else who
// wants it now. It waits no longer than ctx lasts; ask runs on while others wait for it.
func (c *Cache) Get(ctx context.Context, q Question, ask func(context.Context) (Answer, error)) (Answer, error) {
	c.mu.Lock()
	c.clock++
	arrived := c.clock
	for {
		now := c.now()
		flowing := c.flowing(now)
		if answer, found := c.kept.get(q.Key, now); found && flowing {
			c.mu.Unlock()
			c.metrics.given(wasKept)
			return answer, nil
		}
		f := c.flights[q.Key]
		how := wasShared
		if f == nil {
			f, how = c.begin(ctx, q, ask, now), wasAsked
		}
		if f.begun > arrived || !f.stale && !f.held && flowing {
			f.waiting++
			c.mu.Unlock()
			c.metrics.given(how)
			return c.await(ctx, f)
		}
		c.mu.Unlock()
		select { // it began before this reader came, and may have seen less
		case <-f.done:
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		}
		c.mu.Lock()
	}
}

func (c *Cache) await(ctx context.Context, f *flight) (Answer, error) {
	select {
	case <-f.done:
		return f.answer, f.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel()
		c.land(f)
	}
	return Answer{}, ctx.Err()
}

// begin asks. The caller holds the lock.
func (c *Cache) begin(ctx context.Context, q Question, ask func(context.Context) (Answer, error), now time.Time) *flight {
	c.clock++
	f := &flight{question: q, begun: c.clock, at: now, held: c.holds.touch(q, now), done: make(chan struct{})}
	asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if deadline, bounded := ctx.Deadline(); bounded {
		asking, cancel = context.WithDeadline(context.WithoutCancel(ctx), deadline)
	}
	f.cancel = cancel
	c.flights[q.Key] = f
	go func() {
		defer cancel()
		answer, err := safely(asking, ask)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.land(f)
		f.answer, f.err = c.finish(f, answer, err), err
		close(f.done)
	}()
	return f
}

// land makes room for the next question of the key.
func (c *Cache) land(f *flight) {
	if c.flights[f.question.Key] == f {
		delete(c.flights, f.question.Key)
	}
}

// finish completes an answer, and keeps it if it may be given again.
func (c *Cache) finish(f *flight, answer Answer, err error) Answer {
	if err != nil {
		return Answer{}
	}
	answer.At, answer.ETag = f.at, Tag(answer.Body)
	if now := c.now(); !f.stale && !f.held && c.flowing(now) && now.Before(answer.Until) {
		c.kept.put(f.question, answer, c.most)
	}
	return answer
}

// Tag is the strong ETag of a body.
func Tag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// safely turns a panic into an error: it must end the request, not the process.
func safely(ctx context.Context, ask func(context.Context) (Answer, error)) (answer Answer, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("asking panicked: %v\n%s", cause, debug.Stack())
		}
	}()
	return ask(ctx)
}

package recorder

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Sink makes a batch durable. It may be asked again with the same token after any
// error but a permanent one (resultstore.IsPermanent). ClickHouse is a sink, and so
// is anything that stands in for it while it is away.
type Sink interface {
	Insert(ctx context.Context, batch resultstore.Batch) error
}

var _ Sink = (*resultstore.Store)(nil)

// ErrStopped is the answer for rows that were not durable when the recorder stopped.
var ErrStopped = errors.New("recorder stopped")

// Options of a Recorder. Zero values mean the defaults.
type Options struct {
	Prober, Region string
	MaxRows        int           // rows of a batch, default 1,000
	MaxAge         time.Duration // how long a row waits for company, default 1 s
	MaxBuffered    int           // rows held before Record blocks, default 50,000
	FlushTimeout   time.Duration // for what is held when Run's context ends, default 20 s
	// Reject takes rows that can never be stored. It is called from the writer
	// goroutine, before done.
	Reject  func(rows []uptime.Result, err error)
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

func (o *Options) setDefaults() {
	if o.MaxRows <= 0 {
		o.MaxRows = 1000
	}
	if o.MaxAge <= 0 {
		o.MaxAge = time.Second
	}
	if o.MaxBuffered <= 0 {
		o.MaxBuffered = 50_000
	}
	if o.FlushTimeout <= 0 {
		o.FlushTimeout = 20 * time.Second
	}
	if o.Reject == nil {
		o.Reject = func([]uptime.Result, error) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Recorder collects rows and writes them in batches. Run must be called once.
type Recorder struct {
	sink    Sink
	o       Options
	metrics *metrics
	room    *semaphore.Weighted // MaxBuffered rows
	wake    chan struct{}       // holds one token when the queue has changed
	stopped context.Context     //nolint:containedctx // a signal, not a call's context: ends when Run no longer accepts rows
	stop    context.CancelFunc

	givenBack int // rows not stored when Run ended; only the writer goroutine's

	mu       sync.Mutex
	queue    []item
	writing  []item // the batch being written: also buffered
	closed   bool
	retrying bool
	lastErr  string
}

// item is one row and the Record it came with.
type item struct {
	row    uptime.Result
	record *record
	at     time.Time
}

// record is one call of Record; only the writer goroutine touches it.
type record struct {
	left int // rows not settled yet
	room int64
	err  error
	done func(error)
}

// New makes a Recorder that writes to sink.
func New(sink Sink, options Options) *Recorder {
	options.setDefaults()
	stopped, stop := context.WithCancel(context.Background())
	r := &Recorder{
		sink: sink, o: options, room: semaphore.NewWeighted(int64(options.MaxBuffered)),
		wake: make(chan struct{}, 1), stopped: stopped, stop: stop,
	}
	r.metrics = newMetrics(options.Metrics, r)
	return r
}

// Record hands rows over and returns. It blocks while the buffer is full. When it
// returns nil, done will be called exactly once, from the writer goroutine: with nil
// when all the rows are durable. done must be quick and must not call Record. When
// Record returns an error, nothing was taken and done is not called.
func (r *Recorder) Record(ctx context.Context, rows []uptime.Result, done func(error)) error {
	room := int64(min(len(rows), r.o.MaxBuffered))
	if err := r.acquire(ctx, room); err != nil {
		return err
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		r.room.Release(room)
		return ErrStopped
	}
	rec := &record{left: len(rows), room: room, done: done}
	for _, row := range rows {
		if row.IngestedAt.IsZero() {
			row.IngestedAt = now // once: a retry must rank like the first send
		}
		r.queue = append(r.queue, item{row: row, record: rec, at: now})
	}
	if len(rows) == 0 {
		r.queue = append(r.queue, item{record: rec, at: now}) // nothing to store, still one answer
	}
	r.signal()
	return nil
}

// RecordWait hands rows over and waits until they are durable. When ctx ends first
// the rows may still be stored.
func (r *Recorder) RecordWait(ctx context.Context, rows []uptime.Result) error {
	answer := make(chan error, 1)
	if err := r.Record(ctx, rows, func(err error) { answer <- err }); err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Recorder) acquire(ctx context.Context, room int64) error {
	if r.room.TryAcquire(room) {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.stopped, func() { cancel(ErrStopped) })()
	if err := r.room.Acquire(ctx, room); err != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (r *Recorder) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// State is a snapshot for health pages.
type State struct {
	Buffered   int           // rows accepted and not settled
	OldestAge  time.Duration // of the oldest of them
	Retrying   bool          // the last insert failed and is being repeated
	LastError  string        // of the last failed insert; "" once one has worked
	Saturation float64       // Buffered over MaxBuffered: at 1 Record blocks
}

// State tells how far behind the writer is.
func (r *Recorder) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := State{Buffered: len(r.queue) + len(r.writing), Retrying: r.retrying, LastError: r.lastErr}
	s.Saturation = min(1, float64(s.Buffered)/float64(r.o.MaxBuffered))
	if len(r.writing) > 0 {
		s.OldestAge = time.Since(r.writing[0].at)
	} else if len(r.queue) > 0 {
		s.OldestAge = time.Since(r.queue[0].at)
	}
	return s
}

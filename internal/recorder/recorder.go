package recorder

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/semaphore"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Sink makes a batch durable. It may be asked again with the same token after any
// error but a permanent one (resultstore.IsPermanent).
type Sink interface {
	Insert(ctx context.Context, batch resultstore.Batch) error
}

// Spool keeps batches on disk while the sink is away: see spool.Spool for what each
// answer means. It is used by one appender and one replayer at once.
type Spool interface {
	Append(b resultstore.Batch) error
	Oldest() (spool.Item, bool)
	Read(it spool.Item) (resultstore.Batch, error)
	Remove(it spool.Item) error
	Wake() <-chan struct{}
	State() spool.State
}

var (
	_ Sink  = (*resultstore.Store)(nil)
	_ Spool = (*spool.Spool)(nil)
)

var (
	// ErrStopped is the answer for rows that were not durable when the recorder stopped.
	ErrStopped = errors.New("recorder stopped")
	// ErrReplayed marks the rejection of a row that had been durable in the spool.
	ErrReplayed = errors.New("replayed from the spool")
)

// Options of a Recorder. Zero values mean the defaults.
type Options struct {
	Prober, Region string
	MaxRows        int           // rows that fill a batch, default 1,000
	MostRows       int           // rows of a batch when more wait: a store takes many at once for much less a row; default MaxRows
	MaxAge         time.Duration // how long a row waits for company, default 1 s
	AwayAge        time.Duration // the same while rows go to the spool: fewer batches are sooner replayed; default MaxAge
	MaxBuffered    int           // rows held before Record blocks, default 50,000
	FlushTimeout   time.Duration // for what is held when Run's context ends, default 20 s
	// Spool takes what the store does not. Without one, batches are repeated from
	// memory until the store takes them.
	Spool Spool
	// Fatal is told, once, of a spool whose disk cannot be trusted any more: the process
	// must end (exit code 74). From then on nothing is called durable.
	Fatal func(error)
	// Deleted says which targets are gone; their rows are left out of a replay. With an
	// error, or none given, everything is replayed.
	Deleted func(ctx context.Context, ids []int64) (map[int64]bool, error)
	// TooOld says that results of a slot are not kept any more. Such rows are left out of a
	// replay and counted: nobody could look at them again. None given: the store is asked.
	TooOld func(slot time.Time) bool
	// Reject takes each row that can never be stored: of a batch from Record before its
	// Done, from the writer goroutine, and of a replayed one, whose Done was called long
	// ago, from the replayer, with an error that is ErrReplayed. A replay that is cut off
	// may reject the same row again.
	Reject func(row uptime.Result, err error)
	// BeatWrite and BeatReplay are for a watchdog: the writer and the replayer call theirs
	// around every insert and every call to the disk, and every ten seconds while there is
	// nothing to do. The longest silence of a healthy one is an insert, and for the
	// replayer the minute for which a breaker may hold its trial.
	BeatWrite, BeatReplay func()

	Log     *slog.Logger
	Metrics prometheus.Registerer
}

func (o *Options) setDefaults() {
	if o.MaxRows <= 0 {
		o.MaxRows = 1000
	}
	o.MostRows = max(o.MostRows, o.MaxRows)
	if o.MaxAge <= 0 {
		o.MaxAge = time.Second
	}
	if o.AwayAge <= 0 {
		o.AwayAge = o.MaxAge
	}
	if o.MaxBuffered <= 0 {
		o.MaxBuffered = 50_000
	}
	if o.FlushTimeout <= 0 {
		o.FlushTimeout = 20 * time.Second
	}
	if o.Fatal == nil {
		o.Fatal = func(error) {}
	}
	if o.TooOld == nil {
		o.TooOld = func(time.Time) bool { return false }
	}
	if o.Reject == nil {
		o.Reject = func(uptime.Result, error) {}
	}
	if o.BeatWrite == nil {
		o.BeatWrite = func() {}
	}
	if o.BeatReplay == nil {
		o.BeatReplay = func() {}
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
	breaker *breaker
	room    *semaphore.Weighted // MaxBuffered rows
	wake    chan struct{}       // holds one token when the queue has changed
	stopped context.Context     //nolint:containedctx // a signal, not a call's context: ends when Run no longer accepts rows
	stop    context.CancelFunc

	diskError atomic.Pointer[error] // of a spool that cannot be trusted any more
	givenBack int                   // rows not durable when Run ended; only the writer goroutine's

	mu                    sync.Mutex
	queue                 []item
	writing               []item // the batch being written: also buffered
	attempt               int    // of it
	hurry                 bool   // some row of the queue waits for no company
	closed                bool
	lastErr               string
	tooOld                int       // rows of the spool
	tooOldAt              time.Time // when the last of them was refused
	retrying, replayFails bool      // the writer's, the replayer's last insert failed
}

// item is one row and the Record it came with.
type item struct {
	row    *uptime.Result // nobody writes it any more
	record *record
	at     time.Time
}

// record is one call of Record; only the writer goroutine touches it.
type record struct {
	left  int // rows not settled yet
	room  int64
	err   error
	watch Watch
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
	r.breaker = newBreaker(options.Spool != nil, options.Log, func(to gobreaker.State) {
		r.metrics.transition(to)
		r.signal() // rows wait otherwise from now on
	})
	return r
}

// Record hands rows over and returns: nobody may change them from then on. It blocks while the buffer is full. When it
// returns nil, watch.Done will be called exactly once, with nil when all the rows are
// durable. When Record returns an error, nothing was taken and Done is not called.
func (r *Recorder) Record(ctx context.Context, rows []uptime.Result, watch Watch) error {
	room := int64(min(len(rows), r.o.MaxBuffered))
	if err := r.acquire(ctx, room); err != nil {
		return err
	}
	now := time.Now()
	for i := range rows {
		if rows[i].IngestedAt.IsZero() {
			rows[i].IngestedAt = now // once: a retry and a replay must rank like the first send
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		r.room.Release(room)
		return ErrStopped
	}
	r.hurry = r.hurry || watch.Hurry
	rec := &record{left: len(rows), room: room, watch: watch}
	for i := range rows {
		r.queue = append(r.queue, item{row: &rows[i], record: rec, at: now})
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
	if err := r.Record(ctx, rows, Watch{Done: func(err error) { answer <- err }}); err != nil {
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

package recorder

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/uptime"
)

// life is one process, from boot to crash.
type life struct {
	w      *world
	r      *Recorder
	disk   *spool.Spool
	cancel context.CancelFunc
	ended  chan struct{}

	// guarded by world.mu
	over  bool // crashed: nothing that it does counts any more
	fatal error
	taken map[int64]bool
	read  uint64 // sequence of the last file replayed
}

func (w *world) boot() *life {
	l := &life{w: w, ended: make(chan struct{}), taken: map[int64]bool{}}
	var err error
	for range 2 {
		l.disk, err = spool.Open(spool.Options{Dir: "/spool", FS: w.fs.Process(), MaxBytes: w.maxBytes})
		if err == nil {
			break
		}
		w.fs.Heal() // a bad disk: somebody changes it, and the supervisor starts the process again
	}
	if err != nil {
		w.t.Fatalf("seed %d: %v", w.seed, err)
	}
	l.r = New(l, Options{
		Prober: "p", Region: "eu", MaxRows: maxRows, MostRows: mostRows, MaxAge: 50 * time.Millisecond, MaxBuffered: maxBuffered, FlushTimeout: 2 * time.Second,
		Spool: l, Fatal: l.died, Reject: l.rejected,
	})
	l.r.breaker.random = func(below time.Duration) time.Duration {
		w.mu.Lock()
		defer w.mu.Unlock()
		return time.Duration(w.luck.Int64N(int64(below)))
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	l.cancel = cancel
	w.lives.Go(func() { _ = l.r.Run(ctx); close(l.ended) })
	w.lives.Go(func() { l.consume(ctx) })
	return l
}

// crash ends a process at once. Whatever it had taken is delivered again.
func (w *world) crash(l *life, how func()) *life {
	w.mu.Lock()
	l.over = true
	how()
	w.mu.Unlock()
	l.cancel()
	w.redeliver(l)
	return w.boot()
}

// restart ends a process in order.
func (w *world) restart(l *life) *life {
	w.end(l)
	return w.boot()
}

func (w *world) end(l *life) {
	l.cancel()
	<-l.ended
	if err := l.disk.Close(); err != nil {
		w.t.Errorf("seed %d: %v", w.seed, err)
	}
	w.redeliver(l)
	w.mu.Lock()
	l.over = true
	w.mu.Unlock()
}

func (w *world) redeliver(l *life) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for target := range l.w.targets { // in order
		if l.taken[target+1] {
			w.pending = append(w.pending, target+1)
		}
	}
	l.taken = map[int64]bool{}
	w.signal()
}

func (l *life) broken() bool {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.fatal != nil
}

// consume takes slots from the stream and records them, a few at a time.
func (l *life) consume(ctx context.Context) {
	w := l.w
	for {
		w.mu.Lock()
		n := min(len(w.pending), 1+w.luck.IntN(5))
		var group []int64
		if !l.over && l.fatal == nil {
			group = slices.Clone(w.pending[:n])
			w.pending = w.pending[n:]
		}
		rows := make([]uptime.Result, len(group))
		for i, target := range group {
			l.taken[target] = true
			w.made++ // a slot that is measured again at once is another row
			rows[i] = uptime.Result{TargetID: target, Region: "eu", ScheduledAt: time.Now().Truncate(time.Hour), Status: uptime.StatusUp, IngestedAt: time.Now().Add(w.made)}
		}
		w.mu.Unlock()
		if len(group) > 0 {
			answered := false
			err := l.r.Record(ctx, rows, Watch{Done: func(err error) {
				if answered {
					w.t.Errorf("seed %d: a second answer", w.seed)
				}
				answered = true
				l.answered(group, err)
			}})
			if err != nil { // it takes no more: the process is about to end
				l.answered(group, ErrStopped)
				<-ctx.Done()
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		if len(group) == 0 {
			select {
			case <-w.more:
			case <-ctx.Done():
			}
		}
	}
}

// answered is what a prober does with an answer: it acknowledges, buries, or leaves
// the entry pending.
func (l *life) answered(group []int64, err error) {
	w := l.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.over {
		return
	}
	if err == nil && l.fatal != nil {
		w.t.Errorf("seed %d: called durable after %v", w.seed, l.fatal)
	}
	for _, target := range group {
		delete(l.taken, target)
		switch {
		case err == nil, resultstore.IsPermanent(err) && !w.dead[target]:
			w.acked[target] = true
		case !resultstore.IsPermanent(err):
			w.pending = append(w.pending, target)
			w.signal()
		}
	}
}

func (l *life) rejected(row uptime.Result, _ error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	if !l.over {
		l.w.dead[row.TargetID] = true
	}
}

func (l *life) died(err error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	if !l.over {
		l.fatal = err
	}
}

// Insert is the store, as this process sees it.
func (l *life) Insert(ctx context.Context, b resultstore.Batch) error {
	w := l.w
	w.mu.Lock()
	if l.over {
		w.mu.Unlock()
		return errAway
	}
	m, takes := w.mode, time.Duration(w.luck.Int64N(int64(20*time.Millisecond)))
	switch m {
	case slow:
		takes = time.Duration(w.luck.Int64N(int64(8 * time.Second)))
	case hanging:
		takes = 15 * time.Second
	}
	w.mu.Unlock()
	sleep(ctx, takes)
	w.mu.Lock()
	defer w.mu.Unlock()
	heads := w.luck.IntN(2) == 0
	switch {
	case ctx.Err() != nil, l.over, m == hanging: // nobody knows how far it came
		if heads {
			_ = w.store(b)
		}
		return errAway
	case m == down, m == flaky && heads && w.luck.IntN(2) == 0:
		return errAway
	}
	err := w.store(b)
	if m == forgetting || m == flaky && heads {
		return errAway
	}
	return err
}

// The spool, with an eye on it.

func (l *life) Append(b resultstore.Batch) error {
	before := l.w.fs.Names("/spool")
	if err := l.disk.Append(b); err != nil {
		return err
	}
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	for _, name := range l.w.fs.Names("/spool") {
		if strings.HasSuffix(name, ".batch") && !slices.Contains(before, name) {
			l.w.files[name] = targets(b.Rows)
		}
	}
	return nil
}

func (l *life) Read(it spool.Item) (resultstore.Batch, error) {
	b, err := l.disk.Read(it)
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	if it.Seq < l.read {
		l.w.t.Errorf("seed %d: file %d replayed after %d", l.w.seed, it.Seq, l.read)
	}
	l.read = it.Seq
	if errors.Is(err, spool.ErrCorrupt) && l.w.damaged == 0 {
		l.w.t.Errorf("seed %d: %v", l.w.seed, err)
	}
	return b, err
}

func (l *life) Remove(it spool.Item) error { return l.disk.Remove(it) }
func (l *life) Oldest() (spool.Item, bool) { return l.disk.Oldest() }
func (l *life) Wake() <-chan struct{}      { return l.disk.Wake() }
func (l *life) State() spool.State         { return l.disk.State() }

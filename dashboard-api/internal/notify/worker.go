package notify

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/service"
)

const (
	lookEvery   = time.Second
	perChannel  = 4 // batches that are sent at once, by all nodes together
	leaseFor    = time.Minute
	storeCall   = 5 * time.Second
	tryFor      = 24 * time.Hour
	firstPause  = 5 * time.Second
	longestWait = 15 * time.Minute
	longestRest = time.Hour // that a provider may ask for
	forgetEvery = time.Hour
	keptFor     = 90 * 24 * time.Hour
)

// Outbox is where notifications wait.
type Outbox interface {
	Waiting(ctx context.Context, now time.Time) ([]int64, error)
	Claim(ctx context.Context, holder string, channelID int64, most int, now, until time.Time) (incidentstore.Batch, bool, error)
	Settle(ctx context.Context, holder string, b incidentstore.Batch, end incidentstore.Settlement) error
	Rule(ctx context.Context, id int64) (incidentstore.Rule, error)
	Backlog(ctx context.Context, now time.Time) (n int64, since time.Time, err error)
	Forget(ctx context.Context, then time.Time) error
}

var _ Outbox = (*incidentstore.Store)(nil)

// Sender sends messages.
type Sender interface {
	Send(ctx context.Context, channel incidentstore.Channel, m Message) Sent
}

// Health is where the state of the notifications is told.
type Health interface {
	Set(component string, level service.Level, reason string)
}

// WorkerOptions are what a Worker stands on.
type WorkerOptions struct {
	Holder  string        // different in every process
	Of      string        // what is sent, in names of metrics and of what is unwell; "": notification
	Most    int           // senders at once, of all channels together; 0: any number
	TryFor  time.Duration // 0: a day
	Outbox  Outbox
	Sender  Sender
	Health  Health
	Now     func() time.Time // nil: the clock
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Worker is one node's part in sending what is due.
type Worker struct {
	o       WorkerOptions
	metrics *metrics
	wake    chan struct{}
	sending sync.WaitGroup

	mu     sync.Mutex
	busy   map[int64]int       // senders, by channel
	all    int                 // senders
	rests  map[int64]time.Time // until then a provider wants to be left alone
	forgot time.Time           // when old ones were last removed
}

// NewWorker makes a worker; Run does the work.
func NewWorker(o WorkerOptions) *Worker {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Of == "" {
		o.Of = theirs
	}
	if o.TryFor == 0 {
		o.TryFor = tryFor
	}
	return &Worker{o: o, metrics: newMetrics(o.Metrics, o.Of), wake: make(chan struct{}, 1), busy: map[int64]int{}, rests: map[int64]time.Time{}}
}

// Wake has the outbox looked at without delay. It never blocks.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run sends until ctx ends, and then waits for what is being sent: at most twenty seconds.
func (w *Worker) Run(ctx context.Context) error {
	defer w.sending.Wait()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		case <-w.wake:
		}
		if err := w.runOnce(ctx); err != nil && ctx.Err() == nil {
			w.o.Log.Warn("notifications not looked after", "error", err)
		}
	}
}

// runOnce starts senders for the channels for which something is due.
func (w *Worker) runOnce(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, storeCall)
	defer cancel()
	now := w.o.Now()
	waiting, err := w.o.Outbox.Waiting(call, now)
	if err == nil {
		err = w.keepHouse(call, now)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.o.Health.Set(w.o.Of+"s", service.Degraded, "nobody is told anything: "+err.Error())
		return err
	}
	w.o.Health.Set(w.o.Of+"s", service.OK, "")
	for _, id := range waiting {
		if w.begin(id, now) {
			w.sending.Go(func() { w.send(ctx, id) })
		}
	}
	return nil
}

func (w *Worker) keepHouse(ctx context.Context, now time.Time) error {
	n, since, err := w.o.Outbox.Backlog(ctx, now)
	if err != nil {
		return err
	}
	w.metrics.backlog(n, since, now)
	if now.Sub(w.forgot) < forgetEvery {
		return nil
	}
	w.forgot = now
	return w.o.Outbox.Forget(ctx, now.Add(-keptFor))
}

// begin says whether another sender of a channel may start.
func (w *Worker) begin(id int64, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy[id] >= perChannel || now.Before(w.rests[id]) || w.o.Most > 0 && w.all >= w.o.Most {
		return false
	}
	w.busy[id]++
	w.all++
	return true
}

// send sends what is due for a channel, one batch after the other.
func (w *Worker) send(ctx context.Context, id int64) {
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all--
		if w.busy[id]--; w.busy[id] == 0 {
			delete(w.busy, id)
		}
		if w.o.Most > 0 {
			w.Wake() // there is room for another one
		}
	}()
	for first := true; ctx.Err() == nil && (first || w.goesOn(id)); first = false {
		found, err := w.sendNext(ctx, id)
		if err != nil && ctx.Err() == nil {
			w.o.Log.Warn("notification not sent", "channel_id", id, "error", err)
		}
		if err != nil || !found {
			return
		}
	}
}

func (w *Worker) goesOn(id int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.o.Now().Before(w.rests[id])
}

// sendNext claims a batch, sends it and settles it. What was claimed is sent and settled
// although ctx ends meanwhile.
func (w *Worker) sendNext(ctx context.Context, id int64) (found bool, err error) {
	call, cancel := context.WithTimeout(ctx, storeCall)
	now := w.o.Now()
	batch, found, err := w.o.Outbox.Claim(call, w.o.Holder, id, perChannel, now, now.Add(leaseFor))
	cancel()
	if err != nil || !found {
		return found, err
	}
	w.Wake() // more may be due: another sender
	ctx = context.WithoutCancel(ctx)
	follow, err := w.follow(ctx, batch, now)
	if err != nil { // its lease runs out, and it is claimed again
		return true, err
	}
	m := Message{Key: batch.Key, Errand: batch.Errand}
	for _, n := range batch.Notifications {
		m.Items = append(m.Items, n.Payload)
	}
	sent := w.o.Sender.Send(ctx, batch.Channel, m)
	end := w.judge(batch, sent, now)
	if end.Outcome != incidentstore.OutcomeRetry {
		end.Follow = follow
	}
	w.metrics.sent(batch.Channel.Kind, end.Outcome, sent.Took)
	log := w.o.Log.With("channel_id", id, "kind", batch.Channel.Kind, "key", batch.Key, "attempt", batch.Notifications[0].Attempts, "status", end.Status)
	if sent.Failure == nil {
		log.Info("notification delivered", "count", len(batch.Notifications))
	} else {
		log.Warn("notification not delivered", "outcome", string(end.Outcome), "reason", end.Excerpt)
	}
	call, cancel = context.WithTimeout(ctx, storeCall)
	defer cancel()
	return true, w.o.Outbox.Settle(call, w.o.Holder, batch, end)
}

// judge says how an attempt ended, and when there is another.
func (w *Worker) judge(b incidentstore.Batch, sent Sent, now time.Time) incidentstore.Settlement {
	end := incidentstore.Settlement{At: now, Took: sent.Took, Outcome: incidentstore.OutcomeDelivered, Status: sent.Status(), Excerpt: sent.Said()}
	f := sent.Failure
	if f == nil {
		return end
	}
	head := b.Notifications[0]
	wait := max(pause(head.Attempts, rand.Float64()), min(f.After, longestRest)) //nolint:gosec // jitter
	end.Outcome, end.Again = incidentstore.OutcomeRetry, now.Add(wait)
	if f.After > 0 {
		w.mu.Lock()
		end.Rest = now.Add(min(f.After, longestRest))
		w.rests[b.Channel.ID] = end.Rest
		w.mu.Unlock()
	}
	if f.ForGood || end.Again.Sub(head.DueAt) > w.o.TryFor {
		end.Outcome = incidentstore.OutcomeFailed
	}
	return end
}

// pause is how long to wait after so many attempts; at is where between four fifths and six
// fifths of it.
func pause(attempts int, at float64) time.Duration {
	wait := longestWait
	if attempts < 10 {
		wait = min(firstPause<<max(0, attempts-1), longestWait)
	}
	return time.Duration(float64(wait) * (0.8 + 0.4*at))
}

// follow are the reminders after those of a batch. They are known before anything is sent,
// so that none is the last because the database was away.
func (w *Worker) follow(ctx context.Context, b incidentstore.Batch, now time.Time) (all []incidentstore.Notification, err error) {
	for _, n := range b.Notifications {
		if n.Event != incidentstore.Reminded {
			continue
		}
		call, cancel := context.WithTimeout(ctx, storeCall)
		rule, err := w.o.Outbox.Rule(call, n.RuleID)
		cancel()
		if errors.Is(err, incidentstore.ErrRuleNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if again, more := Again(rule, n, now); more {
			all = append(all, again)
		}
	}
	return all, nil
}

package beats

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/heartbeatstore"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	every      = time.Second
	judgeLimit = 500 // heartbeats looked at in one go
	triedEvery = time.Minute
	rowLimit   = 1000
	onItsWay   = time.Second // how long a ping may take from its instant until it is committed
	storeCall  = 5 * time.Second
	recordCall = 20 * time.Second
	announceIn = 2 * time.Second
)

// Keeper is one node's part in looking after heartbeats.
type Keeper struct {
	o       Options
	wake    chan struct{}
	leading atomic.Bool
	told    map[uptime.Slot]time.Time // announced rows that wait, by slot: when they were noted
	unread  map[int64]bool            // heartbeats that this release cannot read, as far as it was tried
	tried   time.Time                 // when all of them were
	written *prometheus.CounterVec
}

// New makes a keeper; Run does the work.
func New(o Options) *Keeper {
	if o.Now == nil {
		o.Now = time.Now
	}
	k := &Keeper{o: o, wake: make(chan struct{}, 1), told: map[uptime.Slot]time.Time{}, written: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "probefleet_heartbeat_rows_total", Help: "Rows of heartbeats that became durable, by status.",
	}, []string{"status"})}
	for s := uptime.StatusUp; s <= uptime.StatusMissed; s++ {
		k.written.WithLabelValues(s.String())
	}
	o.Metrics.MustRegister(k.written)
	return k
}

// Wake has the rows of a ping that was just taken in brought on without delay, when this
// node is the one that does it. It never blocks.
func (k *Keeper) Wake() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Run works until ctx ends, and gives the lease back then.
func (k *Keeper) Run(ctx context.Context) error {
	var both sync.WaitGroup
	both.Go(func() { k.ticks(ctx, nil, k.judgeOnce) })
	both.Go(func() { k.ticks(ctx, k.wake, k.bringOnce) }) // beside: ClickHouse must not hold up deadlines
	both.Wait()
	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeCall)
	defer cancel()
	if k.leading.Load() {
		if err := k.o.Store.Release(release, k.o.Holder); err != nil {
			k.o.Log.Warn("heartbeats not handed over at once", "error", err)
		}
	}
	return ctx.Err()
}

func (k *Keeper) ticks(ctx context.Context, wake <-chan struct{}, once func(context.Context, time.Time) error) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-wake:
		}
		if err := once(ctx, k.o.Now()); err != nil && ctx.Err() == nil {
			k.o.Log.Warn("heartbeats not looked after", "error", err)
		}
	}
}

// judgeOnce takes edits of targets in and ends deadlines that have passed.
func (k *Keeper) judgeOnce(ctx context.Context, now time.Time) error {
	err := k.judge(ctx, now)
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		k.o.Health.Set("heartbeats", service.Degraded, "deadlines are not judged: "+err.Error())
		return err
	}
	k.o.Health.Set("heartbeats", service.OK, "")
	return nil
}

func (k *Keeper) judge(ctx context.Context, now time.Time) error {
	call, cancel := context.WithTimeout(ctx, storeCall)
	defer cancel()
	leading, err := k.o.Store.Watch(call, k.o.Holder, now)
	k.leading.Store(leading && err == nil)
	if err != nil || !leading {
		return err
	}
	if now.Sub(k.tried) >= triedEvery || now.Before(k.tried) {
		k.unread, k.tried = map[int64]bool{}, now
	}
	changed, err := k.o.Store.Changed(call, judgeLimit+len(k.unread)) // they stay changed, and keep nobody
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range changed {
		if k.unread[id] {
			continue
		}
		if err := k.o.Store.Ensure(call, id, k.o.NewToken()); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, k.settle(call, id, now))
	}
	over := now.Add(-onItsWay) // pings of before it are committed: nobody is down with one that came in time
	due, err := k.o.Store.Due(call, over, judgeLimit)
	errs = append(errs, err)
	settled := false
	for _, id := range due {
		err := k.settle(call, id, over)
		settled = settled || err == nil
		errs = append(errs, err)
	}
	if settled {
		k.Wake()
	}
	return errors.Join(errs...)
}

// settle ends a heartbeat's deadlines. One that is gone by now has none, and of one that cannot be read
// nothing is expected.
func (k *Keeper) settle(ctx context.Context, id int64, now time.Time) error {
	_, err := k.o.Store.Settle(ctx, id, now)
	switch {
	case errors.Is(err, heartbeatstore.ErrNotFound):
		return nil
	case errors.Is(err, heartbeatstore.ErrUnread):
		k.o.Log.Error("nothing is expected of a heartbeat", "target_id", id, "error", err)
		k.unread[id] = true
		return nil
	}
	return err
}

// bringOnce brings waiting rows on: announced once, recorded, and only then removed.
func (k *Keeper) bringOnce(ctx context.Context, _ time.Time) error {
	for k.leading.Load() && ctx.Err() == nil {
		rows, err := k.rows(ctx)
		if err != nil || len(rows) == 0 {
			return err
		}
		k.announce(ctx, rows)
		if err := k.record(ctx, rows); err != nil {
			return err
		}
		if err := k.done(ctx, rows); err != nil {
			return err
		}
		if len(rows) < rowLimit {
			return nil
		}
	}
	return nil
}

func (k *Keeper) rows(ctx context.Context) ([]uptime.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, storeCall)
	defer cancel()
	return k.o.Store.Rows(ctx, rowLimit)
}

func (k *Keeper) announce(ctx context.Context, rows []uptime.Result) {
	var fresh []uptime.Result
	for _, r := range rows {
		if !k.told[r.Slot()].Equal(r.IngestedAt) {
			fresh = append(fresh, r)
			k.told[r.Slot()] = r.IngestedAt
		}
	}
	if len(fresh) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, announceIn)
	defer cancel()
	if err := k.o.Announce(ctx, fresh); err != nil {
		k.o.Log.Debug("heartbeats not announced: pages find them among the recorded", "error", err)
	}
}

// record makes rows durable. Those that can never be stored are dropped, with a line in the
// log each: they must not hold up the others.
func (k *Keeper) record(ctx context.Context, rows []uptime.Result) error {
	ctx, cancel := context.WithTimeout(ctx, recordCall)
	defer cancel()
	err := k.o.Rows.RecordWait(ctx, rows)
	if resultstore.IsPermanent(err) { // the recorder has stored the others, and said which it refuses
		k.o.Log.Error("heartbeat rows refused for good", "error", err)
		return nil
	}
	return err
}

func (k *Keeper) done(ctx context.Context, rows []uptime.Result) error {
	ctx, cancel := context.WithTimeout(ctx, storeCall)
	defer cancel()
	if err := k.o.Store.Done(ctx, rows); err != nil {
		return err
	}
	for _, r := range rows {
		delete(k.told, r.Slot())
		k.written.WithLabelValues(r.Status.String()).Inc()
	}
	return nil
}

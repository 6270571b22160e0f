package consumer

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/probe"
)

// shared is a clock ten minutes off the local one, which may jump.
type shared struct{ jump atomic.Int64 }

const skew = 10 * time.Minute

func (s *shared) Now(context.Context) (time.Time, error) {
	return time.Now().Add(skew + time.Duration(s.jump.Load())), nil
}

// visitor answers probes after a time and keeps count.
type visitor struct {
	took func(uptime.Check) time.Duration
	ends func(uptime.Check) probe.Outcome // nil: up
	mu   sync.Mutex
	now  int
	most int
	at   map[int64]time.Time
}

func (v *visitor) Check(ctx context.Context, check *uptime.Check, done func(probe.Outcome)) {
	done(v.visit(ctx, *check))
}

func (v *visitor) visit(ctx context.Context, check uptime.Check) probe.Outcome {
	v.mu.Lock()
	v.now++
	v.most = max(v.most, v.now)
	if v.at == nil {
		v.at = map[int64]time.Time{}
	}
	v.at[check.TargetID] = time.Now().Add(skew)
	v.mu.Unlock()
	if v.took != nil {
		sleep(ctx, v.took(check))
	}
	v.mu.Lock()
	v.now--
	v.mu.Unlock()
	if v.ends != nil {
		return v.ends(check)
	}
	return probe.Outcome{Status: uptime.StatusUp, HTTPStatus: 200, TotalUS: 1000, Attempts: 1}
}

// sink is a recorder that answers each Record after a delay with what answer says,
// having gone through the phases of script.
type sink struct {
	delay  time.Duration
	age    time.Duration                    // of rows that are in no hurry, for company
	answer func(rows []uptime.Result) error // errPermanent with rejected told before
	script func(rows []uptime.Result) []recorder.Phase
	reject func(row uptime.Result, err error)
	full   bool
	wg     sync.WaitGroup
	mu     sync.Mutex
	rows   map[uptime.Slot][]uptime.Result
	first  time.Time
	dead   func() bool // the process of this recorder was killed
}

var errPermanent = errors.New("row cannot be stored")

func isPermanent(err error) bool { return errors.Is(err, errPermanent) }

// refusing makes the store refuse the measured rows of some targets for good.
func (k *sink) refusing(refused func(targetID int64) bool) {
	k.answer = func(rows []uptime.Result) (err error) {
		for _, row := range rows {
			if refused(row.TargetID) && row.Reason != uptime.ReasonDeadLetter {
				k.reject(row, errPermanent)
				err = errPermanent
			}
		}
		return err
	}
}

func (k *sink) Record(ctx context.Context, rows []uptime.Result, watch recorder.Watch) error {
	k.mu.Lock()
	full := k.full
	k.mu.Unlock()
	if full {
		<-ctx.Done()
		return ctx.Err()
	}
	rows = append([]uptime.Result(nil), rows...)
	dead := k.dead
	k.wg.Go(func() {
		attempt := 1
		if k.script != nil && watch.Phase != nil {
			for _, phase := range k.script(rows) {
				watch.Phase(phase, attempt)
				time.Sleep(100 * time.Millisecond)
				if phase == recorder.BackingOff {
					attempt++
				}
			}
		}
		if !watch.Hurry {
			time.Sleep(k.age)
		}
		time.Sleep(k.delay)
		if dead() {
			return
		}
		var err error
		if k.answer != nil {
			err = k.answer(rows)
		}
		if err == nil || isPermanent(err) {
			k.store(rows, err)
		}
		watch.Done(err)
	})
	return nil
}

// store keeps the rows; with an error those that answer for it are left out.
func (k *sink) store(rows []uptime.Result, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rows == nil {
		k.rows, k.first = map[uptime.Slot][]uptime.Result{}, time.Now()
	}
	for _, row := range rows {
		if err == nil || !isPermanent(k.answer([]uptime.Result{row})) {
			k.rows[row.Slot()] = append(k.rows[row.Slot()], row)
		}
	}
}

// feed counts announced rows; stuck, it takes none.
type feed struct {
	stuck bool
	slow  time.Duration
	mu    sync.Mutex
	rows  int
	calls int
	first time.Time
}

func (f *feed) AnnounceAll(ctx context.Context, batches [][]uptime.Result) error {
	if f.stuck {
		<-ctx.Done()
		return ctx.Err()
	}
	time.Sleep(f.slow)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rows == 0 {
		f.first = time.Now()
	}
	f.calls++
	for _, rows := range batches {
		f.rows += len(rows)
	}
	return nil
}

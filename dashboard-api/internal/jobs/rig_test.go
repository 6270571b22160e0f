package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var errAway = errors.New("away")

// fakeLane answers visits as a test says, after a time.
type fakeLane struct {
	answer func(checkstream.Visit) (uptime.Look, bool) // false: nobody answers
	takes  time.Duration

	mu    sync.Mutex
	err   error
	asked []checkstream.Visit
	told  []checkstream.VisitOutcome
	grown chan struct{}
}

func (l *fakeLane) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func (l *fakeLane) Add(_ context.Context, visits []checkstream.Visit) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	l.asked = append(l.asked, visits...)
	for _, v := range visits {
		look, answers := l.answer(v)
		if !answers {
			continue
		}
		look.Region, look.Attempt = v.Region, v.Attempt
		tell := func() { l.tell(checkstream.VisitOutcome{Job: v.Job, Look: look, Size: 100}) }
		if l.takes == 0 {
			l.told = append(l.told, checkstream.VisitOutcome{Job: v.Job, Look: look, Size: 100})
			l.wake()
			continue
		}
		time.AfterFunc(l.takes, tell)
	}
	return nil
}

func (l *fakeLane) tell(o checkstream.VisitOutcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, o)
	l.wake()
}

func (l *fakeLane) wake() {
	close(l.grown)
	l.grown = make(chan struct{})
}

func (l *fakeLane) Outcomes(ctx context.Context, after string, block time.Duration) ([]checkstream.VisitOutcome, string, error) {
	if after == "" { // where the newest is cannot be asked either
		l.mu.Lock()
		defer l.mu.Unlock()
		if errors.Is(l.err, errAway) {
			return nil, after, l.err
		}
		return nil, "0", nil
	}
	var n int
	_, _ = fmt.Sscan(after, &n)
	for {
		l.mu.Lock()
		told, grown, err := slices.Clone(l.told[n:]), l.grown, l.err
		l.mu.Unlock()
		if errors.Is(err, errAway) {
			return nil, after, err
		}
		if len(told) > 0 {
			return told, fmt.Sprint(n + len(told)), nil
		}
		select {
		case <-grown:
		case <-time.After(block):
			return nil, after, nil
		case <-ctx.Done():
			return nil, after, ctx.Err()
		}
	}
}

func (l *fakeLane) visits() []checkstream.Visit {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.asked)
}

// fakeStore keeps rows as the real one does; jobstore's tests say how that is.
type fakeStore struct {
	mu    sync.Mutex
	err   error
	rows  map[string]jobstore.Job
	owner map[string]string
	until map[string]time.Time
	saves int
}

func newFakeStore() *fakeStore {
	return &fakeStore{rows: map[string]jobstore.Job{}, owner: map[string]string{}, until: map[string]time.Time{}}
}

func (f *fakeStore) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *fakeStore) Save(_ context.Context, owner string, until time.Time, list []jobstore.Job) (lost []string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	f.saves++
	for _, j := range list {
		if other := f.owner[j.ID]; other != "" && other != owner {
			lost = append(lost, j.ID)
			continue
		}
		f.rows[j.ID], f.owner[j.ID], f.until[j.ID] = j, owner, until
	}
	return lost, nil
}

func (f *fakeStore) Renew(_ context.Context, owner string, until time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, of := range f.owner {
		if of == owner && f.err == nil {
			f.until[id] = until
		}
	}
	return f.err
}

func (f *fakeStore) Take(_ context.Context, owner string, now, until time.Time, limit int) (taken []jobstore.Job, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	for id, j := range f.rows {
		if !j.State.Final() && f.until[id].Before(now) && len(taken) < limit {
			f.owner[id], f.until[id] = owner, until
			taken = append(taken, j)
		}
	}
	return taken, nil
}

func (f *fakeStore) Get(_ context.Context, id string) (jobstore.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j, found := f.rows[id]
	if !found && f.err == nil {
		return j, jobstore.ErrNotFound
	}
	return j, f.err
}

func (f *fakeStore) List(_ context.Context, filter jobstore.Filter) (list []jobstore.Job, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.rows {
		if filter.Matches(j) {
			list = append(list, brief(j))
		}
	}
	slices.SortFunc(list, func(a, b jobstore.Job) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return list[:min(filter.Limit, len(list))], f.err
}

func (f *fakeStore) Changed(_ context.Context, owner string, since time.Time, limit int) (list []jobstore.Job, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, j := range f.rows {
		if f.owner[id] != owner && !j.UpdatedAt.Before(since) {
			list = append(list, brief(j))
		}
	}
	slices.SortFunc(list, func(a, b jobstore.Job) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return list[:min(limit, len(list))], f.err
}

func (f *fakeStore) DeleteBefore(_ context.Context, then time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, j := range f.rows {
		if j.CreatedAt.Before(then) {
			delete(f.rows, id)
		}
	}
	return f.err
}

// rig is a service with both, in a bubble of virtual time.
type rig struct {
	*testing.T
	*Service
	lane  *fakeLane
	store *fakeStore
	stop  func()

	mu      sync.Mutex
	regions []string
	told    []jobstore.Job
	health  error
}

func newRig(t *testing.T, answer func(checkstream.Visit) (uptime.Look, bool)) *rig {
	t.Helper()
	return newRigOn(t, "a", &fakeLane{answer: answer, takes: time.Second, grown: make(chan struct{})}, newFakeStore())
}

func newRigOn(t *testing.T, owner string, lane *fakeLane, store *fakeStore) *rig {
	t.Helper()
	r := &rig{T: t, lane: lane, store: store, regions: []string{"us", "eu"}}
	r.Service = New(Options{
		Owner: owner, Lane: lane, Store: store, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		Regions: func() []string {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.regions
		},
		Tell: func(j jobstore.Job) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.told = append(r.told, j)
		},
		Health: func(err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.health = err
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = r.Service.Run(ctx) }()
	r.stop = func() { cancel(); <-ended }
	t.Cleanup(r.stop)
	synctest.Wait()
	return r
}

func (r *rig) accept(regions ...string) jobstore.Job {
	r.Helper()
	j, err := r.Accept(request(regions...))
	if err != nil {
		r.Fatal(err)
	}
	return j
}

func request(regions ...string) Request {
	return Request{URL: "https://example.com/", Kind: uptime.KindHTTP, Timeout: 5 * time.Second, Regions: regions, CreatedBy: "user:1"}
}

func (r *rig) get(id string) jobstore.Job {
	r.Helper()
	j, err := r.Get(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	return j
}

// states gives the states a job was told to be in, repetitions left out.
func (r *rig) states(id string) (list []jobstore.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.told {
		if j.ID == id && (len(list) == 0 || list[len(list)-1] != j.State) {
			list = append(list, j.State)
		}
	}
	return list
}

func measured(status uptime.Status) uptime.Look {
	return uptime.Look{Status: status, HTTPStatus: 200, Evidence: &uptime.Evidence{Body: "ok"}}
}

func unmeasured(reason uptime.Reason) uptime.Look {
	return uptime.Look{Status: uptime.StatusUnknown, Reason: reason, Message: "because of " + string(reason)}
}

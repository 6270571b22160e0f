package jobs

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Bounds.
const (
	Capacity = 1000 // jobs of one node that have not ended, or are not written
	Retries  = 3    // attempts after the first

	previewRoom = Capacity / 2 // previews leave the rest to people who ask
	maxEvidence = 64 << 20     // bytes in memory; beyond it outcomes come without
)

// ErrFull says that there is no room for another job now.
var ErrFull = errors.New("too many checks are waiting")

// Lane is how probers are asked.
type Lane interface {
	Add(ctx context.Context, visits []checkstream.Visit) error
	Outcomes(ctx context.Context, after string, block time.Duration) (outcomes []checkstream.VisitOutcome, next string, err error)
}

// Store keeps the jobs.
type Store interface {
	Save(ctx context.Context, owner string, until time.Time, jobs []jobstore.Job) (lost []string, err error)
	Renew(ctx context.Context, owner string, until time.Time) error
	Take(ctx context.Context, owner string, now, until time.Time, limit int) ([]jobstore.Job, error)
	Get(ctx context.Context, id string) (jobstore.Job, error)
	List(ctx context.Context, f jobstore.Filter) ([]jobstore.Job, error)
	Changed(ctx context.Context, owner string, since time.Time, limit int) ([]jobstore.Job, error)
	DeleteBefore(ctx context.Context, then time.Time) error
}

// Options are what a service needs.
type Options struct {
	Owner   string // different in every process and life
	Lane    Lane
	Store   Store
	Regions func() []string    // those that are active
	Tell    func(jobstore.Job) // every change, in order; it must not block
	Health  func(error)        // whether jobs can be written
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Service is the jobs of one node.
type Service struct {
	o       Options
	metrics *metrics
	wake    chan struct{} // something may be due
	dirty   chan struct{} // something is to be written
	ready   chan struct{} // closed once outcomes are followed
	reach   atomic.Bool   // probers can be asked, as far as is known

	mu       sync.Mutex
	all      map[string]*entry // open, or not written yet
	evidence int               // bytes of it in memory
}

// New makes a service; Run does the work.
func New(o Options) *Service {
	s := &Service{o: o, wake: make(chan struct{}, 1), dirty: make(chan struct{}, 1), ready: make(chan struct{}), all: map[string]*entry{}}
	s.metrics = newMetrics(o.Metrics, s.held)
	return s
}

// Request is a check that somebody wants.
type Request struct {
	URL       string
	Kind      uptime.Kind
	Timeout   time.Duration
	Spec      uptime.SpecText
	Regions   []string // empty: those that are active
	TargetID  int64    // the saved target that it previews; 0: none
	CreatedBy string
}

// Accept takes a job on, or gives ErrFull. It asks no store and does not wait.
func (s *Service) Accept(r Request) (jobstore.Job, error) {
	id, err := jobstore.NewID()
	if err != nil {
		return jobstore.Job{}, err
	}
	regions := r.Regions
	if len(regions) == 0 {
		regions = s.o.Regions() // none yet: settled when it starts
	}
	now := present()
	e := &entry{job: jobstore.Job{
		ID: id, URL: r.URL, Kind: r.Kind, Timeout: r.Timeout, Spec: r.Spec, Regions: sorted(regions), TargetID: r.TargetID, CreatedBy: r.CreatedBy,
		State: jobstore.Queued, CreatedAt: now, UpdatedAt: now,
	}}
	room := Capacity
	if r.TargetID != 0 {
		room = previewRoom
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= room {
		s.metrics.refused.Inc()
		return jobstore.Job{}, ErrFull
	}
	s.all[id] = e
	s.changed(e)
	signal(s.wake)
	return e.job, nil
}

// Get gives a job with all evidence, or jobstore.ErrNotFound.
func (s *Service) Get(ctx context.Context, id string) (jobstore.Job, error) {
	s.mu.Lock()
	e, found := s.all[id]
	if found {
		defer s.mu.Unlock()
		return e.job, nil
	}
	s.mu.Unlock()
	return s.o.Store.Get(ctx, id)
}

// List gives jobs without evidence, newest first. Those of this node are as they are now,
// those of others as they were last written.
func (s *Service) List(ctx context.Context, f jobstore.Filter) ([]jobstore.Job, error) {
	mine, known := s.matching(f)
	wide := f
	wide.Limit += len(known) // as many rows may say something older about jobs of ours
	list, err := s.o.Store.List(ctx, wide)
	if err != nil {
		return nil, err
	}
	list = append(mine, slices.DeleteFunc(list, func(j jobstore.Job) bool { return known[j.ID] })...)
	slices.SortFunc(list, func(a, b jobstore.Job) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return list[:min(f.Limit, len(list))], nil
}

func (s *Service) matching(f jobstore.Filter) (list []jobstore.Job, known map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known = make(map[string]bool, len(s.all))
	for id, e := range s.all {
		known[id] = true
		if f.Matches(e.job) {
			list = append(list, brief(e.job))
		}
	}
	return list, known
}

// brief is a job without evidence.
func brief(j jobstore.Job) jobstore.Job {
	j.Looks = slices.Clone(j.Looks)
	for i := range j.Looks {
		j.Looks[i].Evidence = nil
	}
	return j
}

// Run works until ctx ends, then writes what is left and gives the open jobs up.
func (s *Service) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	for _, loop := range []func(context.Context){s.dispatch, s.follow, s.expire, s.write, s.lease, s.adopt, s.watchOthers, s.clean} {
		loops.Go(func() { loop(ctx) })
	}
	loops.Wait()
	s.leave(context.WithoutCancel(ctx))
	return ctx.Err()
}

// changed is called with the lock held after every change of a job.
func (s *Service) changed(e *entry) {
	e.version++
	s.o.Tell(brief(e.job))
	s.metrics.became(e.job.State)
	signal(s.dirty)
}

// drop forgets a job. The lock is held.
func (s *Service) drop(e *entry) {
	s.evidence -= e.evidence
	delete(s.all, e.job.ID)
}

func (s *Service) held() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return float64(len(s.all))
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// present is now as the store keeps it.
func present() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func sorted(regions []string) []string {
	regions = slices.Sorted(slices.Values(regions))
	return slices.Compact(regions)
}

// pause waits and says whether ctx still lives.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// every runs fn at each interval until ctx ends.
func every(ctx context.Context, interval time.Duration, fn func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			fn(ctx)
		case <-ctx.Done():
			return
		}
	}
}

package beats

import (
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

	"github.com/probefleet/probefleet/internal/heartbeat"
	"github.com/probefleet/probefleet/internal/heartbeatstore"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
)

// memory is the store's rules in memory: one heartbeat, and who leads.
type memory struct {
	mu       sync.Mutex
	schedule *heartbeat.Schedule
	state    heartbeat.State
	began    bool
	waiting  []uptime.Result
	holder   string
	until    time.Time
	down     bool
	unread   bool // by this release
	settled  int
}

var errDown = errors.New("the database is away")

func (m *memory) lock() (func(), error) {
	m.mu.Lock()
	if m.down {
		m.mu.Unlock()
		return nil, errDown
	}
	return m.mu.Unlock, nil
}

func (m *memory) Watch(_ context.Context, holder string, now time.Time) (bool, error) {
	unlock, err := m.lock()
	if err != nil {
		return false, err
	}
	defer unlock()
	if m.holder != holder && now.Before(m.until) {
		return false, nil
	}
	m.holder, m.until = holder, now.Add(10*time.Second)
	return true, nil
}

func (m *memory) Release(_ context.Context, holder string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.holder == holder {
		m.until = time.Time{}
	}
	return nil
}

func (m *memory) Changed(context.Context, int) ([]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.began && !m.unread {
		return nil, nil
	}
	return []int64{1}, nil
}

func (m *memory) Ensure(context.Context, int64, heartbeatstore.Token) error { return nil }

func (m *memory) Due(_ context.Context, now time.Time, _ int) ([]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if due := m.schedule.Deadline(m.state); due.IsZero() || due.After(now) {
		return nil, nil
	}
	return []int64{1}, nil
}

func (m *memory) Settle(_ context.Context, _ int64, now time.Time) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.settled++; m.unread {
		return 0, heartbeatstore.ErrUnread
	}
	if !m.began {
		m.began, m.state = true, m.schedule.Begin(now)
	}
	for {
		row, next, over := m.schedule.Due(m.state, nil, now)
		if !over {
			return n, nil
		}
		n, m.state = n+1, next
		m.note(row)
	}
}

func (m *memory) note(row heartbeat.Row) {
	m.waiting = append(m.waiting, uptime.Result{TargetID: 1, Region: uptime.RegionPush, ScheduledAt: row.At, IngestedAt: row.Noted, Status: row.Status})
}

func (m *memory) ping() {
	m.mu.Lock()
	defer m.mu.Unlock()
	row, next, _ := m.schedule.Take(m.state, heartbeat.Ping{At: time.Now()})
	m.state = next
	m.note(row)
}

func (m *memory) Rows(_ context.Context, limit int) ([]uptime.Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.waiting[:min(limit, len(m.waiting))]), nil
}

func (m *memory) Done(_ context.Context, rows []uptime.Result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = slices.DeleteFunc(m.waiting, func(r uptime.Result) bool {
		return slices.ContainsFunc(rows, func(d uptime.Result) bool { return d.Slot() == r.Slot() })
	})
	return nil
}

// sink is the recorder and the live feed.
type sink struct {
	mu       sync.Mutex
	stored   []uptime.Result
	told     int
	err      error
	hang     bool
	attempts int
}

func (s *sink) RecordWait(ctx context.Context, rows []uptime.Result) error {
	s.mu.Lock()
	hang, err := s.hang, s.err
	s.attempts++
	s.mu.Unlock()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored = append(s.stored, rows...)
	return nil
}

func (s *sink) announce(_ context.Context, rows []uptime.Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told += len(rows)
	return nil
}

func (s *sink) set(change func(*sink)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

type health struct {
	mu    sync.Mutex
	level service.Level
}

func (h *health) Set(_ string, level service.Level, _ string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.level = level
}

func (h *health) get() service.Level {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.level
}

// counts gives how many rows were stored and announced, and how often it was tried.
func (s *sink) counts() (stored, told, attempts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.stored), s.told, s.attempts
}

func newMemory(t *testing.T) *memory {
	t.Helper()
	s, err := heartbeat.New(uptime.HeartbeatSpec{PeriodS: 60, GraceS: 10})
	if err != nil {
		t.Fatal(err)
	}
	return &memory{schedule: s}
}

// start runs a keeper; stop ends it and waits.
func start(t *testing.T, name string, m *memory, s *sink, h *health) (k *Keeper, stop func()) {
	t.Helper()
	k = New(Options{Holder: name, Store: m, Rows: s, Announce: s.announce, NewToken: func() heartbeatstore.Token { return heartbeatstore.Token{} },
		Health: h, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = k.Run(ctx)
	}()
	return k, func() { cancel(); <-ended }
}

func (s *sink) want(t *testing.T, began time.Time, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var got []string
	for _, r := range s.stored {
		got = append(got, fmt.Sprintf("%v %s", r.ScheduledAt.Sub(began).Round(time.Second), r.Status))
	}
	if !slices.Equal(got, want) {
		t.Errorf("stored %v, want %v", got, want)
	}
}

// TestDeadlines: two nodes, one is killed, the other goes on; each deadline has one row,
// within two seconds, and none comes before it.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, s, h := newMemory(t), &sink{}, &health{}
		began := time.Now()
		k, stopFirst := start(t, "first", m, s, h)
		time.Sleep(time.Second)
		synctest.Wait() // it leads: of two that begin at once either may
		_, stopSecond := start(t, "second", m, s, h)
		defer stopSecond()
		time.Sleep(29 * time.Second)
		synctest.Wait() // what was to be done at this second is done: the ping below wakes it, and nothing else does
		m.ping()
		k.Wake()
		synctest.Wait()
		s.want(t, began, "30s up") // at once: this node leads
		time.Sleep(69 * time.Second)
		synctest.Wait()
		s.want(t, began, "30s up")
		time.Sleep(1500 * time.Millisecond) // the deadline is at 100 s: what came before may be on its way yet
		s.want(t, began, "30s up")
		time.Sleep(1500 * time.Millisecond)
		s.want(t, began, "30s up", "1m30s down")
		stopFirst()
		time.Sleep(61 * time.Second)
		synctest.Wait()
		s.want(t, began, "30s up", "1m30s down", "2m30s down")
		m.ping()
		time.Sleep(2 * time.Second)
		s.want(t, began, "30s up", "1m30s down", "2m30s down", "2m43s up")
		if _, told, _ := s.counts(); told != 4 {
			t.Errorf("announced %d", told)
		}
	})
}

// TestOneThatCannotBeReadKeepsNobody: it is tried once a minute, and the others are well.
func TestOneThatCannotBeReadKeepsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, s, h := newMemory(t), &sink{}, &health{level: service.Error}
		m.unread = true
		_, stop := start(t, "node", m, s, h)
		time.Sleep(3*time.Minute - 10*time.Second)
		stop()
		if m.settled != 3 || h.get() != service.OK {
			t.Errorf("tried %d times in three minutes, health %v", m.settled, h.get())
		}
	})
}

// TestRowsWaitForTheRecorder: while nothing takes rows deadlines are judged all the same,
// rows are announced once, and none is lost or doubled.
func TestRowsWaitForTheRecorder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, s, h := newMemory(t), &sink{hang: true}, &health{}
		began := time.Now()
		_, stop := start(t, "first", m, s, h)
		defer stop()
		time.Sleep(5 * time.Minute)
		m.mu.Lock()
		waiting := len(m.waiting)
		m.mu.Unlock()
		if waiting != 4 {
			t.Errorf("%d rows wait", waiting)
		}
		s.set(func(s *sink) { s.hang, s.err = false, errors.New("the spool is full") })
		time.Sleep(30 * time.Second)
		s.set(func(s *sink) { s.err = nil })
		time.Sleep(20 * time.Second)
		s.want(t, began, "1m1s down", "2m1s down", "3m1s down", "4m1s down", "5m1s down")
		if _, told, attempts := s.counts(); told != 5 || attempts < 10 {
			t.Errorf("announced %d in %d attempts", told, attempts)
		}
	})
}

// TestRefusedRowsHoldUpNobody: a row that can never be stored is let go.
func TestRefusedRowsHoldUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, s, h := newMemory(t), &sink{err: &resultstore.RowError{Problem: "no"}}, &health{}
		_, stop := start(t, "first", m, s, h)
		defer stop()
		time.Sleep(75 * time.Second)
		left, _ := m.Rows(t.Context(), 10)
		if _, _, attempts := s.counts(); attempts != 1 || len(left) != 0 {
			t.Errorf("%d attempts, %d rows wait", attempts, len(left))
		}
	})
}

// TestDatabaseAway: it is told, nothing is judged meanwhile, and it is made up for.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, s, h := newMemory(t), &sink{}, &health{}
		began := time.Now()
		_, stop := start(t, "first", m, s, h)
		defer stop()
		time.Sleep(2 * time.Second)
		m.mu.Lock()
		m.down = true
		m.mu.Unlock()
		time.Sleep(3 * time.Minute)
		if stored, _, _ := s.counts(); h.get() != service.Degraded || stored > 0 {
			t.Errorf("health %v, %d rows", h.get(), stored)
		}
		m.mu.Lock()
		m.down = false
		m.mu.Unlock()
		time.Sleep(3 * time.Second)
		s.want(t, began, "1m1s down", "2m1s down")
		if h.get() != service.OK {
			t.Errorf("health %v", h.get())
		}
	})
}

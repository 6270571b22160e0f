package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/probe"
)

var errDown = errors.New("down")

// stream is a group of one consumer, in memory. It objects to being settled twice.
type stream struct {
	mu        sync.Mutex
	fresh     []checkstream.Entry
	own       []checkstream.Entry // pending from before the start
	pending   map[string]checkstream.Entry
	held      map[string]bool
	delivered map[string]int
	acked     map[string]int
	dead      map[string]string
	renewed   map[string]int
	asked     []int
	beats     []checkstream.Heartbeat
	left      bool
	readsFail int
	acksFail  int
	wrong     []string
}

func newStream() *stream {
	return &stream{
		pending: map[string]checkstream.Entry{}, held: map[string]bool{}, delivered: map[string]int{},
		acked: map[string]int{}, dead: map[string]string{}, renewed: map[string]int{},
	}
}

func (s *stream) Read(_ context.Context, max int, block time.Duration) ([]checkstream.Entry, error) {
	s.mu.Lock()
	s.asked = append(s.asked, max)
	if s.readsFail > 0 {
		s.readsFail--
		s.mu.Unlock()
		return nil, errDown
	}
	entries := s.deliver(&s.fresh, max)
	s.mu.Unlock()
	if len(entries) == 0 {
		time.Sleep(block)
	}
	return entries, nil
}

func (s *stream) deliver(from *[]checkstream.Entry, max int) []checkstream.Entry {
	n := min(max, len(*from))
	entries := append([]checkstream.Entry(nil), (*from)[:n]...)
	*from = (*from)[n:]
	for i := range entries {
		if entries[i].Deliveries == 0 {
			entries[i].Deliveries = 1
		}
		s.pending[entries[i].ID], s.held[entries[i].ID] = entries[i], true
		s.delivered[entries[i].ID]++
	}
	return entries
}

// Own hands out as much as there is room for, by how often it was delivered.
func (s *stream) Own(_ context.Context, room checkstream.Room) ([]checkstream.Entry, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.own { // of an earlier life
		e.Deliveries = max(e.Deliveries, 1) - 1
		s.pending[e.ID] = e
	}
	s.own = nil
	var entries []checkstream.Entry
	complete := true
	for _, id := range slices.Sorted(maps.Keys(s.pending)) {
		e := s.pending[id]
		if s.held[id] {
			continue
		}
		if left := map[bool]*int{false: &room.Entries, true: &room.Alone}[e.Deliveries > 1]; *left > 0 {
			*left--
			e.Deliveries++
			s.pending[id], s.held[id] = e, true
			s.delivered[id]++
			entries = append(entries, e)
			continue
		}
		complete = false
	}
	return entries, complete, nil
}

func (s *stream) Reclaim(context.Context, time.Duration, checkstream.Room) ([]checkstream.Entry, error) {
	return nil, nil
}

func (s *stream) Ack(_ context.Context, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.acksFail > 0 {
		s.acksFail--
		return errDown
	}
	for _, id := range ids {
		s.settled(id)
		s.acked[id]++
	}
	return nil
}

func (s *stream) Dead(_ context.Context, e checkstream.Entry, reason string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled(e.ID)
	s.dead[e.ID] = reason
	return true, nil
}

func (s *stream) settled(id string) {
	if _, is := s.pending[id]; !is || !s.held[id] {
		s.wrong = append(s.wrong, fmt.Sprintf("%s settled while pending=%v held=%v", id, is, s.held[id]))
	}
	delete(s.pending, id)
	delete(s.held, id)
}

func (s *stream) Release(ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if !s.held[id] {
			s.wrong = append(s.wrong, id+" released and not held")
		}
		delete(s.held, id)
	}
}

func (s *stream) Renew(_ context.Context, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.renewed[id]++
	}
	return nil
}

func (s *stream) EnsureGroup(context.Context) error { return nil }

func (s *stream) Beat(_ context.Context, beat checkstream.Heartbeat) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beats = append(s.beats, beat)
	return nil
}

func (s *stream) Leave(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = true
	return nil
}

// shared is a clock ten minutes off the local one.
type shared struct{}

const skew = 10 * time.Minute

func (shared) Now(context.Context) (time.Time, error) { return time.Now().Add(skew), nil }

// visitor answers probes after a time and keeps count.
type visitor struct {
	took func(uptime.Check) time.Duration
	mu   sync.Mutex
	now  int
	most int
	at   map[int64]time.Time
}

func (v *visitor) Check(ctx context.Context, check uptime.Check) probe.Outcome {
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
	return probe.Outcome{Status: uptime.StatusUp, HTTPStatus: 200, TotalUS: 1000, Attempts: 1}
}

// sink answers each Record after a delay, with what answer says.
type sink struct {
	delay  time.Duration
	answer func(rows []uptime.Result) error
	full   bool
	wg     sync.WaitGroup
	mu     sync.Mutex
	rows   map[uptime.Slot][]uptime.Result
	first  time.Time
}

func (k *sink) Record(ctx context.Context, rows []uptime.Result, done func(error)) error {
	if k.full {
		<-ctx.Done()
		return ctx.Err()
	}
	rows = append([]uptime.Result(nil), rows...)
	k.wg.Go(func() {
		time.Sleep(k.delay)
		var err error
		if k.answer != nil {
			err = k.answer(rows)
		}
		if err == nil {
			k.mu.Lock()
			if k.rows == nil {
				k.rows, k.first = map[uptime.Slot][]uptime.Result{}, time.Now()
			}
			for _, row := range rows {
				k.rows[row.Slot()] = append(k.rows[row.Slot()], row)
			}
			k.mu.Unlock()
		}
		done(err)
	})
	return nil
}

// feed counts announced rows; stuck, it takes none.
type feed struct {
	stuck bool
	mu    sync.Mutex
	rows  int
	first time.Time
}

func (f *feed) Announce(ctx context.Context, rows []uptime.Result) error {
	if f.stuck {
		<-ctx.Done()
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rows == 0 {
		f.first = time.Now()
	}
	f.rows += len(rows)
	return nil
}

// rig is a consumer with fakes around it, inside a synctest bubble.
type rig struct {
	stream  *stream
	visitor *visitor
	sink    *sink
	feed    *feed
	options Options
	stop    context.CancelFunc
	ended   chan struct{}
	c       *Consumer
}

func newRig() *rig {
	return &rig{
		stream: newStream(), visitor: &visitor{}, sink: &sink{}, feed: &feed{},
		options: Options{Region: "eu", Name: "p1", Capacity: 1000, ReclaimIdle: 45 * time.Second},
	}
}

func (r *rig) start(t *testing.T) {
	t.Helper()
	r.c = New(Parts{
		Source: r.stream, Settler: r.stream, Presence: r.stream, Time: shared{}, Prober: r.visitor, Recorder: r.sink, Announcer: r.feed,
		Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	}, r.options)
	ctx, stop := context.WithCancel(t.Context())
	r.stop, r.ended = stop, make(chan struct{})
	go func() {
		defer close(r.ended)
		if err := r.c.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
}

// look lets a test read the fakes between two instants.
func (r *rig) look(f func()) {
	for _, mu := range []*sync.Mutex{&r.stream.mu, &r.visitor.mu, &r.sink.mu, &r.feed.mu} {
		mu.Lock()
		defer mu.Unlock()
	}
	f()
}

// finish drains and checks that every delivery ended acked XOR pending, once.
func (r *rig) finish(t *testing.T) {
	t.Helper()
	r.stop()
	<-r.ended
	r.sink.wg.Wait()
	r.stream.mu.Lock()
	defer r.stream.mu.Unlock()
	for _, wrong := range r.stream.wrong {
		t.Error(wrong)
	}
	for id := range r.stream.delivered {
		_, pending := r.stream.pending[id]
		_, dead := r.stream.dead[id]
		ends := r.stream.acked[id]
		for _, is := range []bool{pending, dead} {
			if is {
				ends++
			}
		}
		if ends != 1 {
			t.Errorf("%s ended %d times: acked %d, pending %v, dead %v", id, ends, r.stream.acked[id], pending, dead)
		}
	}
	if !r.stream.left {
		t.Error("left without a goodbye")
	}
}

// entryIn makes an entry whose slot is that far from the shared now.
func entryIn(id int64, in time.Duration, change ...func(*checkstream.Entry)) checkstream.Entry {
	at := time.Now().Add(skew + in).UTC().Truncate(time.Millisecond)
	e := checkstream.Entry{
		ID: fmt.Sprintf("%d-%d", at.Unix()*1000, id), TargetID: id, Second: at.Unix(),
		Check: uptime.Check{TargetID: id, ScheduledAt: at, Interval: time.Minute, Regions: []string{"eu"}, Kind: uptime.KindHTTP, Timeout: 10 * time.Second},
	}
	for _, f := range change {
		f(&e)
	}
	return e
}

func again(deliveries int64) func(*checkstream.Entry) {
	return func(e *checkstream.Entry) { e.Deliveries = deliveries }
}

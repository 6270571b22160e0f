package consumer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
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
	goodbye   time.Duration // how long its answer takes
	readsFail int
	acksFail  int
	wrong     []string
	lost      map[string]uptime.Result // the rows in dead letters
	letters   []checkstream.Letter     // asked to be replayed
	replayed  []string
	deadFails string // the id that the dead letters do not take
	drain     bool   // what heartbeats are told
	life      int    // of the prober: calls of an earlier one fail
}

func newStream() *stream {
	return &stream{
		pending: map[string]checkstream.Entry{}, held: map[string]bool{}, delivered: map[string]int{},
		acked: map[string]int{}, dead: map[string]string{}, renewed: map[string]int{}, lost: map[string]uptime.Result{},
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
		time.Sleep(min(block, time.Second)) // something comes at every tick
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
	if e.ID == s.deadFails {
		return false, errDown
	}
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

func (s *stream) DeadRow(ctx context.Context, e checkstream.Entry, row uptime.Result, reason string) (bool, error) {
	s.mu.Lock()
	s.lost[e.ID] = row
	s.mu.Unlock()
	return s.Dead(ctx, e, reason)
}

// KeepRow is for rows that were refused long after their acknowledgement.
func (s *stream) KeepRow(_ context.Context, e checkstream.Entry, row uptime.Result, _ string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost[e.ID] = row
	return true, nil
}

func (s *stream) Replays(_ context.Context, max int) ([]checkstream.Letter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(max, len(s.letters))
	letters := s.letters[:n]
	s.letters = s.letters[n:]
	return letters, nil
}

func (s *stream) Replayed(_ context.Context, letter checkstream.Letter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replayed = append(s.replayed, letter.ID)
	return nil
}

// kill ends a prober's life as SIGKILL does: what it held is pending, and nothing it
// still tries gets through.
func (s *stream) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life++
	clear(s.held)
}

// client is the stream as one life of a prober sees it.
type client struct {
	*stream
	life int
}

func (c client) gone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.life != c.stream.life
}

func (c client) Read(ctx context.Context, max int, block time.Duration) ([]checkstream.Entry, error) {
	if c.gone() {
		return nil, errDown
	}
	return c.stream.Read(ctx, max, block)
}

func (c client) Own(ctx context.Context, room checkstream.Room) ([]checkstream.Entry, bool, error) {
	if c.gone() {
		return nil, false, errDown
	}
	return c.stream.Own(ctx, room)
}

func (c client) Replays(ctx context.Context, max int) ([]checkstream.Letter, error) {
	if c.gone() {
		return nil, errDown
	}
	return c.stream.Replays(ctx, max)
}

func (c client) Ack(ctx context.Context, ids []string) error {
	if c.gone() {
		return errDown
	}
	return c.stream.Ack(ctx, ids)
}

func (c client) Dead(ctx context.Context, e checkstream.Entry, reason string) (bool, error) {
	if c.gone() {
		return false, errDown
	}
	return c.stream.Dead(ctx, e, reason)
}

func (c client) DeadRow(ctx context.Context, e checkstream.Entry, row uptime.Result, reason string) (bool, error) {
	if c.gone() {
		return false, errDown
	}
	return c.stream.DeadRow(ctx, e, row, reason)
}

func (c client) KeepRow(ctx context.Context, e checkstream.Entry, row uptime.Result, reason string) (bool, error) {
	if c.gone() {
		return false, errDown
	}
	return c.stream.KeepRow(ctx, e, row, reason)
}

func (c client) Release(ids []string) {
	if !c.gone() {
		c.stream.Release(ids)
	}
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

func (s *stream) Beat(_ context.Context, beat checkstream.Heartbeat) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beats = append(s.beats, beat)
	if s.left && s.goodbye > 0 {
		s.wrong = append(s.wrong, "a heartbeat after the goodbye")
	}
	return s.drain, nil
}

func (s *stream) Leave(context.Context) error {
	s.mu.Lock()
	s.left = true
	s.mu.Unlock()
	time.Sleep(s.goodbye)
	return nil
}

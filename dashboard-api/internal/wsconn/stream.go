package wsconn

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
)

// Stream serves the same messages as an event stream (text/event-stream), for readers to whom no
// websocket gets through. The channels stand in the query (ch=NAME for each), and where to go on
// in from=NAME@POSITION, or in the Last-Event-ID that browsers send by themselves: the id of an
// event has the positions of all channels. When the server ends it an event close says why.
func (s *Server) Stream() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" && !sameHost(origin, r.Host) {
			http.Error(w, "the origin is another host", http.StatusForbidden)
			return
		}
		c := &client{server: s, request: lean(r), allowed: s.StillAllowed, holder: s.Holder(r)}
		if !s.admit(w, c) {
			return
		}
		defer s.remove(c)
		wire := newStream(w, c)
		defer wire.end()
		c.begin(wire)
		from, names := positions(r), r.URL.Query()["ch"]
		for i, name := range names {
			if i >= maxChannels || slices.Contains(names[:i], name) || wire.isOver() || r.Context().Err() != nil {
				continue // a subscription may wait for what another node has told
			}
			c.subscribe(live.Sub{ID: name, Ch: name, From: from[name]})
		}
		select {
		case <-wire.over:
		case <-r.Context().Done():
		}
	})
}

func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, host)
}

// positions reads where the channels are to go on: what a browser says by itself is newer than
// the address it was given.
func positions(r *http.Request) map[string]*live.Position {
	found := map[string]*live.Position{}
	for _, text := range append(r.URL.Query()["from"], strings.Fields(r.Header.Get("Last-Event-ID"))...) {
		if name, at, cut := strings.Cut(text, "@"); cut {
			found[name] = live.ParsePosition(at)
		}
	}
	return found
}

// stream is a wire.
type stream struct {
	client  *client
	control *http.ResponseController
	over    chan struct{}
	finish  func() // closes over, once

	turn  chan struct{} // has room for who may write, and read what follows
	w     http.ResponseWriter
	ended bool
	told  map[string]live.Position
}

func newStream(w http.ResponseWriter, c *client) *stream {
	over := make(chan struct{})
	s := &stream{client: c, turn: make(chan struct{}, 1), w: w, control: http.NewResponseController(w), over: over, finish: sync.OnceFunc(func() { close(over) }), told: map[string]live.Position{}}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // proxies that gather answers would hold it back
	return s
}

var errEnded = errors.New("the stream has ended")

func (s *stream) write(m message) (sent int, err error) {
	s.turn <- struct{}{}
	defer s.done()
	id := ""
	if m.channel != "" {
		s.told[m.channel] = m.at
		id = "id: " + s.id() + "\n"
	}
	event := fmt.Appendf(nil, "%sdata: %s\n\n", id, m.body)
	return len(event), s.say(event, writeTimeout+closeTimeout)
}

// id has the positions of all channels.
func (s *stream) id() string {
	parts := make([]string, 0, len(s.told))
	for _, name := range slices.Sorted(maps.Keys(s.told)) {
		parts = append(parts, name+"@"+s.told[name].String())
	}
	return strings.Join(parts, " ")
}

// say writes a whole event. The caller has its turn.
func (s *stream) say(event []byte, within time.Duration) error {
	if s.ended {
		return errEnded
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(within)) // a recorder has none
	if _, err := s.w.Write(event); err != nil {
		return err
	}
	if err := s.control.Flush(); err != nil {
		return err
	}
	s.client.heard.Store(time.Now().Unix()) // whoever takes what is said is there
	return nil
}

// isOver says whether the server has ended it.
func (s *stream) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

func (s *stream) close(code websocket.StatusCode, reason string) {
	s.turn <- struct{}{}
	_ = s.say(fmt.Appendf(nil, "event: close\ndata: {\"code\":%d,\"reason\":%q}\n\n", code, reason), closeTimeout)
	s.ended = true // whoever may not read any more is told nothing else, even while it subscribes
	s.done()
	s.finish()
}

func (s *stream) done() { <-s.turn }

func (s *stream) drop() {
	_ = s.control.SetWriteDeadline(time.Now()) // whoever writes is let go
	s.finish()
}

// end waits for whoever writes: after it nothing is written any more.
func (s *stream) end() {
	_ = s.control.SetWriteDeadline(time.Now().Add(time.Second))
	s.turn <- struct{}{}
	s.ended = true
	s.done()
}

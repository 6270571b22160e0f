// Package wsconn carries the live feed over websockets. It is the only importer
// of the websocket library.
//
// Guarantees. A request is authorised before it is upgraded (by the handler in
// front), its origin must be this host unless it carries a bearer key, and it is
// judged again every three seconds, so a revoked key or session loses its socket
// within five; sockets of one key or session are judged together. A judge that does
// not answer delays nothing and changes nothing. Frames from browsers are capped at
// 16 KiB. A reader that does not take a message within ten seconds, or what it asked for, is
// told to come back (4008) as soon as it reads on, and dropped without a word five seconds
// later; one that says nothing for 35 s is dropped. It never delays others. At shutdown every socket is closed with
// 1012 (come back).
//
// Where no websocket gets through, Stream says the same as an event stream, under the same rules:
// it is judged, bounded, pinged, let go of and closed like a socket.
//
// What several sockets get is made once for all of them, as a frame; for those of an account it is
// compressed, if their browser can read that.
//
// A socket is one goroutine that reads. What is to be written is written by one that
// lives only meanwhile, so ten thousand silent browsers cost what their reading costs.
package wsconn

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
)

// Subprotocol is the name of the live protocol.
const Subprotocol = "probefleet.v1.json"

// Limits of a connection.
const (
	maxFrame     = 16 << 10
	maxChannels  = 64
	maxAnswers   = 64               // that wait to be written: who asks for more does not read
	writeTimeout = 10 * time.Second // that a reader may take for a message
	closeTimeout = 5 * time.Second  // that one may take then before it is dropped: the library's own
	catchUp      = 3 * time.Second  // that this node may take to read as far as another one that a reader left
	pingEvery    = 15 * time.Second
	silentAfter  = 35 * time.Second
	// Together less than the five seconds within which who is revoked must be out: a round waits
	// for its slowest question. Who could not be asked about is asked about again in the next.
	reauthEvery   = 3 * time.Second
	reauthTimeout = 1500 * time.Millisecond
	closeTryLater = websocket.StatusCode(1012) // RFC 6455 registry: service restart
	closeSlow     = websocket.StatusCode(4008)
	closeRevoked  = websocket.StatusCode(4001)
	tooSlow       = "too slow: come back"
)

// Limits of sockets where Options says nothing.
const (
	defaultMost          = 20_000
	defaultMostOfAccount = 500
)

// Options of a server.
type Options struct {
	Hub *live.Hub
	// StillAllowed judges the request of an open socket again: an error closes it.
	StillAllowed func(ctx context.Context, r *http.Request) error
	// Holder says whose a socket will be: the key or session of its request; nil: what the
	// request says of itself, to the letter.
	Holder func(r *http.Request) string
	// Secure says whether the browser came over TLS (perhaps ended by a proxy in
	// front): then a page served without TLS may not open a socket.
	Secure func(r *http.Request) bool
	// Most is how many sockets may be open, and MostOfAccount how many of one key or
	// session; 0: 20,000 and 500.
	Most, MostOfAccount int
	Log                 *slog.Logger
	Metrics             *Metrics // nil means none
}

// Server upgrades requests and owns the sockets. Run drives them.
type Server struct {
	Options

	writers  chan struct{} // a token for each that writes and is not known to be slow
	deflater deflater

	mu        sync.Mutex
	closing   bool
	open      []*client      // each knows its place
	anonymous int            // of them, sockets of anybody
	holders   map[string]int // how many sockets a key or session has
	done      sync.WaitGroup
}

// New makes a server.
func New(o Options) *Server {
	if o.Most == 0 {
		o.Most = defaultMost
	}
	if o.MostOfAccount == 0 {
		o.MostOfAccount = defaultMostOfAccount
	}
	if o.Holder == nil {
		o.Holder = holder
	}
	return &Server{Options: o, writers: make(chan struct{}, 32), holders: map[string]int{}}
}

// ServeHTTP upgrades an authorised request. It returns then: what the request needed is let
// go of, and the socket lives on.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.accept(w, r, &client{allowed: s.StillAllowed, holder: s.Holder(r)})
}

// holder is whose socket it will be: of a key, or of what the browser's cookies say. A key is
// one holder whatever cookies come with it.
func holder(r *http.Request) string {
	if key := r.Header.Get("Authorization"); key != "" {
		return key
	}
	return r.Header.Get("Cookie")
}

// Only serves sockets of anybody, who may read one channel and no other, as long as allowed
// says so. They take no more than three quarters of the places. gone is called once, when the
// socket has ended or was refused: the handler returns long before.
func (s *Server) Only(channel string, allowed func(context.Context, *http.Request) error, gone func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := r.RemoteAddr // another one for each: nobody is judged by somebody else's address
		if !s.accept(w, r, &client{allowed: allowed, only: channel, holder: from, gone: gone}) {
			gone()
		}
	})
}

// accept says whether a socket was counted in: then remove counts it out.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, c *client) bool {
	if r.Header.Get("Origin") == "" && r.Header.Get("Authorization") == "" {
		http.Error(w, "a websocket without an Origin needs a bearer key", http.StatusForbidden)
		return false
	}
	if s.Secure(r) && !strings.HasPrefix(r.Header.Get("Origin"), "https://") && r.Header.Get("Origin") != "" {
		http.Error(w, "the origin is not secure", http.StatusForbidden)
		return false
	}
	c.server, c.request = s, lean(r)
	if !s.admit(w, c) {
		return false
	}
	// Accept itself refuses origins of other hosts. Who may compress for us may also begin a message,
	// for which the library keeps 40 KB until it ends: anybody may not.
	compression, form, frame := websocket.CompressionDisabled, plain, plainFrame
	if c.only == "" {
		compression = websocket.CompressionNoContextTakeover
	}
	u := &upgrade{ResponseWriter: w}
	conn, err := websocket.Accept(u, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}, CompressionMode: compression, CompressionThreshold: math.MaxInt})
	if err != nil {
		s.remove(c)
		return true // Accept has answered
	}
	conn.SetReadLimit(maxFrame)
	if w.Header().Get("Sec-Websocket-Extensions") != "" {
		form, frame = deflated, s.deflater.frame
	}
	c.begin(webSocket{conn, u.frames, form, frame})
	go c.read(conn)
	return true
}

// admit counts a client in, or says why not.
func (s *Server) admit(w http.ResponseWriter, c *client) bool {
	err := s.reserve(c)
	if err != nil {
		w.Header().Set("Retry-After", strconv.Itoa(int(pingEvery/time.Second)))
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
	return err == nil
}

var (
	errClosing = errors.New("this node is being restarted: come back")
	errFull    = errors.New("as many live connections as this node takes are open: come back")
	errHolder  = errors.New("this account has as many live connections open as one may have")
)

// reserve counts a socket in, before it is there: parallel requests must not pass together.
func (s *Server) reserve(c *client) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing:
		return errClosing
	case len(s.open) >= s.Most, c.only != "" && s.anonymous >= s.Most/4*3:
		return errFull
	case s.holders[c.holder] >= s.MostOfAccount:
		return errHolder
	default:
		s.holders[c.holder]++
	}
	if c.only != "" {
		s.anonymous++
	}
	c.place, s.open = len(s.open), append(s.open, c)
	s.done.Add(1)
	s.Metrics.connections(len(s.open))
	return nil
}

func (s *Server) remove(c *client) {
	c.forgetAll()
	if c.gone != nil {
		c.gone()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.open) - 1
	s.open[c.place] = s.open[last]
	s.open[c.place].place = c.place
	s.open[last] = nil
	s.open = s.open[:last]
	if c.only != "" {
		s.anonymous--
	}
	if s.holders[c.holder]--; s.holders[c.holder] == 0 {
		delete(s.holders, c.holder)
	}
	s.Metrics.connections(len(s.open))
	s.done.Done()
}

func (s *Server) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// clients are those that are open now, in an order that stays: while telling all of them takes a
// while, nobody waits for more than one round.
func (s *Server) clients(into []*client) []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(into[:0], s.open...)
}

// Shutdown closes every socket with 1012 and waits for them until ctx ends.
// http.Server.Shutdown does not know upgraded connections.
func (s *Server) Shutdown(ctx context.Context) {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	for _, c := range s.clients(nil) {
		c.close(closeTryLater, "restarting")
	}
	gone := make(chan struct{})
	go func() { s.done.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-ctx.Done():
		for _, c := range s.clients(nil) {
			c.drop()
		}
	}
}

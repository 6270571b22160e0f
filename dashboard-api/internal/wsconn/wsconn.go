// Package wsconn carries the live feed over websockets. It is the only importer
// of the websocket library.
//
// Guarantees. A request is authorised before it is upgraded (by the handler in
// front), its origin must be this host unless it carries a bearer key, and it is
// judged again every three seconds, so a revoked key or session loses its socket
// within five. A judge that does not answer delays nothing and changes nothing.
// Frames from browsers are capped at 16 KiB. A reader that does not take what is
// sent within ten seconds, or says nothing for 35 s, is closed; it never delays
// others. At shutdown every socket is closed with 1012 (come back).
package wsconn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
)

// Subprotocol is the name of the live protocol.
const Subprotocol = "probefleet.v1.json"

// Limits of a connection.
const (
	maxFrame      = 16 << 10
	maxChannels   = 64
	maxAnonymous  = 2000
	writeTimeout  = 10 * time.Second
	pingEvery     = 15 * time.Second
	silentAfter   = 35 * time.Second
	reauthEvery   = 3 * time.Second
	reauthTimeout = 10 * time.Second
	closeTryLater = websocket.StatusCode(1012) // RFC 6455 registry: service restart
	closeSlow     = websocket.StatusCode(4008)
	closeRevoked  = websocket.StatusCode(4001)
)

// Options of a server.
type Options struct {
	Hub *live.Hub
	// StillAllowed judges the request of an open socket again: an error closes it.
	StillAllowed func(ctx context.Context, r *http.Request) error
	// Secure says whether the browser came over TLS (perhaps ended by a proxy in
	// front): then a page served without TLS may not open a socket.
	Secure  func(r *http.Request) bool
	Log     *slog.Logger
	Metrics *Metrics // nil means none
}

// Server upgrades requests and owns the sockets.
type Server struct {
	Options

	anonymous atomic.Int64 // sockets of anybody

	mu      sync.Mutex
	closing bool
	open    map[*websocket.Conn]struct{}
	done    sync.WaitGroup
}

// New makes a server.
func New(o Options) *Server { return &Server{Options: o, open: map[*websocket.Conn]struct{}{}} }

// ServeHTTP upgrades an authorised request and serves it until it ends.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.accept(w, r, "", s.StillAllowed)
}

// Only serves sockets of anybody, who may read one channel and no other, as long as allowed
// says so.
func (s *Server) Only(channel string, allowed func(context.Context, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.anonymous.Add(1); s.anonymous.Load() > maxAnonymous {
			s.anonymous.Add(-1)
			w.Header().Set("Retry-After", "30")
			http.Error(w, "too many sockets: ask for the page instead", http.StatusServiceUnavailable)
			return
		}
		defer s.anonymous.Add(-1)
		s.accept(w, r, channel, allowed)
	})
}

func (s *Server) accept(w http.ResponseWriter, r *http.Request, only string, allowed func(context.Context, *http.Request) error) {
	if r.Header.Get("Origin") == "" && r.Header.Get("Authorization") == "" {
		http.Error(w, "a websocket without an Origin needs a bearer key", http.StatusForbidden)
		return
	}
	if s.Secure(r) && !strings.HasPrefix(r.Header.Get("Origin"), "https://") && r.Header.Get("Origin") != "" {
		http.Error(w, "the origin is not secure", http.StatusForbidden)
		return
	}
	// Accept itself refuses origins of other hosts.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // Accept has answered
	}
	conn.SetReadLimit(maxFrame)
	if !s.add(conn) {
		_ = conn.Close(closeTryLater, "restarting")
		return
	}
	defer s.remove(conn)
	c := &client{server: s, only: only, allowed: allowed, conn: conn, request: r, subs: map[string]*live.Subscription{}, commands: make(chan command, 8), heard: make(chan struct{}, 1), revoked: make(chan struct{})}
	if err := c.serve(r.Context()); err != nil {
		s.Log.Debug("socket ended", "error", err)
	}
}

func (s *Server) add(conn *websocket.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.open[conn] = struct{}{}
	s.done.Add(1)
	s.Metrics.connections(len(s.open))
	return true
}

func (s *Server) remove(conn *websocket.Conn) {
	_ = conn.CloseNow()
	s.mu.Lock()
	delete(s.open, conn)
	s.Metrics.connections(len(s.open))
	s.mu.Unlock()
	s.done.Done()
}

// Shutdown closes every socket with 1012 and waits for them until ctx ends.
// http.Server.Shutdown does not know upgraded connections.
func (s *Server) Shutdown(ctx context.Context) {
	s.mu.Lock()
	s.closing = true
	for conn := range s.open {
		go func() { _ = conn.Close(closeTryLater, "restarting") }()
	}
	s.mu.Unlock()
	gone := make(chan struct{})
	go func() { s.done.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		for conn := range s.open {
			_ = conn.CloseNow()
		}
	}
}

// command is a message of a browser.
type command struct {
	T    string         `json:"t"`
	ID   string         `json:"id"`
	Ch   string         `json:"ch"`
	From *live.Position `json:"from"`
}

// client is one socket: one goroutine reads commands, one writes.
type client struct {
	server   *Server
	conn     *websocket.Conn
	request  *http.Request
	only     string // the one channel it may read; "": all
	allowed  func(context.Context, *http.Request) error
	subs     map[string]*live.Subscription // by channel; the writer's own
	commands chan command
	heard    chan struct{} // something was read
	revoked  chan struct{} // closed once the request would not be allowed any more
}

func (c *client) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { cancel(c.read(ctx)) }()
	go c.judge(ctx)
	err := c.write(ctx)
	switch {
	case errors.Is(err, errRevoked):
		_ = c.conn.Close(closeRevoked, "no longer allowed")
	case errors.Is(err, errSlow):
		_ = c.conn.Close(closeSlow, "too slow: come back")
	}
	cancel(err)
	return err
}

func (c *client) read(ctx context.Context) error {
	for {
		kind, data, err := c.conn.Read(ctx)
		if err != nil {
			return err
		}
		select {
		case c.heard <- struct{}{}:
		default:
		}
		var cmd command
		if kind != websocket.MessageText || json.Unmarshal(data, &cmd) != nil {
			cmd = command{T: "malformed"}
		}
		select {
		case c.commands <- cmd:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// judge asks again and again whether the socket's request is still allowed. It
// asks beside the writer: a database that hangs must not stop the feed.
func (c *client) judge(ctx context.Context) {
	ticker := time.NewTicker(reauthEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			limited, cancel := context.WithTimeout(ctx, reauthTimeout)
			err := c.allowed(limited, c.request)
			cancel()
			if err != nil {
				close(c.revoked)
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

var (
	errRevoked = errors.New("authorisation was revoked")
	errSlow    = errors.New("reader is too slow")
	errSilent  = errors.New("reader is silent")
)

func (c *client) write(ctx context.Context) error {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	silent := time.NewTimer(silentAfter)
	defer silent.Stop()
	hub := c.server.Hub

	welcome := fmt.Appendf(nil, `{"t":"welcome","epoch":%q,"server_time":%q}`, hub.Epoch(), time.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00"))
	if err := c.send(ctx, welcome); err != nil {
		return err
	}
	for {
		changed := hub.Changed()
		for _, sub := range c.subs {
			if message := sub.Poll(); message != nil {
				if err := c.send(ctx, message); err != nil {
					return err
				}
			}
		}
		select {
		case <-changed:
		case cmd := <-c.commands:
			if err := c.obey(ctx, cmd); err != nil {
				return err
			}
		case <-c.heard:
			silent.Reset(silentAfter)
		case <-ping.C:
			if err := c.send(ctx, []byte(`{"t":"ping"}`)); err != nil {
				return err
			}
		case <-c.revoked:
			return errRevoked
		case <-silent.C:
			return errSilent
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (c *client) obey(ctx context.Context, cmd command) error {
	switch cmd.T {
	case "hello", "pong":
		return nil
	case "unsub":
		delete(c.subs, cmd.Ch)
		return nil
	case "sub":
		if _, again := c.subs[cmd.Ch]; !again && len(c.subs) >= maxChannels {
			return c.refuse(ctx, cmd.ID, "too_many_channels", fmt.Sprintf("at most %d channels on one socket", maxChannels))
		}
		if c.only != "" && cmd.Ch != c.only {
			return c.refuse(ctx, cmd.ID, "forbidden_channel", "this socket reads "+c.only+" alone")
		}
		sub, at, recovered, err := c.server.Hub.Subscribe(cmd.Ch, cmd.From)
		if err != nil {
			return c.refuse(ctx, cmd.ID, "unknown_channel", err.Error())
		}
		c.subs[cmd.Ch] = sub
		return c.sendJSON(ctx, struct {
			T         string `json:"t"`
			ID        string `json:"id"`
			Ch        string `json:"ch"`
			Epoch     string `json:"epoch"`
			Seq       uint64 `json:"seq"`
			Recovered bool   `json:"recovered"`
		}{"ok", cmd.ID, cmd.Ch, at.Epoch, at.Seq, recovered})
	case "malformed":
		return c.refuse(ctx, "", "malformed", "messages are JSON objects in text frames")
	}
	return c.refuse(ctx, cmd.ID, "unknown_message", fmt.Sprintf("there is no message %q", strings.ToValidUTF8(cmd.T, "?")))
}

func (c *client) refuse(ctx context.Context, id, code, message string) error {
	return c.sendJSON(ctx, map[string]string{"t": "err", "id": id, "code": code, "message": message})
}

func (c *client) sendJSON(ctx context.Context, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.send(ctx, body)
}

func (c *client) send(ctx context.Context, body []byte) error {
	limited, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	err := c.conn.Write(limited, websocket.MessageText, body)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return errSlow
	}
	if err == nil {
		c.server.Metrics.sent(len(body))
	}
	return err
}

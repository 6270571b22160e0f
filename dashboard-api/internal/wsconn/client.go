package wsconn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
)

// slowAfter is how long a writer counts among those that others wait for.
const slowAfter = 20 * time.Millisecond

// message is what is written to a browser. Of a delta, and of the answer to a subscription, at says
// how far the reader of a channel is told by it.
type message struct {
	body    []byte
	shared  *live.Shared // the same, if others get it, too
	channel string
	at      live.Position
}

// wire is what messages are written to.
type wire interface {
	// write says how many bytes it wrote.
	write(m message) (sent int, err error)
	// close says why and ends it, after what is being written: it waits no longer than closeTimeout
	// for that, and lets go of whoever writes still.
	close(code websocket.StatusCode, reason string)
	drop()
}

// client is one socket, or a stream in its place.
type client struct {
	server  *Server
	conn    wire
	request *http.Request
	holder  string // whose socket it is: the key or session of the request
	allowed func(context.Context, *http.Request) error
	gone    func()       // called when it has ended; nil: nobody asks
	only    string       // the one channel it may read; "": all
	place   int          // among the server's open ones; under its lock
	heard   atomic.Int64 // when something was last read, in Unix seconds
	pinged  int64        // the same of the last ping; of the server's round alone

	mu      sync.Mutex
	subs    []channel
	answers []message     // to what was asked: they go before deltas
	writing bool          // a goroutine of flush is at work
	again   bool          // there may be more to write since it looked
	closed  chan struct{} // not nil once it is being closed, from when on nothing is answered; closed when that has ended
}

type channel struct {
	name string
	sub  *live.Subscription
}

func (c *client) begin(conn wire) {
	c.mu.Lock()
	c.conn = conn
	c.mu.Unlock()
	now := time.Now()
	c.heard.Store(now.Unix())
	if c.server.isClosing() { // Shutdown may have passed it while it was upgraded
		c.close(closeTryLater, "restarting")
	}
	c.answer(encode(live.Welcome{T: "welcome", Epoch: c.server.Hub.Epoch(), ServerTime: now.UTC().Format("2006-01-02T15:04:05.000Z07:00")}))
}

// read obeys the browser until the socket ends.
func (c *client) read(conn *websocket.Conn) {
	defer c.server.remove(c)
	defer conn.CloseNow() //nolint:errcheck // it has ended
	for {
		kind, data, err := conn.Read(context.Background())
		if err != nil {
			c.server.Log.Debug("socket ended", "error", err)
			return
		}
		if closed := c.closing(); closed != nil {
			<-closed // it reads on by itself; dropped before, nobody would be told why
			return
		}
		c.heard.Store(time.Now().Unix())
		c.obey(kind, data)
	}
}

// closing gives what is closed once the socket has been; nil when it is not being closed.
func (c *client) closing() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// obey does what a browser says: each of live.Commands.
func (c *client) obey(kind websocket.MessageType, data []byte) {
	var command any
	err := live.ErrMalformed
	if kind == websocket.MessageText {
		command, err = live.ReadCommand(data)
	}
	if unknown, is := errors.AsType[live.ErrUnknownMessage](err); is {
		c.refuse(unknown.ID, "unknown_message", unknown.Error())
		return
	}
	if err != nil {
		c.refuse("", "malformed", err.Error())
		return
	}
	switch command := command.(type) {
	case live.Hello, live.Pong:
	case live.Unsub:
		c.mu.Lock()
		c.forget(command.Ch)
		c.mu.Unlock()
	case live.Sub:
		c.subscribe(command)
	default: // a test says each of them
		c.refuse("", "unknown_message", fmt.Sprintf("a %T is not obeyed here", command))
	}
}

// forget ends a subscription; true when there was one. The caller holds the lock.
func (c *client) forget(name string) bool {
	for i := range c.subs {
		if c.subs[i].name == name {
			c.subs[i].sub.End()
			c.subs = append(c.subs[:i], c.subs[i+1:]...)
			return true
		}
	}
	return false
}

// forgetAll ends what is still subscribed, when the socket has ended.
func (c *client) forgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.subs {
		s.sub.End()
	}
	c.subs = nil
}

func (c *client) subscribe(cmd live.Sub) {
	if c.only != "" && cmd.Ch != c.only {
		c.refuse(cmd.ID, "forbidden_channel", "this socket reads "+c.only+" alone")
		return
	}
	c.server.Hub.Await(cmd.From, catchUp)
	sub, at, recovered, err := c.server.Hub.Subscribe(cmd.Ch, cmd.From)
	if err != nil {
		c.refuse(cmd.ID, "unknown_channel", err.Error())
		return
	}
	ok := encode(live.OK{T: "ok", ID: cmd.ID, Ch: cmd.Ch, Epoch: at.Epoch, Seq: at.Seq, Mark: at.Mark, Recovered: recovered})
	c.mu.Lock()
	if !c.forget(cmd.Ch) && len(c.subs) >= maxChannels {
		c.mu.Unlock()
		sub.End()
		c.refuse(cmd.ID, "too_many_channels", fmt.Sprintf("at most %d channels on one socket", maxChannels))
		return
	}
	c.subs = append(c.subs, channel{cmd.Ch, sub}) // under the lock the answer goes before its first delta
	tooMany := c.put(message{body: ok, channel: cmd.Ch, at: at})
	c.mu.Unlock()
	c.deliver(tooMany)
}

func (c *client) refuse(id, code, message string) {
	c.answer(encode(live.Err{T: "err", ID: id, Code: code, Message: message}))
}

// encode writes a message of plain fields, which cannot fail.
func encode(message any) []byte {
	body, _ := json.Marshal(message)
	return body
}

func (c *client) answer(body []byte) {
	c.mu.Lock()
	tooMany := c.put(message{body: body})
	c.mu.Unlock()
	c.deliver(tooMany)
}

// put adds an answer to those that wait, and says whether they are too many. Whoever floods a
// socket that is being closed is not kept. The caller holds the lock.
func (c *client) put(m message) (tooMany bool) {
	if c.closed != nil {
		return false
	}
	c.answers = append(c.answers, m)
	return len(c.answers) > maxAnswers
}

// deliver has answers written, or ends the socket of whoever does not read them.
func (c *client) deliver(tooMany bool) {
	if tooMany {
		c.close(closeSlow, tooSlow)
		return
	}
	c.wake()
}

// wake has what there is for the reader written, if there is something. It waits for its turn
// among those that write, and never for a slow reader.
func (c *client) wake() {
	c.mu.Lock()
	if c.conn == nil || c.writing {
		c.again = true
		c.mu.Unlock()
		return
	}
	messages := c.take()
	c.writing = len(messages) > 0
	c.mu.Unlock()
	if len(messages) == 0 {
		return
	}
	c.server.writers <- struct{}{}
	go c.flush(messages)
}

// take gives what is to be written now. The caller holds the lock.
func (c *client) take() []message {
	messages := c.answers
	c.answers, c.again = nil, false
	for _, s := range c.subs {
		if body := s.sub.Poll(); body != nil {
			messages = append(messages, message{body, s.sub.Shared(), s.name, s.sub.At()})
		}
	}
	return messages
}

// flush writes until there is nothing left. The token that wake took is given back when it is
// done, or as soon as its reader turns out to be slow. Each message has its own time: who reads
// on, however slowly, is told on.
func (c *client) flush(messages []message) {
	free := sync.OnceFunc(func() { <-c.server.writers })
	slow := time.AfterFunc(slowAfter, free)
	defer func() { slow.Stop(); free() }()
	late := time.AfterFunc(writeTimeout, func() { c.close(closeSlow, tooSlow) })
	defer late.Stop()
	for {
		for _, m := range messages {
			late.Reset(writeTimeout)
			sent, err := c.conn.write(m)
			if err != nil {
				c.server.Log.Debug("socket cannot be written to", "error", err)
				c.conn.drop() // whoever reads ends it
				return
			}
			c.server.Metrics.sent(sent)
		}
		c.mu.Lock()
		if messages = nil; c.again {
			messages = c.take()
		}
		if len(messages) == 0 {
			c.writing = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
	}
}

// close says why and ends the socket, without waiting; once, with the first reason.
func (c *client) close(code websocket.StatusCode, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil || c.closed != nil {
		return
	}
	conn, closed := c.conn, make(chan struct{})
	c.closed = closed
	go func() { defer close(closed); conn.close(code, reason) }()
}

// drop ends the socket at once.
func (c *client) drop() {
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	if conn != nil {
		conn.drop()
	}
}

package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Position is where a reader is in a channel. The mark, where there is one, says the same to other
// nodes: how far the stream of results that all of them read was in what the reader was told.
type Position struct {
	Epoch string `json:"epoch"`
	Seq   uint64 `json:"seq"`
	Mark  Mark   `json:"mark,omitempty" doc:"of targets, to go on from at another node"`
}

// String is the position as one word, for ids of events; ParsePosition reads it.
func (p Position) String() string { return fmt.Sprintf("%s.%d.%s", p.Epoch, p.Seq, p.Mark) }

// ParsePosition reads where a reader stopped; nil: nowhere we know.
func ParsePosition(text string) *Position {
	epoch, rest, _ := strings.Cut(text, ".")
	seq, mark, _ := strings.Cut(rest, ".")
	n, err := strconv.ParseUint(seq, 10, 64)
	if err != nil {
		return nil
	}
	return &Position{Epoch: epoch, Seq: n, Mark: Mark(mark)}
}

// Subscription is a reader's place in one channel. It is used by one goroutine.
type Subscription struct {
	hub     *Hub
	feed    *feed
	channel string
	only    string // id to filter by; empty for all
	cursor  uint64 // how far the feed was read
	told    uint64 // the sequence the reader knows: behind the cursor while nothing was for it
	mark    Mark   // of the last message of Poll
	shared  *Shared
	missed  func() []byte // all that has changed since the reader left another node; it goes first
	ended   bool          // under the hub's lock
}

// ErrUnknownChannel says that there is no such channel.
type ErrUnknownChannel struct{ Channel string }

func (e ErrUnknownChannel) Error() string { return fmt.Sprintf("there is no channel %q", e.Channel) }

// Subscribe starts reading a channel (targets, target:<id>, incidents, fleet, checks:<id> or check:<id>, page:<slug>) after from.
// recovered is false when the hub cannot continue from there: the reader takes a
// new snapshot, and the subscription starts at the present.
func (h *Hub) Subscribe(channel string, from *Position) (s *Subscription, at Position, recovered bool, err error) {
	s = &Subscription{hub: h, channel: channel}
	switch name, id, _ := strings.Cut(channel, ":"); {
	case channel == "targets":
		s.feed = &h.targets
	case channel == "fleet":
		s.feed = &h.fleet
	case channel == "incidents":
		s.feed = &h.incidents
	case name == "target":
		if n, err := strconv.ParseInt(id, 10, 64); err != nil || strconv.FormatInt(n, 10) != id {
			return nil, Position{}, false, ErrUnknownChannel{channel} // 007 would be another name of 7, and hear nothing
		}
		s.feed, s.only = &h.targets, id
	case (name == "checks" || name == "check") && checkID.MatchString(id):
		s.feed, s.only = &h.checks, id
	case name == "page" && checkID.MatchString(id):
		s.feed, s.only = &h.pages, id
	default:
		return nil, Position{}, false, ErrUnknownChannel{channel}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.feed == &h.pages {
		h.heard[s.only]++
	}
	s.cursor = s.feed.seq
	if from != nil && from.Epoch == h.epoch {
		if _, known := s.feed.after(from.Seq); known {
			s.cursor, recovered = from.Seq, true
		}
	}
	s.told, s.mark = s.cursor, h.markOf(s.feed)
	at = Position{h.epoch, s.cursor, s.mark}
	if from != nil && !recovered && s.feed == &h.targets && h.reaches(from.Mark) {
		at, recovered = Position{h.epoch, 0, from.Mark}, true // until it has what it missed
		s.missed = h.since(s, from.Mark)
		s.told = s.feed.seq
		s.cursor = s.told
	}
	return s, at, recovered, nil
}

// End counts the reader out: nothing is worked out any more for a page that nobody reads. What was
// said until then may still be polled.
func (s *Subscription) End() {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.ended || s.feed != &h.pages {
		return
	}
	s.ended = true
	if h.heard[s.only]--; h.heard[s.only] == 0 {
		delete(h.heard, s.only)
	}
}

// Epoch is this hub's life.
func (h *Hub) Epoch() string { return h.epoch }

// Changed is closed when any feed grows. Take it before polling.
func (h *Hub) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

// Poll gives the next message for the reader, nil when there is none. All frames
// since the last poll are one message; readers of a whole channel, or of a page, that were told the
// same share it: nobody may change it. A reader that fell out of the feed gets a
// resync message and goes on from the present.
func (s *Subscription) Poll() []byte {
	s.hub.mu.Lock()
	if missed := s.missed; missed != nil {
		s.missed, s.shared = nil, nil
		s.hub.mu.Unlock()
		return missed()
	}
	if s.cursor == s.feed.seq {
		s.hub.mu.Unlock()
		return nil
	}
	frames, known := s.feed.after(s.cursor)
	told, now, mark := s.told, s.feed.seq, s.hub.markOf(s.feed)
	s.cursor, s.shared = now, nil
	compose := func() []byte { return message(s.channel, s.only, told, now, mark, frames) } // neither frames nor their list are changed any more
	if known && (s.only == "" || s.feed == &s.hub.pages) {
		s.shared = s.feed.share(telling{s.only, told}, compose)
		compose = s.shared.body
	}
	s.hub.mu.Unlock()

	if !known {
		s.told, s.mark = now, mark
		body, _ := json.Marshal(Resync{T: "resync", Ch: s.channel, Reason: "too far behind"})
		return body
	}
	body := compose()
	if body != nil {
		s.told, s.mark = now, mark
	}
	return body
}

// message is the delta of a channel, or of one id in it; nil when nothing is for it.
func message(name, only string, told, now uint64, mark Mark, frames []*frame) []byte {
	ops := opsOf(only, frames)
	if len(ops) == 0 {
		return nil
	}
	return deltaOf(name, told, now, mark, ops)
}

func deltaOf(name string, told, now uint64, mark Mark, ops [][]byte) []byte {
	channel, _ := json.Marshal(name)
	message := fmt.Appendf(make([]byte, 0, 256), `{"t":"delta","ch":%s,"from_seq":%d,"seq":%d,`, channel, told, now)
	if mark != "" {
		message = fmt.Appendf(message, `"mark":%q,`, mark)
	}
	message = append(append(message, `"ops":[`...), bytes.Join(ops, []byte{','})...)
	return append(message, "]}"...)
}

// Shared is the last message of Poll as its other readers have it; nil: it is this reader's alone.
func (s *Subscription) Shared() *Shared { return s.shared }

// Forms is how many forms of a message there may be.
const Forms = 2

// Shared is a message that several readers get. What has to be made of it to be sent is made once.
type Shared struct {
	body  func() []byte
	forms [Forms]struct {
		once sync.Once
		made []byte
	}
}

// As gives a form of the message, which of makes of its body for the first who asks. Nobody may
// change it.
func (s *Shared) As(form int, of func(body []byte) []byte) []byte {
	f := &s.forms[form]
	f.once.Do(func() { f.made = of(s.body()) })
	return f.made
}

// At is how far the reader was told, by the last message of Poll.
func (s *Subscription) At() Position { return Position{s.hub.epoch, s.told, s.mark} }

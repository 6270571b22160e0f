package live

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Mark is a place in the stream of results, which all nodes read: an id of its entries.
type Mark string

// mark is the same, to compare.
type mark uint64

const (
	countBits = 20 // of entries within a millisecond

	// resumeWithin is how much of the stream another node can tell again: for as long no tick of a
	// target that is checked every ten seconds has left its bar. Who was away while nothing came
	// may come later, as long as it is known what was removed.
	resumeWithin = 4 * time.Minute
	// resumeSlack is how much sooner than another node this one may have heard of what does not come
	// by the stream: each compares itself with the stores once a minute, or more often.
	resumeSlack = 75 * time.Second
)

func (m Mark) parse() (mark, bool) {
	first, second, cut := strings.Cut(string(m), "-")
	ms, err := strconv.ParseUint(first, 10, 64-countBits)
	n, err2 := strconv.ParseUint(second, 10, 64)
	return mark(ms<<countBits | min(n, 1<<countBits-1)), cut && err == nil && err2 == nil
}

func (m mark) text() Mark {
	if m == 0 {
		return ""
	}
	return Mark(strconv.FormatUint(uint64(m>>countBits), 10) + "-" + strconv.FormatUint(uint64(m&(1<<countBits-1)), 10))
}

func (m mark) time() time.Time {
	return time.UnixMilli(int64(min(m>>countBits, math.MaxInt64>>countBits)))
}

// marks are how far the stream was read.
type marks struct {
	first  mark // before everything that was read
	newest mark // read last
	told   mark // everything up to here is in frames; of what came later there may be some, too, while targets wait for theirs
}

// Reading says that the stream is read from an entry on: what stands before it comes from the stores.
func (h *Hub) Reading(from Mark) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.marks.first, _ = from.parse()
	h.marks.newest, h.marks.told = h.marks.first, h.marks.first
}

// Announced takes in the results of an entry of the stream.
func (h *Hub) Announced(id string, results []uptime.Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, _ := Mark(id).parse()
	switch {
	case at < h.marks.newest: // the stream was turned back: places in what it was mean nothing now
		h.marks.first = math.MaxUint64
	case h.marks.first == math.MaxUint64 && at > h.marks.newest: // and until it is past them
		h.marks.first = at
	}
	h.marks.newest = max(h.marks.newest, at)
	h.apply(results, at)
	close(h.reached)
	h.reached = make(chan struct{})
}

// Await waits until this node has read the stream as far as another one had that a reader left:
// not longer than a moment, and not at all for a place to which it will not come.
func (h *Hub) Await(from *Position, patience time.Duration) {
	if from == nil || from.Epoch == h.epoch {
		return
	}
	at, is := from.Mark.parse()
	for timeout := time.After(patience); is; {
		h.mu.Lock()
		behind, reached := h.marks.newest < at && h.marks.first <= at, h.reached
		h.mu.Unlock()
		if !behind {
			return
		}
		select {
		case <-reached:
		case <-timeout:
			return
		}
	}
}

// markOf is how far the stream is in what was told on a feed.
func (h *Hub) markOf(f *feed) Mark {
	if f != &h.targets {
		return ""
	}
	return h.marks.told.text()
}

// reaches says whether everything after a place can be told.
func (h *Hub) reaches(from Mark) bool {
	at, is := from.parse()
	return is && at >= h.marks.first && at <= h.marks.newest && h.marks.newest.time().Sub(at.time()) <= resumeWithin && h.now().Sub(at.time()) <= goneAge-2*resumeSlack
}

// since is one delta with what has changed since a place in the stream: each result after it, once,
// and targets with other changes since a while before it, as they are now. Of results that came by
// the stores alone nobody knows which the other node has told: those of that while are told again.
// The delta is made when it is handed out, without the lock: of what was removed by then it says nothing.
func (h *Hub) since(s *Subscription, from Mark) func() []byte {
	h.frame(0) // what is gathered is told to others in a frame, and nothing waits: this reader has it here
	at, _ := from.parse()
	now, around := h.now(), at.time().Add(-resumeSlack)
	type missed struct {
		id   int64
		item *Target
		of   *entry
	}
	var ops [][]byte
	var all []missed
	for id, gone := range h.gone {
		if text := strconv.FormatInt(id, 10); gone.After(around) && (s.only == "" || s.only == text) {
			ops = append(ops, encodeOp("remove", id, nil))
		}
	}
	for id, e := range h.entries {
		if s.only != "" && s.only != strconv.FormatInt(id, 10) {
			continue
		}
		var fresh []Tick
		for i := range e.ticks {
			if t := &e.ticks[i]; t.mark > at || t.mark == 0 && !t.came.Before(around) {
				fresh = append(fresh, *t)
			}
		}
		if len(fresh) > 0 || e.changed.After(around) {
			item := e.item(now, fresh)
			all = append(all, missed{id, &item, e})
		}
	}
	s.mark = h.marks.told.text()
	channel, seq, told := s.channel, s.feed.seq, s.mark
	return func() []byte {
		for _, m := range all {
			if !m.of.removed.Load() {
				ops = append(ops, encodeOp("upsert", m.id, m.item))
			}
		}
		return deltaOf(channel, 0, seq, told, ops)
	}
}

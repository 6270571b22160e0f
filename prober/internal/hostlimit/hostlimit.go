package hostlimit

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// MaxPause is how long a host is left alone at most, whatever it asks for.
const MaxPause = 5 * time.Minute

// Options of Hosts.
type Options struct {
	PerHost int                   // visits of one host at a time
	Waiting int                   // checks that may wait, all hosts together, before hosts are held to their share
	Opened  func(netip.Addr) bool // addresses without a limit; nil: none
	Metrics prometheus.Registerer
}

// Hosts are all hosts that have visits, checks that wait, or a wish to be left alone.
// Its methods may be called from anywhere.
type Hosts struct {
	perHost, room int
	opened        func(netip.Addr) bool
	metrics       *metrics

	mu      sync.Mutex
	byName  map[string]*host
	waiting int // checks in all queues
	queues  int // hosts with a queue
}

// host has visits or a queue or asked to be left alone, else it is forgotten.
type host struct {
	name   string
	visits int
	queue  list.List // of *wait, the next one in front
	until  time.Time // left alone
}

// wait is a check in a queue.
type wait struct {
	answer chan error // gets one
	at     *list.Element
	since  time.Time
}

// New makes Hosts that know nobody.
func New(o Options) *Hosts {
	h := &Hosts{perHost: o.PerHost, room: o.Waiting, opened: o.Opened, byName: make(map[string]*host)}
	if h.opened == nil {
		h.opened = func(netip.Addr) bool { return false }
	}
	h.metrics = newMetrics(o.Metrics, h)
	return h
}

// Waiting is how many checks wait for their hosts.
func (h *Hosts) Waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waiting
}

// Enter asks for a place at the host of a URL, and never blocks. Whoever gets a Turn ends
// it with Leave, having waited for it with Await if it Waits. The error is a *Refused.
func (h *Hosts) Enter(url string) (Turn, error) {
	name, limited := h.limited(url)
	if !limited {
		return Turn{}, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.byName[name]
	if at == nil {
		at = &host{name: name}
		h.byName[name] = at
	}
	switch {
	case time.Now().Before(at.until):
		return Turn{}, h.metrics.refuse(leftAlone(at.until))
	case at.visits < h.perHost:
		at.visits++
		return Turn{hosts: h, host: at}, nil
	case h.waiting >= h.room && at.queue.Len() >= max(1, h.room/max(1, h.queues)):
		return Turn{}, h.metrics.refuse(crowded())
	}
	if at.queue.Len() == 0 {
		h.queues++
	}
	h.waiting++
	w := &wait{answer: make(chan error, 1), since: time.Now()}
	w.at = at.queue.PushBack(w)
	return Turn{hosts: h, host: at, wait: w}, nil
}

// LeaveAlone heeds a host that asked not to be visited for a while. What is let in is judged
// by the URL that is checked: where a redirect led from there to who answered, the host of
// both is left alone.
func (h *Hosts) LeaveAlone(checked, answered string, pause time.Duration) {
	if pause <= 0 {
		return
	}
	name := h.leaveAlone(checked, "", pause)
	h.leaveAlone(answered, name, pause)
}

// leaveAlone is LeaveAlone of one host, unless that was done.
func (h *Hosts) leaveAlone(url, done string, pause time.Duration) (name string) {
	name, limited := h.limited(url)
	if !limited || name == done {
		return name
	}
	pause = min(pause, MaxPause)
	until := time.Now().Add(pause)
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.byName[name]
	if at == nil {
		at = &host{name: name}
		h.byName[name] = at
	}
	if !until.After(at.until) {
		return name
	}
	at.until = until
	h.metrics.pauses.Inc()
	for at.queue.Len() > 0 {
		h.take(at).answer <- h.metrics.refuse(leftAlone(until))
	}
	time.AfterFunc(pause, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.forget(at)
	})
	return name
}

// take removes the first of a queue.
func (h *Hosts) take(at *host) *wait {
	first := at.queue.Front().Value.(*wait)
	h.remove(at, first)
	return first
}

func (h *Hosts) remove(at *host, w *wait) {
	at.queue.Remove(w.at)
	w.at = nil
	h.waiting--
	if at.queue.Len() == 0 {
		h.queues--
	}
}

// leave ends a visit: its place goes to the first that waits.
func (h *Hosts) leave(at *host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at.queue.Len() > 0 {
		h.take(at).answer <- nil
		return
	}
	at.visits--
	h.forget(at)
}

// withdraw takes a check out of its queue, and says whether it still was in it.
func (h *Hosts) withdraw(at *host, w *wait) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.at == nil {
		return false
	}
	h.remove(at, w)
	return true
}

// forget drops a host that nothing is to be remembered of, unless that was done: the end of
// a pause may come later than that.
func (h *Hosts) forget(at *host) {
	if h.byName[at.name] == at && at.visits == 0 && at.queue.Len() == 0 && !time.Now().Before(at.until) {
		delete(h.byName, at.name)
	}
}

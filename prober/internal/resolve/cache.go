package resolve

import "time"

const (
	maxNames      = 50_000
	heldFailure   = time.Second
	ceiling       = 60 * time.Second
	ceilingAbsent = 10 * time.Second
)

// part is what is known of one family of a name's addresses. Its times count from the
// resolver's beginning. It is never written to again once others can see it.
type part struct {
	learned time.Duration
	expires time.Duration // zero: nothing is known
	addrs   []ranked
	err     error // instead of addresses
	final   string
	server  string
}

func (p *part) fresh(now time.Duration) bool { return now < p.expires }

// hold is how long what an outcome taught is kept. Of an answer with TTL 0 nothing is (RFC 1035
// §3.2.1: it is only for the transaction in progress).
func hold(o outcome, ttl time.Duration) time.Duration {
	switch o {
	case answered:
		return min(ttl, ceiling)
	case noName, noData:
		return min(ttl, ceilingAbsent)
	}
	return heldFailure
}

// cache holds names, the least recently used leaving first. It is not safe for concurrent use.
type cache struct {
	limit   int
	entries map[string]*entry
	ends    entry // of the ring of entries: next is the newest, previous the oldest
}

type entry struct {
	name           string
	parts          [2]part // by place
	next, previous *entry
}

func newCache(limit int) *cache {
	c := &cache{limit: limit, entries: map[string]*entry{}}
	c.ends.next, c.ends.previous = &c.ends, &c.ends
	return c
}

// get gives nil for a name that is not there.
func (c *cache) get(name string) *entry {
	e := c.entries[name]
	if e != nil && c.ends.next != e {
		e.unlink()
		c.link(e)
	}
	return e
}

func (c *cache) put(name string, at int, p part) {
	e := c.get(name)
	if e == nil {
		if len(c.entries) >= c.limit {
			e = c.ends.previous
			e.unlink()
			delete(c.entries, e.name)
		} else {
			e = new(entry)
		}
		*e = entry{name: name}
		c.entries[name] = e
		c.link(e)
	}
	e.parts[at] = p
}

func (c *cache) link(e *entry) {
	e.previous, e.next = &c.ends, c.ends.next
	e.previous.next, e.next.previous = e, e
}

func (e *entry) unlink() {
	e.previous.next, e.next.previous = e.next, e.previous
}

package spool

import (
	"cmp"
	"slices"
)

// index is what waits, by sequence number. Taking the oldest out is cheap.
type index struct {
	entries     []entry
	rows        int
	bytes       int64
	first, last int64 // slots, unix ms, of all entries
	stale       bool  // first and last must be computed again
}

func newIndex(found []entry) index {
	slices.SortFunc(found, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.first, b.first), cmp.Compare(a.last, b.last), cmp.Compare(a.rows, b.rows))
	})
	x := index{entries: found, stale: true}
	for _, e := range found {
		x.rows += int(e.rows)
		x.bytes += e.bytes()
	}
	return x
}

func (x *index) push(e entry) {
	if len(x.entries) == 0 {
		x.first, x.last, x.stale = e.first, e.last, false
	}
	x.first, x.last = min(x.first, e.first), max(x.last, e.last)
	x.entries = append(x.entries, e)
	x.rows += int(e.rows)
	x.bytes += e.bytes()
}

func (x *index) find(it Item) (int, bool) {
	at, _ := slices.BinarySearchFunc(x.entries, it.Seq, func(e entry, seq uint64) int { return cmp.Compare(e.seq, seq) })
	for ; at < len(x.entries) && x.entries[at].seq == it.Seq; at++ {
		if x.entries[at].is(it) {
			return at, true
		}
	}
	return 0, false
}

func (x *index) drop(at int) {
	e := x.entries[at]
	x.rows -= int(e.rows)
	x.bytes -= e.bytes()
	x.stale = x.stale || e.first == x.first || e.last == x.last
	if at == 0 {
		x.entries = x.entries[1:] // append moves to a new array in time
		return
	}
	x.entries = slices.Delete(x.entries, at, at+1)
}

func (x *index) span() (first, last int64) {
	if x.stale && len(x.entries) > 0 {
		x.first, x.last, x.stale = x.entries[0].first, x.entries[0].last, false
		for _, e := range x.entries {
			x.first, x.last = min(x.first, e.first), max(x.last, e.last)
		}
	}
	return x.first, x.last
}

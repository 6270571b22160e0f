package live

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/probefleet/probefleet/internal/verdict"
)

// Counts is how many targets are in each state.
type Counts struct {
	Up          int `json:"up"`
	Degraded    int `json:"degraded"`
	Down        int `json:"down"`
	Maintenance int `json:"maintenance"`
	NoData      int `json:"no_data"`
	Paused      int `json:"paused"`
}

// Overview is what a list of all targets begins with.
type Overview struct {
	Now     time.Time `json:"now"`
	Total   int       `json:"total"`
	Counts  Counts    `json:"counts"`
	Items   []Target  `json:"items" nullable:"false" doc:"those that come first: the worst, by name"`
	Regions []Region  `json:"regions" nullable:"false"`
}

// add counts a target and gives the place of its state in a list that shows the worst first.
func (c *Counts) add(state verdict.State) int {
	count, place := &c.Paused, 5
	switch state {
	case verdict.StateDown:
		count, place = &c.Down, 0
	case verdict.StateDegraded:
		count, place = &c.Degraded, 1
	case verdict.StateNoData:
		count, place = &c.NoData, 2
	case verdict.StateMaintenance:
		count, place = &c.Maintenance, 3
	case verdict.StateUp:
		count, place = &c.Up, 4
	case verdict.StatePaused:
	}
	*count++
	return place
}

// Overview counts all targets and shows the first of them, with the ticks that there are. It costs a
// look at each target and what is shown, so a page need not wait for a snapshot of many to show something.
func (h *Hub) Overview(first int) Overview {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	o := Overview{Now: now.UTC().Truncate(time.Millisecond), Total: len(h.entries), Regions: orEmpty(slices.Clone(h.regions))}
	all := make([]placed, 0, len(h.entries))
	for id, e := range h.entries {
		if e.lapsed(now) && e.fold(now) {
			h.mark(e)
		}
		all = append(all, placed{id, o.Counts.add(e.verdict.State), e.place})
	}
	ids := leading(all, first)
	o.Items = make([]Target, len(ids))
	for i, id := range ids {
		ticks := h.entries[id].ticks
		o.Items[i] = h.entries[id].item(now, slices.Clone(ticks[max(0, len(ticks)-ticksKept):]))
	}
	return o
}

// placed is what decides where a target stands in a list that shows the worst first.
type placed struct {
	id   int64
	rank int
	name []byte
}

// leading gives the identifiers of the n that stand first, in order.
func leading(all []placed, n int) []int64 {
	compare := func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), bytes.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
	}
	first := make([]placed, 0, n+1)
	for _, one := range all {
		if len(first) == n && (n == 0 || compare(one, first[n-1]) > 0) {
			continue
		}
		i, _ := slices.BinarySearchFunc(first, one, compare)
		first = slices.Insert(first, i, one)
		first = first[:min(n, len(first))]
	}
	ids := make([]int64, len(first))
	for i, one := range first {
		ids[i] = one.id
	}
	return ids
}

// names orders names as people read them: whatever their case and accents, and numbers by their value.
// Dashboards order them by the language of the page, which differs in a few letters.
type names struct {
	collator *collate.Collator
	buffer   collate.Buffer
}

func byName() names {
	return names{collator: collate.New(language.Und, collate.Numeric, collate.Loose)}
}

// place gives bytes that compare as the names do, which costs much less than comparing names.
func (n *names) place(name string) []byte {
	defer n.buffer.Reset()
	return bytes.Clone(n.collator.KeyFromString(&n.buffer, name))
}

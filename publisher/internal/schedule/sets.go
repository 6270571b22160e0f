package schedule

import (
	"slices"
	"strings"

	"github.com/probefleet/probefleet/internal/uptime"
)

// sets keeps each wanted list of regions once, and what it resolves to.
type sets struct {
	index    map[string]uint32
	wanted   [][]string
	resolved [][]string // nil: not worked out since the regions changed
}

func newSets() sets {
	return sets{index: map[string]uint32{"": 0}, wanted: [][]string{nil}, resolved: [][]string{nil}}
}

func (s *sets) intern(regions []string) uint32 {
	key := strings.Join(regions, ",")
	at, found := s.index[key]
	if !found {
		at = uint32(len(s.wanted))
		s.index[key] = at
		s.wanted = append(s.wanted, slices.Clone(regions))
		s.resolved = append(s.resolved, nil)
	}
	return at
}

func (s *sets) resolve(set uint32, active []string) []string {
	if s.resolved[set] == nil {
		s.resolved[set] = append([]string{}, uptime.ResolveRegions(s.wanted[set], active)...)
	}
	return s.resolved[set]
}

func (s *sets) forget() { clear(s.resolved) }

// regionSet is the regions and which of them are active.
type regionSet struct {
	known  map[string]region
	active []string // sorted
}

type region struct {
	seq    int64
	since  int64 // the second from which it is so
	active bool
}

// apply reports whether the active set changed.
func (r *regionSet) apply(c RegionChange) bool {
	old, found := r.known[c.Region]
	if found && old.seq >= c.Seq {
		return false
	}
	r.known[c.Region] = region{seq: c.Seq, since: c.Effective, active: c.Active}
	if old.active == c.Active {
		return false
	}
	active := make([]string, 0, len(r.active)+1)
	for name, state := range r.known {
		if state.active {
			active = append(active, name)
		}
	}
	slices.Sort(active)
	r.active = active
	return true
}

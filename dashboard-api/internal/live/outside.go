package live

import (
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Admit says whether external checkers may send results of a target from these regions: all of them
// are known, or with those heard of for as long as results are kept they are at most so many. They
// count from now on, whenever their results come.
func (h *Hub) Admit(id int64, regions []string, kept time.Duration, most int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, found := h.entries[id]
	if !found { // it was created a moment ago, on another node
		return len(regions) <= most
	}
	now := h.now()
	all := e.outside(now.Add(-kept))
	before := len(all)
	for _, region := range regions {
		all[region] = now
	}
	if len(all) > max(most, before) {
		return false
	}
	e.admitted = all
	return true
}

// outside are the regions of external checkers that were let in or measured something since an instant.
func (e *entry) outside(since time.Time) map[string]time.Time {
	all := map[string]time.Time{}
	for region, at := range e.admitted {
		if at.After(since) {
			all[region] = at
		}
	}
	for _, o := range e.newest {
		if _, is := all[o.Region]; !is && uptime.Outside(o.Region) && o.ScheduledAt.After(since) {
			all[o.Region] = o.ScheduledAt
		}
	}
	return all
}

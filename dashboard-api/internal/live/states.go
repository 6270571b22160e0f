package live

import (
	"time"

	"github.com/probefleet/probefleet/internal/verdict"
)

// State is how a target is, and until when that is believed.
type State struct {
	State        verdict.State
	Since        time.Time
	LastResultAt time.Time
}

// States gives how some targets are. A target that the hub does not know is absent, and
// nothing is up on evidence that is not fresh any more, however long ago it was folded.
func (h *Hub) States(ids []int64) map[int64]State {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, states := h.now(), make(map[int64]State, len(ids))
	for _, id := range ids {
		e, found := h.entries[id]
		if !found {
			continue
		}
		if e.lapsed(now) && e.fold(now) {
			h.mark(e)
		}
		states[id] = State{State: e.verdict.State, Since: e.verdict.Since, LastResultAt: e.verdict.LastResultAt}
	}
	return states
}

// Heard gives the slugs of the pages whose channels somebody reads, whichever way: what nobody
// reads need not be worked out. Whether there is such a page the hub does not know.
func (h *Hub) Heard() map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	slugs := make(map[string]bool, len(h.heard))
	for slug := range h.heard {
		slugs[slug] = true
	}
	return slugs
}

// Page tells the readers of the channel page:<slug> how a public page is now; nil: it is gone. Its
// item is written as JSON.
func (h *Hub) Page(slug string, item any) {
	kind := "upsert"
	if item == nil {
		kind = "remove"
	}
	body := encodeOp(kind, slug, item)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pages.append(h.now(), []op{{id: slug, body: body}})
	h.wake()
}

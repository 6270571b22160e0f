package live

import (
	"regexp"
	"strconv"
)

var checkID = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// Check tells the readers of the channel checks:<id> how a check on demand is now. Its item
// is written as JSON.
func (h *Hub) Check(id string, item any) {
	body := encodeOp("upsert", id, item)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checks.append(h.now(), []op{{id: id, body: body}})
	h.wake()
}

// Change is how an incident is now. Its item is written as JSON.
type Change struct {
	ID   int64
	Item any
}

// Incidents tells the readers of the channel incidents what has changed.
func (h *Hub) Incidents(changes []Change) {
	ops := make([]op, 0, len(changes))
	for _, c := range changes {
		ops = append(ops, op{id: strconv.FormatInt(c.ID, 10), body: encodeOp("upsert", c.ID, c.Item)})
	}
	if len(ops) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.incidents.append(h.now(), ops)
	h.wake()
}

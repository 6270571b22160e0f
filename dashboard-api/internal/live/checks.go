package live

import "regexp"

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

package checkstream

import (
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Entry is one delivered check. Exactly one of these holds: Check is set; Err is set
// (it cannot be decoded); Gone is set (its body was trimmed). Either
// way the slot is known from the id, and the entry awaits its acknowledgement.
type Entry struct {
	ID         string
	Check      uptime.Check
	Err        error
	Gone       bool
	Tombstoned bool  // the target was deleted after this was published
	Deliveries int64 // 1 for the first delivery
	TargetID   int64
	Second     int64 // the slot's second, unix
}

func newEntry(id string, deliveries int64, body fields) Entry {
	e := Entry{ID: id, Deliveries: deliveries}
	second, targetID, err := parseID(id)
	if err != nil {
		e.Err = err
		return e
	}
	e.Second, e.TargetID = second, targetID
	if body == nil {
		e.Gone = true
		return e
	}
	e.Check, e.Err = decodeCheck(targetID, second, body)
	return e
}

// ScheduledAt is the slot's instant; only its whole second when the check is unreadable.
func (e Entry) ScheduledAt() time.Time {
	if e.Check.TargetID != 0 {
		return e.Check.ScheduledAt
	}
	return time.Unix(e.Second, 0).UTC()
}

// taken reads a script's reply: a cursor, then (id, deliveries, fields or nothing).
func taken(reply any) (cursor string, entries []Entry, err error) {
	list, _ := reply.([]any)
	if len(list) == 0 {
		return "", nil, fmt.Errorf("unexpected reply %T", reply)
	}
	cursor, _ = list[0].(string)
	entries = make([]Entry, 0, len(list)-1)
	for _, item := range list[1:] {
		row, _ := item.([]any)
		if len(row) < 2 {
			return "", nil, fmt.Errorf("unexpected row of %d parts", len(row))
		}
		id, _ := row[0].(string)
		deliveries, _ := row[1].(int64)
		var body fields
		if len(row) > 2 {
			body, _ = row[2].([]any)
		}
		entries = append(entries, newEntry(id, deliveries, body))
	}
	return cursor, entries, nil
}

// fields are those of an entry, as Redis gives them: names and values in turn. A map of each
// would be most of what reading it costs.
type fields []any

// text gives a field's value, the last of that name, if it is text.
func (f fields) text(name string) (value string) {
	for i := 0; i+1 < len(f); i += 2 {
		if f[i] == name {
			value, _ = f[i+1].(string)
		}
	}
	return value
}

// fieldsOf reads the list of names and values that a script gives for an entry.
func fieldsOf(reply any) map[string]any {
	flat, _ := reply.([]any)
	values := make(map[string]any, len(flat)/2)
	for i := 0; i+1 < len(flat); i += 2 {
		if name, ok := flat[i].(string); ok {
			values[name] = flat[i+1]
		}
	}
	return values
}

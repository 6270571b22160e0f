package checkstream

import (
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Entry is one delivered check. Exactly one of these holds: Check is set; Err is set
// (it cannot be decoded; Raw has its fields); Gone is set (its body was trimmed). Either
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
	Raw        map[string]any
}

func newEntry(id string, deliveries int64, fields map[string]any) Entry {
	e := Entry{ID: id, Deliveries: deliveries}
	second, targetID, err := parseID(id)
	if err != nil {
		e.Err, e.Raw = err, fields
		return e
	}
	e.Second, e.TargetID = second, targetID
	if fields == nil {
		e.Gone = true
		return e
	}
	if e.Check, err = decodeCheck(targetID, second, fields); err != nil {
		e.Err, e.Raw = err, fields
	}
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
		var fields map[string]any
		if len(row) > 2 {
			fields = fieldsOf(row[2])
		}
		entries = append(entries, newEntry(id, deliveries, fields))
	}
	return cursor, entries, nil
}

// fieldsOf reads the flat list of names and values that a script gives for an entry.
func fieldsOf(reply any) map[string]any {
	flat, _ := reply.([]any)
	fields := make(map[string]any, len(flat)/2)
	for i := 0; i+1 < len(flat); i += 2 {
		if name, ok := flat[i].(string); ok {
			fields[name] = flat[i+1]
		}
	}
	return fields
}

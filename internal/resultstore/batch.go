package resultstore

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Batch is one insert. A retry carries the same token and the same rows in the
// same order; only Attempt rises. The token is a UUIDv7 made when the batch was
// sealed: one derived from a counter repeats after a restart, and ClickHouse then
// answers OK and drops the rows.
type Batch struct {
	Token   string
	Prober  string
	Region  string
	Attempt int // 1 for the first
	Rows    []uptime.Result
}

const (
	maxMessage = 500 // bytes
	maxWord    = 200 // bytes of a region or prober name
	maxAhead   = time.Hour
)

// lastDateTime is the end of ClickHouse's 32-bit DateTime: certificates may outlive it.
var lastDateTime = time.Unix(1<<32-1, 0)

// Validate says why a row could never be stored, or nil. Insert also refuses slots that
// are too old to be rolled up before their results are dropped (OldestSlot).
func Validate(r *uptime.Result) error {
	ingested := r.IngestedAt
	if ingested.IsZero() {
		ingested = time.Now()
	}
	problem, tooOld := "", false
	switch {
	case r.TargetID <= 0:
		problem = fmt.Sprintf("target id %d", r.TargetID)
	case r.Region == "" || len(r.Region) > maxWord:
		problem = fmt.Sprintf("region of %d bytes", len(r.Region))
	case len(r.Prober) > maxWord:
		problem = fmt.Sprintf("prober of %d bytes", len(r.Prober))
	case r.Status < uptime.StatusUp || r.Status > uptime.StatusMissed:
		problem = fmt.Sprintf("status %d", r.Status)
	case r.Status.Measured() && r.Reason != uptime.ReasonNone:
		problem = fmt.Sprintf("status %v with reason %q", r.Status, r.Reason)
	case !r.Status.Measured() && r.Reason == uptime.ReasonNone:
		problem = fmt.Sprintf("status %v without a reason", r.Status)
	case r.HTTPStatus < 0 || r.HTTPStatus > 65535:
		problem = fmt.Sprintf("http status %d", r.HTTPStatus)
	case r.SpecVersion < 0:
		problem = fmt.Sprintf("spec version %d", r.SpecVersion)
	case ingested.Before(time.UnixMilli(0)) || ingested.Year() > 2200:
		problem = fmt.Sprintf("ingested at %v", ingested)
	case r.ScheduledAt.Before(ingested.Add(-mostRetention)):
		problem, tooOld = fmt.Sprintf("slot %v is older than results are ever kept", r.ScheduledAt), true
	case r.ScheduledAt.After(ingested.Add(maxAhead)):
		problem = fmt.Sprintf("slot %v is in the future", r.ScheduledAt)
	case !r.CheckedAt.IsZero() && (r.CheckedAt.Before(r.ScheduledAt.Add(-Retention)) || r.CheckedAt.After(ingested.Add(maxAhead))):
		problem = fmt.Sprintf("checked at %v", r.CheckedAt)
	default:
		return nil
	}
	return &RowError{Problem: problem, TooOld: tooOld}
}

// prepare gives the rows of an insert: valid, one a slot (the highest revision),
// sorted by key, texts made safe, no slot too old for results that are kept for a time. The
// same input gives the same output.
func prepare(rows []uptime.Result, now time.Time, raw time.Duration) ([]*uptime.Result, error) {
	safe, order := make([]*uptime.Result, len(rows)), make([]place, len(rows))
	oldest := OldestSlot(now, raw)
	for i := range rows {
		r := safeRow(&rows[i], now)
		err := Validate(r)
		if err == nil && r.ScheduledAt.Before(oldest) {
			err = &RowError{Problem: fmt.Sprintf("slot %v is older than results are kept, %v less a day", r.ScheduledAt, raw), TooOld: true}
		}
		if err != nil {
			return nil, fmt.Errorf("row %d of target %d in %s: %w", i, r.TargetID, r.Region, err)
		}
		safe[i], order[i] = r, place{r.TargetID, i}
	}
	slices.SortFunc(order, func(a, b place) int {
		if a.target != b.target { // nearly always: the rows need not be looked at
			return cmp.Compare(a.target, b.target)
		}
		x, y := safe[a.row], safe[b.row]
		return cmp.Or(bySlot(x, y), cmp.Compare(x.Revision(), y.Revision()), cmp.Compare(a.row, b.row))
	})
	kept := make([]*uptime.Result, 0, len(order))
	for i, p := range order {
		if i+1 == len(order) || order[i+1].target != p.target || bySlot(safe[order[i+1].row], safe[p.row]) != 0 {
			kept = append(kept, safe[p.row])
		}
	}
	return kept, nil
}

// safeRow is the row as it is stored: itself, which nobody may change, or else a copy.
func safeRow(r *uptime.Result, now time.Time) *uptime.Result {
	slot, message := time.UnixMilli(r.ScheduledAt.UnixMilli()), oneLine(r.Message)
	if !r.IngestedAt.IsZero() && slot.Equal(r.ScheduledAt) && message == r.Message {
		return r
	}
	changed := *r
	if changed.IngestedAt.IsZero() {
		changed.IngestedAt = now
	}
	changed.ScheduledAt, changed.Message = slot, message
	return &changed
}

// place is where the row of a target is: sorting the rows themselves would be mostly moving them.
type place struct {
	target int64
	row    int
}

// bySlot is the order of one target's rows.
func bySlot(a, b *uptime.Result) int {
	return cmp.Or(cmp.Compare(a.Region, b.Region), a.ScheduledAt.Compare(b.ScheduledAt))
}

// oneLine makes text that a target had a hand in harmless: one line, valid UTF-8,
// capped. (With "\r\n" in it a message can end a ClickHouse HTTP answer early.)
func oneLine(text string) string {
	if text == "" {
		return ""
	}
	if len(text) > 4*maxMessage {
		text = text[:4*maxMessage]
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "")
	}
	return text
}

// storedTime is 1970 when there is none.
func storedTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.UnixMilli(0)
	}
	return t
}

func storedCert(t time.Time) time.Time {
	switch {
	case t.IsZero():
		return time.Unix(0, 0)
	case t.Unix() < 1:
		return time.Unix(1, 0) // long expired, but there was one
	case t.After(lastDateTime):
		return lastDateTime
	}
	return t
}

// storedAddress is :: when there is none, and an IPv4 address as ::ffff:a.b.c.d.
func storedAddress(a netip.Addr) netip.Addr {
	if !a.IsValid() {
		return netip.IPv6Unspecified()
	}
	return netip.AddrFrom16(a.As16())
}

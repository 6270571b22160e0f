package resultstore

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	now := time.Now()
	good := up(1, "eu", now.Add(-time.Minute))
	if err := Validate(&good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*uptime.Result){
		"no target":               func(r *uptime.Result) { r.TargetID = 0 },
		"no region":               func(r *uptime.Result) { r.Region = "" },
		"no status":               func(r *uptime.Result) { r.Status = 0 },
		"unknown status number":   func(r *uptime.Result) { r.Status = 6 },
		"missed without a reason": func(r *uptime.Result) { r.Status = uptime.StatusMissed },
		"up with a reason":        func(r *uptime.Result) { r.Reason = uptime.ReasonLost },
		"http status":             func(r *uptime.Result) { r.HTTPStatus = 70_000 },
		"no slot":                 func(r *uptime.Result) { r.ScheduledAt = time.Time{} },
		"older than kept":         func(r *uptime.Result) { r.ScheduledAt = r.IngestedAt.Add(-mostRetention - time.Second) },
		"in the future":           func(r *uptime.Result) { r.ScheduledAt = r.IngestedAt.Add(2 * time.Hour) },
		"checked in the future":   func(r *uptime.Result) { r.CheckedAt = r.IngestedAt.Add(2 * time.Hour) },
		"ingested before 1970":    func(r *uptime.Result) { r.IngestedAt = time.UnixMilli(-1) },
		"spec version":            func(r *uptime.Result) { r.SpecVersion = -1 },
	} {
		bad := good
		change(&bad)
		if err := Validate(&bad); !IsPermanent(err) || IsTransient(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if IsPermanent(nil) || IsTransient(nil) {
		t.Error("nil is neither")
	}
}

func TestPrepareIsSortedUniqueAndRepeatable(t *testing.T) {
	t.Parallel()
	slot, now := base(), time.Now()
	rows := []uptime.Result{
		up(2, "eu", slot), up(1, "us", slot), up(1, "eu", slot.Add(time.Minute)), missed(1, "eu", slot),
		up(1, "eu", slot.Add(400*time.Microsecond)), // the same slot: slots are whole milliseconds
	}
	first, err := prepare(rows, now, Retention)
	if err != nil || len(first) != 4 {
		t.Fatalf("%d rows, %v", len(first), err)
	}
	if first[0].Status != uptime.StatusUp || !first[0].ScheduledAt.Equal(slot) || first[1].ScheduledAt.Sub(slot) != time.Minute || first[2].Region != "us" || first[3].TargetID != 2 {
		t.Errorf("order: %+v", first)
	}
	again, err := prepare(rows, now.Add(time.Hour), Retention)
	if err != nil {
		t.Fatal(err)
	}
	for i := range again {
		if *again[i] != *first[i] {
			t.Errorf("row %d differs the second time", i)
		}
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":                        "plain",
		"a\r\nb\tc\x00d\u2028e":        "a  b c d e",
		"__exception__\r\nCode: 1":     "__exception__  Code: 1",
		"\xff\xfe":                     "\uFFFD",
		strings.Repeat("x", 600):       strings.Repeat("x", 500),
		strings.Repeat("ä", 300):       strings.Repeat("ä", 250),
		"x" + strings.Repeat("ä", 300): "x" + strings.Repeat("ä", 249),
	} {
		if got := oneLine(in); got != want || !utf8.ValidString(got) {
			t.Errorf("%.20q: %q, want %q", in, got, want)
		}
	}
}

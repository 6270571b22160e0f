package checkstream

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestEntryRoundTrip(t *testing.T) {
	t.Parallel()
	plain := check(1_700_000_000, 42)
	everywhere := plain
	everywhere.Regions = nil
	picky := plain
	picky.Spec = `{"expect":{"status":["204","300-399"]}}`
	daily := plain
	daily.Interval, daily.Timeout, daily.SpecVersion = 24*time.Hour, 30*time.Second, 1<<52
	for _, want := range []uptime.Check{plain, everywhere, picky, daily} {
		body, spec, err := encodeCheck(want)
		must(t, err)
		if len(body) > 120 {
			t.Errorf("a plain check takes %d bytes", len(body))
		}
		entry := fields{"v", "1", "c", body}
		if spec != "" {
			entry = fields{"v", "2", "c", body, "s", spec}
		}
		got, err := decodeCheck(want.TargetID, want.ScheduledAt.Unix(), entry)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s", diff)
		}
	}
}

func TestBadChecksAreNotWritten(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*uptime.Check){
		"no id":          func(c *uptime.Check) { c.TargetID = 0 },
		"no url":         func(c *uptime.Check) { c.URL = "" },
		"two lines":      func(c *uptime.Check) { c.URL = "http://a/\r\nx" },
		"no kind":        func(c *uptime.Check) { c.Kind = "" },
		"region comma":   func(c *uptime.Check) { c.Regions = []string{"a,b"} },
		"empty region":   func(c *uptime.Check) { c.Regions = []string{""} },
		"no interval":    func(c *uptime.Check) { c.Interval = 0 },
		"huge":           func(c *uptime.Check) { c.URL = "http://a/" + strings.Repeat("x", maxField) },
		"before 1970":    func(c *uptime.Check) { c.ScheduledAt = time.Unix(-5, 0) },
		"wrong timeouts": func(c *uptime.Check) { c.Timeout = -1 },
	} {
		c := check(1_700_000_000, 42)
		spoil(&c)
		if body, _, err := encodeCheck(c); err == nil {
			t.Errorf("%s: written as %.60q", name, body)
		}
	}
}

// A spec that only a newer release could have taken stops nobody: probers say that it cannot be read.
func TestTooLongSpecIsPublishedAsUnreadable(t *testing.T) {
	t.Parallel()
	long := check(1_700_000_000, 42)
	long.Spec = uptime.SpecText(`{"http":{"body":"` + strings.Repeat("x", maxField) + `"}}`)
	body, spec, err := encodeCheck(long)
	must(t, err)
	got, err := decodeCheck(long.TargetID, long.ScheduledAt.Unix(), fields{"v", "2", "c", body, "s", spec})
	must(t, err)
	if _, err := got.Spec.Spec(); err == nil || got.URL != long.URL {
		t.Errorf("%+v can be visited", got)
	}
}

func TestStrangeEntriesAreErrors(t *testing.T) {
	t.Parallel()
	good := "1 60000 3 5000 http eu,us https://a/"
	for name, entry := range map[string]fields{
		"nothing":         {},
		"other version":   {"v", "3", "c", good},
		"spec of a plain": {"v", "1", "c", good, "s", "{}"},
		"no spec":         {"v", "2", "c", good},
		"10 MB":           {"v", "1", "c", good + strings.Repeat("x", 10<<20)},
		"10 MB spec":      {"v", "2", "c", good, "s", strings.Repeat("[", 10<<20)},
		"no url":          {"v", "1", "c", "1 60000 3 5000 http eu,us "},
		"five words":      {"v", "1", "c", "1 60000 3 5000 http"},
		"not a number":    {"v", "1", "c", "x 60000 3 5000 http eu https://a/"},
		"negative":        {"v", "1", "c", "1 -60000 3 5000 http eu https://a/"},
		"overflow":        {"v", "1", "c", "1 99999999999999999999 3 5000 http eu https://a/"},
		"ms of a second":  {"v", "1", "c", "1000 60000 3 5000 http eu https://a/"},
		"interval 0":      {"v", "1", "c", "1 0 3 5000 http eu https://a/"},
		"interval 2 days": {"v", "1", "c", "1 172800000 3 5000 http eu https://a/"},
		"timeout 31 s":    {"v", "1", "c", "1 60000 3 31000 http eu https://a/"},
		"empty region":    {"v", "1", "c", "1 60000 3 5000 http eu,,us https://a/"},
		"not text":        {"v", "1", "c", 5},
	} {
		e := newEntry("1700000000000-7", 1, entry)
		if e.Err == nil || e.Gone || e.TargetID != 7 || e.Second != 1_700_000_000 {
			t.Errorf("%s: %+v", name, e)
		}
	}
	for _, id := range []string{"", "5", "a-b", "-1-2", "1-2-3", "+1-2", "1--0", "99999999999999999999-1"} {
		if e := newEntry(id, 1, fields{"v", "1", "c", good}); e.Err == nil {
			t.Errorf("id %q was read", id)
		}
	}
}

func FuzzDecodeEntry(f *testing.F) {
	body, spec, _ := encodeCheck(check(1_700_000_000, 42))
	f.Add("1700000000000-42", "1", body, spec)
	f.Add("1700000000000-42", "2", "1 60000 3 5000 http = https://a/", `{"expect":{"status":["204"]}}`)
	f.Add("0-0", "", "", "")
	f.Fuzz(func(t *testing.T, id, version, body, spec string) {
		e := newEntry(id, 1, fields{"v", version, "c", body, "s", spec})
		if e.Err != nil || e.TargetID == 0 {
			return
		}
		// What was read can be written, and reads the same again.
		again, specAgain, err := encodeCheck(e.Check)
		if err != nil {
			if e.Second == 0 || len(body)+len(spec) > maxField/2 {
				return
			}
			t.Fatalf("%q was read but cannot be written: %v", body, err)
		}
		back, err := decodeCheck(e.TargetID, e.Second, fields{"v", version, "c", again, "s", specAgain})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e.Check, back); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzParseID(f *testing.F) {
	for _, id := range []string{"1700000000000-42", "0-0", "-", "1-", "+1-2", "0-+0", "9223372036854775807-9223372036854775807", "01-1"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		second, targetID, err := parseID(id)
		if err != nil {
			return
		}
		if again, same, err := parseID(entryID(second, targetID)); err != nil || again != second || same != targetID {
			t.Fatalf("%q is %d and %d, written and read %d and %d: %v", id, second, targetID, again, same, err)
		}
		if _, err := parseLetterID(id); err != nil {
			t.Fatalf("%q is an entry's id but no letter's: %v", id, err)
		}
	})
}

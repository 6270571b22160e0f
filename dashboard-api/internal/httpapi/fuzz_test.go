package httpapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/spec"
	"github.com/probefleet/probefleet/internal/uptime"
)

// fuzzDocuments are documents of targets, good ones and others.
func fuzzDocuments() []string {
	return []string{
		`{"url":"https://example.com/","interval_s":60,"timeout_ms":5000,"regions":["eu"],"active":false,"expect":{"status":["200-299","404"]}}`,
		`{"url":"https://example.com/","http":{"method":"POST","headers":[{"name":"X","secret":"canary-1"},{"name":"Y","value":"z"}],"body_secret":"canary-2","query_secret":"k=canary-4","username":"ann","password":"canary-3","redirects":0,"version":"best"}}`,
		`{"url":"tcp://example.com:25","tcp":{"send_secret":"canary-4","starttls":"smtp"},"tls":{"server_name":"a.b"},"family":"4"}`,
		`{"url":"tcp://example.com:25","tcp":{"send":"PING\r\n"}}`,
		`{"url":"wss://example.com/","websocket":{"send":"x","subprotocols":["a"],"headers":[{"name":"X","secret":"[secret]"}]}}`,
		`{"url":"dns:///example.com?type=mx","dns":{"transport":"tcp"},"assertions":[{"source":"dns","name":"MX","op":"contains","value":"mail","severity":"degrade"}]}`,
		`{"url":"http://127.0.0.1/","kind":"tcp","name":"\u0000","wish":{"~/":1},"http":[],"assertions":[7,null],"expect":null}`,
		`{"url":null,"http":null,"family":7,"regions":[null,"EU"],"interval_s":1e99}`, `[]`, `{} {}`, `{"url":"a","url":"b"}`, "\xef\xbb\xbf{}", `{"url":"https://example.com/","tls":{},"tcp":{},"http":{"headers":null}}`, `{"name":"\ud800"}`,
	}
}

// FuzzTargetDocument judges documents of targets: what passes can be checked, is shown
// without its secrets, and stays what it is when what is shown is written back. Whatever does
// not pass is told by pointers into the document.
func FuzzTargetDocument(f *testing.F) {
	for _, document := range fuzzDocuments() {
		f.Add([]byte(document))
	}
	box, err := seal.New(benchKey)
	if err != nil {
		f.Fatal(err)
	}
	around := surroundings{regions: []string{"eu", "us"}, seal: box.Seal}
	f.Fuzz(func(t *testing.T, raw []byte) {
		target := newTarget()
		if bad := read(document[TargetInput]{raw: raw}, func(in TargetInput, null nulls) []Mistake { return merge(&target, in, null, around) }); bad != nil {
			judgeProblem(t, raw, bad)
			return
		}
		text := target.Spec.Text()
		if found := spec.Validate(target.Kind, target.URL, target.Spec); found != nil || len(text) > spec.MaxSpec || target.Timeout <= 0 || target.Timeout > uptime.MaxTimeout || target.Interval < uptime.MinInterval {
			t.Fatalf("%q passes as %+v: %+v", raw, target, found)
		}
		for _, sealed := range target.Spec.Secrets() {
			if opened, err := box.Open(sealed); err != nil || opened.IsZero() {
				t.Fatalf("%q is stored with %q: %v", raw, sealed, err)
			}
		}
		shown, err := json.Marshal(bodyOf(target))
		if err != nil {
			t.Fatal(err)
		}
		for _, sealed := range target.Spec.Secrets() {
			if strings.Contains(string(shown), string(sealed)) {
				t.Fatalf("%q is shown with a sealed secret: %s", raw, shown)
			}
		}
		again := target
		if bad := read(document[TargetInput]{raw: writable(t, shown)}, func(in TargetInput, null nulls) []Mistake { return merge(&again, in, null, around) }); bad != nil {
			t.Fatalf("%q is shown as %s, which cannot be written back: %+v", raw, shown, bad)
		}
		if len(again.Spec.Expect.Status) == 1 && len(target.Spec.Expect.Status) == 0 { // there the default is spelled out
			again.Spec.Expect = target.Spec.Expect
		}
		if again.Spec.Text() != text || again.URL != target.URL || again.Name != target.Name || again.Interval != target.Interval || again.Timeout != target.Timeout {
			t.Fatalf("%q is %+v with %s, and written back %+v with %s", raw, target, text, again, again.Spec.Text())
		}
	})
}

// writable is a shown target without what cannot be written.
func writable(t *testing.T, shown []byte) []byte {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(shown, &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"id", "spec_version", "created_at", "updated_at"} {
		delete(members, name)
	}
	if string(members["family"]) == `""` {
		delete(members, "family")
	}
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// judgeProblem holds what must be true of every refusal.
func judgeProblem(t *testing.T, raw []byte, bad *Problem) {
	t.Helper()
	if bad.Status != 400 && bad.Status != 422 || bad.Code == "" || len(bad.Errors) == 0 || len(bad.Errors) > maxMistakes {
		t.Fatalf("%q: %+v", raw, bad)
	}
	answer, err := json.Marshal(bad)
	if err != nil || !utf8.Valid(answer) || len(answer) > 1<<20 {
		t.Fatalf("%q: %d bytes, %v", raw, len(answer), err)
	}
	for _, m := range bad.Errors {
		if m.Code == "" || m.Message == "" || len(m.Message) > 2<<10 || m.Pointer != "" && !strings.HasPrefix(m.Pointer, "/") {
			t.Fatalf("%q: %+v", raw, m)
		}
	}
}

// FuzzCursor reads cursors: those that were given out lead to where they say, and one of
// another list is refused.
func FuzzCursor(f *testing.F) {
	for _, cursor := range []string{"", encodeCursor("t", "9"), encodeCursor("r", "1.eu"), encodeCursor("c", "1.j"), encodeCursor("r", "9223372036854775807.\x00"), encodeCursor("c", "1"), "===="} {
		f.Add(cursor, int64(7), "eu")
		f.Add(cursor, int64(-1<<40), "a.b")
	}
	f.Fuzz(func(t *testing.T, cursor string, number int64, word string) {
		_, errID := readIDCursor(cursor)
		slot, errSlot := readSlotCursor(cursor)
		check, errCheck := readCheckCursor(cursor)
		taken := 0
		for _, err := range []error{errID, errSlot, errCheck} {
			if err == nil {
				taken++
			}
		}
		if cursor == "" && taken != 3 || cursor != "" && taken > 1 || (slot != nil) != (cursor != "" && errSlot == nil) || (check != nil) != (cursor != "" && errCheck == nil) {
			t.Fatalf("%q is read by %d lists", cursor, taken)
		}
		if id, err := readIDCursor(*idCursor(number).value); err != nil || id != number {
			t.Fatalf("%d comes back as %d: %v", number, id, err)
		}
		at := time.UnixMilli(number % (1 << 50)).UTC()
		if back, err := readSlotCursor(*slotCursor(at, word).value); err != nil || !back.ScheduledAt.Equal(at) || back.Region != word {
			t.Fatalf("%v in %q comes back as %+v: %v", at, word, back, err)
		}
		if back, err := readCheckCursor(*checkCursor(jobstore.Job{CreatedAt: at, ID: word}).value); err != nil || !back.CreatedAt.Equal(at) || back.ID != word {
			t.Fatalf("%v of %q comes back as %+v: %v", at, word, back, err)
		}
	})
}

package assertion

import (
	"testing"

	"github.com/probefleet/probefleet/internal/uptime"
)

func received(tb testing.TB, pairs ...string) *Set {
	tb.Helper()
	var list []uptime.Assertion
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, uptime.Assertion{Source: uptime.SourceReceived, Op: uptime.Op(pairs[i]), Value: pairs[i+1]})
	}
	set, err := Compile(list)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

func TestReceivedProgress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op, value string
		want      map[string]Progress
	}{
		{"exists", "", map[string]Progress{"": Open, "x": Settled}},
		{"absent", "", map[string]Progress{"": Holding, "x": Settled}},
		{"equals", "+PONG", map[string]Progress{"": Open, "+PO": Open, "+PONG": Holding, "+PONGS": Settled, "-": Settled}},
		{"not_equals", "+PONG", map[string]Progress{"": Holding, "+PO": Holding, "+PONG": Open, "+PONGS": Settled, "-": Settled}},
		{"contains", "220", map[string]Progress{"": Open, "22": Open, "220": Settled}},
		{"not_contains", "busy", map[string]Progress{"": Holding, "bus": Holding, "a busy one": Settled}},
		{"matches", `^220`, map[string]Progress{"": Open, "2": Open, "220 ready": Settled}},
		{"matches", `ready$`, map[string]Progress{"": Open, "ready": Holding, "ready or not": Open}},
		{"matches", `é`, map[string]Progress{"\xc3": Open, "\xc3\xa9": Settled}},
		{"not_matches", `^4\d\d`, map[string]Progress{"": Holding, "42": Holding, "421": Settled}},
		{"not_matches", `bye$`, map[string]Progress{"": Holding, "bye": Open, "byes": Holding}},
	} {
		set := received(t, c.op, c.value)
		if !set.JudgesReceived() || set.WantsSilence() != (c.op == "absent") {
			t.Errorf("%s: judges %v, wants silence %v", c.op, set.JudgesReceived(), set.WantsSilence())
		}
		for text, want := range c.want {
			if got := set.Received([]byte(text)); got != want {
				t.Errorf("%s %q of %q: %d, want %d", c.op, c.value, text, got, want)
			}
		}
	}
	both := received(t, "contains", "220", "not_contains", "busy")
	for text, want := range map[string]Progress{"": Open, "busy": Open, "220": Holding, "220 busy": Settled} {
		if got := both.Received([]byte(text)); got != want {
			t.Errorf("both of %q: %d, want %d", text, got, want)
		}
	}
	other, err := Compile([]uptime.Assertion{{Source: uptime.SourceLatency, Op: uptime.OpLess, Value: "100"}})
	if err != nil || other.JudgesReceived() || other.Received(nil) != Settled {
		t.Errorf("a set that looks at nothing received: %v, %v", other, err)
	}
}

// FuzzReceived holds progress against what an evaluation of the whole says.
func FuzzReceived(f *testing.F) {
	for _, op := range []string{"exists", "absent", "equals", "not_equals", "contains", "not_contains", "matches", "not_matches"} {
		f.Add(op, "ready", "220 ready\r\n", 5)
		f.Add(op, "é$", "caf\xc3\xa9", 4)
		f.Add(op, `(?m)^b\b`, "a\nb c", 3)
		f.Add(op, `.`, "\xc3\xa9", 1)
	}
	f.Fuzz(func(t *testing.T, op, value, text string, at int) {
		if op == "exists" || op == "absent" {
			value = ""
		}
		set, err := Compile([]uptime.Assertion{{Source: uptime.SourceReceived, Op: uptime.Op(op), Value: value}})
		if err != nil || at < 0 || at > len(text) {
			return // not an assertion, or not a place in the text
		}
		passes := func(text string) bool { return set.Evaluate(&Observation{Received: []byte(text)}).Severity == "" }
		first := string(wholeRunes([]byte(text[:at]))) // half a rune may be any
		switch set.Received([]byte(first)) {
		case Settled:
			if passes(first) != passes(text) {
				t.Errorf("%s %q: settled at %q, undone by %q", op, value, first, text)
			}
		case Holding:
			if !passes(first) {
				t.Errorf("%s %q: %q does not pass", op, value, first)
			}
		case Open:
			if passes(first) {
				t.Errorf("%s %q: %q passes", op, value, first)
			}
		}
	})
}

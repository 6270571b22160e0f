package live

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCheckIsToldToWhoAsksForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{})
		h.Check("one", map[string]string{"state": "before"})
		sub, at, recovered, err := h.Subscribe("checks:one", nil)
		if err != nil || recovered || at.Seq != 1 {
			t.Fatalf("%+v %v %v", at, recovered, err)
		}
		changed := h.Changed()
		h.Check("other", map[string]string{"state": "hidden"})
		h.Check("one", map[string]string{"state": "QUEUED"})
		h.Check("one", map[string]string{"state": "IN_PROGRESS"})
		select {
		case <-changed:
		case <-time.After(time.Second):
			t.Error("nobody is woken")
		}
		got := decode(t, sub.Poll())
		if len(got.Ops) != 2 || got.Ops[0].ID != "one" || got.Ops[0].Op != "upsert" || got.Ops[1].ID != "one" {
			t.Errorf("%+v", got)
		}
		if message := sub.Poll(); message != nil {
			t.Errorf("twice: %s", message)
		}
		again, _, recovered, _ := h.Subscribe("checks:one", &at)
		if message := string(again.Poll()); !recovered || strings.Count(message, `"op"`) != 2 || strings.Contains(message, "hidden") {
			t.Errorf("resumed with %s", message)
		}
	})
	h := New(Options{})
	sub, _, _, err := h.Subscribe("check:one", nil)
	if err != nil {
		t.Fatal(err)
	}
	h.Check("one", 1)
	if got := decodeChannel(sub.Poll()); got != "check:one" {
		t.Errorf("told on %q", got)
	}
	for _, channel := range []string{"checks", "check", "check:", "check:A", "checks:", "checks:A", "checks:a b", "checks:" + strings.Repeat("a", 65)} {
		if _, _, _, err := New(Options{}).Subscribe(channel, nil); err == nil {
			t.Errorf("%q is a channel", channel)
		}
	}
}

// decodeChannel is the channel of a message.
func decodeChannel(message []byte) string {
	var m struct{ Ch string }
	_ = json.Unmarshal(message, &m)
	return m.Ch
}

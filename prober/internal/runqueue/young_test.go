package runqueue

import (
	"runtime"
	"testing"
	"time"
)

func TestYoungVisits(t *testing.T) {
	t.Parallel()
	var y Young
	now, most := time.Now(), mostEach*runtime.GOMAXPROCS(0)
	room := func(want int, what string) {
		t.Helper()
		if got := y.Room(now); got != want {
			t.Fatalf("%s: room for %d, want %d", what, got, want)
		}
	}
	room(most, "at first")
	first := now
	y.Begin(now, most-10)
	room(10, "after many")
	now = now.Add(5 * turn)
	second := now
	y.Begin(now, 10)
	room(0, "after as many as may be young")
	y.End(second)
	y.End(first)
	y.End(first)
	room(3, "three are over")
	now = now.Add((turns - 5) * turn)
	room(most-9, "the first are not young any more")
	y.End(first)
	room(most-9, "one of them is over")
	now = now.Add(time.Hour)
	room(most, "much later")
	y.End(second)
	y.Begin(now.Add(-time.Minute), 1) // by a clock that stood still
	room(most-1, "one that began just now")
}

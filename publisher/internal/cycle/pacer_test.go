package cycle

import (
	"testing"
	"time"
)

// drainTime is how long a backlog of seconds with so many checks each takes.
func drainTime(t *testing.T, backlog int64, checks int, rate float64) time.Duration {
	t.Helper()
	var p pacer
	now := time.Unix(0, 0)
	start := now
	for lag := float64(backlog); lag > 1; {
		p.refill(now, rate)
		for lag > 1 && p.allow(now, int64(lag), checks, rate) {
			lag--
		}
		now = now.Add(100 * time.Millisecond)
		lag += 0.1
		if now.Sub(start) > time.Hour {
			t.Fatal("never caught up")
		}
	}
	return now.Sub(start)
}

func TestPaceOfCatchingUp(t *testing.T) {
	t.Parallel()
	// 60 s behind at 167 checks a second: at 1.2 times the rate it takes five minutes.
	if took := drainTime(t, 60, 167, 167); took < 4*time.Minute || took > 6*time.Minute {
		t.Errorf("a large installation takes %v", took)
	}
	// Four targets every 10 s are not worth pacing.
	if took := drainTime(t, 60, 1, 0.4); took > 10*time.Second {
		t.Errorf("a small installation takes %v", took)
	}
}

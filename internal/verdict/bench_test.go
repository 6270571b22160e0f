package verdict

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// One result of a target that is up in three regions.
func BenchmarkStep(b *testing.B) {
	rules := Rules{Interval: time.Minute, Timeout: 10 * time.Second, Active: true, Regions: []string{"ap", "eu", "us"}}
	s := NewState(1)
	b.ReportAllocs()
	for i := range b.N {
		o := seen(rules.Regions[i%3], uptime.StatusUp, -time.Duration(i/3)*time.Minute)
		s, _ = Step(s, rules, Conditions{}, Event{o.ScheduledAt, &o})
	}
}

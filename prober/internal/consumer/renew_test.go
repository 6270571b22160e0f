package consumer

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

// What a prober works on is kept from others; what has expired and cannot become
// durable is not, or it would keep the stream of every region from being trimmed.
func TestExpiredRowsThatCannotBeSavedAreLetGo(t *testing.T) {
	t.Parallel()
	now := time.Now()
	fs := newFlights(func() int { return 10 }, slog.New(slog.DiscardHandler))
	events := map[string][]event{
		"waiting": {admitted}, "probing": {admitted, slotCame}, "measured": {admitted, slotCame, answered},
		"backoff": {admitted, slotCame, answered, handedOver, insertFailed}, "stored": {admitted, slotCame, answered, handedOver, durable},
	}
	for name, way := range events {
		for age, at := range map[string]time.Time{"fresh": now, "expired": now.Add(-time.Hour)} {
			f := &flight{entry: checkstream.Entry{ID: name + " " + age, Check: uptime.Check{TargetID: 1, ScheduledAt: at, Interval: time.Minute}}}
			if len(fs.add(f)) != 1 {
				t.Fatal("not added")
			}
			for _, e := range way {
				fs.move(e, f)
			}
		}
	}
	got := fs.stale(-time.Second, now)
	slices.Sort(got)
	want := []string{"backoff fresh", "measured fresh", "probing expired", "probing fresh", "stored expired", "stored fresh", "waiting expired", "waiting fresh"}
	if !slices.Equal(got, want) {
		t.Errorf("renewed %v", got)
	}
}

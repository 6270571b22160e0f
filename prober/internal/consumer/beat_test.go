package consumer

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/sharedclock"
)

// hung answers nothing from an instant on.
type hung struct {
	Presence
	from time.Time
}

func (h hung) Beat(ctx context.Context, _ checkstream.Heartbeat) (bool, error) {
	if time.Now().Before(h.from) {
		return false, nil
	}
	<-ctx.Done()
	return false, ctx.Err()
}

// Reads wait for seconds anyway: it is the heartbeat that notices.
func TestHungRedisIsNoticedWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	for after := time.Duration(0); after < 6*time.Second; after += 100 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			hangs := time.Now().Add(after)
			var noticed time.Time
			o := Options{Region: "eu", Name: "p1", Redis: func(err error) {
				if err != nil && noticed.IsZero() {
					noticed = time.Now()
				}
			}}
			c := New(Parts{Presence: hung{from: hangs}, Clock: sharedclock.New(nil), Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()}, o)
			go c.heartbeat(ctx)
			time.Sleep(20 * time.Second)
			stop()
			synctest.Wait()
			if late := noticed.Sub(hangs); noticed.IsZero() || late > 5*time.Second {
				t.Errorf("hung after %v: noticed %v later", after, late)
			}
		})
	}
}

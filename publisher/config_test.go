package main

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/ledger"
)

// The API's account does not know what the publisher was given: a sweep that waits
// for longer than accounts do would have it call slots unexplained.
func TestSweepWaitsNoLongerThanAccountsDo(t *testing.T) {
	t.Parallel()
	for settle, allowed := range map[time.Duration]bool{ledger.DefaultSettle: true, ledger.DefaultSettle + time.Second: false} {
		env := map[string]string{"DATABASE_URL": "sqlite:x", "REDIS_URL": "redis://x", "CLICKHOUSE_URL": "clickhouse://x", "PUBLISHER_SETTLE": settle.String()}
		if _, err := loadConfig(func(name string) string { return env[name] }); (err == nil) != allowed {
			t.Errorf("settling for %v: %v", settle, err)
		}
	}
}

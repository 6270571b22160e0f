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

func TestRetentionOfEveryTierOutlivesTheOneBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw, hourly, daily string
		allowed            bool
	}{
		"unset":     {"", "", "", true},
		"all":       {"720h", "8760h", "17520h", true},
		"some":      {"2160h", "", "", true},
		"shorter":   {"2160h", "720h", "", false},
		"much":      {"", "8760h", "720h", false},
		"too short": {"24h", "", "", false},
		"odd":       {"720h30m", "", "", false},
	} {
		env := map[string]string{"DATABASE_URL": "sqlite:x", "REDIS_URL": "redis://x", "CLICKHOUSE_URL": "clickhouse://x",
			"RETENTION_RAW": c.raw, "RETENTION_HOURLY": c.hourly, "RETENTION_DAILY": c.daily}
		if _, err := loadConfig(func(name string) string { return env[name] }); (err == nil) != c.allowed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/envconf"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/spool"
)

// Config is every setting of a publisher, from its environment.
type Config struct {
	service.Settings
	DatabaseURL   secret.Text   `env:"DATABASE_URL" required:"true" help:"targets and schedule versions: postgres://user:password@host:5432/name or sqlite:PATH"`
	RedisURL      secret.Text   `env:"REDIS_URL" required:"true" help:"Redis: redis://user:password@host:6379/0"`
	ClickHouseURL secret.Text   `env:"CLICKHOUSE_URL" required:"true" help:"ClickHouse, native protocol: clickhouse://user:password@host:9000/probefleet"`
	SpoolDir      string        `env:"PUBLISHER_SPOOL_DIR" default:"/var/lib/probefleet/publisher" help:"folder, of this publisher alone, for missed rows while ClickHouse is away; it must survive a restart"`
	SpoolMaxBytes envconf.Bytes `env:"PUBLISHER_SPOOL_MAX_BYTES" default:"500MiB" min:"1048576" help:"the most the spool may take on disk"`
	SpoolVolatile bool          `env:"PUBLISHER_SPOOL_VOLATILE" default:"false" help:"allow a spool folder that does not survive a restart of the machine: a temporary folder or one in memory"`
	Settle        time.Duration `env:"PUBLISHER_SETTLE" default:"120s" min:"30s" max:"120s" help:"how long after its expiry a check's row may still be on its way; then the slot is stated as missed"`
	KeepRaw       time.Duration `env:"RETENTION_RAW" min:"48h" max:"87600h" help:"how long results are kept, in whole hours such as 720h; unset leaves it as the table has it: 30 days at first"`
	KeepHourly    time.Duration `env:"RETENTION_HOURLY" min:"48h" max:"87600h" help:"how long hourly figures are kept; unset leaves it as it is: 730 days at first"`
	KeepDaily     time.Duration `env:"RETENTION_DAILY" min:"48h" max:"87600h" help:"how long daily figures are kept; unset leaves it as it is: 1825 days at first"`
	BacklogMax    int64         `env:"PUBLISHER_BACKLOG_MAX" default:"0" min:"0" help:"checks in the stream from which on new ones are refused and stated as missed(backpressure); 0 is twice what one expiry window holds, at least 1000"`
}

func loadConfig(getenv func(string) string) (Config, error) {
	var cfg Config
	if err := envconf.Load(getenv, &cfg); err != nil {
		return cfg, err
	}
	return cfg, cfg.retention().Valid()
}

func (c Config) retention() resultstore.Retentions {
	return resultstore.Retentions{Raw: c.KeepRaw, Hourly: c.KeepHourly, Daily: c.KeepDaily}
}

// name tells this process from every other publisher: it is the lease's holder
// and stands in the rows it writes. Host and process id alone would not do: two
// containers may share both.
func name() string {
	host, err := os.Hostname()
	if err != nil {
		host = "publisher"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), strings.ToLower(rand.Text()[:4]))
}

func (c Config) spool() spool.Options {
	return spool.Options{Dir: c.SpoolDir, MaxBytes: int64(c.SpoolMaxBytes), Volatile: c.SpoolVolatile}
}

package main

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/envconf"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/canary"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

// Config is every setting of a prober, from its environment.
type Config struct {
	service.Settings
	RedisURL      secret.Text `env:"REDIS_URL" required:"true" help:"Redis: redis://user:password@host:6379/0"`
	ClickHouseURL secret.Text `env:"CLICKHOUSE_URL" required:"true" help:"ClickHouse, native protocol: clickhouse://user:password@host:9000/probefleet"`
	SecretKey     secret.Text `env:"SECRET_KEY" required:"true" min:"32" help:"the same 32 or more random characters for every process; make them with: openssl rand -hex 32"`
	OtherKey      secret.Text `env:"SECRET_KEY_OTHER" min:"32" help:"while SECRET_KEY is changed: the one before, or the one to come; with it secrets are opened, and none sealed"`
	Region        string      `env:"REGION" required:"true" help:"where this prober is: 1 to 32 of a-z, 0-9 and -"`
	Name          string      `env:"PROBER_NAME" max:"100" help:"stable over restarts, different within a region; default HOSTNAME-REGION"`

	WorkersMin      int            `env:"PROBER_WORKERS_MIN" default:"2" min:"1" max:"1000" help:"fewest workers; a worker is room for PROBER_CHECKS_PER_WORKER checks, and their number follows the load"`
	WorkersMax      int            `env:"PROBER_WORKERS_MAX" default:"20" min:"1" max:"1000" help:"most workers, with which it begins: times PROBER_CHECKS_PER_WORKER it bounds the checks held at once"`
	ChecksPerWorker int            `env:"PROBER_CHECKS_PER_WORKER" default:"1000" min:"1" max:"10000" help:"checks a worker holds at once, waiting for their slot or being probed"`
	HostConcurrency int            `env:"PROBER_HOST_CONCURRENCY" default:"10" min:"1" max:"10000" help:"visits of one host at a time; its other checks wait their turn, and none of another host's; addresses in PROBER_ALLOW_CIDRS are not limited"`
	BatchSize       int            `env:"PROBER_BATCH_SIZE" default:"1000" min:"1" max:"10000" help:"rows that fill an insert into ClickHouse; when more wait, up to 10000 go at once"`
	BatchAge        time.Duration  `env:"PROBER_BATCH_AGE" default:"1s" min:"10ms" max:"10s" help:"how long a row waits for its insert to fill"`
	ReclaimIdle     time.Duration  `env:"PROBER_RECLAIM_IDLE" default:"45s" min:"30s" max:"10m" help:"from then on a check that a live prober has not touched is taken over"`
	SpoolDir        string         `env:"PROBER_SPOOL_DIR" help:"folder for rows that ClickHouse cannot take yet; it must survive a restart; default /var/lib/probefleet/prober-NAME"`
	SpoolMaxBytes   envconf.Bytes  `env:"PROBER_SPOOL_MAX_BYTES" default:"500MiB" min:"1MiB" help:"most that may wait in the spool; when it is full fewer checks are taken on, and nothing is dropped"`
	SpoolVolatile   bool           `env:"PROBER_SPOOL_VOLATILE" default:"false" help:"accept a spool folder in memory or in a temporary folder: a restart of the machine loses what waits in it"`
	AllowCIDRs      []netip.Prefix `env:"PROBER_ALLOW_CIDRS" help:"private ranges that this prober may visit, such as 10.0.0.0/8; cloud metadata addresses stay closed"`
	Resolvers       string         `env:"PROBER_RESOLVERS" help:"name servers of this prober, in the order to try them, comma separated: an address, tls://ADDRESS#NAME or https://ADDRESS/PATH; default those of the system"`

	ContactURL string `env:"PROBER_CONTACT_URL" default:"https://github.com/probefleet/probefleet" max:"200" help:"named in the User-Agent of every visit: where the people of a visited site learn whose visits these are, and may ask; a page of yours, or mailto:ADDRESS"`

	Canaries string `env:"PROBER_CANARIES" default:"one.one.one.one:443,dns.google:443,www.wikipedia.org:443,www.microsoft.com:443,9.9.9.9:443" help:"host:port of what this region can always reach by TCP, comma separated, three or more and of different operators; while more than half do not answer, failures are unknown(probe_blind); none believes every failure"`

	resolvers resolve.Config  // Resolvers, read
	canaries  []canary.Canary // Canaries, read
}

var (
	regionPattern  = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	contactPattern = regexp.MustCompile(`^(https?://|mailto:)[!-'*-\[\]-~]+$`) // a comment of a header: RFC 9110 §5.6.5
)

func loadConfig(getenv func(string) string) (Config, error) {
	var cfg Config
	if err := envconf.Load(getenv, &cfg); err != nil {
		return cfg, err
	}
	var mistakes []string
	if !regionPattern.MatchString(cfg.Region) {
		mistakes = append(mistakes, fmt.Sprintf("REGION: %q is not 1 to 32 of a-z, 0-9 and -", cfg.Region))
	}
	if uptime.ReservedRegion(cfg.Region) {
		mistakes = append(mistakes, fmt.Sprintf("REGION: %q is kept for results that do not come from probers", cfg.Region))
	}
	var err error
	if cfg.resolvers, err = resolve.Parse(cfg.Resolvers); err != nil {
		mistakes = append(mistakes, "PROBER_RESOLVERS: "+err.Error())
	}
	if cfg.canaries, err = canary.Parse(cfg.Canaries); err != nil {
		mistakes = append(mistakes, "PROBER_CANARIES: "+err.Error())
	}
	if !contactPattern.MatchString(cfg.ContactURL) {
		mistakes = append(mistakes, fmt.Sprintf("PROBER_CONTACT_URL: %q is no https:// or http:// address and no mailto:, without spaces and brackets", cfg.ContactURL))
	}
	if cfg.WorkersMin > cfg.WorkersMax {
		mistakes = append(mistakes, fmt.Sprintf("PROBER_WORKERS_MIN is %d and PROBER_WORKERS_MAX %d: the smallest must not exceed the largest", cfg.WorkersMin, cfg.WorkersMax))
	}
	if cfg.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			mistakes = append(mistakes, "PROBER_NAME is not set and this host has no name: set it")
		}
		cfg.Name = host + "-" + cfg.Region
	}
	if len(mistakes) > 0 {
		return cfg, &envconf.Error{Mistakes: mistakes}
	}
	if cfg.SpoolDir == "" {
		cfg.SpoolDir = filepath.Join("/var/lib/probefleet", "prober-"+fileName(cfg.Name))
	}
	return cfg, nil
}

// fileName makes a prober's name fit for a folder's.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// capacity is how many checks may be held at once.
func (c Config) capacity() int { return c.WorkersMax * c.ChecksPerWorker }

// mostRows is how many rows of those that wait go at once: a row costs ClickHouse a third of
// what it costs among a thousand, which is what helps when there are too many.
const mostRows = 10_000

// batchRows is how many rows fill a batch. Rows that wait for more keep their checks
// held: never more than half of the fewest that may be.
func (c Config) batchRows() int { return min(c.BatchSize, max(1, c.WorkersMin*c.ChecksPerWorker/2)) }

func (c Config) allowed() []string {
	texts := make([]string, len(c.AllowCIDRs))
	for i, prefix := range c.AllowCIDRs {
		texts[i] = prefix.String()
	}
	return texts
}

func (c Config) spool() spool.Options {
	return spool.Options{Dir: c.SpoolDir, MaxBytes: int64(c.SpoolMaxBytes), Volatile: c.SpoolVolatile}
}

package checkstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/probefleet/probefleet/internal/promptconn"
)

// Keys. They share one hash slot, so scripts may touch several of them.
const (
	keyChecks     = "{pf}:checks"
	keyClock      = "{pf}:clock"
	keyRefused    = "{pf}:refused"
	keyRegions    = "{pf}:regions"
	keyDrains     = "{pf}:drains" // region/name of a prober that is to take nothing on -> who asked, and when
	keySpools     = "{pf}:spools"
	keyTombstones = "{pf}:tombstones"
	keyDead       = "{pf}:dead"
	keyLetters    = "{pf}:dead:meta" // letter id -> its replay request, and totals
)

// MaxBlock is the longest a read waits: cancelling a context does not interrupt a
// blocked read, only Close does.
const MaxBlock = 2 * time.Second

const answerTimeout = 5 * time.Second

// Redis is the connection of one process. It dials when first used, so opening
// succeeds while Redis is down.
type Redis struct {
	reader   *redis.Client // blocking reads: its connections may wait
	commands *redis.Client // short commands that are safe to repeat
	once     *redis.Client // commands whose repetition we decide about ourselves
	scripts  *scripts
	letters  struct{ count, bytes int64 } // how many dead letters are kept
}

var errURL = errors.New("redis url: want redis://user:password@host:port/0, or rediss:// for TLS")

// quietDriver takes away the lines that go-redis writes to stderr, past every logger:
// they block when nobody reads stderr, and say nothing that its errors do not, which are
// returned and logged by whoever called. Its logger belongs to the whole process, hence
// once.
var quietDriver = sync.OnceFunc(func() { redis.SetLogger(silentLogger{}) }) //nolint:gochecknoglobals // the driver's logger is one

type silentLogger struct{}

func (silentLogger) Printf(context.Context, string, ...any) {}

// Open reads a redis:// or rediss:// URL.
func Open(redisURL string) (*Redis, error) {
	quietDriver()
	base, err := redis.ParseURL(redisURL)
	if err != nil {
		return nil, errURL // the parser's error may quote the password
	}
	client := func(retries int, timeout time.Duration) *redis.Client {
		options := *base
		options.Protocol = 2
		options.DisableIdentity = true
		options.ContextTimeoutEnabled = true
		options.DialTimeout = 3 * time.Second
		options.MaxRetries = retries
		options.ReadTimeout = timeout
		options.WriteTimeout = answerTimeout
		options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		plain := options
		plain.TLSConfig = nil
		options.Dialer = promptconn.Dialer(plain.NewDialer(), options.DialTimeout, options.TLSConfig)
		return redis.NewClient(&options)
	}
	r := &Redis{
		reader:   client(-1, MaxBlock+answerTimeout),
		commands: client(1, answerTimeout),
		once:     client(-1, answerTimeout),
		scripts:  loadScripts(),
	}
	r.letters.count, r.letters.bytes = MaxLetters, MaxLetterBytes
	return r, nil
}

// Close aborts everything in progress, blocked reads included.
func (r *Redis) Close() error {
	return errors.Join(r.reader.Close(), r.commands.Close(), r.once.Close())
}

// Commands is for short commands. A lost reply is retried once: use it only for
// what is safe to repeat.
func (r *Redis) Commands() redis.UniversalClient { return r.commands }

// Reader is for reads that block, for at most MaxBlock. It never retries.
func (r *Redis) Reader() redis.UniversalClient { return r.reader }

// Once is for commands that must not be repeated behind the caller's back.
func (r *Redis) Once() redis.UniversalClient { return r.once }

// Now is the clock of Redis, the one all services agree on.
func (r *Redis) Now(ctx context.Context) (time.Time, error) {
	now, err := r.commands.Time(ctx).Result()
	if err != nil {
		return time.Time{}, fmt.Errorf("redis time: %w", err)
	}
	return now.UTC(), nil
}

// Kind gives the server's version, and whether it is the embedded one, which keeps
// nothing over a restart.
func (r *Redis) Kind(ctx context.Context) (version string, embedded bool, err error) {
	server, err := NewFleet(r).Server(ctx)
	return server.Version, server.Embedded, err
}

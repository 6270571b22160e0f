package checkstream

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(silentChild); url != "" { // see TestDriverWritesNothingToStderr
		os.Exit(askNobody(url))
	}
	testbackend.Main(m)
}

// onBoth runs a test against a real server and against the embedded one.
func onBoth(t *testing.T, test func(t *testing.T, r *Redis)) {
	t.Helper()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		test(t, open(t, testbackend.Redis(t)))
	})
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		_, url := testbackend.Miniredis(t)
		test(t, open(t, url))
	})
}

func open(t *testing.T, url string) *Redis {
	t.Helper()
	r, err := Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func check(second, id int64) uptime.Check {
	return uptime.Check{
		TargetID: id, ScheduledAt: time.UnixMilli(second*1000 + id%1000).UTC(), Interval: time.Minute, SpecVersion: 3,
		Regions: []string{"eu", "us"}, Kind: uptime.KindHTTP, URL: fmt.Sprintf("https://t%d.example/health?a=b c", id), Timeout: 5 * time.Second,
	}
}

func checks(second int64, from, to int64) []uptime.Check {
	var out []uptime.Check
	for id := from; id <= to; id++ {
		out = append(out, check(second, id))
	}
	return out
}

// setTick puts the clock where the test wants it, instead of waiting for the time.
func setTick(t *testing.T, r *Redis, tick int64) {
	t.Helper()
	must(t, r.commands.HSet(t.Context(), keyClock, "tick", tick, "seq", 1).Err())
}

// publish publishes whole seconds in chunks of its own.
func publish(t *testing.T, p *Publisher, second int64, list []uptime.Check) {
	t.Helper()
	for {
		n := min(len(list), MaxChunk)
		last := n == len(list)
		if _, err := p.Publish(t.Context(), Chunk{Second: second, Seq: 1, Checks: list[:n], Last: last}); err != nil {
			t.Fatalf("publish second %d: %v", second, err)
		}
		if list = list[n:]; last {
			return
		}
	}
}

func redisNow(t *testing.T, r *Redis) int64 {
	t.Helper()
	now, err := r.Now(t.Context())
	must(t, err)
	return now.Unix()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func idsOf(entries []Entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.ID
	}
	return out
}

// gather calls next until it gives nothing.
func gather(t *testing.T, next func(context.Context) ([]Entry, error)) []Entry {
	t.Helper()
	var all []Entry
	for range 10_000 {
		entries, err := next(t.Context())
		must(t, err)
		if len(entries) == 0 {
			return all
		}
		all = append(all, entries...)
	}
	t.Fatal("there is no end of entries")
	return nil
}

func ownOf(c *Consumer, max int) func(context.Context) ([]Entry, error) {
	return func(ctx context.Context) ([]Entry, error) {
		entries, _, err := c.Own(ctx, Room{max, max})
		return entries, err
	}
}

func readAll(t *testing.T, c *Consumer) []Entry {
	t.Helper()
	return gather(t, func(ctx context.Context) ([]Entry, error) { return c.Read(ctx, 700, 0) })
}

func pending(t *testing.T, r *Redis, region string) int64 {
	t.Helper()
	rows, err := r.commands.Do(t.Context(), "XPENDING", keyChecks, region, "-", "+", 1_000_000).Slice()
	must(t, err)
	return int64(len(rows))
}

func length(t *testing.T, r *Redis) int64 {
	t.Helper()
	n, err := r.commands.XLen(t.Context(), keyChecks).Result()
	must(t, err)
	return n
}

// fakeClock moves a consumer's own clock.
type fakeClock struct{ ahead atomic.Int64 }

func (f *fakeClock) now() time.Time          { return time.Now().Add(time.Duration(f.ahead.Load())) }
func (f *fakeClock) advance(d time.Duration) { f.ahead.Add(int64(d)) }

func consumer(r *Redis, region, name string) (*Consumer, *fakeClock) {
	c, clock := NewConsumer(r, region, name), &fakeClock{}
	c.now = clock.now
	return c, clock
}

// staleBeat leaves a heartbeat that is a minute old.
func staleBeat(t *testing.T, r *Redis, region, name string) {
	t.Helper()
	at := strconv.FormatInt((redisNow(t, r)-60)*1000, 10)
	must(t, r.commands.HSet(t.Context(), keyRegions, regionField(region, name), `{"at_ms":`+at+`,"version":"1"}`).Err())
}

// onceDead moves the clock so far that a consumer without heartbeats is judged dead.
func onceDead(t *testing.T, c *Consumer, clock *fakeClock) {
	t.Helper()
	clock.advance(2*HeartbeatTTL + time.Second)
	if early, err := c.Reclaim(t.Context(), 0, Room{100, 100}); err != nil || len(early) > 0 {
		t.Fatalf("one look is not enough: %d taken, %v", len(early), err)
	}
	clock.advance(secondLook)
}

func xadd(stream string, fields map[string]any) *redis.XAddArgs { return xaddID(stream, "*", fields) }

func xaddID(stream, id string, fields map[string]any) *redis.XAddArgs {
	return &redis.XAddArgs{Stream: stream, ID: id, Values: fields}
}

func zs(score float64, members ...string) []redis.Z {
	out := make([]redis.Z, len(members))
	for i, m := range members {
		out[i] = redis.Z{Score: score, Member: m}
	}
	return out
}

func heartbeat(t *testing.T, c *Consumer, beat Heartbeat) {
	t.Helper()
	_, err := c.Beat(t.Context(), beat)
	must(t, err)
}

package checkstream

import (
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Regression, the 8,000-entry trimming loss: a stream that is cut to a length loses
// the beginning of every larger burst, and the groups' lag then says 0.
func TestTrimmingToALengthLosesTargets(t *testing.T) {
	t.Parallel()
	const targets = 10_000
	r := open(t, testbackend.Redis(t))
	ctx, p := t.Context(), NewPublisher(r)

	// The recipe: batches of 250 in a transaction with MAXLEN ~ 8000.
	const recipe = "recipe"
	must(t, r.commands.XGroupCreateMkStream(ctx, recipe, "eu", "0").Err())
	for from := int64(1); from <= targets; from += 250 {
		_, err := r.commands.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			for id := from; id < from+250; id++ {
				pipe.XAdd(ctx, &redis.XAddArgs{Stream: recipe, Values: []any{"target", id}})
			}
			pipe.XTrimMaxLenApprox(ctx, recipe, 8000, 0)
			return nil
		})
		must(t, err)
	}
	seen := make(map[string]bool)
	for {
		streams, err := r.commands.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "eu", Consumer: "p", Streams: []string{recipe, ">"}, Count: 1000, Block: -1}).Result()
		if err == redis.Nil {
			break
		}
		must(t, err)
		for _, m := range streams[0].Messages {
			seen[m.Values["target"].(string)] = true
		}
	}
	if lost := targets - len(seen); lost < 1500 {
		t.Fatalf("the recipe lost only %d", lost)
	} else {
		t.Logf("MAXLEN ~ 8000 loses %d of %d targets", lost, targets)
	}

	// Ours, trimmed after every chunk, with a region that reads only afterwards.
	must(t, p.EnsureGroups(ctx, []string{"eu"}))
	second := redisNow(t, r)
	setTick(t, r, second-1)
	for from := int64(1); from <= targets; from += MaxChunk {
		_, err := p.Publish(ctx, Chunk{Second: second, Seq: 1, Checks: checks(second, from, from+MaxChunk-1), Last: from+MaxChunk > targets})
		must(t, err)
		if report, err := p.Trim(ctx); err != nil || report.Removed > 0 {
			t.Fatalf("%+v %v", report, err)
		}
	}
	c, _ := consumer(r, "eu", "p")
	clear(seen)
	for _, e := range readAll(t, c) {
		seen[strconv.FormatInt(e.Check.TargetID, 10)] = true
	}
	if len(seen) != targets {
		t.Fatalf("ours lost %d", targets-len(seen))
	}
}

// Promise: the stream is trimmed only up to what every region has settled
func TestTrimWaitsForEveryRegion(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		second := redisNow(t, r) - 20
		setTick(t, r, second-1)
		publish(t, p, second, checks(second, 1, 1000))
		if report, err := p.Trim(ctx); err != nil || report.Removed != 0 || report.Floor != "" || report.Length != 1000 {
			t.Fatalf("trimmed though nobody could read: %+v %v", report, err)
		}
		must(t, p.EnsureGroups(ctx, []string{"eu", "us"}))
		eu, _ := consumer(r, "eu", "p")
		us, _ := consumer(r, "us", "p")
		all := readAll(t, eu)
		must(t, eu.Ack(ctx, idsOf(all)))
		report, err := p.Trim(ctx)
		if err != nil || report.Removed != 0 || !report.OldestUnsettled.Equal(time.Unix(second, 0)) {
			t.Fatalf("trimmed what us has not read: %+v %v", report, err)
		}
		all = readAll(t, us)
		must(t, us.Ack(ctx, idsOf(all[:500])))
		must(t, us.Ack(ctx, idsOf(all[700:])))
		report, err = p.Trim(ctx)
		if err != nil || report.Removed < 400 || report.Removed > 500 || report.Floor != all[500].ID {
			t.Fatalf("%+v %v", report, err)
		}
		groups, err := p.Groups(ctx)
		if err != nil || len(groups) != 2 || groups[0].Lag != 0 || groups[1].Pending != 200 || groups[1].Lag < 20*time.Second || groups[1].Lag > time.Minute {
			t.Fatalf("%+v %v", groups, err)
		}
		must(t, us.Ack(ctx, idsOf(all[500:700])))
		report, err = p.Trim(ctx)
		if err != nil || report.Length > 110 || !report.OldestUnsettled.IsZero() {
			t.Fatalf("%+v %v", report, err)
		}
		if backlog, err := p.Backlog(ctx); err != nil || backlog != report.Length {
			t.Fatal(backlog, err)
		}
		// Nothing but new ones from here on.
		publish(t, p, second+1, []uptime.Check{check(second+1, 9)})
		if got := readAll(t, us); len(got) != 1 || got[0].TargetID != 9 {
			t.Fatalf("%+v", got)
		}
	})
}

// The embedded server removes entries one by one from the front of an array unless
// it is told a length: 40,000 took it three seconds, and everybody waited.
func TestLargeTrimDoesNotHoldUpTheEmbeddedServer(t *testing.T) {
	t.Parallel()
	_, url := testbackend.Miniredis(t)
	r := open(t, url)
	ctx, p := t.Context(), NewPublisher(r)
	must(t, p.EnsureGroups(ctx, []string{"eu"}))
	second, each := redisNow(t, r)-10, int64(8_000)
	if testing.Short() {
		each = 1_500
	}
	setTick(t, r, second-1)
	publish(t, p, second, checks(second, 1, each))
	publish(t, p, second+1, checks(second+1, 1, each))
	// Settled without the cost of reading it all.
	must(t, r.commands.XGroupDestroy(ctx, keyChecks, "eu").Err())
	must(t, r.commands.XGroupCreate(ctx, keyChecks, "eu", entryID(second+1, each-10)).Err())
	started := time.Now()
	for range 2 {
		_, err := p.Trim(ctx)
		must(t, err)
	}
	t.Logf("trimmed in %v", time.Since(started))
	c, _ := consumer(r, "eu", "p")
	if n := length(t, r); n != 10 || len(readAll(t, c)) != 10 {
		t.Fatalf("%d left of 10", n)
	}
}

package checkstream

import (
	"errors"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClockStartsFresh(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		p := NewPublisher(r)
		first, err := p.Clock(t.Context())
		must(t, err)
		if !first.Fresh || first.Tick < first.Now.Unix() || first.Tick > first.Now.Unix()+1 || first.After != 0 || first.Seq != 0 {
			t.Fatalf("%+v", first)
		}
		// A reply may get lost: it stays fresh until something was published.
		second, err := p.Clock(t.Context())
		must(t, err)
		if !second.Fresh || second.Tick != first.Tick {
			t.Fatalf("%+v, then %+v", first, second)
		}
		publish(t, p, first.Tick+1, checks(first.Tick+1, 1, 10))
		third, err := p.Clock(t.Context())
		must(t, err)
		if third.Fresh || third.Tick != first.Tick+1 || third.Backlog != 10 || third.Seq != 1 {
			t.Fatalf("%+v", third)
		}
	})
}

func TestPublishGoesOnWithinASecond(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		p := NewPublisher(r)
		second := redisNow(t, r)
		setTick(t, r, second-1)
		all := checks(second, 1, 100)

		added, err := p.Publish(t.Context(), Chunk{Second: second, Seq: 1, Checks: all[:40]})
		if err != nil || added != 40 {
			t.Fatalf("%d %v", added, err)
		}
		clock, err := p.Clock(t.Context())
		must(t, err)
		if clock.Tick != second-1 || clock.After != 40 {
			t.Fatalf("a standby would not go on where we stopped: %+v", clock)
		}
		if tick, err := p.Raise(t.Context(), 1); err != nil || tick != second {
			t.Fatalf("a second that has begun counts: %d %v", tick, err)
		}
		// A second leader starts the second from its beginning.
		added, err = NewPublisher(r).Publish(t.Context(), Chunk{Second: second, Seq: 1, Checks: all[:60]})
		if err != nil || added != 20 {
			t.Fatalf("%d %v", added, err)
		}
		added, err = p.Publish(t.Context(), Chunk{Second: second, Seq: 1, Checks: all[40:], Last: true})
		if err != nil || added != 40 || length(t, r) != 100 {
			t.Fatalf("%d %v", added, err)
		}
		clock, err = p.Clock(t.Context())
		must(t, err)
		if clock.Tick != second || clock.After != 0 {
			t.Fatalf("%+v", clock)
		}
	})
}

func TestRefusalsAreTypedAndHarmless(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		if _, err := p.Publish(ctx, Chunk{Second: 5, Seq: 1}); !errors.Is(err, ErrGap) || !errors.Is(err, ErrLost) {
			t.Fatalf("without a clock: %v", err)
		}
		if _, err := p.Raise(ctx, 1); !errors.Is(err, ErrLost) {
			t.Fatalf("without a clock: %v", err)
		}
		now := redisNow(t, r)
		setTick(t, r, now-10)
		if tick, err := p.Raise(ctx, 7); err != nil || tick != now-10 {
			t.Fatalf("%d %v", tick, err)
		}
		publishOne := func(second, seq int64, room int64) error {
			_, err := p.Publish(ctx, Chunk{Second: second, Seq: seq, Checks: checks(second, 1, 20), Last: true, BacklogMax: room})
			return err
		}
		must(t, publishOne(now-9, 7, 0))

		before, err := p.Clock(ctx)
		must(t, err)
		for name, c := range map[string]struct {
			err  error
			want error
		}{
			"published second":   {publishOne(now-10, 7, 0), ErrStale},
			"long ago":           {publishOne(now-500, 7, 0), ErrStale},
			"second left out":    {publishOne(now-7, 7, 0), ErrGap},
			"older schedule":     {publishOne(now-8, 6, 0), ErrSuperseded},
			"skip older":         {p.Skip(ctx, 6, now), ErrSuperseded},
			"skip stale":         {p.Skip(ctx, 7, now-9), ErrStale},
			"skip future":        {p.Skip(ctx, 7, now+60), ErrFuture},
			"already, by others": {publishOne(now-9, 7, 0), ErrStale},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: %v, want %v", name, c.err, c.want)
			}
		}
		if _, err := p.Raise(ctx, 6); !errors.Is(err, ErrSuperseded) {
			t.Errorf("raise: %v", err)
		}
		var full *FullError
		if err := publishOne(now-8, 7, 20); !errors.As(err, &full) || full.FirstRefused != 1 {
			t.Errorf("full: %v", err)
		}
		after, err := p.Clock(ctx)
		must(t, err)
		before.Now = after.Now
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("a refusal changed something: %s", diff)
		}
		refused, err := p.Refused(ctx)
		must(t, err)
		if diff := cmp.Diff(map[int64]int64{now - 8: 1}, refused); diff != "" {
			t.Error(diff)
		}
		must(t, p.ClearRefused(ctx, now-8))

		// Going on after a refusal.
		must(t, p.Skip(ctx, 7, now-6))
		must(t, publishOne(now-5, 8, 100))
		if clock, err := p.Clock(ctx); err != nil || clock.Tick != now-5 || clock.Seq != 8 || clock.Backlog != 40 {
			t.Fatalf("%+v %v", clock, err)
		}
		setTick(t, r, now+59)
		if err := publishOne(now+60, 8, 0); !errors.Is(err, ErrFuture) {
			t.Errorf("future: %v", err)
		}
	})
}

func TestFullMidSecondKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		second := redisNow(t, r)
		setTick(t, r, second-1)
		all := checks(second, 1, 60)
		_, err := p.Publish(ctx, Chunk{Second: second, Seq: 1, Checks: all[:30], BacklogMax: 30})
		must(t, err)
		var full *FullError
		// Repeats what is there: that is not refused, the rest is.
		if _, err := p.Publish(ctx, Chunk{Second: second, Seq: 1, Checks: all[10:], Last: true, BacklogMax: 30}); !errors.As(err, &full) || full.FirstRefused != 31 {
			t.Fatal(err)
		}
		if added, err := p.Publish(ctx, Chunk{Second: second, Seq: 1, Checks: all[:30], Last: true, BacklogMax: 30}); err != nil || added != 0 {
			t.Fatalf("%d %v", added, err)
		}
		if refused, err := p.Refused(ctx); err != nil || refused[second] != 31 {
			t.Fatalf("%v %v", refused, err)
		}
	})
}

func TestOldIdsStayRefusedAfterAFullTrim(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		p := NewPublisher(r)
		second := redisNow(t, r)
		setTick(t, r, second-1)
		_, err := p.Publish(t.Context(), Chunk{Second: second, Seq: 1, Checks: checks(second, 1, 50)})
		must(t, err)
		must(t, r.commands.XTrimMaxLen(t.Context(), keyChecks, 0).Err())
		added, err := p.Publish(t.Context(), Chunk{Second: second, Seq: 1, Checks: checks(second, 1, 60), Last: true})
		if err != nil || added != 10 || length(t, r) != 10 {
			t.Fatalf("%d added, %d there, %v", added, length(t, r), err)
		}
	})
}

func TestBadChunksAreNotSent(t *testing.T) {
	t.Parallel()
	p := NewPublisher(open(t, "redis://127.0.0.1:1"))
	second := int64(1_700_000_000)
	mixed := append(checks(second, 1, 2), check(second+1, 3))
	twice := append(checks(second, 1, 2), check(second, 2))
	for name, c := range map[string]Chunk{
		"too many":     {Second: second, Checks: checks(second, 1, MaxChunk+1)},
		"other second": {Second: second, Checks: mixed},
		"out of order": {Second: second, Checks: twice},
	} {
		var dial *net.OpError
		if _, err := p.Publish(t.Context(), c); err == nil || errors.As(err, &dial) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// When the server's clock was ahead for a while, publishing waits for it, unless
// everything ahead is settled: then it starts afresh.
func TestClockFarAheadIsResetOnceDrained(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		must(t, p.EnsureGroups(ctx, []string{"eu", "us"}))
		ahead := redisNow(t, r) + 3600
		must(t, r.commands.XAdd(ctx, addArgs(check(ahead, 7))).Err())
		setTick(t, r, ahead)
		for i, region := range []string{"eu", "us"} {
			clock, err := p.Clock(ctx)
			must(t, err)
			if clock.Tick != ahead || clock.Fresh {
				t.Fatalf("reset with %d of 2 regions settled: %+v", i, clock)
			}
			c, _ := consumer(r, region, "p")
			entries := readAll(t, c)
			must(t, c.Ack(ctx, idsOf(entries)))
		}
		clock, err := p.Clock(ctx)
		must(t, err)
		if !clock.Fresh || clock.Tick > clock.Now.Unix()+1 {
			t.Fatalf("not reset: %+v", clock)
		}
		publish(t, p, clock.Tick+1, checks(clock.Tick+1, 1, 5))
		for _, region := range []string{"eu", "us"} {
			c, _ := consumer(r, region, "p")
			if entries := readAll(t, c); len(entries) != 5 {
				t.Fatalf("%s reads %d", region, len(entries))
			}
		}
	})
}

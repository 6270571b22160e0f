package livefeed

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

func onBoth(t *testing.T, test func(t *testing.T, r *checkstream.Redis)) {
	t.Helper()
	t.Run("redis", func(t *testing.T) { t.Parallel(); test(t, open(t, testbackend.Redis(t))) })
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		_, url := testbackend.Miniredis(t)
		test(t, open(t, url))
	})
}

func open(t *testing.T, url string) *checkstream.Redis {
	t.Helper()
	r, err := checkstream.Open(url)
	must(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type delivery struct {
	id      string
	results []uptime.Result
}

// follow runs a follower and gives what it delivers.
func follow(t *testing.T, r *checkstream.Redis, from string) (<-chan delivery, *Follower) {
	t.Helper()
	f := NewFollower(r)
	got := make(chan delivery, 10_000)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := f.Follow(ctx, from, func(id string, results []uptime.Result) error {
			got <- delivery{id, results}
			return nil
		})
		if !errors.Is(err, context.Canceled) && !errors.Is(err, redis.ErrClosed) {
			t.Errorf("follower ended: %v", err)
		}
	}()
	t.Cleanup(func() { cancel(); _ = r.Close(); <-ended })
	return got, f
}

func next(t *testing.T, got <-chan delivery) delivery {
	t.Helper()
	for deadline := time.After(hang); ; {
		select {
		case d := <-got:
			if d.results[0].TargetID != marker {
				return d
			}
		case <-deadline:
			t.Fatal("nothing was delivered")
		}
	}
}

const hang = 2 * time.Minute // longer than anything that goes on takes

const marker = 999 // the target of what shows that a follower has begun

// ready announces until the follower, which begins at "now", has begun.
func ready(t *testing.T, a *Announcer, got <-chan delivery) string {
	t.Helper()
	deadline := time.After(hang)
	first := samples(1)
	first[0].TargetID = marker
	for {
		must(t, a.Announce(t.Context(), first))
		select {
		case d := <-got:
			return d.id // others may be on their way: next passes them over
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			t.Fatal("the follower never began")
		}
	}
}

func TestFollowersGetWhatIsAnnounced(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *checkstream.Redis) {
		ctx, a := t.Context(), NewAnnouncer(r)
		must(t, a.Announce(ctx, nil))
		must(t, a.Announce(ctx, samples(1))) // before: not for a follower from now
		got, f := follow(t, r, "")
		after := ready(t, a, got)
		want := samples(450)
		must(t, r.Commands().XAdd(ctx, &redis.XAddArgs{Stream: keyResults, Values: []any{"b", "nonsense"}}).Err())
		must(t, a.Announce(ctx, want))
		var all []uptime.Result
		var ids []string
		for len(all) < len(want) {
			d := next(t, got)
			all = append(all, d.results...)
			ids = append(ids, d.id)
		}
		if diff := cmp.Diff(want, all, sameAddress); diff != "" || len(ids) != 3 || f.Skipped() != 1 {
			t.Fatalf("%d entries, %d skipped, %s", len(ids), f.Skipped(), diff)
		}
		must(t, a.AnnounceAll(ctx, [][]uptime.Result{samples(2), nil, samples(3)}))
		if first, second := next(t, got), next(t, got); len(first.results) != 2 || len(second.results) != 3 {
			t.Fatalf("batches of 2 and 3 came as %d and %d", len(first.results), len(second.results))
		}
		// Another one resumes behind an id.
		resumed, _ := follow(t, r, ids[0])
		if d := next(t, resumed); d.id != ids[1] || !Before(after, d.id) {
			t.Fatalf("resumed at %s, want %s", d.id, ids[1])
		}
	})
}

func TestFollowEndsWithTheCallersError(t *testing.T) {
	t.Parallel()
	r := open(t, testbackend.Redis(t))
	must(t, NewAnnouncer(r).Announce(t.Context(), samples(2)))
	stop := errors.New("enough")
	if err := NewFollower(r).Follow(t.Context(), "0-0", func(string, []uptime.Result) error { return stop }); !errors.Is(err, stop) {
		t.Fatal(err)
	}
}

func TestOldEntriesAreRemoved(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *checkstream.Redis) {
		ctx := t.Context()
		now, err := r.Now(ctx)
		must(t, err)
		for i := range 500 {
			id := &redis.XAddArgs{Stream: keyResults, ID: idAt(now.Add(-Keep-time.Minute), i), Values: []any{"b", encode(samples(1))}}
			must(t, r.Commands().XAdd(ctx, id).Err())
		}
		must(t, NewAnnouncer(r).Announce(ctx, samples(1)))
		if n, err := r.Commands().XLen(ctx, keyResults).Result(); err != nil || n > 110 {
			t.Fatal(n, err)
		}
	})
}

func idAt(at time.Time, i int) string { return fmt.Sprintf("%d-%d", at.UnixMilli(), i) }

// A server that comes back with all its data, with none, or with older data.
func TestFollowerSurvivesRestartAndLoss(t *testing.T) {
	t.Parallel()
	server := testbackend.RedisServer(t)
	r, other := open(t, server.URL()), open(t, server.URL())
	ctx, a := t.Context(), NewAnnouncer(other)
	got, _ := follow(t, r, "")
	ready(t, a, got)

	server.Kill()
	server.Restart()
	must(t, announceSoon(ctx, a))
	if d := next(t, got); len(d.results) != 1 {
		t.Fatalf("%+v", d)
	}

	// All data lost, and the clock turned back: ids begin far below.
	must(t, other.Commands().Del(ctx, keyResults).Err())
	old := samples(1)
	old[0].TargetID = 4711
	must(t, other.Commands().XAdd(ctx, &redis.XAddArgs{Stream: keyResults, ID: "5-5", Values: []any{"b", encode(old)}}).Err())
	if d := next(t, got); d.id != "5-5" || d.results[0].TargetID != 4711 {
		t.Fatalf("%+v", d)
	}
}

// announceSoon announces as soon as the server is back.
func announceSoon(ctx context.Context, a *Announcer) error {
	ctx, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	for {
		err := a.Announce(ctx, samples(1))
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *checkstream.Redis) {
		a, f := NewAnnouncer(r), NewFollower(r)
		want := []Change{{TargetID: 7, Op: OpCreated, Seq: 1}, {TargetID: 7, Op: OpUpdated, Seq: 2}, {TargetID: 7, Op: OpDeleted, Seq: 1 << 52}}
		for id := range int64(readCount + 20) { // more than one read finds
			want = append(want, Change{TargetID: 100 + id, Op: OpUpdated, Seq: 3 + id})
		}
		got := make(chan Change, 1000)
		var reads atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = f.FollowChanges(ctx, func(changes []Change) error {
				reads.Add(1)
				for _, c := range changes {
					got <- c
				}
				return nil
			})
		}()
		t.Cleanup(func() { cancel(); _ = r.Close(); <-ended })
		started := false
		for !started {
			must(t, a.AnnounceChanges(ctx, Change{TargetID: 1, Op: OpUpdated}))
			select {
			case <-got:
				started = true
			case <-time.After(50 * time.Millisecond):
			}
		}
		must(t, r.Commands().XAdd(ctx, &redis.XAddArgs{Stream: keyChanges, Values: []any{"id", "x", "op", "eaten", "seq", "0"}}).Err())
		before := reads.Load()
		must(t, a.AnnounceChanges(ctx, want...))
		var all []Change
		for len(all) < len(want) {
			select {
			case c := <-got:
				if c.TargetID != 1 {
					all = append(all, c)
				}
			case <-time.After(hang):
				t.Fatalf("only %v", all)
			}
		}
		if diff := cmp.Diff(want, all); diff != "" || f.Skipped() != 1 {
			t.Fatal(f.Skipped(), diff)
		}
		if n := reads.Load() - before; n > int64(len(want))/2 {
			t.Errorf("%d changes told at once came in %d parts", len(want), n)
		}
	})
}

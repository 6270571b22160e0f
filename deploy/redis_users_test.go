package deploy_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/lease"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// redisUsers is a server with the users of redis/users.acl, for the regions eu and us.
type redisUsers struct {
	*testing.T
	*testbackend.RedisUsers
}

func newRedisUsers(t *testing.T) redisUsers {
	t.Helper()
	return redisUsers{t, testbackend.NewRedisUsers(t, "redis/users.acl", "eu", "us")}
}

// client is for commands that no program has.
func (r redisUsers) client(address string) *redis.Client {
	r.Helper()
	options, err := redis.ParseURL(address)
	must(r.T, err)
	options.Protocol, options.DisableIdentity, options.MaxRetries = 2, true, -1
	client := redis.NewClient(options)
	r.Cleanup(func() { _ = client.Close() })
	return client
}

// open is what a program has.
func (r redisUsers) open(user string) *checkstream.Redis {
	r.Helper()
	opened, err := checkstream.Open(r.URL(user))
	must(r.T, err)
	r.Cleanup(func() { _ = opened.Close() })
	return opened
}

// Each program does here, as its own user, all that it ever asks of Redis.
func TestEachProgramDoesItsWorkAsItsUserOfRedis(t *testing.T) {
	t.Parallel()
	r := newRedisUsers(t)
	ctx := t.Context()
	publisher, eu, api := r.open("publisher"), r.open("prober-eu"), r.open("api")
	work := checkstream.NewPublisher(publisher)
	prober, mate := checkstream.NewConsumer(eu, "eu", "eu-1"), checkstream.NewConsumer(eu, "eu", "eu-2")
	fleet := checkstream.NewFleet(api)

	for _, one := range []*checkstream.Redis{publisher, eu, api} {
		server, err := checkstream.NewFleet(one).Server(ctx)
		if err != nil || server.Version == "" {
			t.Errorf("%+v, %v", server, err)
		}
	}
	r.holdLease(publisher, "publisher")
	r.holdLease(api, "evaluator")
	if _, err := lease.NewHolder(api, "publisher")(ctx); err != nil {
		t.Error(err)
	}

	// What is due: published, refused for want of room, skipped.
	clock, err := work.Clock(ctx)
	must(t, err, work.EnsureGroups(ctx, []string{"eu", "us"}))
	_, err = work.Raise(ctx, 1)
	must(t, err)
	second := clock.Tick + 1
	n, err := work.Publish(ctx, checkstream.Chunk{Second: second, Seq: 1, Checks: checksOf(second, 9), Last: true})
	if err != nil || n != 9 {
		t.Fatalf("%d published, %v", n, err)
	}
	var full *checkstream.FullError
	if _, err := work.Publish(ctx, checkstream.Chunk{Second: second + 1, Seq: 1, Checks: checksOf(second+1, 1), BacklogMax: 1}); !errors.As(err, &full) {
		t.Errorf("beyond the room: %v", err)
	}
	refused, err := work.Refused(ctx)
	if err != nil || len(refused) != 1 {
		t.Errorf("%v, %v", refused, err)
	}
	must(t, work.ClearRefused(ctx, second+1), work.Skip(ctx, 1, second+1))

	// A prober reads, settles, gives up, takes over, and is drained.
	drain := func(c *checkstream.Consumer, name string) bool {
		wanted, err := c.Beat(ctx, checkstream.Heartbeat{Region: "eu", Name: name, Version: "test"})
		must(t, err)
		return wanted
	}
	if drain(prober, "eu-1") || drain(mate, "eu-2") {
		t.Error("nobody asked for a drain")
	}
	must(t, prober.EnsureGroup(ctx))
	entries, err := prober.Read(ctx, 9, 0)
	if err != nil || len(entries) != 9 {
		t.Fatalf("%d read, %v", len(entries), err)
	}
	must(t, prober.Renew(ctx, []string{entries[0].ID}), prober.Ack(ctx, []string{entries[0].ID}))
	for i, give := range []func(checkstream.Entry) (bool, error){
		func(e checkstream.Entry) (bool, error) { return prober.Dead(ctx, e, "died of it") },
		func(e checkstream.Entry) (bool, error) { return prober.DeadRow(ctx, e, downRow(e), "refused") },
		func(e checkstream.Entry) (bool, error) { return prober.KeepRow(ctx, e, downRow(e), "refused later") },
		func(e checkstream.Entry) (bool, error) { return prober.Dead(ctx, e, "died of it") },
	} {
		if kept, err := give(entries[i+1]); err != nil || !kept {
			t.Errorf("letter %d: %v, %v", i, kept, err)
		}
	}
	prober.Release([]string{entries[6].ID})
	if own, _, err := prober.Own(ctx, checkstream.Room{Entries: 9, Alone: 9}); err != nil || len(own) != 1 {
		t.Errorf("own: %d, %v", len(own), err)
	}
	if taken, err := mate.Reclaim(ctx, time.Nanosecond, checkstream.Room{Entries: 9, Alone: 9}); err != nil || len(taken) == 0 {
		t.Errorf("taken over: %d, %v", len(taken), err)
	}
	if load, err := prober.Load(ctx); err != nil || math.IsNaN(load.Memory) {
		t.Errorf("%+v, %v", load, err)
	}
	if _, err := checkstream.NewFleet(eu).Probers(ctx); err != nil {
		t.Error(err)
	}
	if changed, err := fleet.DrainProber(ctx, "eu", "eu-1", "user:1"); err != nil || !changed || !drain(prober, "eu-1") {
		t.Errorf("drain: %v, %v", changed, err)
	}
	if changed, err := fleet.ResumeProber(ctx, "eu", "eu-1"); err != nil || !changed || drain(prober, "eu-1") {
		t.Errorf("resume: %v, %v", changed, err)
	}

	// Dead letters: looked at and asked for by people, run again by probers.
	letters := checkstream.NewDeadLetters(api)
	all, err := letters.List(ctx, "", 100)
	if err != nil || len(all) != 4 {
		t.Fatalf("%d letters, %v", len(all), err)
	}
	if count, err := letters.Count(ctx); err != nil || count != 4 {
		t.Errorf("%d letters, %v", count, err)
	}
	if regions, err := checkstream.NewLetterTally(api).Regions(ctx); err != nil || !maps.Equal(regions, map[string]int64{"eu": 4}) {
		t.Errorf("letters by region: %v, %v", regions, err)
	}
	_, err = letters.Get(ctx, all[0].ID)
	must(t, err)
	if asked, err := letters.Ask(ctx, []string{all[0].ID, all[1].ID}); err != nil || asked != 2 {
		t.Errorf("%d asked for, %v", asked, err)
	}
	again, err := prober.Replays(ctx, 10)
	if err != nil || len(again) != 2 {
		t.Fatalf("%d to be run again, %v", len(again), err)
	}
	must(t, prober.Replayed(ctx, again[0]))
	if _, err := letters.Totals(ctx); err != nil {
		t.Error(err)
	}
	if purged, err := letters.Purge(ctx, []string{all[1].ID}); err != nil || purged != 1 {
		t.Errorf("%d purged, %v", purged, err)
	}

	// Visits on demand and confirmations, there and back.
	for lane, ends := range map[string]struct {
		asking *checkstream.Adhoc
		prober *checkstream.AdhocConsumer
	}{
		"adhoc":   {checkstream.NewAdhoc(api), checkstream.NewAdhocConsumer(eu, "eu", "eu-1")},
		"confirm": {checkstream.NewConfirm(api), checkstream.NewConfirmConsumer(eu, "eu", "eu-1")},
	} {
		must(t, ends.asking.Add(ctx, []checkstream.Visit{visitOf("eu", 1), visitOf("eu", 2), visitOf("us", 3)}))
		if open, err := ends.asking.Open(ctx); err != nil || open != 3 {
			t.Errorf("%s: %d open, %v", lane, open, err)
		}
		visits, err := ends.prober.Read(ctx, 10, 0) // nobody has asked here before: the group may be made by this
		must(t, err)
		if len(visits) == 0 {
			visits, err = ends.prober.Read(ctx, 10, 0)
		}
		if err != nil || len(visits) != 2 {
			t.Fatalf("%s: %d visits, %v", lane, len(visits), err)
		}
		if _, err := ends.prober.Take(ctx, 10, true); err != nil {
			t.Errorf("%s: %v", lane, err)
		}
		must(t, ends.prober.Settle(ctx, visits[0], checkstream.VisitOutcome{Look: uptime.Look{Status: uptime.StatusUp}}), ends.prober.Drop(ctx, visits[1]))
	}
	outcomes, _, err := checkstream.NewAdhoc(api).Outcomes(ctx, "0-0", time.Millisecond)
	if err != nil || len(outcomes) != 1 {
		t.Errorf("%d outcomes, %v", len(outcomes), err)
	}
	if _, _, err := checkstream.NewAdhoc(api).Outcomes(ctx, "", 0); err != nil {
		t.Error(err)
	}

	// The live feed, from probers and API nodes to API nodes.
	said := livefeed.NewAnnouncer(eu)
	must(t, said.Announce(ctx, []uptime.Result{downRow(entries[0])}), said.AnnounceRound(ctx, livefeed.Round{Region: "eu", Prober: "eu-1", Good: true}))
	must(t, livefeed.NewAnnouncer(api).Announce(ctx, []uptime.Result{downRow(entries[0])}))
	heard := errors.New("heard")
	following, end := context.WithTimeout(ctx, time.Minute)
	defer end()
	if err := livefeed.NewFollower(api).Follow(following, "0-0", func(string, []uptime.Result) error { return heard }); !errors.Is(err, heard) {
		t.Errorf("results: %v", err)
	}
	for name, follower := range map[string]*checkstream.Redis{"publisher": publisher, "api": api} {
		told := make(chan error, 1)
		go func() {
			told <- livefeed.NewFollower(follower).FollowChanges(following, func([]livefeed.Change) error { return heard })
		}()
		for telling := true; telling; { // until it listens
			select {
			case err := <-told:
				if telling = false; !errors.Is(err, heard) {
					t.Errorf("%s: changes: %v", name, err)
				}
			default:
				must(t, livefeed.NewAnnouncer(api).AnnounceChanges(ctx, livefeed.Change{TargetID: 1, Op: livefeed.OpUpdated, Seq: 1}))
			}
		}
	}
	must(t, livefeed.NewAnnouncer(publisher).AnnounceChanges(ctx, livefeed.Change{TargetID: 1, Op: livefeed.OpDeleted, Seq: 2}))

	// The fleet as API nodes see it, and what they say of themselves.
	must(t, api.KeepSpool(ctx, "api-1", map[string]checkstream.Kept{"ext-office": {Rows: 1}}))
	if nodes, err := fleet.NodeSpools(ctx); err != nil || len(nodes) != 1 {
		t.Errorf("%v, %v", nodes, err)
	}
	must(t, api.KeepSpool(ctx, "api-1", nil))
	if probers, err := fleet.Probers(ctx); err != nil || len(probers) != 2 {
		t.Errorf("%v, %v", probers, err)
	}
	if groups, err := fleet.Groups(ctx); err != nil || len(groups) != 2 {
		t.Errorf("%v, %v", groups, err)
	}
	if tick, err := fleet.LastTick(ctx); err != nil || tick.Unix() != second+1 {
		t.Errorf("%v, %v", tick, err)
	}

	// Deleted targets, by API nodes at once and by the publisher until it is done.
	must(t, api.Tombstone(ctx, 4), publisher.Tombstone(ctx, 5))
	for _, one := range []*checkstream.Redis{publisher, eu, api} {
		if gone, err := one.Tombstoned(ctx, []int64{4, 5, 6}); err != nil || len(gone) != 2 {
			t.Errorf("%v, %v", gone, err)
		}
	}

	if n, err := publisher.Tombstones(ctx); err != nil || n != 2 {
		t.Errorf("%d tombstones, %v", n, err)
	}

	// What the publisher looks after.
	late, err := work.Expired(ctx, "us", time.Now().Add(time.Hour), 100)
	if err != nil || len(late) != 9 {
		t.Errorf("%d expired, %v", len(late), err)
	}
	must(t, work.Settle(ctx, "us", []string{late[0].ID}))
	if _, err := work.Trim(ctx); err != nil {
		t.Error(err)
	}
	must(t, publisher.PruneTombstones(ctx, 31*24*time.Hour))
	if groups, err := work.Groups(ctx); err != nil || len(groups) != 2 {
		t.Errorf("%v, %v", groups, err)
	}
	must(t, prober.Leave(ctx), fleet.ForgetProber(ctx, "eu", "eu-1"), work.ForgetProber(ctx, "eu", "eu-2"), work.DestroyGroup(ctx, "us"))

	if refused := r.Refused(); len(refused) > 0 {
		t.Errorf("refused, though it is a part of the work:\n%s", strings.Join(refused, "\n"))
	}
}

// holdLease takes a lease, and gives it back.
func (r redisUsers) holdLease(as *checkstream.Redis, name string) {
	r.Helper()
	ctx, end := context.WithTimeout(r.Context(), time.Minute)
	defer end()
	running, stop := context.WithCancel(ctx)
	l := lease.New(as, name, "somebody", slog.New(slog.DiscardHandler))
	var holding sync.WaitGroup
	holding.Go(func() { _ = l.Run(running) })
	select {
	case <-l.Changed():
	case <-ctx.Done():
		r.Errorf("the lease %s is not taken", name)
	}
	stop()
	holding.Wait()
	if holder, err := lease.NewHolder(as, name)(r.Context()); err != nil || holder != "" {
		r.Errorf("the lease %s is not given back: %s, %v", name, holder, err)
	}
}

func checksOf(second, n int64) (all []uptime.Check) {
	for id := int64(1); id <= n; id++ {
		all = append(all, uptime.Check{TargetID: id, ScheduledAt: time.UnixMilli(second*1000 + id).UTC(), Interval: time.Minute, SpecVersion: 1, Kind: uptime.KindHTTP, URL: "https://example.com/", Timeout: 5 * time.Second})
	}
	return all
}

func downRow(e checkstream.Entry) uptime.Result {
	return uptime.Result{TargetID: e.TargetID, Region: "eu", ScheduledAt: e.Check.ScheduledAt, CheckedAt: e.Check.ScheduledAt, Status: uptime.StatusDown, Failure: uptime.FailureTimeout, Attempt: 1, Prober: "eu-1"}
}

func visitOf(region string, n int64) checkstream.Visit {
	return checkstream.Visit{Job: checkstream.Confirmation{TargetID: n, Slot: time.UnixMilli(1_800_000_000_000)}.Job(), Attempt: 1, Region: region, Kind: uptime.KindHTTP, URL: "https://example.com/", Timeout: 5 * time.Second}
}

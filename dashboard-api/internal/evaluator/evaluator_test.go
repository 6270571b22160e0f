package evaluator

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

// held is a lease that its holder believes in, whoever else does.
type held struct{}

func (held) Held() bool          { return true }
func (held) Yield(time.Duration) {}

type deaf struct{}

func (deaf) Set(string, service.Level, string) {}

// newest is what the stores would say.
type newest struct {
	mu      sync.Mutex
	results []uptime.Result
}

func (n *newest) LastMeasured(context.Context, time.Time) ([]uptime.Result, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.results), nil
}

func (n *newest) add(r uptime.Result) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.results = append(n.results, r)
}

type watched []live.Watched

func (w watched) Watched() []live.Watched { return w }

// rig is a fleet of targets in two regions, a stream of results, and a database.
type rig struct {
	*testing.T
	db        *database.DB
	redis     *checkstream.Redis
	announcer *livefeed.Announcer
	incidents *incidentstore.Store
	store     *verdictstore.Store
	windows   *maintenancestore.Store
	targets   watched
	newest    *newest
	began     time.Time
	slots     map[int64]int
	zones     map[string]string // who answers for a host's name
}

var regions = []string{"eu", "us"}

// hang is how long something may take that takes no time: until then it is waited for.
const hang = 2 * time.Minute

// each runs a test of a rule on both engines, or shorter on one: what the statements do on each is proven by
// their stores, and here by the tests of evaluators that die.
func each(t *testing.T, test func(t *testing.T, db *database.DB)) {
	t.Helper()
	if testing.Short() {
		test(t, databasetest.Open(t, testbackend.SQLite(t)))
		return
	}
	databasetest.Each(t, test)
}

func newRig(t *testing.T, db *database.DB, targets int) *rig {
	t.Helper()
	redis, err := checkstream.Open(testbackend.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	r := &rig{T: t, db: db, redis: redis, announcer: livefeed.NewAnnouncer(redis), incidents: incidentstore.New(db, notify.Planner{}), newest: &newest{}, began: time.Now().UTC().Truncate(time.Second), slots: map[int64]int{}}
	r.store, r.windows = verdictstore.New(db, r.incidents), maintenancestore.New(db)
	for n := range targets {
		target, err := targetstore.New(db).Create(t.Context(), uptime.Target{Name: fmt.Sprint("t", n), URL: "https://user:secret@example.com/", Kind: uptime.KindHTTP, Interval: time.Hour, Timeout: time.Second, Active: true})
		if err != nil {
			t.Fatal(err)
		}
		r.targets = append(r.targets, live.Watched{Target: target, Rules: verdict.Rules{Interval: target.Interval, Timeout: target.Timeout, Active: true, Regions: regions}})
	}
	return r
}

// evaluator is a node's; nothing of one that ends half way is kept.
func (r *rig) evaluator() *Evaluator {
	return New(Options{Lease: held{}, Follower: Feed{livefeed.NewFollower(r.redis)}, Targets: r.targets, Results: r.newest, Store: r.store, Maintenance: r.windows, Confirm: checkstream.NewConfirm(r.redis), NameServers: func(host string) string { return r.zones[host] }, Health: deaf{}, Log: slog.New(slog.DiscardHandler)})
}

// next is what a region says of a target in the next slot, of both regions each.
func (r *rig) next(target int64, region string, status uptime.Status) uptime.Result {
	n := r.slots[target]
	r.slots[target]++
	at := r.began.Add(time.Duration(n/len(regions)) * 10 * time.Millisecond)
	result := uptime.Result{TargetID: target, Region: region, ScheduledAt: at, CheckedAt: at, IngestedAt: at, Status: status, Attempt: 1}
	if status == uptime.StatusDown {
		result.Failure, result.HTTPStatus = uptime.FailureStatusCode, 503
	}
	return result
}

func (r *rig) announce(results ...uptime.Result) {
	r.Helper()
	if err := r.announcer.Announce(r.Context(), results); err != nil {
		r.Fatal(err)
	}
}

// say has both regions see a target.
func (r *rig) say(target int64, status uptime.Status) {
	r.Helper()
	for _, region := range regions {
		r.announce(r.next(target, region, status))
	}
}

func (r *rig) all() []incidentstore.Incident {
	r.Helper()
	all, err := r.incidents.List(r.Context(), incidentstore.Filter{Limit: 100_000})
	if err != nil {
		r.Fatal(err)
	}
	return all
}

// folded waits until everything that is in the stream was committed.
func (r *rig) folded() {
	r.Helper()
	info, err := r.redis.Commands().XInfoStream(r.Context(), "{pf}:results").Result()
	if err != nil {
		r.Fatal(err)
	}
	r.await("all is folded", func() bool {
		saved, err := r.store.Load(r.Context())
		return err == nil && saved.Entry == info.LastGeneratedID
	})
}

func (r *rig) await(what string, is func() bool) {
	r.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	deadline := time.After(hang)
	for !is() {
		select {
		case <-look.C:
		case <-deadline:
			r.Fatalf("it was never so that %s", what)
		}
	}
}

// run starts an evaluator; the function ends it at once.
func (r *rig) run() (end func()) {
	ctx, cancel := context.WithCancel(r.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = r.evaluator().Run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

func TestOutageIsAnIncidentFromItsFirstSlotToItsEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db, 2)
		defer r.run()()
		id, other := r.targets[0].Target.ID, r.targets[1].Target.ID
		r.say(id, uptime.StatusUp)
		r.say(other, uptime.StatusUp)
		first := r.began.Add(10 * time.Millisecond)
		r.say(id, uptime.StatusDown)
		r.await("an incident is open", func() bool { return len(r.all()) == 1 })
		i := r.all()[0]
		if i.TargetID != id || !i.FirstSlot.Equal(first) || i.Severity != incidentstore.Down || !i.Open() || !slices.Equal(i.Cause.Regions, regions) || i.Cause.HTTPStatus != 503 || i.Cause.Failure != "status_code" {
			t.Errorf("%+v", i)
		}
		if i.Subject.Name != "t0" || i.Subject.URL == r.targets[0].Target.URL {
			t.Errorf("%+v", i.Subject)
		}
		r.say(id, uptime.StatusUp)
		r.await("it is over", func() bool { return !r.all()[0].Open() })
	})
}

// slow is a stream that is read on when a test says so, and is never at its end.
type slow struct{ entries chan entry }

func (s slow) Follow(ctx context.Context, _ string, _ func(), fn func(entry) error) error {
	for {
		select {
		case one := <-s.entries:
			if err := fn(one); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A backlog is folded as of when it was announced: an outage in it that was shorter than the
// policy asks for opens nothing, however long ago it was and however slowly it is read.
func TestBacklogIsNoLongOutage(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)), 1)
	id := r.targets[0].Target.ID
	r.targets[0].Rules.Policy.ForS = 60
	stream := slow{make(chan entry)}
	e := r.evaluator()
	e.Follower = stream
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = e.Run(ctx) }()
	at := time.Now().UTC().Add(-5 * time.Minute).Truncate(time.Second)
	r.began = at
	say := func(after time.Duration, status uptime.Status) {
		for n, region := range regions {
			stream.entries <- entry{id: fmt.Sprintf("%d-%d", at.Add(after).UnixMilli(), n), at: at.Add(after), results: []uptime.Result{r.next(id, region, status)}}
		}
	}
	say(0, uptime.StatusUp)
	say(10*time.Second, uptime.StatusDown)
	before, err := r.store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.await("it is known to be down, and two commits more", func() bool {
		now, err := r.store.Load(t.Context())
		return err == nil && now.States[id].Waiting != nil && now.Turn >= before.Turn+1
	})
	say(40*time.Second, uptime.StatusUp)
	say(50*time.Second, uptime.StatusDown)
	say(115*time.Second, uptime.StatusDown)
	r.await("the long one is found", func() bool { return len(r.all()) > 0 })
	cancel()
	<-ended
	if all := r.all(); len(all) != 1 || all[0].FirstSlot.Before(r.began.Add(30*time.Millisecond)) {
		t.Errorf("%+v", all)
	}
}

// During maintenance nothing is opened; what still fails when it is over is.
//
// Promise: maintenance holds back incidents
func TestMaintenanceHoldsBackIncidents(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)), 2)
	id, other := r.targets[0].Target.ID, r.targets[1].Target.ID
	window, err := r.windows.Create(t.Context(), "moving house", maintenance.Window{Scope: maintenance.Scope{TargetID: id}, StartsAt: r.began.Add(-time.Hour).Format("2006-01-02T15:04:05"), DurationS: 7200}, r.began)
	if err != nil {
		t.Fatal(err)
	}
	defer r.run()()
	for _, target := range []int64{id, other} {
		r.say(target, uptime.StatusUp)
		r.say(target, uptime.StatusDown)
	}
	r.await("the other one is down", func() bool { return len(r.all()) == 1 && r.all()[0].TargetID == other })
	r.folded()
	if all := r.all(); len(all) != 1 {
		t.Errorf("%+v", all)
	}
	if err := r.windows.Remove(t.Context(), window.ID, 0, time.Now()); err != nil {
		t.Fatal(err)
	}
	r.await("it fails after maintenance, too", func() bool {
		r.say(id, uptime.StatusDown)
		return len(r.all()) == 2
	})
}

// A window for a tag holds who carries it, from when it is given to a target until it is taken off.
func TestTagsHoldBackIncidents(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, testbackend.SQLite(t))
	r := newRig(t, db, 2)
	id, other := r.targets[0].Target.ID, r.targets[1].Target.ID
	retag := func(id int64, tags ...string) {
		t.Helper()
		if _, err := targetstore.New(db).Update(t.Context(), id, 0, func(target *uptime.Target) error { target.Tags = tags; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	retag(id, "db")
	if _, err := r.windows.Create(t.Context(), "databases", maintenance.Window{Scope: maintenance.Scope{Tags: []string{"db"}}, StartsAt: r.began.Add(-time.Hour).Format("2006-01-02T15:04:05"), DurationS: 7200}, r.began); err != nil {
		t.Fatal(err)
	}
	defer r.run()()
	for _, target := range []int64{id, other} {
		r.say(target, uptime.StatusUp)
		r.say(target, uptime.StatusDown)
	}
	r.await("the other one is down", func() bool { return len(r.all()) == 1 && r.all()[0].TargetID == other })
	r.folded()
	if all := r.all(); len(all) != 1 {
		t.Errorf("%+v", all)
	}
	retag(id, "web")
	r.await("it fails without the tag, too", func() bool {
		r.say(id, uptime.StatusDown)
		return len(r.all()) == 2
	})
}

// What nobody announced is found in the stores, and what is in both is one outage.
func TestLostAnnouncementsAreFoundInTheStores(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)), 2)
	for _, w := range r.targets {
		for _, region := range regions {
			result := r.next(w.Target.ID, region, uptime.StatusDown)
			r.newest.add(result)
			if w.Target.ID == r.targets[0].Target.ID {
				r.announce(result)
			}
		}
	}
	defer r.run()()
	r.await("both are down", func() bool { return len(r.all()) == 2 })
	r.folded()
	if all := r.all(); len(all) != 2 {
		t.Errorf("%+v", all)
	}
}

// Evaluators end at any moment, and two believe to be the one: every outage is one incident
// with one beginning and one end, the same as if nothing had happened.
//
// Promise: an outage opens one incident, whichever API node dies
func TestEveryOutageOnceWhoeverDies(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		const targets, outages, evaluators = 20, 8, 12
		r := newRig(t, db, targets)
		random := rand.New(rand.NewPCG(1, 2))
		said := make(chan struct{})
		go func() {
			defer close(said)
			for range outages {
				for _, status := range []uptime.Status{uptime.StatusUp, uptime.StatusDown, uptime.StatusUp} {
					for _, w := range r.targets {
						r.say(w.Target.ID, status)
					}
				}
			}
		}()
		var running []func()
		for range evaluators {
			running = append(running, r.run())
			if len(running) == 2 { // one of two ends, some commits later
				before, err := r.store.Load(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				some := int64(1 + random.IntN(2))
				r.await("somebody commits", func() bool {
					now, err := r.store.Load(t.Context())
					done := false
					select {
					case <-said:
						done = true
					default:
					}
					return done || err == nil && now.Turn >= before.Turn+some
				})
				i := random.IntN(2)
				running[i]()
				running = slices.Delete(running, i, i+1)
			}
		}
		<-said
		r.folded()
		for _, end := range running {
			end()
		}
		want, got := r.model(), map[string]string{}
		for _, i := range r.all() {
			_, events, err := r.incidents.Get(t.Context(), i.ID)
			if err != nil {
				t.Fatal(err)
			}
			kinds := ""
			for _, e := range events {
				if e.Kind == incidentstore.Opened || e.Kind == incidentstore.Resolved {
					kinds += string(e.Kind) + " "
				}
			}
			got[fmt.Sprint(i.TargetID, i.FirstSlot)] = kinds
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) != targets*outages {
			t.Errorf("%d outages: %s", len(want), diff)
		}
	})
}

// whole folds the whole stream in one go.
func (r *rig) whole() *fold {
	r.Helper()
	f := newFold(verdictstore.Saved{States: map[int64]verdict.FoldState{}})
	f.judge(r.targets, nil, r.began)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	feed := Feed{livefeed.NewFollower(r.redis)}
	_ = feed.Follow(ctx, "0-0", cancel, func(one entry) error { f.take(one); return nil })
	return f
}

// model is what the stream comes to.
func (r *rig) model() map[string]string {
	r.Helper()
	all := map[string]string{}
	for _, d := range r.whole().decisions {
		key := fmt.Sprint(d.TargetID, d.Slot)
		if d.Kind == verdict.Opened || d.Kind == verdict.Resolved {
			all[key] += string(d.Kind) + " "
		}
	}
	return all
}

// mustLoad is what was committed.
func mustLoad(r *rig) verdictstore.Saved {
	r.Helper()
	saved, err := r.store.Load(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	return saved
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/probefleet/probefleet/dashboard-api/internal/answercache"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// fakeTargets is a target table that can break in the middle of a read.
type fakeTargets struct {
	rows    []uptime.Target
	breakAt int
	reads   [][]int64 // by id
	broken  int64     // cannot be read by its id
}

var errBroken = errors.New("connection lost")

func (f *fakeTargets) ByIDs(_ context.Context, ids []int64) (there []uptime.Target, err error) {
	f.reads = append(f.reads, slices.Sorted(slices.Values(ids)))
	for _, t := range f.rows {
		if slices.Contains(ids, t.ID) {
			there = append(there, t)
		}
	}
	if f.breakAt > 0 {
		return nil, database.ErrUnavailable
	}
	if slices.Contains(ids, f.broken) {
		return nil, errBroken
	}
	return there, nil
}

func (f *fakeTargets) Each(_ context.Context, fn func(uptime.Target) error) error {
	for i, t := range f.rows {
		if f.breakAt > 0 && i >= f.breakAt {
			return errBroken
		}
		if err := fn(t); err != nil {
			return err
		}
	}
	return nil
}

func target(id, version int64) uptime.Target {
	return uptime.Target{ID: id, SpecVersion: version, Interval: time.Minute, Timeout: time.Second, Active: true}
}

func TestReconcileFindsWhatWasNotAnnounced(t *testing.T) {
	t.Parallel()
	hub := live.New(live.Options{})
	table := &fakeTargets{rows: []uptime.Target{target(1, 1), target(2, 2), target(3, 3)}}
	f := &feed{hub: hub, targets: table, log: slog.New(slog.DiscardHandler)}
	check := func(wantChanged int, want ...int64) {
		t.Helper()
		changed, err := f.reconcileOnce(t.Context())
		if got := slices.Sorted(maps.Keys(hub.IDs())); err != nil || changed != wantChanged || !slices.Equal(got, want) {
			t.Fatalf("changed %d to %v (%v), want %d to %v", changed, got, err, wantChanged, want)
		}
	}
	check(3, 1, 2, 3)
	check(0, 1, 2, 3)
	table.rows = []uptime.Target{target(1, 1), target(3, 5), target(4, 4)}
	check(3, 1, 3, 4)
	if hub.IDs()[3] != 5 {
		t.Error("an edit was not found")
	}
	table.breakAt = 1
	if _, err := f.reconcileOnce(t.Context()); !errors.Is(err, errBroken) || len(hub.IDs()) != 3 {
		t.Errorf("a broken read removed targets: %v %v", hub.IDs(), err)
	}
}

// told follows changes that are all told at once.
type told struct {
	follower
	changes []livefeed.Change
}

func (c told) FollowChanges(_ context.Context, fn func([]livefeed.Change) error) error {
	return fn(c.changes)
}

func TestChangesAreReadTogetherAndOwnOnesNotAgain(t *testing.T) {
	t.Parallel()
	hub := live.New(live.Options{})
	hub.Load([]uptime.Target{target(1, 1), target(2, 12), target(3, 3), target(4, 4), target(5, 5)}, nil, nil)
	table := &fakeTargets{rows: []uptime.Target{target(1, 11), target(2, 12), target(6, 16)}}
	f := &feed{hub: hub, kept: answercache.New(answercache.Options{}), targets: table, log: slog.New(slog.DiscardHandler), follower: told{changes: []livefeed.Change{
		{TargetID: 1, Op: livefeed.OpUpdated, Seq: 10}, {TargetID: 1, Op: livefeed.OpUpdated, Seq: 11},
		{TargetID: 2, Op: livefeed.OpUpdated, Seq: 12}, // by this node
		{TargetID: 3, Op: livefeed.OpUpdated, Seq: 13}, {TargetID: 3, Op: livefeed.OpDeleted},
		{TargetID: 4, Op: livefeed.OpUpdated, Seq: 14}, // and gone since
		{TargetID: 6, Op: livefeed.OpCreated, Seq: 16},
	}}}
	table.breakAt = 1
	if err := f.followChanges(t.Context()); err != nil || len(table.reads) != 1 || len(hub.IDs()) != 4 || hub.IDs()[1] != 1 {
		t.Errorf("while the table is away: read %v, then %v (%v)", table.reads, hub.IDs(), err)
	}
	table.breakAt, table.broken = 0, 1
	if err := f.followChanges(t.Context()); err != nil || hub.IDs()[1] != 1 || hub.IDs()[6] != 16 {
		t.Errorf("beside one that cannot be read: %v (%v)", hub.IDs(), err)
	}
	table.broken, table.reads = 0, nil
	if err := f.followChanges(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := [][]int64{{1, 4}}; !reflect.DeepEqual(table.reads, want) {
		t.Errorf("read %v, want %v", table.reads, want)
	}
	if want := map[int64]int64{1: 11, 2: 12, 5: 5, 6: 16}; !maps.Equal(hub.IDs(), want) {
		t.Errorf("the hub has %v, want %v", hub.IDs(), want)
	}
}

// recorded is the results store. It notes how far back it is asked to look.
type recorded struct {
	rows    []uptime.Result
	current []uptime.Result
	past    []uptime.Result
	mu      sync.Mutex
	err     error
	since   []time.Time
}

func (r *recorded) LastMeasured(_ context.Context, since time.Time) ([]uptime.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since = append(r.since, since)
	return r.rows, r.err
}

// Measured gives the rows of these targets, as a page of results would.
func (r *recorded) Measured(_ context.Context, ids []int64, from, to time.Time, fn func(*uptime.Result) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range r.past {
		if slices.Contains(ids, row.TargetID) && !row.ScheduledAt.Before(from) && row.ScheduledAt.Before(to) {
			if err := fn(&row); err != nil {
				return err
			}
		}
	}
	return r.err
}

// Newest gives the newest row of each of these targets, however old.
func (r *recorded) Newest(_ context.Context, ids []int64) ([]uptime.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.current), func(row uptime.Result) bool { return !slices.Contains(ids, row.TargetID) }), r.err
}

// becomes makes it answer with err from now on.
func (r *recorded) becomes(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.since = err, nil
}

// The prober could not reach the feed, but it recorded: the page must not stay green.
func TestReconcileFindsResultsThatWereNotAnnounced(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	result := func(at time.Time, status uptime.Status) uptime.Result {
		return uptime.Result{TargetID: 1, Region: "eu", ScheduledAt: at, CheckedAt: at, IngestedAt: at, Status: status}
	}
	hub := live.New(live.Options{})
	hourly := target(1, 1)
	hourly.Interval = time.Hour
	hub.Load([]uptime.Target{hourly}, []uptime.Result{result(now.Add(-time.Hour), uptime.StatusUp)}, []string{"eu"})
	f := &feed{hub: hub, results: &recorded{rows: []uptime.Result{result(now, uptime.StatusDown)}}, log: slog.New(slog.DiscardHandler)}
	before := hub.Snapshot().Items[0].State
	if err := f.reconcileResultsOnce(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if after := hub.Snapshot().Items[0].State; before != verdict.StateUp || after != verdict.StateDown {
		t.Errorf("%v became %v", before, after)
	}
}

// The row of a missing ping is of when it was expected, which is as long ago as its grace,
// and jobs may ping once a week: neither is found among the newest hours.
func TestReconcileFindsHeartbeats(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	at := now.Add(-3 * 24 * time.Hour)
	weekly := target(1, 1)
	weekly.Kind, weekly.Interval, weekly.Spec.Heartbeat = uptime.KindHeartbeat, 7*24*time.Hour, &uptime.HeartbeatSpec{PeriodS: 7 * 86400, GraceS: 86400}
	store := &recorded{current: []uptime.Result{
		{TargetID: 1, Region: uptime.RegionPush, ScheduledAt: at, CheckedAt: at, IngestedAt: at, Status: uptime.StatusUp},
		{TargetID: 2, Region: "eu", ScheduledAt: at, CheckedAt: at, IngestedAt: at, Status: uptime.StatusUp},
	}}
	hub := live.New(live.Options{})
	f := &feed{hub: hub, targets: &fakeTargets{rows: []uptime.Target{weekly, target(2, 1)}}, results: store, log: slog.New(slog.DiscardHandler)}
	if err := f.load(t.Context(), now, []string{"eu"}, true); err != nil {
		t.Fatal(err)
	}
	if items := hub.Snapshot().Items; items[0].State != verdict.StateUp || len(items[1].Ticks) != 0 {
		t.Errorf("at start %+v", items)
	}
	at = now.Add(-2 * time.Hour)
	store.current[0] = uptime.Result{TargetID: 1, Region: uptime.RegionPush, ScheduledAt: at, CheckedAt: at, IngestedAt: at, Status: uptime.StatusDown, Failure: uptime.FailureTimeout}
	if err := f.reconcileResultsOnce(t.Context(), now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if item := hub.Snapshot().Items[0]; item.State != verdict.StateDown {
		t.Errorf("stays %s", item.State)
	}
}

// A node that started without the store, or lost it for hours, misses nothing once it is back.
func TestResultsAreComparedFromWhereTheyWereLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		back := make(chan struct{}, 1)
		store := &recorded{err: errBroken}
		f := &feed{hub: live.New(live.Options{}), targets: &fakeTargets{}, results: store, back: back, now: time.Now, log: slog.New(slog.DiscardHandler)}
		if err := f.load(t.Context(), time.Now(), nil, false); err != nil || len(store.since) != 0 {
			t.Fatalf("a store known to be down was asked %d times: %v", len(store.since), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- f.reconcileResults(ctx) }()
		look := func(err error, want time.Duration) {
			t.Helper()
			store.becomes(err)
			back <- struct{}{}
			synctest.Wait()
			if len(store.since) != 1 || time.Since(store.since[0]) != want {
				t.Fatalf("looked back %v, want once %v", store.since, want)
			}
		}
		look(errBroken, warmSince)
		look(nil, warmSince)
		look(nil, resultsBack)
		store.becomes(errBroken)
		time.Sleep(3*time.Hour - time.Second) // not at a tick
		look(errBroken, resultsBack+3*time.Hour-time.Second)
		look(nil, resultsBack+3*time.Hour-time.Second)
		cancel()
		<-ended
	})
}

func TestSpoolsOfLiveProbersAddUp(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	probers := []checkstream.Heartbeat{
		{Region: "eu", Name: "a", Spooled: 3, SpoolFirst: at, SpoolLast: at.Add(time.Minute), Breaker: "open"},
		{Region: "eu", Name: "b", Spooled: 4, SpoolFirst: at.Add(-time.Minute), SpoolLast: at},
		{Region: "eu", Name: "dead", Age: time.Hour, Spooled: 100, SpoolFirst: at.Add(-time.Hour), SpoolLast: at},
		{Region: "us", Name: "c"},
	}
	want := map[string]ledger.Spool{"eu": {Rows: 7, First: at.Add(-time.Minute), Last: at.Add(time.Minute)}}
	if got := spools(probers); !maps.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	text, err := json.Marshal(fleetRegions(probers, nil, nil))
	for _, part := range []string{
		`"spooled":7,"spool_first":"2026-03-01T11:59:00.000Z","spool_last":"2026-03-01T12:01:00.000Z","probers":[`,
		`"breaker":"open","spooled":3,"spool_first":"2026-03-01T12:00:00.000Z"`, `"spooled":0,"spool_first":null,"spool_last":null`,
	} {
		if err != nil || !strings.Contains(string(text), part) {
			t.Errorf("the fleet does not say %s: %s %v", part, text, err)
		}
	}
}

// What a prober says of its clock, its canaries and its end is passed on; one that says nothing
// of them, such as an older one, is shown without.
func TestFleetSaysHowProbersAre(t *testing.T) {
	t.Parallel()
	at, ahead := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), -2500*time.Millisecond
	for want, h := range map[string]checkstream.Heartbeat{
		`"spool_bytes":8192,"allow_cidrs":[],"clock_offset_ms":-2500,"canaries":{"state":"bad","answered":2,"all":5},"started_at":"2026-03-01T12:00:00.000Z","last_exit":{"cause":"signal","signal":"KILL","at":"2026-03-01T11:59:00.000Z"}`: {
			SpoolBytes: 8192, ClockOffset: &ahead, Canaries: "bad", CanariesAnswered: 2, CanariesAll: 5, StartedAt: at,
			LastExit: &checkstream.LastExit{Cause: "signal", Signal: "KILL", At: at.Add(-time.Minute)},
		},
		`"spool_bytes":0,"allow_cidrs":[],"clock_offset_ms":null,"canaries":{"state":"","answered":0,"all":0},"started_at":null,"last_exit":null`: {StartedAt: time.UnixMilli(0)},
	} {
		h.Region = "eu"
		text, err := json.Marshal(fleetRegions([]checkstream.Heartbeat{h}, nil, nil))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the fleet does not say %s: %s %v", want, text, err)
		}
	}
}

// Rows on a disk are there whether Redis can be asked for heartbeats or not.
func TestSpoolsOutliveRedis(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f := &fleetWatch{kept: nothing, err: errBroken, seen: seen{at: time.Now().Add(-time.Hour), probers: []checkstream.Heartbeat{
		{Region: "eu", Name: "a", Spooled: 3, SpoolFirst: at, SpoolLast: at.Add(time.Minute)},
		{Region: "us", Name: "dead", Age: time.Hour, Spooled: 100, SpoolFirst: at, SpoolLast: at},
	}}}
	want := map[string]ledger.Spool{"eu": {Rows: 3, First: at, Last: at.Add(time.Minute)}}
	if got := f.Spools(t.Context()); !maps.Equal(got, want) {
		t.Errorf("redis is down for an hour: %+v, want %+v", got, want)
	}
}

func TestRegionsDieWithTheirProbers(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	probers := []checkstream.Heartbeat{
		{Region: "eu", Name: "a", At: at, Age: time.Second, AllowCIDRs: []string{"10.0.0.0/8", "nonsense"}},
		{Region: "eu", Name: "b", At: at.Add(-time.Hour), Age: time.Hour, AllowCIDRs: []string{"192.168.0.0/16"}},
		{Region: "us", Name: "c", At: at.Add(-time.Hour), Age: time.Hour},
		{Region: "us", Name: "d", At: at, State: checkstream.Drained, Drain: &checkstream.Drain{}}, // it beats, and reports nothing
	}
	regions, open := announced(probers)
	if !slices.Equal(regions, []string{"eu", "us"}) || len(open) != 1 || open[0].String() != "10.0.0.0/8" {
		t.Errorf("announced %v %v", regions, open)
	}
	got := liveRegions([]string{"ap", "eu"}, probers)
	if len(got) != 3 || got[0].Live || got[0].HeartbeatAt != nil || !got[1].Live || got[1].Probers != 1 || !got[1].HeartbeatAt.Equal(at) || got[2].Live || got[2].Probers != 0 {
		t.Errorf("live regions %+v", got)
	}
	f := &fleetWatch{kept: nothing, seen: seen{probers: probers, at: time.Now().Add(-time.Minute)}}
	if old := liveRegions(nil, f.aged()); old[0].Live {
		t.Error("a region stays live although Redis has not been asked for a minute")
	}
}

func TestDeadLettersAreAMetric(t *testing.T) {
	t.Parallel()
	f, metrics := &fleetWatch{seen: seen{deadLetters: map[string]int64{"eu": 4, "us": 3}}}, prometheus.NewRegistry()
	f.export(metrics)
	if err := testutil.GatherAndCompare(metrics, strings.NewReader("# HELP probefleet_dead_letters Dead letters that wait for somebody to look at them; every API has the same.\n# TYPE probefleet_dead_letters gauge\nprobefleet_dead_letters 7\n")); err != nil {
		t.Error(err)
	}
}

// Each region has its own; those of one that is not here any more count with all.
func TestDeadLettersOfRegions(t *testing.T) {
	t.Parallel()
	f := &fleetWatch{kept: nothing, history: &historyWatch{}, database: &databaseWatch{}, seen: seen{
		at: time.Now(), deadLetters: map[string]int64{"eu": 4, "us": 3, "gone": 2},
		groups: []checkstream.GroupInfo{{Region: "ap"}, {Region: "eu"}}, probers: []checkstream.Heartbeat{{Region: "us", Name: "a"}},
	}}
	fleet, err := f.Fleet()
	got := map[string]int64{}
	for _, r := range fleet.Regions {
		got[r.Region] = r.DeadLetters
	}
	if want := map[string]int64{"ap": 0, "eu": 4, "us": 3}; err != nil || !maps.Equal(got, want) || fleet.Redis.DeadLetters != 9 {
		t.Errorf("%v of %d, %v, want %v of 9", got, fleet.Redis.DeadLetters, err, want)
	}
}

func nothing() map[string]spool.Share { return nil }

// What nodes have on their disks counts while they are alive, the own one as it is now.
func TestSpoolsOfNodes(t *testing.T) {
	t.Parallel()
	at := time.Now().Truncate(time.Second)
	kept := func(rows int64) map[string]checkstream.Kept {
		return map[string]checkstream.Kept{"push": {Rows: rows, First: at, Last: at}}
	}
	f := &fleetWatch{node: "me", seen: seen{at: time.Now(), nodes: []checkstream.NodeSpool{
		{Node: "me", Regions: kept(1000)}, {Node: "other", Regions: kept(20)}, {Node: "third", Regions: kept(300)}, {Node: "gone", Age: time.Hour, Regions: kept(7)},
	}}, kept: func() map[string]spool.Share {
		return map[string]spool.Share{"push": {Rows: 1, First: at.Add(-time.Minute), Last: at}, "ext-office": {Rows: 5, First: at, Last: at}}
	}}
	want := map[string]ledger.Spool{"push": {Rows: 321, First: at.Add(-time.Minute), Last: at}, "ext-office": {Rows: 5, First: at, Last: at}}
	if got := f.Spools(t.Context()); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	f.seen.at = f.seen.at.Add(-time.Minute)
	if got := f.Spools(t.Context())["push"].Rows; got != 1 {
		t.Errorf("of nodes that have not been heard: %d", got)
	}
	f.err = errBroken
	if got := f.Spools(t.Context())["push"].Rows; got != 321 {
		t.Errorf("while Redis is away: %d", got)
	}
}

// A node that starts in the midst of an outage shows it, also where one failing result is not
// enough for it; and reads so far back once.
func TestResultsInARowAreKnownFromTheStart(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	hub := live.New(live.Options{Now: func() time.Time { return now }})
	result := func(at time.Time, status uptime.Status) uptime.Result {
		r := uptime.Result{TargetID: 1, Region: "eu", ScheduledAt: at, CheckedAt: at, IngestedAt: at, Status: status}
		if status == uptime.StatusDown {
			r.Failure = uptime.FailureTimeout
		}
		return r
	}
	three, one := target(1, 1), target(2, 1)
	three.Policy = verdict.Policy{DownAfter: 3}.Text()
	store := &recorded{}
	for minute := range 5 {
		r := result(now.Add(-time.Duration(5-minute)*time.Minute), uptime.StatusDown)
		store.past = append(store.past, r)
		if minute == 4 {
			second := r
			second.TargetID = 2
			store.rows = []uptime.Result{r, second}
		}
	}
	f := &feed{hub: hub, targets: &fakeTargets{rows: []uptime.Target{three, one}}, results: store, log: slog.New(slog.DiscardHandler)}
	if err := f.load(t.Context(), now, []string{"eu"}, true); err != nil {
		t.Fatal(err)
	}
	for _, item := range hub.Snapshot().Items {
		if item.State != verdict.StateDown {
			t.Errorf("target %d is %s: %s", item.ID, item.State, item.Why)
		}
	}
	store.past = append(store.past, result(now.Add(-30*time.Second), uptime.StatusUp))
	if err := f.reconcileResultsOnce(t.Context(), now); err != nil || len(hub.Snapshot().Items[0].Ticks) != 5 {
		t.Errorf("%v, %d ticks", err, len(hub.Snapshot().Items[0].Ticks))
	}
}

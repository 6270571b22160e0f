package deletion

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var errKilled = errors.New("killed")

// dying are the stores of a publisher that is killed at a call: before it has begun, or
// after it is done and nobody could be told. Dead, it calls nothing any more.
type dying struct {
	Notes
	Rows
	checks     Checks
	*world     // Redis
	calls      int
	at         int // 0: never
	afterwards bool
}

func (d *dying) call(do func() error) error {
	d.calls++
	switch {
	case d.at == 0 || d.calls < d.at:
		return do()
	case d.calls == d.at && d.afterwards:
		if err := do(); err != nil {
			return err
		}
	}
	return errKilled
}

func (d *dying) dead() bool { return d.at > 0 && d.calls >= d.at }

func called[T any](d *dying, do func() (T, error)) (found T, err error) {
	err = d.call(func() (err error) { found, err = do(); return err })
	return found, err
}

func (d *dying) Unfinished(ctx context.Context, after int64, limit int) ([]targetstore.Deletion, error) {
	return called(d, func() ([]targetstore.Deletion, error) { return d.Notes.Unfinished(ctx, after, limit) })
}

func (d *dying) DeletedSince(ctx context.Context, since time.Time, after int64, limit int) ([]targetstore.Deletion, error) {
	return called(d, func() ([]targetstore.Deletion, error) { return d.Notes.DeletedSince(ctx, since, after, limit) })
}

func (d *dying) CountDeletions(ctx context.Context, since time.Time) (targetstore.DeletionCounts, error) {
	return called(d, func() (targetstore.DeletionCounts, error) { return d.Notes.CountDeletions(ctx, since) })
}

func (d *dying) MarkTombstoned(ctx context.Context, ids []int64, at time.Time) error {
	return d.call(func() error { return d.Notes.MarkTombstoned(ctx, ids, at) })
}

func (d *dying) MarkUntold(ctx context.Context, ids []int64, problem string) error {
	return d.call(func() error { return d.Notes.MarkUntold(ctx, ids, problem) })
}

func (d *dying) Owed(ctx context.Context, step, source string, due time.Time, after int64, limit int) ([]targetstore.Owed, error) {
	return called(d, func() ([]targetstore.Owed, error) { return d.Notes.Owed(ctx, step, source, due, after, limit) })
}

func (d *dying) Watched(ctx context.Context, step string, due, since time.Time, limit int) ([]targetstore.Owed, error) {
	return called(d, func() ([]targetstore.Owed, error) { return d.Notes.Watched(ctx, step, due, since, limit) })
}

func (d *dying) MarkLooked(ctx context.Context, step string, at time.Time, looks []targetstore.Look) error {
	return d.call(func() error { return d.Notes.MarkLooked(ctx, step, at, looks) })
}

func (d *dying) MarkFailed(ctx context.Context, step string, ids []int64, problem string) error {
	return d.call(func() error { return d.Notes.MarkFailed(ctx, step, ids, problem) })
}

func (d *dying) FinishDeletions(ctx context.Context, steps []string, at time.Time) (int64, error) {
	return called(d, func() (int64, error) { return d.Notes.FinishDeletions(ctx, steps, at) })
}

func (d *dying) TargetsWithRows(ctx context.Context, ids []int64, tables ...string) ([]int64, error) {
	return called(d, func() ([]int64, error) { return d.Rows.TargetsWithRows(ctx, ids, tables...) })
}

func (d *dying) DeleteTargets(ctx context.Context, ids []int64, tables ...string) error {
	return d.call(func() error { return d.Rows.DeleteTargets(ctx, ids, tables...) })
}

func (d *dying) EraseDeleted(ctx context.Context, table string) error {
	return d.call(func() error { return d.Rows.EraseDeleted(ctx, table) })
}

func (d *dying) OfTargets(ctx context.Context, targets []int64) ([]int64, error) {
	return called(d, func() ([]int64, error) { return d.checks.OfTargets(ctx, targets) })
}

func (d *dying) DeleteOfTargets(ctx context.Context, targets []int64) error {
	return d.call(func() error { return d.checks.DeleteOfTargets(ctx, targets) })
}

func (d *dying) RawKept() time.Duration { return d.Rows.RawKept() }

func (d *dying) Kept(ctx context.Context) (resultstore.Retentions, error) {
	return called(d, func() (resultstore.Retentions, error) { return d.Rows.Kept(ctx) })
}

func (d *dying) PruneTombstones(ctx context.Context, age time.Duration) error {
	return d.call(func() error { return d.world.PruneTombstones(ctx, age) })
}

func (d *dying) Tombstones(ctx context.Context) (int64, error) {
	return called(d, func() (int64, error) { return d.world.Tombstones(ctx) })
}

func (d *dying) Tombstoned(ctx context.Context, ids []int64) (map[int64]bool, error) {
	return called(d, func() (map[int64]bool, error) { return d.world.Tombstoned(ctx, ids) })
}

func (d *dying) Tombstone(ctx context.Context, ids ...int64) error {
	return d.call(func() error { return d.world.Tombstone(ctx, ids...) })
}

func (d *dying) AnnounceChanges(ctx context.Context, changes ...livefeed.Change) error {
	return d.call(func() error { return d.world.AnnounceChanges(ctx, changes...) })
}

// site is an installation's stores; Redis is pretended.
type site struct {
	*testing.T
	targets  *targetstore.Store
	versions *schedulestore.Store
	results  *resultstore.Store
	checks   *jobstore.Store
	redis    *world
	slot     time.Time
}

func newSite(t *testing.T) *site {
	db := databasetest.Open(t, testbackend.SQLite(t))
	url := testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), url, func(string) {}); err != nil {
		t.Fatal(err)
	}
	results, err := resultstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = results.Close() })
	return &site{T: t, targets: targetstore.New(db), versions: schedulestore.New(db), results: results, checks: jobstore.New(db), redis: newWorld(), slot: time.Now().Truncate(time.Hour).Add(-time.Hour)}
}

// fill brings a result of the target, as a spool that is replayed does, and has the figures
// be computed from it: every table has rows of it then. A node writes what came of its preview.
func (s *site) fill(id int64) {
	s.Helper()
	s.slot = s.slot.Add(time.Millisecond)
	row := uptime.Result{TargetID: id, Region: "eu", ScheduledAt: s.slot, Status: uptime.StatusUp, Prober: "p", Print: &uptime.Print{URL: "https://example.com/"}}
	r := resultstore.Rollup{Bucket: s.slot.Truncate(time.Hour), Version: time.Now(), Closed: true}
	err := s.results.Insert(s.Context(), resultstore.Batch{Token: uuid.NewString(), Attempt: 1, Rows: []uptime.Result{row}})
	if err == nil {
		_, err = s.results.RecomputeHour(s.Context(), r)
	}
	if r.Bucket = r.Bucket.Truncate(24 * time.Hour); err == nil {
		_, err = s.results.RecomputeDay(s.Context(), r)
	}
	if err == nil {
		preview := jobstore.Job{ID: uuid.NewString(), URL: "https://example.com/", Kind: uptime.KindHTTP, TargetID: id, State: jobstore.Completed, CreatedAt: time.Now(), UpdatedAt: time.Now()}
		_, err = s.checks.Save(s.Context(), "a", time.Now(), []jobstore.Job{preview})
	}
	if err != nil {
		s.Fatal(err)
	}
}

// everywhere are the places that a target has something in.
func everywhere() []string {
	return append([]string{targetstore.StepChecks}, resultstore.TargetTables()...)
}

// has gives the tables that have rows of the target.
func (s *site) has(id int64) (tables []string) {
	s.Helper()
	jobs, err := s.checks.OfTargets(s.Context(), []int64{id})
	if err != nil {
		s.Fatal(err)
	}
	if len(jobs) > 0 {
		tables = append(tables, targetstore.StepChecks)
	}
	for _, table := range resultstore.TargetTables() {
		found, err := s.results.TargetsWithRows(s.Context(), []int64{id}, table)
		if err != nil {
			s.Fatal(err)
		}
		if len(found) > 0 {
			tables = append(tables, table)
		}
	}
	return tables
}

// done says whether the target's results were found to be gone for good.
func (s *site) done(id int64) bool {
	s.Helper()
	d, err := s.targets.Deletion(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	return slices.ContainsFunc(d.Steps, func(step targetstore.Step) bool { return step.Name == "results" && !step.Done.IsZero() })
}

func (s *site) create(name string) int64 {
	s.Helper()
	target, err := s.targets.Create(s.Context(), uptime.Target{Name: name, URL: "https://example.com/", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true})
	if err != nil {
		s.Fatal(err)
	}
	s.fill(target.ID)
	return target.ID
}

// delete has a publisher adopt the deletion at once.
func (s *site) delete(id int64) {
	s.Helper()
	if err := s.targets.Delete(s.Context(), id, 0); err != nil {
		s.Fatal(err)
	}
	if _, err := s.versions.Adopt(s.Context(), 1<<40, time.Now()); err != nil {
		s.Fatal(err)
	}
}

func (s *site) publisher(now *time.Time, at int, afterwards bool) (*Saga, *dying) {
	d := &dying{Notes: s.targets, Rows: s.results, checks: s.checks, world: s.redis, at: at, afterwards: afterwards}
	saga := New(Options{Notes: d, Tombstones: d, Rows: d, Checks: d, Changes: d, Lease: &leaseFlag{}, Health: &healthBook{}, Log: slog.New(slog.DiscardHandler)})
	saga.now = func() time.Time { return *now }
	return saga, d
}

// run carries the deletion of a target through with a publisher that is killed at a call of
// its, and another one after it. While nobody works results come in. It says how many calls
// the first one made.
func (s *site) run(id int64, at int, afterwards bool) (calls int) {
	s.Helper()
	s.delete(id)
	now := time.Now()
	saga, stores := s.publisher(&now, at, afterwards)
	first := stores
	late := false // what came in did so when nothing was expected any more
	for round := 0; ; round++ {
		for _, step := range saga.steps() {
			if err := step.pass(s.Context()); err != nil && !errors.Is(err, errKilled) {
				s.Fatal(err)
			}
			if stores.dead() {
				late = s.done(id)
				s.fill(id)
				saga, stores = s.publisher(&now, 0, false)
			}
		}
		d, err := s.targets.Deletion(s.Context(), id)
		if err != nil {
			s.Fatal(err)
		}
		if !d.Finished.IsZero() {
			break
		}
		if round > 40 {
			s.Fatalf("killed at call %d: never done: %+v, rows in %v", at, d, s.has(id))
		}
		now = now.Add(time.Minute)
	}
	if left := s.has(id); len(left) > 0 && !late {
		s.Errorf("killed at call %d, after it %v: done, with rows in %v", at, afterwards, left)
	}
	s.redis.set(func() {
		if !s.redis.tombstones[id] || len(s.redis.told[id]) < 2 {
			s.Errorf("killed at call %d: tombstone %v, told %v", at, s.redis.tombstones[id], s.redis.told[id])
		}
	})
	// A disk is brought back when all is done.
	s.fill(id)
	now = now.Add(lookEvery + time.Minute)
	for _, step := range saga.steps() {
		if err := step.pass(s.Context()); err != nil {
			s.Fatal(err)
		}
	}
	if left := s.has(id); len(left) > 0 {
		s.Errorf("killed at call %d: came back for good in %v", at, left)
	}
	return first.calls
}

// TestKilledBetweenAnyTwoSteps on real stores, with results that arrive meanwhile: in the
// end nothing is left, in any table, and nothing of other targets is touched.
func TestKilledBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	other := s.create("other")
	if got := s.has(other); !slices.Equal(got, everywhere()) {
		t.Fatalf("a target has rows in %v alone", got)
	}
	calls := s.run(s.create("undisturbed"), 0, false)
	const first = 40 // calls of the first pass, in which rows are removed
	every, later := 12, 3
	if testing.Short() {
		every, later = 20, 1
	}
	for at, n := 1, 0; at <= calls; at, n = at+every, n+1 {
		if at > first {
			every = max(1, (calls-first)/later)
		}
		s.run(s.create(fmt.Sprint("killed ", at)), at, n%2 == 0)
	}
	if got := s.has(other); !slices.Equal(got, everywhere()) {
		t.Errorf("of the other target rows are left in %v alone", got)
	}
}

// Every table that holds rows of targets has its step.
func TestEveryTableIsCleared(t *testing.T) {
	t.Parallel()
	var tables []string
	for _, p := range places {
		if p.table != targetstore.StepChecks {
			tables = append(tables, p.table)
		}
	}
	if want := resultstore.TargetTables(); !slices.Equal(tables, want) {
		t.Errorf("%v, and the store has %v", tables, want)
	}
}

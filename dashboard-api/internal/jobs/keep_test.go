package jobs

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

func ok(checkstream.Visit) (uptime.Look, bool) { return measured(uptime.StatusUp), true }

func never(checkstream.Visit) (uptime.Look, bool) { return uptime.Look{}, false }

func TestJobsRunWhileTheTableIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, ok)
		r.store.fail(errAway)
		j := r.accept()
		time.Sleep(30 * time.Minute)
		if got := r.get(j.ID); got.State != completed || got.Looks[0].Evidence == nil {
			t.Fatalf("%+v", got)
		}
		if _, err := r.List(t.Context(), jobstore.Filter{Limit: 10}); err == nil {
			t.Error("half a list")
		}
		if _, err := r.Get(t.Context(), "other"); !errors.Is(err, errAway) {
			t.Errorf("%v", err)
		}
		if r.mu.Lock(); !errors.Is(r.health, errAway) {
			t.Errorf("health says %v", r.health)
		}
		r.mu.Unlock()
		r.store.fail(nil)
		time.Sleep(writeLonger + time.Second)
		if got, err := r.store.Get(t.Context(), j.ID); err != nil || got.State != completed || got.Looks[0].Evidence == nil || r.held() != 0 {
			t.Errorf("written: %+v %v, %v held", got, err, r.held())
		}
		if r.mu.Lock(); r.health != nil {
			t.Errorf("health says %v", r.health)
		}
		r.mu.Unlock()
	})
}

// TestJobsOfADeadNodeGoOn: whatever state the node died in.
func TestJobsOfADeadNodeGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, start := newFakeStore(), time.Now()
		lane := &fakeLane{answer: ok, takes: time.Second, grown: make(chan struct{})}
		want := map[string]int{} // retries
		for id, c := range map[string]struct {
			state   jobstore.State
			retries int
			after   int
		}{
			"queued": {queued, 0, 0}, "running": {running, 0, 1}, "running-again": {running, 2, 3}, "waiting": {retryable, 1, 2},
		} {
			store.rows[id] = jobstore.Job{ID: id, URL: "https://a/", Kind: "http", Timeout: time.Second, Regions: []string{"eu"}, State: c.state, RetryCount: c.retries, CreatedAt: start, UpdatedAt: start}
			store.owner[id], store.until[id] = "dead", start.Add(20*time.Second)
			want[id] = c.after
		}
		store.rows["last"] = jobstore.Job{ID: "last", URL: "https://a/", Kind: "http", Timeout: time.Second, Regions: []string{"eu"}, State: running, RetryCount: Retries, CreatedAt: start, UpdatedAt: start}
		store.owner["last"], store.until["last"] = "dead", start.Add(20*time.Second)
		r := newRigOn(t, "b", lane, store)
		time.Sleep(19 * time.Second)
		if n := len(lane.visits()); n > 0 {
			t.Fatalf("%d visits of jobs that are leased", n)
		}
		time.Sleep(time.Minute)
		for id, retries := range want {
			if got := r.get(id); got.State != completed || got.RetryCount != retries {
				t.Errorf("%s: %+v", id, got)
			}
		}
		if got := r.get("last"); got.State != permanent {
			t.Errorf("without retries left: %+v", got)
		}
		for _, v := range lane.visits() {
			if v.Job == "running" && v.Attempt != 2 {
				t.Errorf("an attempt is repeated under its number: %+v", v)
			}
		}
	})
}

// TestStoppedNodeGivesItsJobsUp: another need not wait for the lease.
func TestStoppedNodeGivesItsJobsUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one := newRig(t, never)
		j := one.accept("eu")
		one.stop() // before anything was written
		cut := &fakeLane{answer: ok, takes: time.Second, grown: make(chan struct{}), err: errAway}
		newRigOn(t, "cut off from redis", cut, one.store)
		time.Sleep(time.Minute)
		lane := &fakeLane{answer: ok, takes: time.Second, grown: make(chan struct{})}
		two := newRigOn(t, "b", lane, one.store)
		time.Sleep(10 * time.Second)
		if got := two.get(j.ID); got.State != completed {
			t.Errorf("%+v", got)
		}
	})
}

// TestZombieLosesItsJob: a node that was cut off from the database for longer than its
// lease gives in to the one that took the job.
func TestZombieLosesItsJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one := newRig(t, never)
		j := one.accept("eu")
		time.Sleep(time.Second)
		one.store.mu.Lock()
		one.store.owner[j.ID] = "b"
		one.store.mu.Unlock()
		look := measured(uptime.StatusDown)
		look.Region, look.Attempt = "eu", 1
		one.lane.tell(checkstream.VisitOutcome{Job: j.ID, Look: look})
		time.Sleep(time.Second)
		if got, _ := one.store.Get(t.Context(), j.ID); got.State != running || one.held() != 0 {
			t.Errorf("%+v, %v held", got, one.held())
		}
	})
}

// TestLeaseIsKept: nobody takes the jobs of a node that lives, however long they wait.
func TestLeaseIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one := newRig(t, ok)
		one.lane.fail(errAway)
		j := one.accept("eu")
		two := newRigOn(t, "b", &fakeLane{answer: ok, grown: make(chan struct{})}, one.store)
		time.Sleep(time.Hour)
		if n := len(two.lane.visits()); n > 0 {
			t.Fatalf("taken: %d visits", n)
		}
		one.lane.fail(nil)
		time.Sleep(10 * time.Second)
		if got := one.get(j.ID); got.State != completed {
			t.Errorf("%+v", got)
		}
		// The other node has told of it, every change it saw once.
		if states := two.states(j.ID); !slices.Contains(states, completed) {
			t.Errorf("the other node told %v", states)
		}
		two.mu.Lock()
		defer two.mu.Unlock()
		for i, told := range two.told {
			if i > 0 && !told.UpdatedAt.After(two.told[i-1].UpdatedAt) {
				t.Errorf("told twice: %+v", told)
			}
		}
	})
}

func TestListSeesMemoryAndTable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(v checkstream.Visit) (uptime.Look, bool) { return measured(uptime.StatusUp), v.Region == "eu" })
		var ids []string
		for _, region := range []string{"eu", "us", "eu", "us"} {
			ids = append(ids, r.accept(region).ID)
			time.Sleep(2 * time.Second)
		}
		list := func(f jobstore.Filter) (got []string) {
			t.Helper()
			f.Limit = max(f.Limit, 2)
			for {
				page, err := r.List(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				for _, j := range page {
					got = append(got, j.ID)
					if len(j.Looks) > 0 && j.Looks[0].Evidence != nil {
						t.Error("evidence in a list")
					}
				}
				if len(page) < f.Limit {
					return got
				}
				last := page[len(page)-1]
				f.Before = &jobstore.Cursor{CreatedAt: last.CreatedAt, ID: last.ID}
			}
		}
		if got := list(jobstore.Filter{}); !slices.Equal(got, []string{ids[3], ids[2], ids[1], ids[0]}) {
			t.Errorf("%v of %v", got, ids)
		}
		if got := list(jobstore.Filter{State: completed}); !slices.Equal(got, []string{ids[2], ids[0]}) {
			t.Errorf("%v", got)
		}
		// A row that says something older than memory does not count.
		r.store.mu.Lock()
		stale := r.store.rows[ids[3]]
		stale.State = queued
		r.store.rows[ids[3]] = stale
		r.store.mu.Unlock()
		if got := list(jobstore.Filter{State: queued}); len(got) != 0 {
			t.Errorf("%v", got)
		}
	})
}

func TestOldJobsAreRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		for id, age := range map[string]time.Duration{"old": jobstore.Keep, "young": jobstore.Keep - 2*time.Hour} {
			store.rows[id] = jobstore.Job{ID: id, State: completed, CreatedAt: time.Now().Add(-age)}
		}
		r := newRigOn(t, "a", &fakeLane{answer: ok, grown: make(chan struct{})}, store)
		time.Sleep(cleanEvery + time.Second)
		if _, err := r.Get(t.Context(), "young"); err != nil {
			t.Error(err)
		}
		if _, err := r.Get(t.Context(), "old"); !errors.Is(err, jobstore.ErrNotFound) {
			t.Error(err)
		}
	})
}

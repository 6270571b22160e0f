package jobstore_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func job(n int) jobstore.Job {
	at := start.Add(time.Duration(n) * time.Second)
	return jobstore.Job{
		ID: fmt.Sprintf("019cab00-0000-7000-8000-%012d", n), URL: "https://example.com/?q=" + strings.Repeat("x", 3000), Kind: uptime.KindHTTP, Timeout: 5 * time.Second,
		Spec: `{"family":"4"}`, Regions: []string{"eu", "us"}, TargetID: 7, CreatedBy: "user:1", State: jobstore.Queued, CreatedAt: at, UpdatedAt: at,
	}
}

// ended has one of everything.
func ended(n int) jobstore.Job {
	j := job(n)
	j.State, j.RetryCount, j.Error = jobstore.Completed, 2, "us: no prober answered"
	j.UpdatedAt, j.LastAttemptAt = j.CreatedAt.Add(9*time.Second), j.CreatedAt.Add(5*time.Second)
	j.Looks = []uptime.Look{
		{Region: "eu", Prober: "p", Attempt: 1, CheckedAt: j.CreatedAt, Status: uptime.StatusDown, Failure: uptime.FailureBody, HTTPStatus: 200, Phases: uptime.Phases{Wait: 7},
			TotalUS: 7, Message: "m", Address: netip.MustParseAddr("192.0.2.1"), Seen: uptime.Seen{Hops: 1}, Evidence: &uptime.Evidence{Body: "\x00 body", StatusLine: "HTTP/1.1 200 OK"}},
		{Region: "us", Attempt: 3, Status: uptime.StatusMissed, Reason: uptime.ReasonRegionDown, Message: "no prober answered"},
	}
	return j
}

var addresses = cmp.Options{cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmpopts.EquateEmpty()}

func save(t *testing.T, s *jobstore.Store, owner string, until time.Time, list ...jobstore.Job) {
	t.Helper()
	if lost, err := s.Save(t.Context(), owner, until, list); err != nil || len(lost) > 0 {
		t.Fatalf("lost %v: %v", lost, err)
	}
}

func TestJobIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := jobstore.New(db)
		if _, err := s.Get(t.Context(), job(1).ID); !errors.Is(err, jobstore.ErrNotFound) {
			t.Errorf("%v", err)
		}
		waiting := job(2)
		waiting.Regions, waiting.NextAttemptAt = []string{}, start.Add(time.Hour)
		save(t, s, "a", start, job(1), waiting)
		save(t, s, "a", start, ended(1))
		for _, want := range []jobstore.Job{ended(1), waiting} {
			got, err := s.Get(t.Context(), want.ID)
			if diff := cmp.Diff(want, got, addresses); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		}
		list, err := s.List(t.Context(), jobstore.Filter{Limit: 10})
		want := ended(1)
		want.Looks = slices.Clone(want.Looks)
		want.Looks[0].Evidence = nil
		if diff := cmp.Diff([]jobstore.Job{waiting, want}, list, addresses); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	})
}

func TestListIsFilteredAndPaged(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := jobstore.New(db)
		var all []jobstore.Job
		for n := range 10 {
			j := job(n / 2 * 2) // two at each instant
			j.ID = job(n).ID
			if n%5 == 0 {
				j.URL = "https://other.example/"
			}
			if n%3 == 0 {
				j.State = jobstore.Completed
			}
			all = append(all, j)
		}
		save(t, s, "a", start, all...)
		slices.Reverse(all)
		for name, f := range map[string]jobstore.Filter{
			"all": {}, "url": {URL: "https://other.example/"}, "part of a url": {URL: "https://other"}, "state": {State: jobstore.Completed}, "no such": {State: jobstore.InProgress},
			"from": {From: start.Add(4 * time.Second)}, "a hair later": {From: start.Add(4*time.Second + 1)}, "to": {To: start.Add(4 * time.Second)}, "to a hair later": {To: start.Add(4*time.Second + 1)},
			"both": {From: start.Add(2 * time.Second), To: start.Add(6 * time.Second), State: jobstore.Queued},
		} {
			var want, got []string
			for _, j := range all {
				if f.Matches(j) {
					want = append(want, j.ID)
				}
			}
			for page := range 11 {
				f.Limit = 3
				list, err := s.List(t.Context(), f)
				if err != nil || page == 10 {
					t.Fatalf("%s: page %d: %v", name, page, err)
				}
				if len(list) == 0 {
					break
				}
				for _, j := range list {
					got = append(got, j.ID)
				}
				last := list[len(list)-1]
				f.Before = &jobstore.Cursor{CreatedAt: last.CreatedAt, ID: last.ID}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	})
}

func TestOpenJobBelongsToOne(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s, until := jobstore.New(db), start.Add(30*time.Second)
		take := func(owner string, now time.Time, limit int) []string {
			t.Helper()
			list, err := s.Take(t.Context(), owner, now, now.Add(30*time.Second), limit)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, j := range list {
				ids = append(ids, j.ID)
			}
			return ids
		}
		save(t, s, "a", until, job(1), job(2), job(3), ended(4))
		if got := take("b", until, 10); got != nil {
			t.Errorf("%v taken while it is leased", got)
		}
		if err := s.Renew(t.Context(), "a", until.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if got := take("b", until.Add(time.Second), 10); got != nil {
			t.Errorf("%v taken although it was renewed", got)
		}
		late := until.Add(2 * time.Minute)
		if got := take("b", late, 2); !slices.Equal(got, []string{job(1).ID, job(2).ID}) {
			t.Errorf("taken %v", got)
		}
		// What was taken is not the first owner's any more.
		changed := job(1)
		changed.State = jobstore.Completed
		if lost, err := s.Save(t.Context(), "a", late, []jobstore.Job{changed, job(3)}); err != nil || !slices.Equal(lost, []string{job(1).ID}) {
			t.Errorf("lost %v %v", lost, err)
		}
		if got, err := s.Get(t.Context(), changed.ID); err != nil || got.State != jobstore.Queued {
			t.Errorf("%v %v", got.State, err)
		}
		if err := s.Renew(t.Context(), "b", time.Time{}); err != nil {
			t.Fatal(err)
		}
		if got := take("c", late, 10); !slices.Equal(got, []string{job(1).ID, job(2).ID}) {
			t.Errorf("given up and taken: %v", got)
		}
		if got := take("c", late.Add(time.Hour), 10); len(got) != 3 { // its own too: it asks for those it does not know
			t.Errorf("taken %v", got)
		}
	})
}

func TestOneOfManyTakesAJob(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := jobstore.New(db)
		for n := range 20 {
			save(t, s, "dead", start, job(n))
		}
		var mu sync.Mutex
		var takers sync.WaitGroup
		taken := map[string]int{}
		for n := range 4 {
			takers.Go(func() {
				list, err := s.Take(t.Context(), fmt.Sprint("node", n), start.Add(time.Minute), start.Add(2*time.Minute), 100)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, j := range list {
					taken[j.ID]++
				}
			})
		}
		takers.Wait()
		for id, n := range taken {
			if n != 1 {
				t.Errorf("%s was taken by %d", id, n)
			}
		}
		if len(taken) != 20 {
			t.Errorf("%d of 20 taken", len(taken))
		}
	})
}

func TestChangesOfOthersAndTheEnd(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := jobstore.New(db)
		save(t, s, "a", start, job(1), job(3))
		save(t, s, "b", start, job(2), ended(4))
		list, err := s.Changed(t.Context(), "a", start.Add(2*time.Second), 10)
		if err != nil || len(list) != 2 || list[0].ID != job(2).ID || list[1].ID != job(4).ID || list[1].Looks[0].Evidence != nil {
			t.Errorf("%+v %v", list, err)
		}
		if err := s.DeleteBefore(t.Context(), start.Add(3*time.Second)); err != nil {
			t.Fatal(err)
		}
		if list, err := s.List(t.Context(), jobstore.Filter{Limit: 10}); err != nil || len(list) != 2 || list[1].ID != job(3).ID {
			t.Errorf("%+v %v", list, err)
		}
	})
}

func TestJobsOfTargets(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := jobstore.New(db)
		var all []jobstore.Job
		for n, target := range []int64{7, 7, 8, 9, 0} {
			j := job(n)
			j.TargetID = target
			all = append(all, j)
		}
		save(t, s, "a", start, all...)
		of := func(targets ...int64) []int64 {
			t.Helper()
			found, err := s.OfTargets(t.Context(), targets)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(found)
			return found
		}
		if got := of(7, 8, 10); !slices.Equal(got, []int64{7, 8}) || of() != nil {
			t.Errorf("of %v", got)
		}
		if err := errors.Join(s.DeleteOfTargets(t.Context(), []int64{7, 9, 10}), s.DeleteOfTargets(t.Context(), nil)); err != nil {
			t.Fatal(err)
		}
		if got := of(7, 8, 9); !slices.Equal(got, []int64{8}) {
			t.Errorf("left of %v", got)
		}
		if list, err := s.List(t.Context(), jobstore.Filter{Limit: 10}); err != nil || len(list) != 2 || list[0].TargetID != 0 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestIDsRise(t *testing.T) {
	t.Parallel()
	last := ""
	for range 100 {
		id, err := jobstore.NewID()
		if err != nil || id <= last {
			t.Fatalf("%q after %q: %v", id, last, err)
		}
		last = id
	}
}

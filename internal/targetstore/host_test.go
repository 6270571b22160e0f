package targetstore_test

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// visit is a target that asks a host for as many requests as it has regions, every interval.
func visit(name, url string, interval time.Duration, regions ...string) uptime.Target {
	return uptime.Target{Name: name, URL: url, Kind: uptime.KindHTTP, Interval: interval, Timeout: time.Second, Regions: regions, Active: true}
}

// refusedAt is the refusal that an error must be, at that field and rate.
func refusedAt(t *testing.T, err error, field string, others, with float64) {
	t.Helper()
	e, ok := errors.AsType[*targetstore.HostRateError](err)
	if !ok {
		t.Fatalf("not refused: %v", err)
	}
	if e.Field != field || math.Abs(e.Others-others) > 1e-6 || math.Abs(e.With-with) > 1e-6 {
		t.Errorf("%q, others %v, with it %v; want %q, %v, %v", e.Field, e.Others, e.With, field, others, with)
	}
}

func TestHostRateIsJudgedAtEverySave(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		schedules := schedulestore.New(db)
		for _, region := range []string{"eu", "us", "gone"} {
			if _, err := schedules.AddRegion(t.Context(), region); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := schedules.RetireRegion(t.Context(), "gone"); err != nil {
			t.Fatal(err)
		}
		store := targetstore.New(db).WithHostRate(targetstore.HostRate{Limit: 1, Exempt: func(host string) bool { return host == "127.0.0.1" }})

		for i := range 4 { // 4 × 2 regions / 10 s = 0.8
			create(t, store, visit(fmt.Sprint("all ", i), fmt.Sprintf("https://Example.com./%d", i), 10*time.Second))
		}
		paused := visit("paused", "tls://example.com", 10*time.Second)
		paused.Active = false
		held := create(t, store, paused)
		last := create(t, store, visit("last", "tcp://example.com:25", 10*time.Second, "eu")) // 0.9
		edge := create(t, store, visit("edge", "icmp://example.com", 10*time.Second, "us"))   // exactly 1
		_, err := store.Create(t.Context(), visit("more", "https://example.com:8443/", 24*time.Hour, "eu"))
		refusedAt(t, err, "url", 1, 1+1.0/86400)

		other := create(t, store, visit("other", "https://example.org/", 10*time.Second))
		_, err = store.Update(t.Context(), other.ID, 0, func(t *uptime.Target) error { t.URL = "https://EXAMPLE.com/other"; return nil })
		refusedAt(t, err, "url", 1, 1.2)
		_, err = store.Update(t.Context(), held.ID, 0, func(t *uptime.Target) error { t.Active = true; return nil })
		refusedAt(t, err, "active", 1, 1.2)
		_, err = store.Update(t.Context(), last.ID, 0, func(t *uptime.Target) error { t.Regions = nil; return nil })
		refusedAt(t, err, "regions", 0.9, 1.1)
		slower, err := store.Update(t.Context(), edge.ID, 0, func(t *uptime.Target) error { t.Interval = time.Minute; return nil })
		if err != nil {
			t.Fatalf("asking for less was refused: %v", err)
		}
		_, err = store.Update(t.Context(), edge.ID, 0, func(t *uptime.Target) error { t.Interval, t.Regions = 10*time.Second, nil; return nil })
		refusedAt(t, err, "interval_s", 0.9, 1.1)
		if now, err := store.Get(t.Context(), edge.ID); err != nil || now.SpecVersion != slower.SpecVersion || now.Interval != time.Minute {
			t.Errorf("a refused edit left something: %+v, %v", now, err)
		}
		if all, err := store.List(t.Context(), targetstore.Filter{Search: "more"}); err != nil || len(all) != 0 {
			t.Errorf("a refused target is there: %v, %v", all, err)
		}

		for i := range 20 { // exempt, without a host, and paused ones: whatever there are
			create(t, store, visit(fmt.Sprint("near ", i), "http://127.0.0.1:81/", 10*time.Second))
			create(t, store, visit(fmt.Sprint("question ", i), "dns:///example.com?type=A", 10*time.Second))
			resting := visit(fmt.Sprint("resting ", i), "https://example.com/", 10*time.Second)
			resting.Active = false
			create(t, store, resting)
		}
	})
}

// What is there stays: a host that is beyond the limit takes every edit that asks for no more.
func TestHostBeyondItsRateCanBeEdited(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		var targets []uptime.Target
		for i := range 5 {
			targets = append(targets, create(t, targetstore.New(db), visit(fmt.Sprint(i), "https://example.com/", 10*time.Second)))
		}
		store := targetstore.New(db).WithHostRate(targetstore.HostRate{Limit: 0.1})
		edit := func(i int, change func(*uptime.Target)) error {
			_, err := store.Update(t.Context(), targets[i].ID, 0, func(t *uptime.Target) error { change(t); return nil })
			return err
		}
		for name, change := range map[string]func(*uptime.Target){
			"name": func(t *uptime.Target) { t.Name = "new" }, "path": func(t *uptime.Target) { t.URL = "http://example.com/other" },
			"longer": func(t *uptime.Target) { t.Interval = 20 * time.Second }, "the same": func(*uptime.Target) {}, "pause": func(t *uptime.Target) { t.Active = false },
		} {
			if err := edit(0, change); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		refusedAt(t, edit(1, func(t *uptime.Target) { t.Regions = []string{"eu", "us"} }), "regions", 0.3, 0.5)
		if err := store.Delete(t.Context(), targets[1].ID, 0); err != nil {
			t.Error(err)
		}
	})
}

// Saves at once are judged one after the other: exactly as many get in as there is room for.
func TestHostRateHoldsWhenManySaveAtOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db).WithHostRate(targetstore.HostRate{Limit: 1})
		paused := visit("paused", "https://example.com/", 10*time.Second)
		paused.Active = false
		var resting []int64
		for i := range 15 {
			paused.Name = fmt.Sprint("paused ", i)
			resting = append(resting, create(t, store, paused).ID)
		}
		var saved, refused atomic.Int32
		count := func(err error) error {
			if _, full := errors.AsType[*targetstore.HostRateError](err); full {
				refused.Add(1)
				return nil
			}
			if err == nil {
				saved.Add(1)
			}
			return err
		}
		var group errgroup.Group
		for i := range 15 {
			group.Go(func() error {
				_, err := store.Create(t.Context(), visit(fmt.Sprint("new ", i), "https://example.com/", 10*time.Second))
				return count(err)
			})
			group.Go(func() error {
				_, err := store.Update(t.Context(), resting[i], 0, func(t *uptime.Target) error { t.Active = true; return nil })
				return count(err)
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		if saved.Load() != 10 || refused.Load() != 20 {
			t.Errorf("%d saved, %d refused: 10 have room", saved.Load(), refused.Load())
		}
	})
}

// Rows of a release that knew no hosts count all the same, those it edited too.
func TestHostsOfAnOlderReleaseAreWorkedOut(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		old := targetstore.New(db)
		for i := range 600 { // more than one statement takes
			create(t, old, visit(fmt.Sprint("old ", i), fmt.Sprintf("https://host-%d.example/", i%200), time.Hour))
		}
		moved := create(t, old, visit("moved", "https://elsewhere.example/", 10*time.Second))
		for _, statement := range []string{
			"UPDATE targets SET host = '', host_seq = 0 WHERE name LIKE 'old %'",
			"UPDATE targets SET url = 'https://host-7.example/moved', spec_version = spec_version + 100000 WHERE name = 'moved'",
		} {
			if err := db.Write().Exec(statement).Error; err != nil {
				t.Fatal(err)
			}
		}
		store := targetstore.New(db).WithHostRate(targetstore.HostRate{Limit: 0.101})
		_, err := store.Create(t.Context(), visit("new", "https://host-7.example/", 10*time.Second))
		refusedAt(t, err, "url", 0.1+3.0/3600, 0.2+3.0/3600)
		if _, err := store.Create(t.Context(), visit("moved away", "https://elsewhere.example/", 10*time.Second)); err != nil {
			t.Errorf("%v: target %d counts where it was", err, moved.ID)
		}
		var unnamed int64
		if err := db.Read().Raw("SELECT COUNT(*) FROM targets WHERE host_seq <> spec_version OR host = ''").Scan(&unnamed).Error; err != nil || unnamed != 0 {
			t.Errorf("%d hosts are not worked out, %v", unnamed, err)
		}
	})
}

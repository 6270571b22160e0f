package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// pings answers after a while, with an error; one that takes for ever hangs as long as it is let.
type pings struct {
	takes time.Duration
	err   error
}

func (p *pings) Ping(ctx context.Context) error {
	select {
	case <-time.After(p.takes):
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestDatabaseIsAskedAndNobodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &pings{takes: 40 * time.Millisecond}
		w := newDatabaseWatch(p, "postgres", service.NewHealth("api", "test"))
		f := &fleetWatch{kept: nothing, history: &historyWatch{}, database: w, seen: seen{at: time.Now()}}
		is := func(what string, ok bool, latencyMS float64) {
			t.Helper()
			began := time.Now()
			fleet, err := f.Fleet()
			d := fleet.Database
			downSince, took := w.Standing()
			if err != nil || d.Engine != "postgres" || d.OK != ok || downSince.IsZero() != ok || ok && took != time.Duration(latencyMS*1e6) || time.Since(began) > 0 {
				t.Errorf("%s: %+v, %v, %v after %v", what, d, took, err, time.Since(began))
			}
		}
		is("not asked yet", false, 0)
		w.runOnce(t.Context())
		is("it answers", true, 40)
		p.takes = time.Hour
		began := time.Now()
		done := make(chan struct{})
		go func() {
			w.runOnce(t.Context())
			close(done)
		}()
		synctest.Wait()
		is("while it is asked", true, 40)
		<-done
		if waited := time.Since(began); waited != pingTimeout {
			t.Errorf("asked for %v", waited)
		}
		is("it hangs", false, 0)
		since, _ := w.Standing()
		if !since.Equal(began) {
			t.Errorf("down since %v, asked at %v", since, began)
		}
		p.takes, p.err = 0, errBroken
		w.runOnce(t.Context())
		if still, _ := w.Standing(); !still.Equal(since) {
			t.Errorf("down since %v, then %v", since, still)
		}
		p.takes, p.err = time.Millisecond, nil
		w.runOnce(t.Context())
		is("it is back", true, 1)
		p.takes = time.Hour
		ending, cancel := context.WithCancel(t.Context())
		cancel()
		w.runOnce(ending)
		is("a node that ends knows nothing against it", true, 1)
	})
}

// A real database is asked, and says that it was.
func TestRealDatabaseAnswers(t *testing.T) {
	t.Parallel()
	for engine, url := range map[string]string{"sqlite": testbackend.SQLite(t), "postgres": testbackend.Postgres(t)} {
		db := databasetest.Open(t, url)
		w := newDatabaseWatch(db, string(db.Engine()), service.NewHealth("api", "test"))
		w.runOnce(t.Context())
		if downSince, took := w.Standing(); w.engine != engine || !downSince.IsZero() || took <= 0 {
			t.Errorf("%s: %s, down since %v, %v", engine, w.engine, downSince, took)
		}
	}
}

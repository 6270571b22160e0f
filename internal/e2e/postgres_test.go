//go:build !load && !faults && !browser && !bench

package e2e

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// TestOnPostgres runs the programs on a Postgres of one's own instead of SQLite.
func TestOnPostgres(t *testing.T) {
	t.Parallel()
	server, err := lab.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := newSystem(t)
	s.env = append(s.env, "DATABASE_URL="+testbackend.Postgres(t))
	s.start()
	watched := s.create(target{URL: server.URL() + "/ok", IntervalS: 10})
	up := func() bool { rs := s.results(watched.ID); return len(rs) > 0 && rs[0].Status == "up" }
	s.await(40*time.Second, "a result", up)
	s.stop()
	s.start()
	if !up() {
		t.Error("target or history did not survive the restart")
	}
}

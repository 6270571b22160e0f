package spooled

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/spool"
)

// fleet is what Redis says.
type fleet struct {
	beats []checkstream.Heartbeat
	down  bool
}

func (f *fleet) Probers(context.Context) ([]checkstream.Heartbeat, error) {
	if f.down {
		return nil, errors.New("down")
	}
	return f.beats, nil
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func beat(region, name string, rows int64, from, to time.Duration) checkstream.Heartbeat {
	return checkstream.Heartbeat{Region: region, Name: name, Spooled: rows, SpoolFirst: noon.Add(from), SpoolLast: noon.Add(to)}
}

func kept(rows int64, from, to time.Duration) ledger.Spool {
	return ledger.Spool{Rows: rows, First: noon.Add(from), Last: noon.Add(to)}
}

func TestSpoolsByRegion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, own := &fleet{}, spool.State{}
		w := New(f, func() spool.State { return own })
		dead := beat("us", "c", 5, 0, time.Minute)
		dead.Age = checkstream.HeartbeatTTL
		steps := []struct {
			what  string
			after time.Duration
			do    func()
			want  map[string]ledger.Spool
		}{
			{"nothing", 0, func() {}, nil},
			{"two probers of a region and a dead one", 0, func() {
				f.beats = []checkstream.Heartbeat{beat("eu", "a", 10, 0, time.Minute), beat("eu", "b", 5, -time.Minute, 30*time.Second), dead}
			}, map[string]ledger.Spool{"eu": kept(15, -time.Minute, time.Minute)}},
			{"own rows", 0, func() { own = spool.State{Rows: 3, First: noon, Last: noon.Add(time.Hour)} },
				map[string]ledger.Spool{"eu": kept(15, -time.Minute, time.Minute), ledger.EveryRegion: kept(3, 0, time.Hour)}},
			{"a disk is empty", 0, func() { own = spool.State{}; f.beats[1].Spooled = 0 }, map[string]ledger.Spool{"eu": kept(10, 0, time.Minute)}},
			{"redis is away for an hour", time.Hour, func() { f.down = true }, map[string]ledger.Spool{"eu": kept(10, 0, time.Minute)}},
			{"and lost its data", time.Hour, func() { f.down, f.beats = false, nil }, map[string]ledger.Spool{"eu": kept(10, 0, time.Minute)}},
			{"away once more", time.Hour, func() { f.down = true }, map[string]ledger.Spool{"eu": kept(10, 0, time.Minute)}},
			{"back", time.Hour, func() { f.down = false }, map[string]ledger.Spool{"eu": kept(10, 0, time.Minute)}},
			{"not heard for long", goneAfter, func() {}, nil},
			{"heard again", 0, func() { f.beats = []checkstream.Heartbeat{beat("eu", "a", 1, 0, 0)} }, map[string]ledger.Spool{"eu": kept(1, 0, 0)}},
		}
		for _, step := range steps {
			time.Sleep(step.after)
			step.do()
			got := maps.Collect(maps.All(w.Spools(t.Context())))
			maps.DeleteFunc(got, func(_ string, s ledger.Spool) bool { return s.Rows == 0 })
			if !maps.Equal(got, step.want) {
				t.Errorf("%s: %v, want %v", step.what, got, step.want)
			}
		}
	})
}

package ledger

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// disks are what live probers have; a test changes them between sweeps.
type disks map[string]Spool

func (d disks) ask(context.Context) map[string]Spool { return d }

func minutes(from, to int) Spool {
	return Spool{Rows: 1 << 20, First: epoch.Add(time.Duration(from) * time.Minute), Last: epoch.Add(time.Duration(to)*time.Minute - time.Millisecond)}
}

func TestSpooledSlotsAreNotUnexplained(t *testing.T) {
	t.Parallel()
	from, to := epoch, epoch.Add(10*time.Minute)
	for name, c := range map[string]struct {
		disks                disks
		after                time.Duration
		spooled, unexplained int64
	}{
		"none":                    {nil, time.Hour, 0, 60},
		"all of it":               {disks{"eu": minutes(0, 10)}, time.Hour, 60, 0},
		"a part of the window":    {disks{"eu": minutes(2, 5)}, time.Hour, 18, 42},
		"fewer rows than missing": {disks{"eu": {Rows: 7, First: from, Last: to}}, time.Hour, 7, 53},
		"another region's":        {disks{"us": minutes(0, 10)}, time.Hour, 0, 60},
		"anybody's":               {disks{EveryRegion: minutes(0, 2)}, time.Hour, 12, 48},
		"its own and anybody's":   {disks{"eu": {Rows: 7, First: from, Last: to}, EveryRegion: {Rows: 8, First: from, Last: to}}, time.Hour, 15, 45},
		"ends inside a minute":    {disks{"eu": {Rows: 99, First: from.Add(90 * time.Second), Last: from.Add(100 * time.Second)}}, time.Hour, 6, 54},
		"some still in flight":    {disks{"eu": minutes(0, 10)}, 0, 36, 0},
		"no rows, odd range":      {disks{"eu": {First: from, Last: to}}, time.Hour, 0, 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := one(20*time.Second, 1, 2)
			ledger := New(w, w, c.disks.ask)
			ledger.now = func() time.Time { return to.Add(c.after) }
			lines, err := ledger.Report(t.Context(), from, to, time.Time{})
			if err != nil || len(lines) != 1 {
				t.Fatal(lines, err)
			}
			l := lines[0]
			if l.Spooled != c.spooled || l.Unexplained != c.unexplained || l.Planned != l.Spooled+l.Unexplained+l.InFlight {
				t.Errorf("%+v", l)
			}
		})
	}
}

// Once its heartbeat is gone, or its disk is empty, nothing is held for a prober.
func TestSweepLeavesSpooledSlotsAlone(t *testing.T) {
	t.Parallel()
	w := one(10*time.Second, 1)
	held := disks{"eu": minutes(10, 20)}
	sweeper := NewSweeper(w, w, w, w, held.ask, DefaultSettle)
	sweep := func(at time.Duration, rows int, swept time.Duration) {
		t.Helper()
		if _, err := sweeper.Sweep(t.Context(), epoch.Add(at), epoch.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if len(w.rows) != rows || !w.swept.Equal(epoch.Add(swept)) {
			t.Errorf("at %v: %d rows, swept to %v; want %d and %v", at, len(w.rows), w.swept.Sub(epoch), rows, swept)
		}
	}
	sweep(67*time.Minute, 6*50, 10*time.Minute)
	for i := range 60 { // the disk gives back all but one in the first half
		if i != 7 {
			w.up(uptime.Slot{TargetID: 1, Region: "eu", ScheduledAt: uptime.NextSlot(1, 10*time.Second, epoch.Add(10*time.Minute+time.Duration(i)*10*time.Second))})
		}
		if i == 29 {
			held["eu"] = minutes(15, 20)
			sweep(68*time.Minute, 6*50+30, 15*time.Minute)
		}
	}
	delete(held, "eu")
	sweep(69*time.Minute, 360, 60*time.Minute)
}

func TestSweepWaitsSixHoursAtMost(t *testing.T) {
	t.Parallel()
	w := one(10*time.Minute, 1)
	held := disks{"eu": minutes(0, 24*60)}
	sweeper := NewSweeper(w, w, w, w, held.ask, DefaultSettle)
	for at := time.Duration(0); at <= 8*time.Hour; at += time.Minute {
		if _, err := sweeper.Sweep(t.Context(), epoch.Add(at), epoch.Add(at)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.rows); n != 12 || !w.swept.Equal(epoch.Add(2*time.Hour)) {
		t.Errorf("%d rows, swept to %v", n, w.swept.Sub(epoch))
	}
}

// Several regions keep rows, give them back, lose them, and die, in any order: no
// slot is explained while somebody alive may have it, and every other owed one is,
// by the very next sweep.
func TestSweepHoldsWhatIsOnDiskAndNothingElse(t *testing.T) {
	t.Parallel()
	for seed := range fewer(100) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 11))
			w := randomWorld(rng, 30*time.Minute)
			end := epoch.Add(30 * time.Minute)
			planned := w.planned(epoch, end)
			held := disks{}
			settle := time.Duration(5+rng.IntN(300)) * time.Second
			sweeper := NewSweeper(w, w, w, w, held.ask, settle)
			for now := epoch; now.Before(end.Add(20 * time.Minute)); now = now.Add(time.Minute) {
				for _, region := range []string{"ap", "eu", "us", EveryRegion} {
					switch from := rng.IntN(30); rng.IntN(8) {
					case 0:
						held[region] = minutes(from, from+1+rng.IntN(15))
					case 1:
						delete(held, region)
					}
				}
				if rng.IntN(8) == 0 {
					sweeper = NewSweeper(w, w, w, w, held.ask, settle)
				}
				before := maps.Clone(w.rows)
				if _, err := sweeper.Sweep(t.Context(), now, end); err != nil {
					t.Fatal(err)
				}
				for slot := range planned {
					_, explained := w.rows[slot]
					_, long := before[slot]
					onDisk := false
					for _, place := range []string{slot.Region, EveryRegion} {
						s, on := held[place]
						onDisk = onDisk || on && !slot.ScheduledAt.Before(s.First) && !slot.ScheduledAt.After(s.Last)
					}
					owed := slot.ScheduledAt.Add(uptime.Expiry(uptime.MaxInterval) + settle).Before(now)
					if owed && !onDisk && !explained {
						t.Fatalf("at %v: %v is owed and nobody has it", now.Sub(epoch), slot)
					}
					if explained && !long && onDisk {
						t.Fatalf("at %v: %v is on a disk and was explained", now.Sub(epoch), slot)
					}
				}
			}
			clear(held)
			if _, err := sweeper.Sweep(t.Context(), end.Add(time.Hour), end); err != nil {
				t.Fatal(err)
			}
			if len(w.rows) != len(planned) || !w.swept.Equal(end) {
				t.Errorf("%d rows for %d slots, swept to %v", len(w.rows), len(planned), w.swept)
			}
		})
	}
}

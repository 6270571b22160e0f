package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const start = int64(1_800_000_000)

func change(seq, effective, id int64, every time.Duration, regions ...string) Change {
	return Change{Seq: seq, Effective: effective,
		Schedule: uptime.Schedule{TargetID: id, Interval: every, Regions: regions, Active: true},
		Spec:     &Spec{Version: seq, Kind: uptime.KindHTTP, URL: fmt.Sprintf("http://t%d/", id), Timeout: time.Second}}
}

func withRegions(at int64, regions ...string) *Wheel {
	w := New(at)
	for i, name := range regions {
		w.ApplyRegion(RegionChange{Seq: int64(-10 + i), Effective: at, Region: name, Active: true})
	}
	return w
}

func TestDueAgreesWithTheArithmetic(t *testing.T) {
	t.Parallel()
	w := withRegions(start, "eu", "us")
	intervals := []time.Duration{10 * time.Second, 37 * time.Second, time.Minute, 300 * time.Second}
	want := map[int64]int64{}
	for id := int64(1); id <= 500; id++ {
		every := intervals[id%4]
		w.Apply(change(id, start, id, every))
		want[id] = uptime.CountSlots(id, every, time.Unix(start, 0), time.Unix(start+900, 0))
	}
	for second := start; second < start+900; second++ {
		w.Advance(second)
		due := w.Due(nil, second)
		if !slices.IsSortedFunc(due, func(a, b uptime.Check) int { return int(a.TargetID - b.TargetID) }) {
			t.Fatalf("second %d is not in the order of ids", second)
		}
		for _, c := range due {
			want[c.TargetID]--
			if at := uptime.NextSlot(c.TargetID, c.Interval, time.Unix(second, 0)); !at.Equal(c.ScheduledAt) {
				t.Fatalf("target %d: slot %v, want %v", c.TargetID, c.ScheduledAt, at)
			}
		}
	}
	for id, n := range want {
		if n != 0 {
			t.Errorf("target %d: %d slots too few", id, n)
		}
	}
	rate := 125.0/10 + 125.0/37 + 125.0/60 + 125.0/300
	if got := w.Rate(); got < rate-0.01 || got > rate+0.01 {
		t.Errorf("rate %v, want %v", got, rate)
	}
	if got := w.Window(); got != 125*6+125*2+125+125 {
		t.Errorf("window %v", got)
	}
}

// The wheel must agree with the definition (highest sequence among those
// effective) for any changes, applied in any portions while seconds pass.
func TestVersionsInForce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var all []Change
		for seq := int64(1); seq <= 60; seq++ {
			c := change(seq, start+rng.Int64N(100), 1+rng.Int64N(5), time.Duration(10+rng.IntN(3))*time.Second)
			c.Schedule.Active = rng.IntN(4) > 0
			all = append(all, c)
		}
		w := withRegions(start, "eu")
		next := 0
		for second := start; second < start+120; second++ {
			w.Advance(second)
			// a version is read at the latest when its second is about to be published
			for next < len(all) && slices.ContainsFunc(all[next:], func(c Change) bool { return c.Effective <= second }) {
				w.Apply(all[next])
				next++
			}
			got := w.Due(nil, second)
			var want []string
			for id := int64(1); id <= 5; id++ {
				var force *Change
				for i := range all {
					if all[i].Schedule.TargetID == id && all[i].Effective <= second {
						force = &all[i]
					}
				}
				if force == nil || !force.Schedule.Active {
					continue
				}
				if at := uptime.NextSlot(id, force.Schedule.Interval, time.Unix(second, 0)); at.Unix() == second {
					want = append(want, fmt.Sprint(id, at.UnixMilli(), force.Seq))
				}
			}
			have := []string(nil)
			for _, c := range got {
				have = append(have, fmt.Sprint(c.TargetID, c.ScheduledAt.UnixMilli(), c.SpecVersion))
			}
			if !slices.Equal(have, want) {
				t.Fatalf("seed %d second +%d: got %v, want %v", seed, second-start, have, want)
			}
		}
	}
}

func TestRegionsResolveAndRetire(t *testing.T) {
	t.Parallel()
	w := withRegions(start, "us", "eu")
	w.Apply(change(1, start, 1, 10*time.Second))
	w.Apply(change(2, start, 2, 10*time.Second, "eu"))
	w.Apply(change(3, start, 3, 10*time.Second, "mars"))
	w.ApplyRegion(RegionChange{Seq: 4, Effective: start + 20, Region: "eu"})
	seen := map[string]int{}
	for second := start; second < start+40; second++ {
		w.Advance(second)
		for _, c := range w.Due(nil, second) {
			seen[fmt.Sprintf("%v %d %v", second < start+20, c.TargetID, c.Regions)]++
		}
	}
	want := map[string]int{"true 1 [eu us]": 2, "true 2 [eu]": 2, "false 1 [us]": 2}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", seen, want)
	}
	if since := w.Retired()["eu"]; since != start+20 {
		t.Errorf("retired since %d", since)
	}
}

func TestDeleteForgetsAndRewindIsHonest(t *testing.T) {
	t.Parallel()
	w := withRegions(start, "eu")
	for id := int64(1); id <= 6000; id++ {
		w.Apply(change(id, start, id, time.Minute))
	}
	if !w.Rewind(start) || w.Rewind(start-1) {
		t.Error("may go back to the last change and not before it")
	}
	w.Advance(start + 10)
	for id := int64(1); id <= 5000; id++ {
		w.Apply(Change{Seq: 10_000 + id, Effective: start + 5, Schedule: uptime.Schedule{TargetID: id}, Deleted: true})
	}
	if w.Rewind(start + 4) {
		t.Error("rewound over a deletion")
	}
	if w.Targets() != 1000 || w.Knows(5000) || !w.Knows(5001) || len(w.rows.rows) > 2500 {
		t.Errorf("%d targets, %d rows", w.Targets(), len(w.rows.rows))
	}
	check, ok := w.SlotIn(5001, start-start%60+int64(phaseSecond(5001, 60)))
	if !ok || check.TargetID != 5001 {
		t.Error("a slot of a known target has a name")
	}
	if _, ok := w.SlotIn(5001, check.ScheduledAt.Unix()+1); ok {
		t.Error("no slot in that second")
	}
}

func TestSpecFollowsItsVersion(t *testing.T) {
	t.Parallel()
	w := withRegions(start, "eu")
	w.Apply(change(1, start, 1, 10*time.Second))
	edited := change(2, start+10, 1, 10*time.Second)
	edited.Spec.URL = "http://new/"
	w.Apply(edited)
	var urls []string
	for second := start; second < start+20; second++ {
		w.Advance(second)
		for _, c := range w.Due(nil, second) {
			urls = append(urls, c.URL)
		}
	}
	if !slices.Equal(urls, []string{"http://t1/", "http://new/"}) {
		t.Error(urls)
	}
}

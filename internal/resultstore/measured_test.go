package resultstore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Every measurement once, by region in the order of slots, and nothing that is none.
func TestMeasuredGivesEachMeasurementOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	end := base()
	var want []uptime.Result
	batches := [][]uptime.Result{nil, nil}
	for _, region := range []string{"eu", "us"} {
		for n := range 40 { // over three windows
			slot := end.Add(-20*day + time.Duration(n)*12*time.Hour)
			r := up(1, region, slot)
			switch n % 5 {
			case 1:
				r.Status, r.Failure, r.Message = uptime.StatusDown, uptime.FailureTimeout, "no answer"
			case 2:
				batches[0] = append(batches[0], missed(1, region, slot))
				continue
			case 3: // the later one counts
				before := r
				before.Status, before.Failure, before.IngestedAt = uptime.StatusDown, uptime.FailureTimeout, kept(r.IngestedAt.Add(-500*time.Millisecond))
				batches[1] = append(batches[1], before)
			}
			batches[0] = append(batches[0], r, up(2, region, slot))
			if !slot.Before(end.Add(-19*day)) && slot.Before(end.Add(-day)) {
				want = append(want, r)
			}
		}
	}
	insert(t, s, batchOf(batches[0]...), batchOf(batches[1]...))
	byRegion := map[string][]uptime.Result{}
	err := s.Measured(t.Context(), []int64{1}, end.Add(-19*day), end.Add(-day), func(r *uptime.Result) error {
		byRegion[r.Region] = append(byRegion[r.Region], *r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := append(byRegion["eu"], byRegion["us"]...)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(uptime.Result{}, "Phases", "Address", "Attempt", "SpecVersion")); diff != "" {
		t.Error(diff)
	}
	two := 0
	if err := s.Measured(t.Context(), []int64{1, 2}, end.Add(-19*day), end.Add(-day), func(*uptime.Result) error { two++; return nil }); err != nil || two != 2*len(want) {
		t.Errorf("%d of two targets, %v", two, err)
	}
}

package live

import (
	"fmt"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// A place is free again when what came from there is not kept any more; who had more before the
// limit was there goes on.
func TestRegionsOfOtherCheckersAreFew(t *testing.T) {
	t.Parallel()
	now := time.Now()
	h := New(Options{Now: func() time.Time { return now }})
	h.Load([]uptime.Target{target(5), target(6)}, nil, []string{"eu"})
	const kept = time.Hour
	regions := func(first, n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint("ext-", first+i))
		}
		return all
	}
	for _, region := range regions(0, 4) {
		h.Apply([]uptime.Result{result(5, region, now, uptime.StatusUp)})
	}
	admit := func(what string, id int64, regions []string, want bool) {
		t.Helper()
		if got := h.Admit(id, regions, kept, 5); got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
	admit("two more than one", 5, regions(10, 2), false)
	admit("one more", 5, regions(10, 1), true)
	admit("another one", 5, regions(11, 1), false)
	admit("those that are known", 5, append(regions(0, 4), "ext-10"), true)
	admit("of another target", 6, regions(20, 5), true)
	admit("of one that is not known yet", 7, regions(20, 5), true)
	admit("too many of that", 7, regions(20, 6), false)
	now = now.Add(kept - time.Minute)
	admit("one, again", 5, regions(0, 1), true)
	now = now.Add(2 * time.Minute)
	admit("where the others were", 5, regions(30, 4), true)
	admit("one more of those", 5, regions(40, 1), false)
	for _, region := range regions(50, 8) {
		h.Apply([]uptime.Result{result(6, region, now, uptime.StatusUp)})
	}
	admit("those that were too many before", 6, regions(50, 8), true)
	admit("one more than those", 6, regions(58, 1), false)
}

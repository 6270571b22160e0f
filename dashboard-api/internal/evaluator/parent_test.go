package evaluator

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

// now has both regions see targets at this moment.
func (r *rig) now(status uptime.Status, targets ...int) {
	r.Helper()
	for _, region := range regions {
		var results []uptime.Result
		for _, i := range targets {
			result := r.next(r.targets[i].Target.ID, region, status)
			result.ScheduledAt = time.Now().UTC().Truncate(time.Millisecond)
			result.CheckedAt, result.IngestedAt = result.ScheduledAt, result.ScheduledAt
			r.newest.add(result)
			results = append(results, result)
		}
		r.announce(results...)
	}
}

// A router and 20 targets behind it, half of which are seen to be down before it is: one
// incident, one page, whoever dies. The one that is still down when the router is back is told.
func TestARouterAndWhatIsBehindIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db, 21)
		r.listener()
		for i := range r.targets[1:] {
			r.targets[i+1].Target.ParentID = r.targets[0].Target.ID
		}
		children := upTo(1, 21)
		running := r.run()
		restart := func() {
			running()
			running = r.run()
		}
		r.now(uptime.StatusUp, upTo(0, 21)...)
		r.folded()
		r.now(uptime.StatusDown, children[:10]...)
		r.folded()
		restart()
		r.folded()
		if all := r.all(); len(all) != 0 {
			t.Fatalf("nobody has looked at the router: %+v", all[0])
		}
		r.now(uptime.StatusDown, 0)
		r.now(uptime.StatusDown, children[10:]...)
		r.now(uptime.StatusDown, children...)
		want := []string{"opened t0"}
		r.await("the router is told", func() bool { return cmp.Equal(want, r.told()) })
		restart()
		r.now(uptime.StatusDown, upTo(0, 21)...)
		r.folded()
		all := r.all()
		if len(all) != 1 || all[0].TargetID != r.targets[0].Target.ID || !strings.Contains(all[0].Cause.Explanation, "20 targets depend on it") {
			t.Fatalf("%d incidents: %+v", len(all), all[0])
		}
		r.now(uptime.StatusUp, 0)
		r.now(uptime.StatusUp, children[1:]...)
		want = append(want, "resolved t0")
		r.await("the router is back", func() bool { return cmp.Equal(want, r.told()) })
		r.folded()
		if open := r.targetsDown(); len(open) != 0 {
			t.Errorf("what was measured before that tells nothing: %v", open)
		}
		r.now(uptime.StatusDown, children[0])
		want = append(want, "opened t1")
		r.await("one is still down", func() bool { return cmp.Equal(want, r.told()) })
		i := slices.IndexFunc(r.all(), func(i incidentstore.Incident) bool { return i.TargetID == r.targets[1].Target.ID })
		if i := r.all()[i]; !strings.Contains(i.Cause.Explanation, "suppressed by parent") {
			t.Errorf("%s", i.Cause.Explanation)
		}
		running()
	})
}

// What fails beside a parent that is well is told as soon as its regions, which are asked at once,
// have said so; when nobody says anything, after a while.
func TestTheParentIsAskedAtOnce(t *testing.T) {
	t.Parallel()
	for _, answers := range []bool{true, false} {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		var all []live.Watched
		for id := range int64(3) {
			all = append(all, live.Watched{Target: uptime.Target{ID: id + 1, Name: "t", URL: "https://example.com/", Kind: uptime.KindHTTP, ParentID: min(id, 1)}, Rules: verdict.Rules{Interval: time.Minute, Timeout: time.Second, Active: true, Regions: regions}})
		}
		f, entries := newFold(verdictstore.Saved{}), 0
		f.judge(all, nil, now)
		see := func(id int64, status uptime.Status) {
			for _, region := range regions {
				entries++
				f.take(entry{id: strconv.Itoa(entries), at: now, results: []uptime.Result{{TargetID: id, Region: region, ScheduledAt: now.Add(-time.Second), Status: status, Failure: map[bool]uptime.Failure{true: uptime.FailureTimeout}[status == uptime.StatusDown]}}})
			}
		}
		for id := range int64(3) {
			see(id+1, uptime.StatusUp)
		}
		now = now.Add(10 * time.Second)
		f.asks = nil
		see(2, uptime.StatusDown)
		see(3, uptime.StatusDown)
		asked := map[string]int{}
		for _, visit := range f.asks {
			asked[visit.Region+" "+visit.Job]++
		}
		slot := strconv.FormatInt(now.Add(-time.Second).UnixMilli(), 10)
		for _, region := range regions {
			if n := asked[region+" c-1-"+slot]; n != 1 {
				t.Errorf("%s was asked %d times: %v", region, n, asked)
			}
		}
		found := now
		if answers {
			now = now.Add(2 * time.Second)
			see(1, uptime.StatusUp)
		}
		f.pass(now.Add(time.Second))
		if open := len(f.out.open); answers && open != 2 || !answers && open != 0 {
			t.Errorf("answered %v: %d open", answers, open)
		}
		f.pass(found.Add(66 * time.Second))
		if open := len(f.out.open); open != 2 {
			t.Errorf("answered %v: %d open after a while", answers, open)
		}
		for _, d := range f.decisions {
			if d.Kind == verdict.Opened && answers && !d.At.Equal(now) {
				t.Errorf("opened at %v, known at %v", d.At, now)
			}
		}
	}
}

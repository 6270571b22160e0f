package resultstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestFailuresAreDistinct(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := base()
	down := func(region string, minutes int, failure uptime.Failure, message string) uptime.Result {
		r := up(1, region, at.Add(-time.Duration(minutes)*time.Minute))
		r.Status, r.Failure, r.Message, r.HTTPStatus = uptime.StatusDown, failure, message, 500+minutes
		return r
	}
	slow := down("eu", 4, uptime.FailureLatency, "slow")
	slow.Status = uptime.StatusDegraded
	blind := missed(1, "eu", at.Add(-6*time.Minute))
	blind.Status, blind.Reason = uptime.StatusUnknown, uptime.ReasonProbeBlind
	rows := []uptime.Result{
		down("eu", 1, uptime.FailureStatusCode, "newest"), down("ap", 1, uptime.FailureStatusCode, "newest too, of a region before"), down("us", 3, uptime.FailureStatusCode, "older"),
		down("us", 9, uptime.FailureTimeout, "timeout"), slow, missed(1, "eu", at), missed(1, "us", at.Add(-5*time.Minute)), blind,
		missed(1, "us", at.Add(-9*time.Minute)),                                  // outranked by its measurement
		up(1, "eu", at.Add(-2*time.Minute)), up(1, "us", at.Add(-4*time.Minute)), // nothing wrong
		down("eu", 60, uptime.FailureReset, "before"), func() uptime.Result { r := down("eu", 1, uptime.FailureDNS, "of another"); r.TargetID = 2; return r }(),
	}
	insert(t, s, batchOf(rows...), batchOf(rows[:3]...))
	got, err := s.Failures(t.Context(), WindowQuery{TargetID: 1, From: at.Add(-time.Hour + time.Millisecond), To: at.Add(time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	tick := func(r uptime.Result) uptime.Result { // what ticks carry
		r.Phases, r.Attempt, r.SpecVersion = uptime.Phases{}, 0, 0
		return r
	}
	want := []FailureGroup{
		{uptime.StatusDown, uptime.FailureStatusCode, "", 3, rows[2].ScheduledAt, rows[0].ScheduledAt, tick(rows[0])},
		{uptime.StatusMissed, "", uptime.ReasonLost, 2, rows[6].ScheduledAt, at, tick(rows[5])},
		{uptime.StatusDegraded, uptime.FailureLatency, "", 1, slow.ScheduledAt, slow.ScheduledAt, tick(slow)},
		{uptime.StatusUnknown, "", uptime.ReasonProbeBlind, 1, blind.ScheduledAt, blind.ScheduledAt, tick(blind)},
		{uptime.StatusDown, uptime.FailureTimeout, "", 1, rows[3].ScheduledAt, rows[3].ScheduledAt, tick(rows[3])},
	}
	if diff := cmp.Diff(want, got.Groups, cmp.AllowUnexported(uptime.Result{}), cmp.Comparer(func(a, b uptime.Result) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) })); diff != "" {
		t.Error(diff)
	}
	us, err := s.Failures(t.Context(), WindowQuery{TargetID: 1, From: at.Add(-time.Hour), To: at.Add(time.Hour), Region: "us"})
	if err != nil || len(us.Groups) != 3 || us.Groups[0].Count != 1 {
		t.Errorf("of one region: %+v, %v", us, err)
	}
}

func TestHistogramIsThatOfTheModel(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	random := rand.New(rand.NewPCG(9, 10))
	at := base()
	var rows []uptime.Result
	var all []uint64
	add := func(region string, us uint32, status uptime.Status) {
		r := up(1, region, at.Add(-time.Duration(len(rows))*time.Second))
		r.TotalUS, r.Status = us, status
		if status == uptime.StatusDown {
			r.Failure = uptime.FailureTimeout
		} else {
			all = append(all, uint64(us))
		}
		rows = append(rows, r)
	}
	for power := range 32 { // the edges
		for _, us := range []uint32{1<<power - 1, 1 << power, 1<<power + 1} {
			add("eu", us, uptime.StatusUp)
		}
	}
	for n := range 128 {
		if b := bandOf(n); b.From < b.To && b.To < 1<<32 {
			add("eu", uint32(b.From), uptime.StatusUp)
			add("us", uint32(b.To-1), uptime.StatusDegraded)
			add("us", uint32(b.From)+random.Uint32N(uint32(b.To-b.From)), uptime.StatusDown)
		}
	}
	insert(t, s, batchOf(rows...), batchOf(rows[:20]...))
	got, err := s.Histogram(t.Context(), WindowQuery{TargetID: 1, From: at.Add(-day), To: at.Add(time.Second)})
	if err != nil || got.Count != uint64(len(all)) {
		t.Fatalf("%d of %d, %v", got.Count, len(all), err)
	}
	edge := uint64(0)
	for _, b := range got.Buckets {
		if b.From != edge || b.To <= b.From || b.From > 30 && float64(b.To)/float64(b.From) > 1.25 {
			t.Errorf("bucket %+v after one up to %d", b, edge)
		}
		edge = b.To
		want := 0
		for _, us := range all {
			if us >= b.From && us < b.To {
				want++
			}
		}
		if b.Count != uint64(want) {
			t.Errorf("%+v, want %d", b, want)
		}
	}
	us, err := s.Histogram(t.Context(), WindowQuery{TargetID: 1, From: at.Add(-day), To: at.Add(time.Second), Region: "us"})
	if err != nil || us.Count == 0 || us.Count > got.Count/2 {
		t.Errorf("of one region: %d, %v", us.Count, err)
	}
	none, err := s.Histogram(t.Context(), WindowQuery{TargetID: 2, From: at.Add(-day), To: at})
	if err != nil || none.Count != 0 || len(none.Buckets) != 0 {
		t.Errorf("of nothing: %+v, %v", none, err)
	}
}

// What asks about results alone says how much of its window is kept, and refuses one of
// which nothing is.
func TestWindowsOfWhatIsKept(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	now := base()
	s.now = func() time.Time { return now }
	kept := now.Add(-s.RawKept())
	if !s.KeptSince().Equal(kept) {
		t.Errorf("kept since %v, want %v", s.KeptSince(), kept)
	}
	asks := map[string]func(WindowQuery) (from, to time.Time, err error){
		"failures": func(q WindowQuery) (time.Time, time.Time, error) {
			a, err := s.Failures(t.Context(), q)
			return a.From, a.To, err
		},
		"histogram": func(q WindowQuery) (time.Time, time.Time, error) {
			a, err := s.Histogram(t.Context(), q)
			return a.From, a.To, err
		},
	}
	for name, ask := range asks {
		from, to, err := ask(WindowQuery{TargetID: 1, From: kept.Add(-90 * day), To: now})
		if err != nil || !from.Equal(kept) || !to.Equal(now) {
			t.Errorf("%s: %v to %v, %v", name, from, to, err)
		}
		for field, q := range map[string]WindowQuery{"to": {From: kept.Add(-day), To: kept}, "from": {From: now, To: now}} {
			if _, _, err := ask(q); fieldOf(err) != field {
				t.Errorf("%s: %v, want one about %s", name, err, field)
			}
		}
	}
}

func fieldOf(err error) string {
	if bound, ok := errors.AsType[*BoundError](err); ok {
		return bound.Field
	}
	return ""
}

package resultstore

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

func printed(r uptime.Result, p uptime.Print) uptime.Result {
	r.Print = &p
	return r
}

func bad(target int64, region string, slot time.Time, status uptime.Status) uptime.Result {
	r := up(target, region, slot)
	r.Status, r.Failure, r.Evidence = status, uptime.FailureStatusCode, &uptime.Evidence{Body: slot.Format(time.TimeOnly)}
	return r
}

// shown is a turn in one line.
func shown(t Turn) string {
	good, print := "none", ""
	if t.Good != nil {
		good, print = fmt.Sprintf("%v %s", t.Good.Status, t.Good.ScheduledAt.Format(time.TimeOnly)), "-"
		if t.Good.Print != nil {
			print = t.Good.Print.URL
		}
	}
	evidence := "-"
	if t.Bad.Evidence != nil {
		evidence = t.Bad.Evidence.Body
	}
	return fmt.Sprintf("%s: %s %s, %v %s %s", t.Bad.Region, good, print, t.Bad.Status, t.Bad.ScheduledAt.Format(time.TimeOnly), evidence)
}

// Each region that failed is told with the last good result before, what that saw, and the first bad one.
func TestTurns(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := time.Now().UTC().Truncate(day).Add(-36 * time.Hour)
	minute := func(n int) time.Time { return at.Add(time.Duration(n) * time.Minute) }
	by := func(prober string, r uptime.Result) uptime.Result { r.Prober = prober; return r }
	insert(t, s, batchOf(
		// eu: the print is that of the prober that made the last good check, from before it.
		printed(up(1, "eu", minute(-600)), uptime.Print{URL: "older"}), printed(up(1, "eu", minute(-9)), uptime.Print{URL: "eu"}),
		by("p2", printed(up(1, "eu", minute(-8)), uptime.Print{URL: "another prober's"})), up(1, "eu", minute(-2)), missed(1, "eu", minute(-1)),
		bad(1, "eu", minute(0), uptime.StatusDown), bad(1, "eu", minute(1), uptime.StatusDown), printed(up(1, "eu", minute(2)), uptime.Print{URL: "later"}),
		// us: failed before the incident began, and is down while it was degraded.
		up(1, "us", minute(-9)), bad(1, "us", minute(-5), uptime.StatusDegraded), bad(1, "us", minute(-3), uptime.StatusDown), bad(1, "us", minute(-2), uptime.StatusDown), bad(1, "us", minute(1), uptime.StatusDown),
		// ap: degraded at first.
		printed(up(1, "ap", minute(-1)), uptime.Print{URL: "ap"}), bad(1, "ap", minute(3), uptime.StatusDegraded), bad(1, "ap", minute(4), uptime.StatusDown),
		// br: had been degraded for long, and went down; ca: is as it had been.
		bad(1, "br", minute(-7), uptime.StatusDegraded), bad(1, "br", minute(1), uptime.StatusDegraded), missed(1, "br", minute(2)), bad(1, "br", minute(4), uptime.StatusDown),
		up(1, "ca", minute(-9)), bad(1, "ca", minute(-1), uptime.StatusDegraded), bad(1, "ca", minute(2), uptime.StatusDegraded), up(1, "ca", minute(3)),
		up(4, "eu", minute(-9)), bad(4, "eu", minute(-1), uptime.StatusDegraded), bad(4, "eu", minute(0), uptime.StatusDegraded),
		// sa: never good; in: good for all of the time; af: fails too late; me: without a print.
		bad(1, "sa", minute(5), uptime.StatusDown), up(1, "in", minute(-1)), up(1, "in", minute(1)), bad(1, "af", minute(11), uptime.StatusDown), up(1, "me", minute(0)), bad(1, "me", minute(6), uptime.StatusDown),
		printed(up(2, "me", minute(-1)), uptime.Print{URL: "another target's"}), bad(2, "in", minute(0), uptime.StatusDown),
	))
	turns, err := s.Turns(t.Context(), 1, minute(0), minute(10), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, turn := range turns {
		got = append(got, shown(turn))
	}
	clock := func(n int) string { return minute(n).Format(time.TimeOnly) }
	want := []string{
		"us: degraded " + clock(-5) + " -, down " + clock(-3) + " " + clock(-3),
		"eu: up " + clock(-2) + " eu, down " + clock(0) + " " + clock(0),
		"ap: up " + clock(-1) + " ap, degraded " + clock(3) + " " + clock(3),
		"br: degraded " + clock(1) + " -, down " + clock(4) + " " + clock(4),
		"sa: none , down " + clock(5) + " " + clock(5),
		"me: up " + clock(0) + " -, down " + clock(6) + " " + clock(6),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if turns, err := s.Turns(t.Context(), 4, minute(0), minute(10), nil); err != nil || len(turns) != 1 || shown(turns[0]) != "eu: up "+clock(-9)+" -, degraded "+clock(-1)+" "+clock(-1) {
		t.Errorf("degraded before, and nothing else: %v, %v", turns, err)
	}
	if turns, err := s.Turns(t.Context(), 3, minute(0), minute(10), nil); err != nil || turns != nil {
		t.Errorf("of no target: %v, %v", turns, err)
	}
}

// What is found does not depend on how long a target has been watched: no more is read than the day of
// the failure and what was right before, though it was degraded, or bad, for longer in some regions.
func TestTurnsReadNoLongHistories(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	from := time.Now().UTC().Truncate(time.Minute).Add(-time.Hour)
	const rows = 90_000 // a region: ten days and more, every ten seconds
	for _, region := range []string{"eu", "us", "ap"} {
		err := s.conn.Exec(t.Context(), `INSERT INTO results (target_id, region, scheduled_at, checked_at, status, prober, revision)
SELECT 1, {region:String}, fromUnixTimestamp64Milli({from:Int64} - 10000 * number, 'UTC') AS at, at, if({region:String} = 'ap' AND number < 5000, 'degraded', 'up'), 'p', bitShiftLeft(toUInt64(2), 62) + toUInt64(toUnixTimestamp64Micro(at)) FROM numbers(1, {rows:UInt64})`,
			clickhouse.Named("region", region), clickhouse.Named("from", from.UnixMilli()), clickhouse.Named("rows", uint64(rows)))
		if err != nil {
			t.Fatal(err)
		}
	}
	insert(t, s, batchOf(bad(1, "eu", from, uptime.StatusDown), bad(1, "us", from, uptime.StatusDegraded), bad(1, "ap", from, uptime.StatusDegraded), bad(1, "ap", from.Add(10*time.Second), uptime.StatusDown)))
	var read atomic.Uint64
	ctx := clickhouse.Context(t.Context(), clickhouse.WithProgress(func(p *clickhouse.Progress) { read.Add(p.Rows) }))
	began := time.Now()
	turns, err := s.Turns(ctx, 1, from, from.Add(time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v, %d of %d rows read", time.Since(began).Round(time.Millisecond), read.Load(), 3*rows)
	var got []string
	for _, turn := range turns {
		got = append(got, fmt.Sprint(turn.Bad.Region, " ", turn.Good.Status, " ", turn.Good.ScheduledAt.Sub(from), ", ", turn.Bad.Status, " ", turn.Bad.ScheduledAt.Sub(from)))
	}
	if diff := cmp.Diff([]string{"eu up -10s, down 0s", "us up -10s, degraded 0s", "ap degraded 0s, down 10s"}, got); diff != "" {
		t.Error(diff)
	}
	if read.Load() > rows/3 {
		t.Errorf("%d rows were read", read.Load())
	}
	read.Store(0)
	if turns, err = s.Turns(ctx, 1, from.Add(time.Hour), from.Add(2*time.Hour), nil); err != nil || turns != nil || read.Load() > rows/3 {
		t.Errorf("of nothing: %v, %v, %d rows read", turns, err, read.Load())
	}
}

// What verdicts do not believe is neither good nor bad: what a region measured while it was
// blind, and what was measured late.
func TestTurnsOfWhatIsNotBelieved(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := time.Now().UTC().Truncate(day).Add(-36 * time.Hour)
	minute := func(n int) time.Time { return at.Add(time.Duration(n) * time.Minute) }
	late := func(r uptime.Result) uptime.Result { r.Late = true; return r }
	insert(t, s, batchOf(
		up(1, "eu", minute(-5)), up(1, "eu", minute(-2)), bad(1, "eu", minute(-1), uptime.StatusDown), bad(1, "eu", minute(0), uptime.StatusDown), bad(1, "eu", minute(2), uptime.StatusDown),
		up(1, "us", minute(-5)), late(bad(1, "us", minute(-1), uptime.StatusDown)), late(up(1, "us", minute(0))), late(bad(1, "us", minute(1), uptime.StatusDown)), bad(1, "us", minute(3), uptime.StatusDown),
		up(1, "ap", minute(-1)), bad(1, "ap", minute(0), uptime.StatusDown), bad(1, "ap", minute(1), uptime.StatusDown),
		up(1, "sa", minute(-3)), bad(1, "sa", minute(-1), uptime.StatusDegraded), bad(1, "sa", minute(4), uptime.StatusDegraded),
		up(1, "me", minute(-3)), late(bad(1, "me", minute(-1), uptime.StatusDegraded)), bad(1, "me", minute(5), uptime.StatusDegraded),
	))
	turns, err := s.Turns(t.Context(), 1, minute(0), minute(10), map[string]availability.Spans{
		"eu": {{From: minute(-2), To: minute(2)}}, "ap": {{From: minute(0), To: minute(1)}, {From: minute(1), To: minute(10)}}, "sa": {{From: minute(-1), To: minute(0)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, turn := range turns {
		got = append(got, shown(turn))
	}
	clock := func(n int) string { return minute(n).Format(time.TimeOnly) }
	want := []string{
		"eu: up " + clock(-5) + " -, down " + clock(2) + " " + clock(2),
		"us: up " + clock(-5) + " -, down " + clock(3) + " " + clock(3),
		"sa: up " + clock(-3) + " -, degraded " + clock(4) + " " + clock(4),
		"me: up " + clock(-3) + " -, degraded " + clock(5) + " " + clock(5),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A print that cannot be stored holds nothing up: it is told, and lost.
func TestPrintsThatAreLostHoldNothingUp(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	var told []string
	s.OnLostPrints(func(n int, err error) { told = append(told, fmt.Sprint(n, err != nil)) })
	if err := s.conn.Exec(t.Context(), `DROP TABLE prints`); err != nil {
		t.Fatal(err)
	}
	slot := base()
	insert(t, s, batchOf(printed(up(1, "eu", slot), uptime.Print{URL: "a"}), printed(up(2, "eu", slot), uptime.Print{URL: "b"}), up(3, "eu", slot)))
	insert(t, s, batchOf(up(1, "eu", slot.Add(time.Minute))))
	if results, notes := count(t, s, `SELECT count() FROM results`), count(t, s, `SELECT count() FROM batches`); results != 4 || notes != 2 {
		t.Errorf("%d results, %d notes", results, notes)
	}
	if diff := cmp.Diff([]string{"2 true"}, told); diff != "" {
		t.Error(diff)
	}
}

// A print comes back as it was, once, however often its batch is sent; no results grow by it.
func TestPrintsAreStoredOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	slot := base()
	want := uptime.Print{URL: "https://a.example/", Certificate: &uptime.Certificate{SHA256: "00", Issuer: "CN=y", NotAfter: slot}, Headers: []uptime.Header{{Name: "Server", Value: `a "b"`}}, Unsteady: uptime.UnsteadyHeaders}
	b := batchOf(printed(up(1, "eu", slot), want), up(2, "eu", slot))
	insert(t, s, b, b)
	if n := count(t, s, `SELECT count() FROM prints`); n != 1 {
		t.Errorf("%d prints", n)
	}
	r := up(1, "eu", slot.Add(time.Minute))
	got, err := s.print(t.Context(), &r)
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Error(diff)
	}
	r = up(1, "eu", slot.Add(-time.Millisecond))
	if got, err := s.print(t.Context(), &r); got != nil || err != nil {
		t.Errorf("before the first one: %+v %v", got, err)
	}
}

package httpapi

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

// newStoredBench is a bench whose history is in a real ClickHouse, as of now.
func newStoredBench(t *testing.T) (*bench, *resultstore.Store) {
	t.Helper()
	url := testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), url, nil); err != nil {
		t.Fatal(err)
	}
	store, err := resultstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	b := newBench(t)
	b.now = time.Now().UTC()
	b.history.of = store
	return b, store
}

// switched is the history of a bench: what a test put in, or another one.
type switched struct{ of History }

func (s *switched) Cells(ctx context.Context, q resultstore.CellQuery, fn func(int64, string, availability.Cell) error) error {
	return s.of.Cells(ctx, q, fn)
}

type slotKey struct {
	region string
	at     time.Time
}

// The answers about a random history in ClickHouse, with slots measured again, later
// and in another order, are those of a model that looks at the rows one by one.
func TestUptimeOfStoredResults(t *testing.T) {
	t.Parallel()
	b, store := newStoredBench(t)
	target := b.create(`{"url":"https://example.com/","interval_s":600}`)
	random := rand.New(rand.NewPCG(8, 9))
	zone, err := availability.Zone("Asia/Kathmandu")
	if err != nil {
		t.Fatal(err)
	}
	start := b.now.Truncate(time.Hour).Add(-70 * time.Hour)
	final := map[slotKey]uptime.Status{}
	var rows []uptime.Result
	for at := start.Add(90 * time.Second); at.Before(b.now.Add(-time.Hour)); at = at.Add(10 * time.Minute) {
		for _, region := range []string{"ap", "eu", "us"} {
			for round := range 1 + random.IntN(2) {
				r := uptime.Result{TargetID: target.ID, Region: region, ScheduledAt: at, CheckedAt: at, Status: uptime.Status(1 + random.IntN(3)), IngestedAt: at.Add(time.Duration(round+1) * time.Minute)}
				if final[slotKey{region, at}] == 0 && random.IntN(6) == 0 {
					r.Status, r.Reason, r.CheckedAt = uptime.StatusMissed, uptime.ReasonLost, time.Time{}
				}
				final[slotKey{region, at}] = r.Status
				rows = append(rows, r)
			}
		}
	}
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for _, half := range [][]uptime.Result{rows[:len(rows)/2], rows[len(rows)/2:]} {
		if err := store.Insert(t.Context(), resultstore.Batch{Token: uuid.Must(uuid.NewV7()).String(), Prober: "p", Region: "eu", Attempt: 1, Rows: half}); err != nil {
			t.Fatal(err)
		}
	}
	maintained := availability.Span{From: start.Add(20*time.Hour + 7*time.Minute), To: start.Add(26*time.Hour + 33*time.Minute)}
	b.past.maintenance = map[int64]availability.Spans{target.ID: availability.NewSpans(maintained)}

	// from and to are instants that no quarter hour begins or ends at
	from, to := start.Add(3*time.Hour+41*time.Minute+30*time.Second+time.Millisecond), start.Add(66*time.Hour+59*time.Second)
	model := map[string]map[string]availability.Counts{} // day → region → counts
	count := func(day, region string, c availability.Counts) {
		for _, name := range []string{day, "all"} {
			if model[name] == nil {
				model[name] = map[string]availability.Counts{}
			}
			model[name][region] = model[name][region].Add(c)
		}
	}
	whole := map[time.Time]availability.Counts{}
	for slot, status := range final {
		counted := !slot.at.Before(from) && slot.at.Before(to) && (slot.at.Before(maintained.From) || !slot.at.Before(maintained.To))
		if c := map[uptime.Status]availability.Counts{1: {Up: 1}, 2: {Degraded: 1}, 3: {Down: 1}, 5: {Missed: 1}}[status]; counted {
			count(slot.at.In(zone).Format(time.DateOnly), slot.region, c)
			whole[slot.at] = whole[slot.at].Add(c)
		}
	}
	for at, c := range whole {
		count(at.In(zone).Format(time.DateOnly), "", c.Fold())
	}

	var got struct {
		Figures wireFigures `json:"folded"`
		Regions []wireFigures
		Periods []struct {
			Name    string
			Folded  wireFigures
			Regions []wireFigures
		}
	}
	path := fmt.Sprintf("/api/v1/targets/%d/uptime?zone=Asia/Kathmandu&by=day&from=%s&to=%s", target.ID, from.Format(time.RFC3339Nano), to.Format(time.RFC3339Nano))
	b.do("GET", path, "", as(viewerKey)).into(t, &got)
	check := func(day string, folded wireFigures, regions []wireFigures) {
		t.Helper()
		for _, f := range append(regions, folded) {
			if want := model[day][f.Region]; f.counts() != want || f.DowntimeMinutes != float64(10*want.Down) || *f.Low != want.Low().Float() || *f.High != want.High().Float() {
				t.Errorf("%s %q: %+v, want %+v", day, f.Region, f, want)
			}
		}
		if len(regions) != 3 {
			t.Errorf("%s has %d regions", day, len(regions))
		}
	}
	check("all", got.Figures, got.Regions)
	if len(got.Periods) != len(model)-1 || len(got.Periods) < 3 {
		t.Errorf("%d days, the model has %d", len(got.Periods), len(model)-1)
	}
	for _, p := range got.Periods {
		check(p.Name, p.Folded, p.Regions)
	}

	// The report says the same when it is made again, and of the same slots.
	month := from.Add(to.Sub(from) / 2).In(zone).Format("2006-01")
	report := b.do("GET", "/api/v1/reports/"+month+"?zone=Asia/Kathmandu", "", as(viewerKey))
	again := b.do("GET", "/api/v1/reports/"+month+"?zone=Asia/Kathmandu", "", as(viewerKey))
	if report.Code != 200 || report.text != again.text || !strings.Contains(report.text, `"incidents":[{"from":`) {
		t.Errorf("%d %s\n%s", report.Code, report.text, again.text)
	}
}

// Worked out by hand: of six slots eu was blind for the three from :10 to :40, in which it alone
// was down, and us for the one at :30, where it was down, too. The target was never down but at
// :40, when both were; at :30 nobody could be believed.
func TestUptimeLeavesOutBlindRegions(t *testing.T) {
	t.Parallel()
	b, store := newStoredBench(t)
	target := b.create(`{"url":"https://example.com/","interval_s":600}`)
	start := b.now.Truncate(time.Hour).Add(-5 * time.Hour)
	minute := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	var rows []uptime.Result
	for region, saw := range map[string]string{"eu": "uddddu", "us": "uuuddu"} {
		for i, status := range saw {
			r := uptime.Result{TargetID: target.ID, Region: region, ScheduledAt: minute(10 * i), CheckedAt: minute(10 * i), Status: uptime.StatusUp, IngestedAt: minute(10*i + 1)}
			if status == 'd' {
				r.Status, r.Failure = uptime.StatusDown, uptime.FailureTimeout
			}
			rows = append(rows, r)
		}
	}
	if err := store.Insert(t.Context(), resultstore.Batch{Token: uuid.Must(uuid.NewV7()).String(), Prober: "p", Region: "eu", Attempt: 1, Rows: rows}); err != nil {
		t.Fatal(err)
	}
	b.past.blind = map[string]availability.Spans{"eu": availability.NewSpans(availability.Span{From: minute(10), To: minute(40)}), "us": availability.NewSpans(availability.Span{From: minute(30), To: minute(40)})}
	type figures struct {
		wireFigures
		Excluded uint64
	}
	var got struct {
		Folded  figures
		Regions []figures
	}
	path := fmt.Sprintf("/api/v1/targets/%d/uptime?from=%s&to=%s", target.ID, start.Format(time.RFC3339), minute(60).Format(time.RFC3339))
	check := func(folded, eu, us figures) {
		t.Helper()
		for i, f := range append([]figures{got.Folded}, got.Regions...) {
			if want := []figures{folded, eu, us}[i]; f.counts() != want.counts() || f.Excluded != want.Excluded {
				t.Errorf("%q: %+v, %d excluded; want %+v, %d", f.Region, f.counts(), f.Excluded, want.counts(), want.Excluded)
			}
		}
	}
	b.do("GET", path, "", as(viewerKey)).into(t, &got)
	check(figures{wireFigures{Up: 4, Down: 1, Unknown: 1}, 0}, figures{wireFigures{Up: 2, Down: 1}, 3}, figures{wireFigures{Up: 4, Down: 1}, 1})
	if *got.Folded.Low != 4.0/6 || *got.Folded.High != 5.0/6 {
		t.Errorf("between %v and %v", *got.Folded.Low, *got.Folded.High)
	}

	// A report knows quarters only: as a whole the target is unknown from :00 to :45, whatever it
	// is made from, and of eu the slots in the quarters of the edges are not known either.
	var report struct {
		Targets []struct {
			Folded  figures
			Regions []figures
		}
	}
	b.do("GET", "/api/v1/reports/"+start.Format("2006-01"), "", as(viewerKey)).into(t, &report)
	got.Folded, got.Regions = report.Targets[0].Folded, report.Targets[0].Regions
	check(figures{wireFigures{Up: 1, Unknown: 5}, 0}, figures{wireFigures{Up: 1, Unknown: 4}, 1}, figures{wireFigures{Up: 4, Unknown: 2}, 0})
}

// wireFigures are figures as callers see them.
type wireFigures struct {
	Region                              string
	Up, Degraded, Down, Unknown, Missed uint64
	Low, High                           *float64
	DowntimeMinutes                     float64 `json:"downtime_minutes"`
}

func (f wireFigures) counts() availability.Counts {
	return availability.Counts{Up: f.Up, Degraded: f.Degraded, Down: f.Down, Unknown: f.Unknown, Missed: f.Missed}
}

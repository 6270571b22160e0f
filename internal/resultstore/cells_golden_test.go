package resultstore

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// monthRows reads the month that was worked out by hand, as its README describes it,
// without the rows that it takes away again.
func monthRows(t *testing.T) []uptime.Result {
	t.Helper()
	file, err := os.Open("../availability/testdata/month/rows.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows []uptime.Result
	never := map[uptime.Slot]int{} // how many rows of the slot were never written
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		f := strings.Split(lines.Text(), "\t")
		first, _ := time.Parse(time.RFC3339, f[0])
		every, _ := strconv.Atoi(f[1])
		n, _ := strconv.Atoi(f[2])
		order, _ := strconv.Atoi(f[5][max(0, len(f[5])-1):])
		for i := range n {
			at := first.Add(time.Duration(i*every) * time.Minute)
			r := uptime.Result{TargetID: 7, Region: f[3], ScheduledAt: at, IngestedAt: at.Add(time.Duration(order) * time.Minute)}
			if f[4] == "-" {
				never[r.Slot()] = len(rows)
				continue
			}
			if r.Status, err = uptime.ParseStatus(f[4]); err != nil {
				t.Fatal(err)
			}
			if r.CheckedAt = at; !r.Status.Measured() {
				r.CheckedAt, r.Reason = time.Time{}, uptime.ReasonLost
			}
			rows = append(rows, r)
		}
	}
	var written []uptime.Result
	for i, r := range rows {
		if i >= never[r.Slot()] {
			written = append(written, r)
		}
	}
	return written
}

// The month that was worked out by hand comes out of ClickHouse as it was worked out.
func TestMonthWorkedOutByHand(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("make verify: 744 hours are computed; see TestMonthWorkedOutByHand of availability and TestCellsFromRollupsAreThoseOfResults")
	}
	s, _ := open(t)
	if _, err := s.Keep(t.Context(), Retentions{Raw: 700 * day}); err != nil { // the month is long ago
		t.Fatal(err)
	}
	zone, err := availability.Zone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	month, err := availability.Month("2026-03", zone)
	if err != nil {
		t.Fatal(err)
	}
	s.now = func() time.Time { return month.To.Add(time.Hour) }
	rows := monthRows(t)
	insert(t, s, batchOf(rows[len(rows)/3:]...), batchOf(rows[:len(rows)/3]...))
	var hours, days errgroup.Group // several at once do no harm
	hours.SetLimit(2 * runtime.NumCPU())
	for h := month.From.UTC(); h.Before(month.To); h = h.Add(hour) {
		hours.Go(func() error {
			_, err := s.RecomputeHour(t.Context(), Rollup{Bucket: h, Version: month.To})
			return err
		})
	}
	if err := hours.Wait(); err != nil {
		t.Fatal(err)
	}
	for d := month.From.UTC().Truncate(day); d.Before(month.To); d = d.Add(day) {
		days.Go(func() error {
			_, err := s.RecomputeDay(t.Context(), Rollup{Bucket: d, Version: month.To})
			return err
		})
	}
	if err := days.Wait(); err != nil {
		t.Fatal(err)
	}
	s.RolledUp(month.To.Add(time.Hour))
	terms := availability.Terms{
		Window: month.Span,
		Except: availability.NewSpans(availability.Span{From: time.Date(2026, 3, 12, 22, 5, 0, 0, time.UTC), To: time.Date(2026, 3, 13, 0, 25, 0, 0, time.UTC)}),
		Grain:  availability.Quarter,
		Every:  availability.NewIntervals(availability.Interval{Every: 30 * time.Minute}, availability.Interval{From: time.Date(2026, 3, 15, 23, 0, 0, 0, time.UTC), Every: time.Hour}),
	}
	query := CellQuery{IDs: []int64{7}, From: month.From, To: month.To, Cuts: terms.Cuts(nil)}
	figures := map[string]availability.Figures{}
	if err := s.Cells(t.Context(), query, func(_ int64, region string, c availability.Cell) error {
		figures[region] = figures[region].Add(terms.Of(c))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	target := availability.TargetReport{TargetID: 7}
	for region, f := range figures {
		target.Series = append(target.Series, availability.Series{Region: region, Figures: f})
	}
	query.Width, query.Whole = availability.Quarter, true
	var quarters []availability.Cell
	if err := s.Cells(t.Context(), query, func(_ int64, _ string, c availability.Cell) error {
		quarters = append(quarters, c)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	target.Incidents = terms.Incidents(quarters)
	want, err := os.ReadFile("../availability/testdata/month/report.txt")
	if err != nil {
		t.Fatal(err)
	}
	report := availability.Report{Month: month, Zone: "Europe/Berlin", Targets: []availability.TargetReport{target}}
	if got := string(report.Canonical()); got != string(want) {
		t.Errorf("the report is\n%s\nwant\n%s", got, want)
	}
}

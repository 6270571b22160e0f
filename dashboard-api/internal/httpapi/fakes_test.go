package httpapi

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/internal/asknown"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/blindstore"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// fakeResults answers what a test put in, or its error.
type fakeResults struct {
	cycled resultstore.Cycled
	rows   []uptime.Result
	series resultstore.Series
	matrix map[string]resultstore.Series
	wrong  resultstore.Failures
	shape  resultstore.Histogram
	steps  resultstore.SeriesQuery // the last one
	window resultstore.WindowQuery // likewise
	turns  []resultstore.Turn
	unseen map[string]availability.Spans // by regions, of the last question for them
	turned [3]int64                      // the last question for them: a target, and a time in Unix seconds
	cells  []fakeCell
	cuts   [][]time.Time // of the questions about cells
	err    error
	asked  resultstore.ResultQuery
	since  map[int64]time.Time
	kept   time.Duration // 0: as usual

	certificates map[int64]time.Time // seen before the rows
}

func (f *fakeResults) RawKept() time.Duration {
	if f.kept != 0 {
		return f.kept
	}
	return resultstore.Retention
}

func (f *fakeResults) LastKept() resultstore.Retentions {
	return resultstore.Retentions{Raw: f.RawKept(), Hourly: 100 * 24 * time.Hour, Daily: 400 * 24 * time.Hour}
}

func (f *fakeResults) KeptSince() time.Time { return testNow.Add(-f.RawKept()) }

func (f *fakeResults) Measured(_ context.Context, ids []int64, from, to time.Time, fn func(*uptime.Result) error) error {
	for _, r := range f.rows {
		if f.err == nil && slices.Contains(ids, r.TargetID) && !r.ScheduledAt.Before(from) && r.ScheduledAt.Before(to) {
			if err := fn(&r); err != nil {
				return err
			}
		}
	}
	return f.err
}

func (f *fakeResults) Known(context.Context, []int64, int, time.Time, time.Time) (map[int64][]asknown.Row, error) {
	return nil, f.err
}

func (f *fakeResults) LastKnown(context.Context, int64, []string, time.Time, time.Time, time.Time) ([]asknown.Row, error) {
	return nil, f.err
}

func (f *fakeResults) FiguresSince() time.Time { return testNow.AddDate(-5, 0, 0) }

func (f *fakeResults) Results(_ context.Context, q resultstore.ResultQuery) ([]uptime.Result, error) {
	f.asked = q
	return f.rows[:min(q.Limit, len(f.rows))], f.err
}

func (f *fakeResults) LatestN(_ context.Context, ids []int64, _ int, since time.Time) (map[int64][]resultstore.Bar, error) {
	found := map[int64][]resultstore.Bar{}
	for _, id := range ids {
		if f.since == nil {
			f.since = map[int64]time.Time{}
		}
		f.since[id] = since
		for _, r := range f.rows {
			if r.TargetID == id {
				found[id] = append(found[id], barOf(r))
			}
		}
	}
	return found, f.err
}

func (f *fakeResults) Series(_ context.Context, q resultstore.SeriesQuery) (resultstore.Series, error) {
	f.steps = q
	return f.series, f.err
}

func (f *fakeResults) Matrix(_ context.Context, q resultstore.SeriesQuery) (map[string]resultstore.Series, error) {
	f.steps = q
	return f.matrix, f.err
}

func (f *fakeResults) Failures(_ context.Context, q resultstore.WindowQuery) (resultstore.Failures, error) {
	f.window = q
	return f.wrong, f.err
}

func (f *fakeResults) Histogram(_ context.Context, q resultstore.WindowQuery) (resultstore.Histogram, error) {
	f.window = q
	return f.shape, f.err
}

// Current are the rows of Newest, with less of them.
func (f *fakeResults) Current(ctx context.Context, ids []int64) ([]resultstore.Bar, error) {
	rows, err := f.Newest(ctx, ids)
	bars := make([]resultstore.Bar, len(rows))
	for i, r := range rows {
		bars[i] = barOf(r)
	}
	return bars, err
}

func barOf(r uptime.Result) resultstore.Bar {
	return resultstore.Bar{
		TargetID: r.TargetID, Region: r.Region, ScheduledAt: r.ScheduledAt, CheckedAt: r.CheckedAt, Status: r.Status,
		Failure: r.Failure, Reason: r.Reason, HTTPStatus: r.HTTPStatus, TotalUS: r.TotalUS,
	}
}

func (f *fakeResults) Newest(_ context.Context, ids []int64) ([]uptime.Result, error) {
	return slices.DeleteFunc(slices.Clone(f.rows), func(r uptime.Result) bool { return !slices.Contains(ids, r.TargetID) }), f.err
}

func (f *fakeResults) Certificates(_ context.Context, ids []int64, _ time.Time) (map[int64]time.Time, error) {
	seen := maps.Clone(f.certificates)
	maps.DeleteFunc(seen, func(id int64, _ time.Time) bool { return !slices.Contains(ids, id) })
	return seen, f.err
}

// fakeCell is a cell of a target's region.
type fakeCell struct {
	id     int64
	region string
	availability.Cell
}

// Cells hands over the cells of those asked for, whatever the range.
func (f *fakeResults) Cells(_ context.Context, q resultstore.CellQuery, fn func(int64, string, availability.Cell) error) error {
	f.cuts = append(f.cuts, q.Cuts)
	for _, c := range f.cells {
		if f.err == nil && slices.Contains(q.IDs, c.id) && (c.region == "" || !q.Whole) {
			if err := fn(c.id, c.region, c.Cell); err != nil {
				return err
			}
		}
	}
	return f.err
}

func (f *fakeResults) Result(_ context.Context, slot uptime.Slot) (uptime.Result, bool, error) {
	for _, r := range f.rows {
		if r.Slot() == slot && f.err == nil {
			return r, true, nil
		}
	}
	return uptime.Result{}, false, f.err
}

func (f *fakeResults) Turns(_ context.Context, targetID int64, from, to time.Time, blind map[string]availability.Spans) ([]resultstore.Turn, error) {
	f.unseen = blind
	f.turned = [3]int64{targetID, from.Unix(), to.Unix()}
	return f.turns, f.err
}

func (f *fakeResults) Cycles(context.Context, time.Time, time.Time) (resultstore.Cycled, error) {
	return f.cycled, nil
}

// fakePast is what happened to targets: corrections, and maintenance.
type fakePast struct {
	corrections map[int64][]availability.Correction
	maintenance map[int64]availability.Spans
	blind       map[string]availability.Spans
	err         error
}

func (f *fakePast) Corrections(context.Context, []int64, time.Time, time.Time) (map[int64][]availability.Correction, error) {
	newest := map[int64][]availability.Correction{}
	for id, all := range f.corrections {
		newest[id] = all[:min(len(all), resultstore.MaxCorrections)]
	}
	return newest, f.err
}

func (f *fakePast) Revised(context.Context, []int64, time.Time, time.Time) (map[int64][]availability.Correction, error) {
	return f.corrections, f.err
}

// maintained is a store of windows, or what a test says they cover.
type maintained struct {
	*maintenancestore.Store
	past *fakePast
}

func (m maintained) Maintenance(ctx context.Context, ids []int64, from, to time.Time) (map[int64]availability.Spans, error) {
	if m.past.maintenance != nil {
		return m.past.maintenance, nil
	}
	return m.Store.Maintenance(ctx, ids, from, to)
}

// blinded is a store of blind windows, or what a test says.
type blinded struct {
	*blindstore.Store
	past *fakePast
}

func (m blinded) Blind(ctx context.Context, from, to time.Time) (map[string]availability.Spans, error) {
	if m.past.blind != nil {
		return m.past.blind, nil
	}
	return m.Store.Blind(ctx, from, to)
}

type fakeLedger struct {
	lines []ledger.Line
	from  time.Time // of the last question
	err   error
}

func (f *fakeLedger) Report(_ context.Context, from, _ time.Time) ([]ledger.Line, error) {
	f.from = from
	return f.lines, f.err
}

type fakeFleet struct {
	err          error
	down         atomic.Bool // ClickHouse
	stale        time.Time
	databaseDown time.Time
	regions      []string
	open         []netip.Prefix
}

func (f *fakeFleet) Fleet() (Fleet, error) {
	fleet := NewFleet(testNow, "one")
	fleet.Stale(f.stale)
	fleet.DatabaseIs("sqlite", f.databaseDown, 1234567*time.Nanosecond)
	return fleet, f.err
}
func (f *fakeFleet) HistoryOK() bool            { return !f.down.Load() }
func (f *fakeFleet) Regions() []string          { return f.regions }
func (f *fakeFleet) OpenRanges() []netip.Prefix { return f.open }

// fakeTester says that it has sent what a test wants it to.
type fakeTester struct{ sent notify.Sent }

func (f *fakeTester) Test(_ context.Context, _ incidentstore.Channel, _ bool, _ string, now time.Time) notify.Sent {
	f.sent.At = now
	return f.sent
}

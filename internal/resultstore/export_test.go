package resultstore

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// pages reads an export page by page, and gives what each was.
func pages[T any](t *testing.T, q ExportQuery, read func(ExportQuery) ([]T, error), cursor func(T) Cursor, each func([]T)) {
	t.Helper()
	for {
		page, err := read(q)
		if err != nil {
			t.Fatal(err)
		}
		each(page)
		if len(page) < q.Limit {
			return
		}
		last := cursor(page[len(page)-1])
		q.After = &last
	}
}

// ingestedAbout: rows say when they were ingested to a millisecond.
var ingestedAbout = gocmp.FilterPath(func(p gocmp.Path) bool { return p.Last().String() == ".IngestedAt" }, cmpopts.EquateApproxTime(2*time.Millisecond))

func cursorOf(r uptime.Result) Cursor { return Cursor{r.ScheduledAt, r.Region} }

func TestExportLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	var rows []uptime.Result
	at := base().Add(-20 * day)
	for i := range 120 { // regions share slots, gaps grow to hours
		for _, region := range []string{"ap", "eu", "us"} {
			rows = append(rows, up(5, region, at))
		}
		at = at.Add(time.Duration(i%40)*7*time.Minute + time.Minute)
	}
	insert(t, s, batchOf(rows...), batchOf(up(6, "eu", base()), missed(5, "eu", rows[0].ScheduledAt)))
	for _, c := range []struct {
		from, to time.Time
		limit    int
	}{{limit: 1000}, {limit: 7}, {limit: 9}, {limit: 360}, {from: rows[10].ScheduledAt, to: rows[100].ScheduledAt, limit: 10}, {from: rows[330].ScheduledAt.Add(time.Millisecond), limit: 1}, {to: rows[0].ScheduledAt, limit: 5}} {
		want := slices.DeleteFunc(slices.Clone(rows), func(r uptime.Result) bool {
			return r.ScheduledAt.Before(c.from) || !c.to.IsZero() && !r.ScheduledAt.Before(c.to)
		})
		var got []uptime.Result
		pages(t, ExportQuery{TargetID: 5, From: c.from, To: c.to, Limit: c.limit}, func(q ExportQuery) ([]uptime.Result, error) { return s.ExportResults(t.Context(), q) }, cursorOf, func(page []uptime.Result) { got = append(got, page...) })
		if diff := gocmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}), cmpopts.EquateEmpty(), ingestedAbout); diff != "" {
			t.Errorf("%+v: %s", c, diff)
		}
	}
	for _, limit := range []int{0, MaxExportPage + 1} {
		if _, err := s.ExportResults(t.Context(), ExportQuery{TargetID: 5, Limit: limit}); err == nil {
			t.Errorf("limit %d is accepted", limit)
		}
	}
}

func TestExportOfFigures(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	first := time.Now().UTC().Truncate(day).Add(-3 * day)
	slow := up(1, "eu", first.Add(time.Minute))
	slow.TotalUS, slow.Phases.Wait = 1000, 989
	down := up(1, "us", first.Add(time.Minute))
	down.Status, down.Failure = uptime.StatusDown, uptime.FailureTimeout
	insert(t, s, batchOf(slow, down, up(1, "eu", first.Add(25*time.Hour)), up(2, "eu", first)))
	for h := range 48 {
		recompute(t, s, Rollup{Bucket: first.Add(time.Duration(h) * time.Hour), Version: time.Now()})
	}
	for _, d := range []time.Time{first, first.Add(day)} {
		if _, err := s.RecomputeDay(t.Context(), Rollup{Bucket: d, Version: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	none := math.NaN()
	eu := Bucket{Region: "eu", At: first, Counts: availability.Counts{Up: 1}, DNSSum: 1, ConnectSum: 2, TLSSum: 3, WaitSum: 989, TransferSum: 5, TotalSum: 1000, TotalMin: 1000, TotalMax: 1000, P50: 1000, P95: 1000, P99: 1000}
	later := Bucket{Region: "eu", At: first.Add(25 * time.Hour), Counts: availability.Counts{Up: 1}, DNSSum: 1, ConnectSum: 2, TLSSum: 3, WaitSum: 4, TransferSum: 5, TotalSum: 15, TotalMin: 15, TotalMax: 15, P50: 15, P95: 15, P99: 15}
	us := Bucket{Region: "us", At: first, Counts: availability.Counts{Down: 1}, P50: none, P95: none, P99: none}
	whole := Bucket{At: first, Counts: availability.Counts{Degraded: 1}, P50: none, P95: none, P99: none}
	wholeLater := Bucket{At: later.At, Counts: availability.Counts{Up: 1}, P50: none, P95: none, P99: none}
	for tier, want := range map[Tier][]Bucket{TierHourly: {whole, eu, us, wholeLater, later}, TierDaily: {whole, eu, us, wholeLater, later}} {
		if tier == TierDaily {
			want[3].At, want[4].At = first.Add(day), first.Add(day)
		}
		for _, limit := range []int{1, 2, 5, 100} {
			var got []Bucket
			pages(t, ExportQuery{TargetID: 1, Limit: limit}, func(q ExportQuery) ([]Bucket, error) { return s.ExportFigures(t.Context(), tier, q) },
				func(b Bucket) Cursor { return Cursor{b.At, b.Region} }, func(page []Bucket) { got = append(got, page...) })
			if diff := gocmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateApprox(0.03, 0)); diff != "" {
				t.Errorf("tier %s by %d: %s", tier, limit, diff)
			}
		}
	}
}

// A million rows pass through, page by page, and memory does not grow with them. Alone,
// because what other tests need would be counted, too.
func TestExportOfAMillionRowsIsFlat(t *testing.T) {
	s, _ := open(t)
	rows := 1_000_000
	if testing.Short() {
		rows = 200_000
	}
	first := time.Now().UTC().Truncate(day).Add(-5 * day)
	err := s.conn.Exec(t.Context(), `INSERT INTO results (target_id, region, scheduled_at, status, total_us, revision)
SELECT 1, ['ap', 'eu', 'us', 'za'][number % 4 + 1], fromUnixTimestamp64Milli(`+strconv.FormatInt(first.UnixMilli(), 10)+` + 1000 * intDiv(number, 4), 'UTC'), 'up', number, 1 FROM numbers(`+strconv.Itoa(rows)+`)`)
	if err != nil {
		t.Fatal(err)
	}
	seen, last := 0, Cursor{}
	var heap []uint64
	pages(t, ExportQuery{TargetID: 1, Limit: MaxExportPage}, func(q ExportQuery) ([]uptime.Result, error) { return s.ExportResults(t.Context(), q) }, cursorOf, func(page []uptime.Result) {
		for _, r := range page {
			is := cursorOf(r)
			if cmp.Or(last.ScheduledAt.Compare(is.ScheduledAt), cmp.Compare(last.Region, is.Region)) >= 0 {
				t.Fatalf("%v follows %v", is, last)
			}
			last = is
		}
		if seen += len(page); seen%(20*MaxExportPage) == 0 {
			heap = append(heap, liveHeap())
		}
	})
	if seen != rows {
		t.Errorf("%d rows", seen)
	}
	if least, most := slices.Min(heap), slices.Max(heap); most > least+(16<<20) {
		t.Errorf("the heap grows: %v", heap)
	}
	t.Logf("live heap every %d rows: %v", 20*MaxExportPage, heap)
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestExportEndsWithItsReader(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	insert(t, s, batchOf(up(1, "eu", base())))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.ExportResults(ctx, ExportQuery{TargetID: 1, Limit: 1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

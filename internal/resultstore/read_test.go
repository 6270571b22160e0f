package resultstore

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestRowsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	slot := base()
	full := up(1, "a", slot)
	full.Status, full.Failure, full.HTTPStatus = uptime.StatusDown, uptime.FailureTLSExpired, 599
	full.Message, full.Address = "certificate has expired", netip.MustParseAddr("2001:db8::7")
	full.CertNotAfter = slot.Add(-time.Hour).Truncate(time.Second)
	full.Phases = uptime.Phases{DNS: 1<<32 - 1, Connect: 2, TLS: 3, Wait: 4, Transfer: 5}
	full.Attempt, full.SpecVersion, full.Late = 255, 1<<40, true
	v4 := up(1, "b", slot)
	v4.Address, v4.CertNotAfter = netip.MustParseAddr("192.0.2.1"), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	hostile := up(1, "c", slot)
	hostile.Message = "__exception__\r\nCode: 42\n" + strings.Repeat("é'\\{x:Y}", 200)
	reason := missed(1, "d", slot)
	insert(t, s, batchOf(full, v4, hostile, reason))

	got, err := s.Results(t.Context(), ResultQuery{TargetID: 1, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	v4.CertNotAfter = lastDateTime.UTC()
	hostile.Message = oneLine(hostile.Message)
	if diff := cmp.Diff([]uptime.Result{full, v4, hostile, reason}, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(hostile.Message, "__exception__  Code: 42 é'") || len(hostile.Message) > 500 {
		t.Errorf("message %q", hostile.Message)
	}
	if !reason.CheckedAt.IsZero() || !got[3].CheckedAt.IsZero() {
		t.Error("never tried must read as zero")
	}
}

func TestPagesLoseAndRepeatNothing(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	var rows []uptime.Result
	newest := base()
	at := newest
	slots := 120
	if testing.Short() {
		slots = 60
	}
	for i := range slots { // regions share slots, gaps grow to hours, so that pages end within a slot and windows are crossed
		for _, region := range []string{"ap", "eu", "us"} {
			rows = append(rows, up(5, region, at))
		}
		at = at.Add(-time.Duration(i%40) * 11 * time.Minute).Add(-time.Minute)
	}
	insert(t, s, batchOf(rows...), batchOf(rows[:50]...), batchOf(up(6, "eu", newest)))
	for _, limit := range []int{4, 100, 1000} {
		for _, region := range []string{"", "eu"} {
			var got []uptime.Result
			q := ResultQuery{TargetID: 5, Limit: limit, Region: region}
			for {
				page, err := s.Results(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, page...)
				if len(page) < limit {
					break
				}
				last := page[len(page)-1]
				q.Before = &Cursor{ScheduledAt: last.ScheduledAt, Region: last.Region}
			}
			want := slices.DeleteFunc(slices.Clone(rows), func(r uptime.Result) bool { return region != "" && r.Region != region })
			if !slices.EqualFunc(got, want, func(a, b uptime.Result) bool { return a.Slot() == b.Slot() }) {
				t.Errorf("limit %d region %q: %d rows, want %d in order", limit, region, len(got), len(want))
			}
		}
	}
	half, err := s.Results(t.Context(), ResultQuery{TargetID: 5, Limit: 1000, From: rows[30].ScheduledAt, To: newest})
	if err != nil || len(half) != 30 || half[0].Slot() != rows[3].Slot() {
		t.Errorf("half open range has %d rows, %v", len(half), err)
	}
	if _, err := s.Results(t.Context(), ResultQuery{TargetID: 5, Limit: MaxPage + 1}); err == nil {
		t.Error("limit 1001 was accepted")
	}
}

func TestLatestNewestSlotsWithAllRegions(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	slot := base()
	var rows []uptime.Result
	for i := range 5 {
		at := slot.Add(-time.Duration(i) * time.Minute)
		rows = append(rows, up(1, "eu", at))
		if i != 1 { // one region is silent once
			rows = append(rows, up(1, "us", at))
		}
		rows = append(rows, up(2, "eu", at))
	}
	insert(t, s, batchOf(rows...), batchOf(rows...))
	latest, err := s.LatestN(t.Context(), []int64{1, 2, 3}, 3, slot.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if len(latest) != 2 || len(latest[1]) != 5 || len(latest[2]) != 3 {
		t.Fatalf("%d targets: %d and %d rows", len(latest), len(latest[1]), len(latest[2]))
	}
	want := []uptime.Slot{
		{TargetID: 1, Region: "eu", ScheduledAt: slot}, {TargetID: 1, Region: "us", ScheduledAt: slot},
		{TargetID: 1, Region: "eu", ScheduledAt: slot.Add(-time.Minute)},
		{TargetID: 1, Region: "eu", ScheduledAt: slot.Add(-2 * time.Minute)}, {TargetID: 1, Region: "us", ScheduledAt: slot.Add(-2 * time.Minute)},
	}
	for i, r := range latest[1] {
		if r.Slot() != want[i] || r.HTTPStatus != 200 || r.TotalUS != 15 || r.CheckedAt.IsZero() {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	bounded, err := s.LatestN(t.Context(), []int64{1}, 100, slot.Add(-time.Minute))
	if err != nil || len(bounded[1]) != 3 {
		t.Errorf("since bounds to %d rows, %v", len(bounded[1]), err)
	}
}

// Whose interval was shorter has more rows than are looked for: the newest are among them all the same.
func TestLatestOfManySlots(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	slot := base()
	var rows []uptime.Result
	for i := range 60 {
		at := slot.Add(-time.Duration(i) * 10 * time.Second)
		rows = append(rows, up(1, "eu", at), up(1, "us", at))
		if i%30 == 0 {
			rows = append(rows, up(2, "eu", at))
		}
	}
	insert(t, s, batchOf(rows...))
	latest, err := s.LatestN(t.Context(), []int64{1, 2}, 3, slot.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if len(latest[1]) != 6 || len(latest[2]) != 2 {
		t.Fatalf("%d and %d rows, want 6 and 2", len(latest[1]), len(latest[2]))
	}
	for i, r := range latest[1] {
		want := uptime.Slot{TargetID: 1, Region: []string{"eu", "us"}[i%2], ScheduledAt: slot.Add(-time.Duration(i/2) * 10 * time.Second)}
		if r.Slot() != want {
			t.Errorf("row %d: %+v, want %+v", i, r.Slot(), want)
		}
	}
}

func TestLastMeasuredLooksPastReasons(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	slot := base()
	insert(t, s, batchOf(
		up(1, "eu", slot),                                             // measured last
		up(2, "eu", slot.Add(-20*time.Minute)), missed(2, "eu", slot), // measured before a reason
		up(3, "eu", slot.Add(-20*time.Hour)), missed(3, "eu", slot), // long before
		missed(4, "eu", slot),                                       // never
		up(5, "eu", slot.Add(-40*time.Hour)), missed(5, "eu", slot), // too long before
		up(6, "eu", slot.Add(-50*time.Hour)),                                        // nothing since
		up(7, "eu", slot), missed(7, "us", slot), up(7, "us", slot.Add(-time.Hour)), // regions apart
	))
	got, err := s.LastMeasured(t.Context(), slot.Add(-26*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	want := map[uptime.Slot]bool{
		{TargetID: 1, Region: "eu", ScheduledAt: slot}:                        true,
		{TargetID: 2, Region: "eu", ScheduledAt: slot.Add(-20 * time.Minute)}: true,
		{TargetID: 3, Region: "eu", ScheduledAt: slot.Add(-20 * time.Hour)}:   true,
		{TargetID: 7, Region: "eu", ScheduledAt: slot}:                        true,
		{TargetID: 7, Region: "us", ScheduledAt: slot.Add(-time.Hour)}:        true,
	}
	for _, r := range got {
		if !want[r.Slot()] || !r.Status.Measured() {
			t.Errorf("not wanted, or twice: %+v", r)
		}
		delete(want, r.Slot())
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	all, err := s.Current(t.Context(), nil)
	if err != nil || len(all) != 8 {
		t.Errorf("%d current rows, %v", len(all), err)
	}
	newest, err := s.Newest(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var said []Bar
	for i := range newest { // of the same rows Current says less
		n := &newest[i]
		if n.IngestedAt.IsZero() {
			t.Errorf("newest: %+v", n)
		}
		said = append(said, Bar{n.TargetID, n.Region, n.ScheduledAt, n.CheckedAt, n.Status, n.Failure, n.Reason, n.HTTPStatus, n.TotalUS})
	}
	if !slices.Equal(said, all) {
		t.Errorf("newest %+v, current %+v", said, all)
	}
}

func TestCertificatesSeenLast(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	slot := base()
	cert := func(id int64, region string, ago time.Duration, ends time.Time) uptime.Result {
		r := up(id, region, slot.Add(-ago))
		r.CertNotAfter = ends
		return r
	}
	ends := func(days int) time.Time { return slot.AddDate(0, 0, days).Truncate(time.Second) }
	rows := []uptime.Result{
		cert(1, "eu", 3*time.Minute, ends(1)), // renewed since
		cert(1, "eu", 2*time.Minute, ends(90)),
		cert(1, "us", 4*time.Minute, ends(60)),  // another server has an older one
		cert(1, "eu", time.Minute, time.Time{}), // did not get through
		cert(2, "eu", time.Minute, time.Time{}),
		cert(3, "eu", 2*time.Hour, ends(5)), // too long ago
		cert(4, "eu", time.Minute, ends(7)), // not asked for
	}
	insert(t, s, batchOf(rows...))
	got, err := s.Certificates(t.Context(), []int64{1, 2, 3}, slot.Add(-time.Hour))
	if want := map[int64]time.Time{1: ends(60)}; err != nil || !maps.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if got, err := s.Certificates(t.Context(), nil, slot); err != nil || len(got) != 0 {
		t.Errorf("of nobody: %v, %v", got, err)
	}
}

func TestCurrentIsInOrder(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	var want []uptime.Slot
	for id := int64(1); id <= 9; id++ {
		for _, region := range []string{"ap", "eu", "us"} {
			want = append(want, uptime.Slot{TargetID: id, Region: region, ScheduledAt: base()})
		}
	}
	if err := s.conn.Exec(t.Context(), `SYSTEM STOP MERGES results_latest`); err != nil {
		t.Fatal(err)
	}
	for _, slot := range slices.Backward(want) { // a part of the table each
		insert(t, s, batchOf(up(slot.TargetID, slot.Region, slot.ScheduledAt)))
	}
	current, err := s.Current(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []uptime.Slot
	for _, b := range current {
		got = append(got, b.Slot())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestManyTargetsInOneQuestion(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	ids := make([]int64, 100_000)
	if testing.Short() {
		ids = ids[:30_000] // more text than a server takes by itself: 256 KiB
	}
	for i := range ids {
		ids[i] = int64(1_000_000_000 + i)
	}
	insert(t, s, batchOf(up(ids[20_000], "eu", base())))
	got, err := s.Current(t.Context(), ids)
	if err != nil || len(got) != 1 {
		t.Errorf("%d rows, %v", len(got), err)
	}
}

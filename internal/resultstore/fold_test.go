package resultstore

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestSeriesSums(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	from := base().Truncate(5 * time.Minute).Add(-time.Hour)
	var rows []uptime.Result
	for i := range 5 { // first step: 5 measured, 100 to 500 µs, one of them degraded
		r := up(1, "eu", from.Add(time.Duration(i)*time.Minute))
		r.TotalUS, r.Phases = uint32(100*(i+1)), uptime.Phases{DNS: uint32(10 * i), Connect: 2, TLS: 3, Wait: 4, Transfer: 5}
		if i == 4 {
			r.Status = uptime.StatusDegraded
		}
		rows = append(rows, r)
	}
	down := up(1, "us", from.Add(time.Second))
	down.Status, down.Failure, down.TotalUS = uptime.StatusDown, uptime.FailureTimeout, 10_000_000 // must not count as latency
	unknown := missed(1, "us", from.Add(11*time.Minute))
	unknown.Status, unknown.Reason = uptime.StatusUnknown, uptime.ReasonProbeBlind
	rows = append(rows, down, unknown, missed(1, "eu", from.Add(11*time.Minute)), up(2, "eu", from), up(1, "eu", from.Add(-time.Millisecond)), up(1, "eu", from.Add(15*time.Minute)))
	insert(t, s, batchOf(rows...), batchOf(rows[:4]...))

	got, err := s.Series(t.Context(), SeriesQuery{TargetID: 1, From: from, To: from.Add(15 * time.Minute), Step: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2][]uint64{
		"count":    {got.Count, {6, 0, 2}},
		"up":       {got.Up, {4, 0, 0}},
		"degraded": {got.Degraded, {1, 0, 0}},
		"down":     {got.Down, {1, 0, 0}},
		"unknown":  {got.Unknown, {0, 0, 1}},
		"missed":   {got.Missed, {0, 0, 1}},
	}
	for name, pair := range want {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
	if len(got.At) != 3 || !got.At[0].Equal(from) || got.At[1].Sub(got.At[0]) != 5*time.Minute {
		t.Errorf("steps %v", got.At)
	}
	if got.P50[0] != 300 || got.P95[0] < 400 || got.P99[0] > 500 || got.DNS[0] != 20 || got.Transfer[0] != 5 {
		t.Errorf("first step: p50 %v p95 %v p99 %v dns %v transfer %v", got.P50[0], got.P95[0], got.P99[0], got.DNS[0], got.Transfer[0])
	}
	for _, column := range [][]float64{got.P50, got.P95, got.P99, got.DNS, got.Connect, got.TLS, got.Wait, got.Transfer} {
		if !math.IsNaN(column[1]) || !math.IsNaN(column[2]) {
			t.Errorf("steps without a measurement have %v", column)
		}
	}
	regional, err := s.Series(t.Context(), SeriesQuery{TargetID: 1, From: from, To: from.Add(5 * time.Minute), Step: 5 * time.Minute, Region: "us"})
	if err != nil || !slices.Equal(regional.Count, []uint64{1}) || !math.IsNaN(regional.P50[0]) {
		t.Errorf("one region: %+v, %v", regional, err)
	}
	for name, q := range map[string]SeriesQuery{
		"too many steps": {TargetID: 1, From: from, To: from.Add(MaxPoints*time.Second + time.Second), Step: time.Second},
		"a step back":    {TargetID: 1, From: from, To: from.Add(time.Hour), Step: -time.Minute},
		"odd step":       {TargetID: 1, From: from, To: from.Add(time.Hour), Step: 1500 * time.Millisecond},
	} {
		_, err := s.Series(t.Context(), q)
		if bound, ok := errors.AsType[*BoundError](err); !ok || bound.Field != "step" || bound.Problem == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if none, err := s.Series(t.Context(), SeriesQuery{TargetID: 1, From: from, To: from, Step: time.Second}); err != nil || len(none.At) != 0 {
		t.Errorf("empty range: %v %v", none, err)
	}
}

func TestOutcomesSlotsAndUptime(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	from := base()
	down := up(1, "eu", from.Add(time.Minute))
	down.Status, down.Failure = uptime.StatusDown, uptime.FailureReset
	lost := missed(1, "eu", from) // outranked by the measurement of the same slot
	blind := missed(1, "us", from.Add(time.Minute))
	blind.Status, blind.Reason = uptime.StatusUnknown, uptime.ReasonProbeBlind
	rows := []uptime.Result{up(1, "eu", from), down, missed(1, "us", from), blind, up(2, "eu", from.Add(30*time.Second))}
	outside := []uptime.Result{up(1, "eu", from.Add(-time.Millisecond)), up(1, "eu", from.Add(2*time.Minute))}
	insert(t, s, batchOf(rows...), batchOf(lost), batchOf(rows[1:]...), batchOf(outside...))
	to := from.Add(2 * time.Minute)

	type key struct {
		id     int64
		region string
		reason uptime.Reason
	}
	outcomes := map[key][6]uint64{}
	if err := s.Outcomes(t.Context(), from, to, func(id int64, region string, reason uptime.Reason, counts [6]uint64) error {
		outcomes[key{id, region, reason}] = counts
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := map[key][6]uint64{{1, "eu", ""}: {1: 1, 3: 1}, {1, "us", lost.Reason}: {5: 1}, {1, "us", uptime.ReasonProbeBlind}: {4: 1}, {2, "eu", ""}: {1: 1}}
	for k, counts := range want {
		if outcomes[k] != counts {
			t.Errorf("%v: %v, want %v", k, outcomes[k], counts)
		}
	}
	if len(outcomes) != len(want) {
		t.Errorf("outcomes %v", outcomes)
	}

	seen := map[uptime.Slot]int{}
	if err := s.SlotsSeen(t.Context(), from, to, func(slot uptime.Slot) error { seen[slot]++; return nil }); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if seen[r.Slot()] != 1 {
			t.Errorf("slot %v seen %d times", r.Slot(), seen[r.Slot()])
		}
	}
	if len(seen) != len(rows) {
		t.Errorf("slots seen: %v", seen)
	}
	enough := errors.New("enough")
	if err := s.SlotsSeen(t.Context(), from, to, func(uptime.Slot) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("a caller's error came back as %v", err)
	}

	many, err := s.UptimeMany(t.Context(), []int64{1, 2, 3}, from, to)
	if err != nil || len(many) != 2 || many[1] != (Uptime{Up: 1, Down: 1, Unknown: 1, Missed: 1}) || many[2] != (Uptime{Up: 1}) {
		t.Errorf("uptime %+v, %v", many, err)
	}
}

func TestDeleteTargets(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	slot := base()
	for day := range 3 { // parts in several partitions, and a slot with several rows
		at := slot.Add(-time.Duration(day) * 24 * time.Hour)
		insert(t, s, batchOf(up(1, "eu", at), up(2, "eu", at), up(3, "eu", at)), batchOf(up(1, "eu", at)))
	}
	for range 2 {
		if err := s.DeleteTargets(t.Context(), []int64{1, 3}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DeleteTargets(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	many, err := s.UptimeMany(t.Context(), []int64{1, 2, 3}, slot.Add(-72*time.Hour), slot.Add(time.Minute))
	if err != nil || len(many) != 1 || many[2].Up != 3 {
		t.Errorf("left: %+v, %v", many, err)
	}
	current, err := s.Current(t.Context(), nil)
	if err != nil || len(current) != 1 || current[0].TargetID != 2 {
		t.Errorf("current: %+v, %v", current, err)
	}
}

func TestCycles(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	if second, ok, err := s.LastCycle(t.Context()); ok || err != nil {
		t.Fatalf("an empty table has %v, %v", second, err)
	}
	last := base()
	cycles := []Cycle{
		{Second: last.Add(-time.Second), Due: 10, Published: 9, Missed: 1, Seq: 4, Publisher: "a", Took: time.Millisecond},
		{Second: last, Due: 10, Published: 10, Seq: 4, Publisher: "a", Took: time.Millisecond},
	}
	token := uuid.Must(uuid.NewV7()).String()
	for range 2 {
		if err := s.InsertCycles(t.Context(), token, cycles); err != nil {
			t.Fatal(err)
		}
	}
	second, ok, err := s.LastCycle(t.Context())
	if err != nil || !ok || !second.Equal(last) || second.Location() != time.UTC {
		t.Errorf("last %v %v, %v", second, ok, err)
	}
	if got := count(t, s, `SELECT toUInt64(sum(due)) FROM cycles`); got != 20 {
		t.Errorf("due %d", got)
	}
	for from, want := range map[time.Time]Cycled{last.Add(-time.Second): {20, 19, 1}, last: {10, 10, 0}, last.Add(time.Second): {}} {
		if got, err := s.Cycles(t.Context(), from, last.Add(2*time.Second)); err != nil || got != want {
			t.Errorf("cycles from %v: %+v, %v", from, got, err)
		}
	}
	if got, err := s.Cycles(t.Context(), last.Add(-time.Hour), last); err != nil || got.Due != 10 {
		t.Errorf("cycles before the last: %+v, %v", got, err)
	}
	if err := s.InsertCycles(t.Context(), token, []Cycle{{Second: last, Due: -1}}); !IsPermanent(err) {
		t.Errorf("a negative count: %v", err)
	}
}

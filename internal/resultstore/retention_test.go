package resultstore

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
)

func TestRetentionIsWhatTheTablesSay(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	fresh := Retentions{Raw: Retention, Hourly: 730 * day, Daily: 1825 * day}
	if kept, err := s.Kept(t.Context()); err != nil || kept != fresh {
		t.Fatalf("%+v, %v", kept, err)
	}
	old := up(1, "eu", base().Add(-10*day))
	insert(t, s, batchOf(old))
	steps := []struct {
		want    Retentions
		altered []string
		kept    Retentions
	}{
		{Retentions{}, nil, fresh},
		{Retentions{Raw: 7 * day, Hourly: 730 * day}, []string{"prints", "results", "rollup_dirty"}, Retentions{7 * day, 730 * day, 1825 * day}},
		{Retentions{Raw: 7 * day}, nil, Retentions{7 * day, 730 * day, 1825 * day}},
		{Retentions{Hourly: 100 * hour * 24, Daily: 2401 * hour}, []string{"corrections", "rollup_1d", "rollup_1h"}, Retentions{7 * day, 100 * day, 2401 * hour}},
	}
	for _, step := range steps {
		altered, err := s.Keep(t.Context(), step.want)
		slices.Sort(altered)
		if err != nil || !slices.Equal(altered, step.altered) {
			t.Errorf("%+v: altered %v, %v", step.want, altered, err)
		}
		if kept, err := s.Kept(t.Context()); err != nil || kept != step.kept {
			t.Errorf("%+v: %+v, %v", step.want, kept, err)
		}
	}
	// As an installation has it that made the tables later, with what they keep unless they are told.
	for table, age := range map[string]string{"prints": "scheduled_at) + INTERVAL 38 DAY", "rollup_dirty": "dirty_at) + INTERVAL 32 DAY"} {
		if err := s.conn.Exec(t.Context(), "ALTER TABLE "+table+" MODIFY TTL toDateTime("+age); err != nil {
			t.Fatal(err)
		}
	}
	altered, err := s.Keep(t.Context(), Retentions{})
	slices.Sort(altered)
	if err != nil || !slices.Equal(altered, []string{"prints", "rollup_dirty"}) {
		t.Errorf("what goes with results: altered %v, %v", altered, err)
	}
	for name, bad := range map[string]Retentions{
		"hourly shorter than raw":   {Hourly: 3 * day},
		"daily shorter than hourly": {Daily: 90 * day},
		"too short":                 {Raw: hour},
		"not in hours":              {Raw: 3*day + time.Minute},
	} {
		if altered, err := s.Keep(t.Context(), bad); err == nil || altered != nil {
			t.Errorf("%s: altered %v", name, altered)
		}
	}
	for name, one := range map[string]*Store{"who changed it": s, "who comes later": openAt(t, url)} {
		err := one.Insert(t.Context(), batchOf(old))
		if !IsPermanent(err) || !IsTooOld(err) || !strings.Contains(err.Error(), "older than results are kept") {
			t.Errorf("%s: a row of a dropped day: %v", name, err)
		}
		if !one.TooOld(old.ScheduledAt) || one.TooOld(base().Add(-6*day+2*hour)) || one.RawKept() != 7*day {
			t.Errorf("%s: knows of %v", name, one.RawKept())
		}
		if want := time.Now().Add(-2401 * hour).Truncate(day).Add(day); !one.FiguresSince().Equal(want) {
			t.Errorf("%s: figures since %v, want %v", name, one.FiguresSince(), want)
		}
	}
}

// A store that has spoken to nobody yet refuses nothing by the usual retention, and stores
// nothing by it.
func TestRetentionIsReadBeforeAnythingIsStored(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	for _, c := range []struct {
		kept, age time.Duration
		tooOld    bool
	}{{90 * day, 80 * day, false}, {7 * day, 10 * day, true}} {
		if _, err := s.Keep(t.Context(), Retentions{Raw: c.kept}); err != nil {
			t.Fatal(err)
		}
		fresh, err := Connect(url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = fresh.Close() })
		if row := up(1, "eu", base().Add(-c.age)); fresh.TooOld(row.ScheduledAt) {
			t.Errorf("kept for %v: too old before anybody was asked", c.kept)
		} else if err := fresh.Insert(t.Context(), batchOf(row)); IsTooOld(err) != c.tooOld || !c.tooOld && err != nil {
			t.Errorf("kept for %v, %v old: %v", c.kept, c.age, err)
		}
	}
	away, err := Connect("clickhouse://127.0.0.1:1/none")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = away.Close() })
	if err := away.Insert(t.Context(), batchOf(up(1, "eu", base().Add(-80*day)))); !IsTransient(err) {
		t.Errorf("without a server: %v", err)
	}
}

// What was dropped does not come back when results are to be kept for longer. The figures
// made of it stay: no late row may be computed into its hours, nor is it looked for where
// it is not.
func TestResultsThatWereDroppedStayDropped(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	keep := func(raw time.Duration) {
		t.Helper()
		if _, err := s.Keep(t.Context(), Retentions{Raw: raw}); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Now().UTC().Truncate(hour).Add(-10 * day)
	insert(t, s, batchOf(up(1, "eu", at), up(1, "eu", at.Add(time.Minute))))
	recompute(t, s, Rollup{Bucket: at, Version: time.Now()})
	keep(7 * day)
	if err := s.DeleteTargets(t.Context(), []int64{1}, "results"); err != nil { // as the TTL does in its own time
		t.Fatal(err)
	}
	keep(60 * day)
	keep(90 * day)
	for name, one := range map[string]*Store{"who changed it": s, "who comes later": openAt(t, url)} {
		if kept, err := one.Kept(t.Context()); err != nil || kept.Raw > 7*day+time.Minute || kept.Raw < 7*day-time.Minute || one.RawKept() > 7*day+time.Minute {
			t.Errorf("%s: kept are %v, %v, %v", name, kept.Raw, one.RawKept(), err)
		}
		if err := one.Insert(t.Context(), batchOf(up(1, "eu", at.Add(2*time.Minute)))); !IsTooOld(err) {
			t.Errorf("%s: a late row of an hour whose others were dropped: %v", name, err)
		}
		got := cellsOf(t, one, CellQuery{IDs: []int64{1}, From: at, To: at.Add(hour)})[cellSeries{1, "eu"}]
		if len(got) != 1 || got[availability.Span{From: at, To: at.Add(hour)}].Up != 2 {
			t.Errorf("%s: counts %v", name, got)
		}
	}
	for later, want := range map[time.Duration]time.Duration{24 * hour: 8 * day, 200 * day: 90 * day} {
		s.now = func() time.Time { return time.Now().Add(later) }
		if kept, err := s.Kept(t.Context()); err != nil || kept.Raw.Round(time.Hour) != want {
			t.Errorf("%v later: %v, %v", later, kept.Raw, err)
		}
	}
}

// Hours, too: where they were dropped there are days.
func TestHoursThatWereDroppedStayDropped(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := time.Now().UTC().Truncate(day).Add(-10 * day)
	insert(t, s, batchOf(up(1, "eu", at)))
	recompute(t, s, Rollup{Bucket: at, Version: time.Now()})
	if _, err := s.RecomputeDay(t.Context(), Rollup{Bucket: at, Version: time.Now()}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []Retentions{{Raw: 3 * day, Hourly: 5 * day}, {Hourly: 100 * day}} {
		if _, err := s.Keep(t.Context(), want); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DeleteTargets(t.Context(), []int64{1}, "rollup_1h"); err != nil {
		t.Fatal(err)
	}
	if kept, err := s.Kept(t.Context()); err != nil || kept.Raw != 3*day || kept.Hourly.Round(time.Hour) != 5*day {
		t.Errorf("%+v, %v", kept, err)
	}
	q := CellQuery{IDs: []int64{1}, From: at, To: at.Add(2 * day), Cuts: []time.Time{at.Add(90 * time.Minute)}, Whole: true}
	if got := cellsOf(t, s, q)[cellSeries{1, ""}]; got[availability.Span{From: at, To: at.Add(day)}].Up != 1 {
		t.Errorf("counts %v", got)
	}
}

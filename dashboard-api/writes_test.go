package main

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/answercache"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
)

// markedRows is a store by what arrived in it. Its clock is an hour behind.
type markedRows struct {
	marks map[markedHour]time.Time
	err   error
}

func (m *markedRows) clock() time.Time { return time.Now().Add(-time.Hour) }

func (m *markedRows) ServerTime(context.Context) (time.Time, error) { return m.clock(), m.err }

func (m *markedRows) Marks(_ context.Context, back time.Duration) (found []resultstore.Mark, err error) {
	for h, at := range m.marks {
		if at.After(m.clock().Add(-back)) {
			found = append(found, resultstore.Mark{TargetID: h.target, Hour: h.hour, At: at})
		}
	}
	slices.SortFunc(found, func(a, b resultstore.Mark) int { return b.At.Compare(a.At) })
	return found[:min(len(found), resultstore.MaxMarks)], m.err
}

// diary is kept answers about three hours of two targets: "a0" is target 1 in the first hour.
type diary struct {
	*testing.T
	cache *answercache.Cache
	rows  *markedRows
	w     *writes
	first time.Time
}

func newDiary(t *testing.T) *diary {
	d := &diary{T: t, cache: answercache.New(answercache.Options{}), rows: &markedRows{marks: map[markedHour]time.Time{}}, first: time.Now().Truncate(time.Hour).Add(-100 * time.Hour)}
	d.w = newWrites(d.cache, d.rows)
	d.w.rolled(rollupstore.State{}, rollupstore.Standing{})
	d.look()
	d.rollup(d.rows.clock().Add(marksBack + 1)) // what was before the start is settled
	time.Sleep(answercache.Settle)
	d.look()
	return d
}

func (d *diary) hour(n int) time.Time { return d.first.Add(time.Duration(n) * time.Hour) }

func (d *diary) look() {
	d.Helper()
	if err := d.w.look(d.Context()); err != nil {
		d.Fatal(err)
	}
}

func (d *diary) rollup(began time.Time) {
	d.w.rolled(rollupstore.State{Succeeded: began}, d.w.rebuild)
}

// ends says which answers something ended.
func (d *diary) ends(happens func()) (ended string) {
	d.Helper()
	ask := func(asked func(string)) {
		for target, letter := range []string{"a", "b"} {
			for n, digit := range []string{"0", "1", "2"} {
				q := answercache.Question{Key: letter + digit, Targets: []int64{int64(target + 1)}, Span: availability.Span{From: d.hour(n), To: d.hour(n + 1)}}
				if _, err := d.cache.Get(d.Context(), q, func(context.Context) (answercache.Answer, error) {
					asked(q.Key)
					return answercache.Answer{Until: time.Now().Add(time.Hour)}, nil
				}); err != nil {
					d.Fatal(err)
				}
			}
		}
	}
	time.Sleep(answercache.Settle)
	d.w.marks.Beat()
	ask(func(string) {})
	happens()
	ask(func(key string) { ended += key + " " })
	return ended
}

func (d *diary) expect(what, want string, happens func()) {
	d.Helper()
	if got := d.ends(happens); got != want {
		d.Errorf("%s ended %q, want %q", what, got, want)
	}
}

const everything = "a0 a1 a2 b0 b1 b2 "

func TestWhatIsWrittenEndsAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(t)
		d.expect("nothing", "", d.look)
		late := markedHour{1, d.hour(1)}
		d.expect("a late row", "a1 ", func() { d.rows.marks[late] = d.rows.clock(); d.look() })
		d.expect("the same mark, seen again", "", d.look)
		d.expect("another row of the hour", "a1 ", func() { d.rows.marks[late] = d.rows.clock(); d.look() })
		under := rollupstore.State{Succeeded: d.w.run.succeeded, Run: &rollupstore.Run{Version: d.first}}
		d.expect("a run that begins", "a1 ", func() { d.w.rolled(under, d.w.rebuild) })
		d.expect("a run that stands still", "", func() { d.w.rolled(under, d.w.rebuild) })
		under.Run = &rollupstore.Run{Version: d.first, Before: d.hour(2)}
		d.expect("a run that went on", "a1 ", func() { d.w.rolled(under, d.w.rebuild) })
		d.expect("the run of the rollups that began with it", "a1 ", func() { d.rollup(d.rows.clock()) })
		d.expect("no other run", "", func() { d.rollup(d.w.run.succeeded) })
		d.expect("the run that is sure to have it", "a1 ", func() { d.rollup(d.rows.clock().Add(marksBack)) })
		d.expect("the run after that", "", func() { d.rollup(d.rows.clock().Add(2 * marksBack)) })

		rebuild := rollupstore.Standing{From: d.hour(0), To: d.hour(1), Version: d.first, Before: d.hour(1)}
		d.expect("a rebuild that began", "a0 b0 ", func() { d.w.rolled(rollupstore.State{Succeeded: d.w.run.succeeded}, rebuild) })
		d.expect("a rebuild that stands still", "", func() { d.w.rolled(rollupstore.State{Succeeded: d.w.run.succeeded}, rebuild) })
		rebuild.Before = d.hour(0)
		d.expect("a rebuild that went on", "a0 b0 ", func() { d.w.rolled(rollupstore.State{Succeeded: d.w.run.succeeded}, rebuild) })
		next := rollupstore.Standing{From: d.hour(2), To: d.hour(3), Version: d.hour(1)}
		d.expect("another rebuild", "a0 a2 b0 b2 ", func() { d.w.rolled(rollupstore.State{Succeeded: d.w.run.succeeded}, next) })
	})
}

// While nobody can tell what was written, nothing is kept; afterwards all is asked again.
func TestNothingIsKeptWhileWritesAreNotKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(t)
		d.rows.err = errBroken
		if err := d.w.look(t.Context()); err == nil {
			t.Error("a failed look is no failure")
		}
		d.expect("a look that failed", "", func() { _ = d.w.look(t.Context()) })
		d.expect("a store that is away", everything, func() { time.Sleep(marksPatience + 1); _ = d.w.look(t.Context()) })
		d.rows.err = nil
		d.expect("its return", everything, func() { time.Sleep(marksPatience + 1); d.look() })
		// It was away for so long that marks may have been missed: the next run may change anything.
		time.Sleep(marksBack)
		d.w.rolled(rollupstore.State{Succeeded: d.w.run.succeeded}, d.w.rebuild)
		d.look()
		d.expect("the next run", everything, func() { d.rollup(d.rows.clock()) })
		d.expect("the one that is sure to have all", everything, func() { d.rollup(d.rows.clock().Add(marksBack + 2*answercache.Settle)) })
		d.expect("the one after", "", func() { d.rollup(d.rows.clock().Add(time.Hour)) })
	})
}

// Loading millions of rows drops everything instead of remembering each hour of it.
func TestMarksAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(t)
		load := func(n int) {
			for target := range n {
				d.rows.marks[markedHour{int64(100 + target), d.hour(50)}] = d.rows.clock()
			}
		}
		d.expect("a load", everything, func() { load(resultstore.MaxMarks); d.look() })
		clear(d.rows.marks)
		d.expect("a run after a load", everything, func() { d.rollup(d.rows.clock().Add(2 * marksBack)) })
		hours := map[markedHour]time.Time{}
		for target := range mostMarks + 1 {
			hours[markedHour{int64(target), d.hour(50)}] = d.rows.clock()
		}
		d.w.owe(hours, time.Time{})
		if len(d.w.pending) != 0 {
			t.Errorf("%d hours are remembered", len(d.w.pending))
		}
		d.expect("a run after too many hours", everything, func() { d.rollup(d.rows.clock().Add(3 * marksBack)) })
		d.w.owe(map[markedHour]time.Time{{1, d.hour(0)}: d.rows.clock()}, time.Time{})
		d.expect("the run after it", "a0 ", func() { d.rollup(d.rows.clock().Add(4 * marksBack)) })
	})
}

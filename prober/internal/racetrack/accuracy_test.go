package racetrack

import (
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	t.Parallel()
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i))
	}
	for share, want := range map[float64]time.Duration{0: 1, .5: 50, .99: 99, .995: 100, 1: 100} {
		if got := Quantile(hundred, share); got != want {
			t.Errorf("%v of 1 to 100 is %d", share, got)
		}
	}
	if hundred[0] != 100 {
		t.Error("the numbers were sorted where they are")
	}
	if Quantile(nil, .5) != 0 || Quantile([]time.Duration{7}, .01) != 7 {
		t.Error("few numbers")
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	visit := func(total, server int, marked bool) Visit {
		return Visit{time.Duration(total) * time.Microsecond, time.Duration(server) * time.Microsecond, marked}
	}
	idle := []Visit{visit(20_200, 20_000, false), visit(20_250, 20_050, false), visit(20_330, 20_030, false), visit(90_000, 20_000, true)}
	busy := []Visit{
		visit(21_210, 21_000, false), // the server was slow
		visit(20_700, 20_000, false), // the prober was
		visit(20_100, 20_000, false), // quicker than an idle one
		visit(22_201, 20_000, false), // … by just too much
		visit(50_000, 20_000, true),  // it was, and says so
	}
	want := Errors{Results: 5, Marked: 1, Over: 1, IdleP50: 20.25, AddedP50: .2, IdleP99: .1, P50: .1, P99: 2, MarkedP50: 29.8, MarkedP99: 29.8, WholeP50: .45, WholeP99: 1.95}
	if got := ErrorsOf(idle, busy); got != want {
		t.Errorf("%+v", got)
	}
	if got := ErrorsOf(nil, nil); got != (Errors{}) {
		t.Errorf("of nothing: %+v", got)
	}
	if got := ErrorsOf(idle, idle[3:]); got.Results != 1 || got.Marked != 1 || got.P99 != 0 {
		t.Errorf("all marked: %+v", got)
	}
}

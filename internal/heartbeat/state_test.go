package heartbeat_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/heartbeat"
	"github.com/probefleet/probefleet/internal/uptime"
)

// tell runs a heartbeat through pings ("+90s ok", "+2m start", "+3m fail 3") and moments at which
// deadlines are looked at ("+10m ?"), each as time since the beginning, and writes down
// its rows.
func tell(t *testing.T, s *heartbeat.Schedule, began time.Time, gaps []heartbeat.Gap, events ...string) string {
	t.Helper()
	state := s.Begin(began)
	var rows []string
	note := func(r heartbeat.Row) {
		word := r.Status.String()
		if r.Failure != "" || r.Reason != "" {
			word += "(" + string(r.Failure) + string(r.Reason) + ")"
		}
		if r.Took > 0 {
			word += " in " + r.Took.String()
		}
		rows = append(rows, fmt.Sprintf("%v %s", r.At.Sub(began), word))
	}
	for _, event := range events {
		after, what, _ := strings.Cut(event, " ")
		d, err := time.ParseDuration(strings.TrimPrefix(after, "+"))
		if err != nil {
			t.Fatal(err)
		}
		now := began.Add(d)
		for {
			row, next, over := s.Due(state, gaps, now)
			if !over {
				break
			}
			note(row)
			state = next
		}
		if what == "?" {
			continue
		}
		word := strings.TrimPrefix(what, "ok")
		signal, code, ok := heartbeat.Read(word)
		if !ok {
			t.Fatalf("signal %q", what)
		}
		row, next, has := s.Take(state, heartbeat.Ping{At: now, Signal: signal, ExitCode: code})
		if has {
			note(row)
		}
		state = next
	}
	return strings.Join(rows, "; ")
}

func TestPeriod(t *testing.T) {
	t.Parallel()
	s, err := heartbeat.New(uptime.HeartbeatSpec{PeriodS: 600, GraceS: 60}) // 10 minutes, and one
	if err != nil {
		t.Fatal(err)
	}
	began := instant(t, "2026-03-01T12:00:00Z")
	gap := func(from, to time.Duration) []heartbeat.Gap {
		return []heartbeat.Gap{{From: began.Add(from), To: began.Add(to)}}
	}
	for name, c := range map[string]struct {
		gaps   []heartbeat.Gap
		events []string
		want   string
	}{
		"in time":                              {nil, []string{"+5m ok", "+15m ok", "+25m30s ok", "+36m ?"}, "5m0s up; 15m0s up; 25m30s up"},
		"within the grace":                     {nil, []string{"+10m59s ok", "+21m30s ok", "+32m ?"}, "10m59s up; 21m30s up"},
		"at the very deadline it is too late":  {nil, []string{"+11m ?"}, "10m0s down(timeout)"},
		"never":                                {nil, []string{"+10m59.999s ?", "+11m ?", "+31m ?"}, "10m0s down(timeout); 20m0s down(timeout); 30m0s down(timeout)"},
		"late":                                 {nil, []string{"+11m1s ?", "+12m ok", "+22m ok"}, "10m0s down(timeout); 12m0s up; 22m0s up"},
		"late, before the deadline was judged": {nil, []string{"+12m ok", "+22m ok"}, "10m0s down(timeout); 12m0s up; 22m0s up"},
		"looked at again":                      {nil, []string{"+11m ?", "+11m ?", "+11m1s ?"}, "10m0s down(timeout)"},
		"a drifting job is not late":           {nil, []string{"+10m30s ok", "+21m ok", "+31m30s ok", "+42m ok", "+52m30s ok"}, "10m30s up; 21m0s up; 31m30s up; 42m0s up; 52m30s up"},
		"more often than expected":             {nil, []string{"+1m ok", "+2m ok", "+3m ok", "+13m30s ?"}, "1m0s up; 2m0s up; 3m0s up"},
		"it says that it failed":               {nil, []string{"+5m fail", "+15m 3", "+25m 0"}, "5m0s down(reported); 15m0s down(reported); 25m0s up"},
		"start and end":                        {nil, []string{"+5m start", "+7m ok", "+8m ok"}, "7m0s up in 2m0s; 8m0s up"},
		"start and failure":                    {nil, []string{"+5m start", "+6m fail"}, "6m0s down(reported) in 1m0s"},
		"start, and no end":                    {nil, []string{"+9m start", "+11m ?"}, "10m0s down(timeout)"},
		"a log settles nothing":                {nil, []string{"+9m log", "+11m ?"}, "10m0s down(timeout)"},
		"nobody received at the time":          {gap(9*time.Minute+30*time.Second, 30*time.Minute), []string{"+30m ?", "+41m ?"}, "10m0s missed(region_down); 20m0s missed(region_down); 30m0s missed(region_down); 40m0s down(timeout)"},
		"nobody received long before":          {gap(time.Minute, 2*time.Minute), []string{"+11m ?"}, "10m0s down(timeout)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tell(t, s, began, c.gaps, c.events...); got != c.want {
				t.Errorf("\n%s, want\n%s", got, c.want)
			}
		})
	}
}

func TestCronPings(t *testing.T) {
	t.Parallel()
	s := cronOf(t, "0 2 * * *", "") // daily at 02:00, ten minutes of grace
	began := instant(t, "2026-03-01T00:00:00Z")
	gap := func(from, to time.Duration) []heartbeat.Gap {
		return []heartbeat.Gap{{From: began.Add(from), To: began.Add(to)}}
	}
	const night = 2 * time.Hour
	for name, c := range map[string]struct {
		gaps   []heartbeat.Gap
		events []string
		want   string
	}{
		"each night":                    {nil, []string{"+2h5m ok", "+26h1s ok", "+50h9m59s ok"}, "2h5m0s up; 26h0m1s up; 50h9m59s up"},
		"a clock that is ahead":         {nil, []string{"+1h59m30s ok", "+2h11m ?"}, "1h59m30s up"},
		"an hour early counts for none": {nil, []string{"+1h ok", "+2h11m ?"}, "1h0m0s up; 2h0m0s down(timeout)"},
		"twice in a night":              {nil, []string{"+2h1m ok", "+2h2m ok", "+26h11m ?"}, "2h1m0s up; 2h2m0s up; 26h0m0s down(timeout)"},
		"late, then missing":            {nil, []string{"+3h ok", "+26h11m ?"}, "2h0m0s down(timeout); 3h0m0s up; 26h0m0s down(timeout)"},
		"long away":                     {nil, []string{"+75h ?"}, "2h0m0s down(timeout); 26h0m0s down(timeout); 50h0m0s down(timeout); 74h0m0s down(timeout)"},
		"a long run":                    {nil, []string{"+2h start", "+2h9m ok"}, "2h9m0s up in 9m0s"},
		// A ping of then is a row of its own: it could not have been the one of the slot.
		"nobody received before it counts": {gap(night-9*time.Minute, night-2*time.Minute), []string{"+2h11m ?"}, "2h0m0s down(timeout)"},
		"nor up to the minute before":      {gap(night-9*time.Minute, night-time.Minute), []string{"+2h11m ?"}, "2h0m0s down(timeout)"},
		"nobody received in that minute":   {gap(night-9*time.Minute, night-59*time.Second), []string{"+2h11m ?"}, "2h0m0s missed(region_down)"},
		"nobody received in the grace":     {gap(night+9*time.Minute, night+20*time.Minute), []string{"+2h20m ?"}, "2h0m0s missed(region_down)"},
		"nobody received after it":         {gap(night+10*time.Minute, night+20*time.Minute), []string{"+2h20m ?"}, "2h0m0s down(timeout)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tell(t, s, began, c.gaps, c.events...); got != c.want {
				t.Errorf("\n%s, want\n%s", got, c.want)
			}
		})
	}
}

func TestReadSignals(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"": "success 0", "0": "success 0", "start": "start 0", "fail": "fail 0", "log": "log 0", "1": "fail 1", "255": "fail 255"} {
		signal, code, ok := heartbeat.Read(word)
		if got := fmt.Sprint(signal, code); !ok || got != want {
			t.Errorf("%q: %s %v, want %s", word, got, ok, want)
		}
	}
	for _, word := range []string{"256", "-1", "01", "+1", "1.0", "FAIL", "success", "x"} {
		if _, _, ok := heartbeat.Read(word); ok {
			t.Errorf("%q was read", word)
		}
	}
}

// TestLongRun: what a row cannot hold, its message tells.
func TestLongRun(t *testing.T) {
	t.Parallel()
	s := cronOf(t, "0 2 * * *", "")
	at := instant(t, "2026-03-01T02:00:00Z")
	state := heartbeat.State{Expected: at, Started: at.Add(-3 * time.Hour)}
	row, _, _ := s.Take(state, heartbeat.Ping{At: at, Body: "\n  all well\nmore"})
	if row.Took != time.Hour || row.Message != "took 3h0m0s: all well" {
		t.Errorf("%v %q", row.Took, row.Message)
	}
}

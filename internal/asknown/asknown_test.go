package asknown

import (
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/heartbeat"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func rules(regions ...string) verdict.Rules {
	return verdict.Rules{Interval: time.Minute, Timeout: 10 * time.Second, Active: true, Regions: regions}
}

// row is of a slot so many minutes after noon, told a second later.
func row(minute int, region string, status uptime.Status) Row {
	slot := noon().Add(time.Duration(minute) * time.Minute)
	r := Row{Result: uptime.Result{TargetID: 1, Region: region, ScheduledAt: slot, CheckedAt: slot, Status: status, IngestedAt: slot.Add(time.Second)}, Known: true}
	switch status {
	case uptime.StatusDown:
		r.Failure = uptime.FailureConnectTimeout
	case uptime.StatusMissed:
		r.Reason, r.CheckedAt = uptime.ReasonLost, time.Time{}
	}
	return r
}

func told(r Row, at time.Time) Row {
	r.IngestedAt = at
	return r
}

// lost is a slot of which nothing was known.
func lost(minute int, region string) Row {
	slot := noon().Add(time.Duration(minute) * time.Minute)
	return Row{Result: uptime.Result{TargetID: 1, Region: region, ScheduledAt: slot}, LaterAt: slot.Add(time.Hour)}
}

func later(r Row, after time.Duration) Row {
	r.LaterAt = r.ScheduledAt.Add(after)
	return r
}

func TestFold(t *testing.T) {
	t.Parallel()
	at := noon().Add(10*time.Minute + 30*time.Second)
	open := &Incident{State: verdict.StateDown, Since: noon().Add(5 * time.Minute), Why: "Down in 2 of 2 regions."}
	for name, c := range map[string]struct {
		rows     []Row
		rules    func(*verdict.Rules)
		around   verdict.Conditions
		incident *Incident
		state    verdict.State
		since    time.Time
		decided  bool
		lost     bool
	}{
		"nothing is no data":                {state: verdict.StateNoData},
		"fresh and good":                    {rows: []Row{row(9, "eu", uptime.StatusUp), row(10, "eu", uptime.StatusUp)}, state: verdict.StateUp},
		"stale is never up":                 {rows: []Row{row(1, "eu", uptime.StatusUp)}, state: verdict.StateNoData, since: noon().Add(3*time.Minute + 10*time.Second)},
		"what came later does not count":    {rows: []Row{row(9, "eu", uptime.StatusUp), told(row(10, "eu", uptime.StatusDown), at.Add(time.Second))}, state: verdict.StateUp},
		"what came at the instant does":     {rows: []Row{row(9, "eu", uptime.StatusUp), told(row(10, "eu", uptime.StatusDown), at)}, state: verdict.StateDown, since: noon().Add(10 * time.Minute)},
		"missed is no evidence":             {rows: []Row{row(9, "eu", uptime.StatusUp), row(10, "eu", uptime.StatusMissed)}, state: verdict.StateUp},
		"others' regions do not count":      {rows: []Row{row(10, "ap", uptime.StatusDown), row(10, "eu", uptime.StatusUp)}, state: verdict.StateUp},
		"paused":                            {rows: []Row{row(10, "eu", uptime.StatusUp)}, rules: func(r *verdict.Rules) { r.Active = false }, state: verdict.StatePaused, since: noon()},
		"maintained":                        {rows: []Row{row(10, "eu", uptime.StatusDown)}, around: verdict.Conditions{Maintenance: []verdict.Span{{From: noon().Add(8 * time.Minute), To: noon().Add(time.Hour)}}}, state: verdict.StateMaintenance, since: noon().Add(8 * time.Minute)},
		"blind regions are not believed":    {rows: []Row{row(10, "eu", uptime.StatusDown), row(10, "us", uptime.StatusUp)}, around: verdict.Conditions{Blind: []verdict.Blindness{{Region: "eu", Span: verdict.Span{From: noon()}}}}, state: verdict.StateUp, since: noon().Add(10 * time.Minute)},
		"two in a row, one came":            {rows: []Row{row(9, "eu", uptime.StatusUp), row(10, "eu", uptime.StatusDown)}, rules: func(r *verdict.Rules) { r.Policy.DownAfter = 2 }, state: verdict.StateUp},
		"two in a row":                      {rows: []Row{row(8, "eu", uptime.StatusUp), row(9, "eu", uptime.StatusDown), row(10, "eu", uptime.StatusDown)}, rules: func(r *verdict.Rules) { r.Policy.DownAfter = 2 }, state: verdict.StateDown, since: noon().Add(9 * time.Minute)},
		"lost rows: the decision stands":    {rows: []Row{row(9, "eu", uptime.StatusUp), lost(10, "eu")}, incident: open, state: verdict.StateDown, since: noon().Add(5 * time.Minute), decided: true, lost: true},
		"lost rows, and nothing is fresh":   {rows: []Row{row(1, "eu", uptime.StatusUp), lost(10, "eu")}, incident: open, state: verdict.StateNoData, since: noon().Add(3*time.Minute + 10*time.Second), lost: true},
		"lost rows, and nothing was open":   {rows: []Row{row(9, "eu", uptime.StatusUp), lost(10, "eu")}, state: verdict.StateUp, lost: true},
		"lost rows of others' regions":      {rows: []Row{row(9, "eu", uptime.StatusUp), lost(10, "ap")}, incident: open, state: verdict.StateUp},
		"on their way are not lost":         {rows: []Row{row(9, "eu", uptime.StatusUp), later(lost(10, "eu"), 80*time.Second)}, incident: open, state: verdict.StateUp},
		"too late to have been on its way":  {rows: []Row{row(9, "eu", uptime.StatusUp), later(lost(10, "eu"), 80*time.Second+time.Millisecond)}, incident: open, state: verdict.StateDown, since: noon().Add(5 * time.Minute), decided: true, lost: true},
		"to be swept is not lost":           {rows: []Row{row(9, "eu", uptime.StatusUp), told(row(10, "eu", uptime.StatusMissed), noon().Add(9*time.Minute))}, incident: open, state: verdict.StateUp},
		"counting, and decided":             {rows: []Row{row(9, "eu", uptime.StatusUp), row(10, "eu", uptime.StatusUp)}, rules: func(r *verdict.Rules) { r.Policy.UpAfter = 9 }, incident: open, state: verdict.StateDown, since: noon().Add(5 * time.Minute), decided: true},
		"counting, decided, nothing fresh":  {rows: []Row{row(1, "eu", uptime.StatusUp)}, rules: func(r *verdict.Rules) { r.Policy.UpAfter = 9 }, incident: open, state: verdict.StateNoData, since: noon().Add(3*time.Minute + 10*time.Second)},
		"nothing lost: results say it":      {rows: []Row{row(9, "eu", uptime.StatusUp), row(10, "eu", uptime.StatusUp)}, incident: open, state: verdict.StateUp},
		"old rows are lost, new ones there": {rows: []Row{lost(2, "eu"), row(10, "eu", uptime.StatusUp)}, incident: open, state: verdict.StateUp},
		"down for longer than rows tell":    {rows: []Row{row(9, "eu", uptime.StatusDown), row(10, "eu", uptime.StatusDown)}, incident: open, state: verdict.StateDown, since: noon().Add(5 * time.Minute)},
	} {
		p := Past{At: at, TargetID: 1, Kind: uptime.KindHTTP, Rules: rules("eu", "us"), Around: c.around, Rows: c.rows, Incident: c.incident, PausedAt: noon()}
		if c.rules != nil {
			c.rules(&p.Rules)
		}
		got := Fold(p)
		if got.State != c.state || !got.Since.Equal(c.since) || got.Decided != c.decided || got.Lost != c.lost {
			t.Errorf("%s: %s since %v (%s), decided %v, lost %v; want %s since %v", name, got.State, got.Since, got.Why, got.Decided, got.Lost, c.state, c.since)
		}
	}
}

func TestSweptSlotsAreKnownFromWhenTheyCouldHaveBeen(t *testing.T) {
	t.Parallel()
	if sweptAfter != ledger.DefaultSettle {
		t.Errorf("a sweep comes %v after expiry, not %v", ledger.DefaultSettle, sweptAfter)
	}
	swept := told(row(0, "eu", uptime.StatusMissed), noon().Add(-time.Minute)) // as a sweep dates it
	earliest := noon().Add(time.Minute + sweptAfter)
	for at, known := range map[time.Time]bool{earliest.Add(-time.Millisecond): false, earliest: true} {
		got := Fold(Past{At: at, Rules: rules("eu"), Rows: []Row{swept}}).Slots[0][0]
		if got.Known != known || known && !got.IngestedAt.Equal(earliest) || !known && (!got.LaterAt.Equal(earliest) || got.Reason != "") {
			t.Errorf("at %v: %+v", at, got)
		}
	}
}

func TestSlotsAreTheNewestInOrder(t *testing.T) {
	t.Parallel()
	var rows []Row
	for minute := range 100 {
		rows = append(rows, row(minute, "us", uptime.StatusUp), row(minute, "eu", uptime.StatusUp))
	}
	late := told(row(99, "eu", uptime.StatusDown), noon().Add(3*time.Hour))
	rows[len(rows)-1] = late
	got := Fold(Past{At: noon().Add(2 * time.Hour), Rules: rules("eu", "us"), Rows: rows})
	if len(got.Slots) != MostSlots || !got.Slots[0][0].ScheduledAt.Equal(noon().Add(10*time.Minute)) {
		t.Fatalf("%d slots from %v", len(got.Slots), got.Slots[0][0].ScheduledAt)
	}
	last := got.Slots[MostSlots-1]
	if last[0].Region != "eu" || last[0].Known || last[0].Failure != "" || !last[0].LaterAt.Equal(late.IngestedAt) || !last[1].Known {
		t.Errorf("last slot: %+v", last)
	}
	if len(got.Regions) != 2 || !got.Regions[0].ScheduledAt.Equal(noon().Add(98*time.Minute)) || strings.Contains(got.Why, "Down") {
		t.Errorf("regions: %+v, %s", got.Regions, got.Why)
	}
}

// What a heartbeat owed is dated before its slot, and was known once its grace was over.
func TestAHeartbeatIsOverdueAfterItsGrace(t *testing.T) {
	t.Parallel()
	schedule, err := heartbeat.New(uptime.HeartbeatSpec{PeriodS: 300, GraceS: 600})
	if err != nil {
		t.Fatal(err)
	}
	ping := row(0, uptime.RegionPush, uptime.StatusUp)
	deadline := schedule.Deadline(schedule.Begin(noon()))
	for gap, status := range map[bool]uptime.Status{false: uptime.StatusDown, true: uptime.StatusMissed} {
		var gaps []heartbeat.Gap
		if gap {
			gaps = []heartbeat.Gap{{From: deadline.Add(-time.Minute), To: deadline}}
		}
		due, _, is := schedule.Due(schedule.Begin(noon()), gaps, deadline)
		if !is || due.Status != status {
			t.Fatalf("%+v", due)
		}
		owed := Row{Result: uptime.Result{TargetID: 1, Region: uptime.RegionPush, ScheduledAt: due.At, CheckedAt: due.At, Status: due.Status, Failure: due.Failure, Reason: due.Reason, IngestedAt: due.Noted}, Known: true}
		for at, known := range map[time.Time]bool{due.At: false, deadline.Add(-time.Millisecond): false, deadline: true} {
			p := Past{At: at, Kind: uptime.KindHeartbeat, Grace: schedule.Grace, Rows: []Row{ping, owed}, Rules: verdict.Rules{Interval: 5 * time.Minute, Timeout: 10*time.Second + schedule.Grace, Active: true, Regions: []string{uptime.RegionPush}}}
			got, want := Fold(p), verdict.StateUp
			if known && status == uptime.StatusDown {
				want = verdict.StateDown
			}
			if r := got.Slots[1][0]; got.State != want || got.Lost || r.Known != known || known && !r.IngestedAt.Equal(deadline) || !known && !r.LaterAt.Equal(deadline) {
				t.Errorf("%s at %v: %s, %+v", status, at, got.State, r)
			}
		}
	}
}

// At the edge of what was read regions come in one by one: since when is not known from that.
func TestSinceBeforeWhatWasRead(t *testing.T) {
	t.Parallel()
	p := Past{At: noon().Add(10*time.Minute + 30*time.Second), From: noon(), Rules: rules("eu", "us")}
	for minute := range 11 {
		p.Rows = append(p.Rows, row(minute, "eu", uptime.StatusDown), told(row(minute, "us", uptime.StatusUp), noon().Add(time.Duration(minute)*time.Minute+2*time.Second)))
	}
	if got := Fold(p); got.State != verdict.StateDegraded || !got.Since.IsZero() {
		t.Errorf("%s since %v", got.State, got.Since)
	}
	p.From = noon().Add(-time.Hour)
	if got := Fold(p); !got.Since.Equal(noon()) {
		t.Errorf("since %v", got.Since)
	}
}

// What regions saw that were asked to look again counts from when they had answered.
func TestLooksCount(t *testing.T) {
	t.Parallel()
	seen := uptime.Look{Region: "us", CheckedAt: noon().Add(2 * time.Second), TotalUS: 1_000_000, Status: uptime.StatusDown, Failure: uptime.FailureConnectTimeout}
	other := seen
	other.Region = "ap" // does not check it
	rows := []Row{row(0, "eu", uptime.StatusDown), row(-1, "us", uptime.StatusUp)}
	for at, state := range map[time.Duration]verdict.State{2 * time.Second: verdict.StateDegraded, 3 * time.Second: verdict.StateDown} {
		got := Fold(Past{At: noon().Add(at), Rules: rules("eu", "us"), Rows: rows, Looks: []uptime.Look{seen, other}})
		if got.State != state {
			t.Errorf("after %v: %s (%s)", at, got.State, got.Why)
		}
		if us := got.Regions[1]; len(got.Regions) != 2 || (us.Status == uptime.StatusDown) != (state == verdict.StateDown) || state == verdict.StateDown && (!us.ScheduledAt.Equal(seen.CheckedAt) || !us.IngestedAt.Equal(noon().Add(at)) || us.TotalUS != seen.TotalUS) {
			t.Errorf("after %v: %+v", at, got.Regions)
		}
	}
}

package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func seen(region string, status uptime.Status, age time.Duration) Observation {
	o := Observation{Region: region, Status: status, ScheduledAt: noon.Add(-age)}
	if status == uptime.StatusDown {
		o.Failure, o.HTTPStatus = uptime.FailureStatusCode, 503
	}
	return o
}

func TestFold(t *testing.T) {
	t.Parallel()
	const up, down, degraded = uptime.StatusUp, uptime.StatusDown, uptime.StatusDegraded
	rules := Rules{Interval: time.Minute, Timeout: 10 * time.Second, Active: true, Regions: []string{"eu", "us"}}
	paused := rules
	paused.Active = false
	for name, c := range map[string]struct {
		rules Rules
		obs   []Observation
		want  State
		why   string
	}{
		"all up":                      {rules, []Observation{seen("eu", up, 0), seen("us", up, 0)}, StateUp, "Up in 2 of 2 regions."},
		"all down":                    {rules, []Observation{seen("eu", down, 0), seen("us", down, 0)}, StateDown, "Down in 2 of 2 regions: eu status 503, us status 503."},
		"half is no majority":         {rules, []Observation{seen("eu", down, 0), seen("us", up, 0)}, StateDegraded, "Down in 1 of 2 regions: eu status 503."},
		"a degraded region":           {rules, []Observation{seen("eu", degraded, 0), seen("us", up, 0)}, StateDegraded, "Degraded in 1 of 2"},
		"stale up is not up":          {rules, []Observation{seen("eu", up, 131*time.Second), seen("us", up, 131*time.Second)}, StateNoData, "No data: the last result is of 2026-03-01 11:57:49 UTC; silent: eu, us."},
		"fresh to the last instant":   {rules, []Observation{seen("eu", up, 130*time.Second)}, StateUp, "silent: us"},
		"stale down does not outvote": {rules, []Observation{seen("eu", down, time.Hour), seen("us", up, 0)}, StateUp, "Up in 1 of 1 region; silent: eu."},
		"never seen":                  {rules, nil, StateNoData, "No data yet from eu, us."},
		"no region":                   {Rules{Interval: time.Minute, Active: true}, nil, StateNoData, "no region"},
		"paused":                      {paused, []Observation{seen("eu", down, 0)}, StatePaused, "Paused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Fold(c.rules, Conditions{}, c.obs, Verdict{}, noon)
			if v.State != c.want || !strings.Contains(v.Why, c.why) {
				t.Errorf("got %s: %s", v.State, v.Why)
			}
		})
	}
}

func TestCausesAreWords(t *testing.T) {
	t.Parallel()
	down := seen("eu", uptime.StatusDown, 0)
	down.Failure = uptime.FailureBody
	v := Fold(Rules{Interval: time.Minute, Active: true, Regions: []string{"eu"}}, Conditions{}, []Observation{down}, Verdict{}, noon)
	if v.Why != "Down in 1 of 1 region: eu body not as expected." {
		t.Error(v.Why)
	}
}

func TestSinceIsTheFirstFailingSlot(t *testing.T) {
	t.Parallel()
	rules := Rules{Interval: time.Minute, Timeout: time.Second, Active: true, Regions: []string{"eu", "us"}}
	v := Fold(rules, Conditions{}, []Observation{seen("eu", uptime.StatusUp, 0), seen("us", uptime.StatusUp, 0)}, Verdict{State: StateNoData}, noon)
	v = Fold(rules, Conditions{}, []Observation{seen("eu", uptime.StatusDown, 30*time.Second), seen("us", uptime.StatusDown, 20*time.Second)}, v, noon)
	if v.State != StateDown || !v.Since.Equal(noon.Add(-30*time.Second)) {
		t.Fatalf("down since %v", v.Since)
	}
	later := Fold(rules, Conditions{}, []Observation{seen("eu", uptime.StatusDown, -time.Minute), seen("us", uptime.StatusDown, -time.Minute)}, v, noon.Add(time.Minute))
	if !later.Since.Equal(v.Since) {
		t.Fatalf("since moved to %v", later.Since)
	}
	silent := Fold(rules, Conditions{}, []Observation{seen("eu", uptime.StatusDown, 0)}, v, noon.Add(time.Hour))
	if silent.State != StateNoData || !silent.Since.Equal(noon.Add(2*time.Minute+time.Second)) {
		t.Fatalf("no data since %v", silent.Since)
	}
}

package httpapi

import (
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/heartbeat"
	"github.com/probefleet/probefleet/internal/spec"
	"github.com/probefleet/probefleet/internal/uptime"
)

// heartbeatURL is the url that was given or, of a new heartbeat without one, that by its
// name.
func (m *merger) heartbeatURL(in TargetInput) *string {
	if in.URL != nil || m.target.URL != "" || in.Kind == nil || *in.Kind != string(uptime.KindHeartbeat) {
		return in.URL
	}
	if in.Name == nil || strings.TrimSpace(*in.Name) == "" {
		m.mistake("/name", codeRequired, "a heartbeat without a url needs a name")
	}
	name := ""
	if in.Name != nil {
		name = *in.Name
	}
	text := spec.HeartbeatURL(name)
	return &text
}

// heartbeat settles what a heartbeat has instead of an interval and regions. A target that
// was one and is none any more gets the defaults.
func (m *merger) heartbeat(in TargetInput) {
	t := m.target
	if m.judgedKind != uptime.KindHeartbeat {
		if m.judgedKind != "" && t.Interval > uptime.MaxInterval {
			t.Interval = uptime.DefaultInterval
		}
		return
	}
	for pointer, given := range map[string]bool{"/interval_s": in.IntervalS != nil, "/timeout_ms": in.TimeoutMS != nil, "/regions": len(in.Regions) > 0} {
		if given {
			m.mistake(pointer, spec.CodeNotOfKind, "nothing is visited for a heartbeat: say when it is to ping with heartbeat.period_s or heartbeat.cron, and heartbeat.grace_s")
		}
	}
	t.Regions = nil
	if m.same {
		t.Interval, t.Timeout = m.before.Interval, m.before.Timeout
		return
	}
	if t.Spec.Heartbeat == nil || len(m.found) > 0 {
		return
	}
	schedule, err := heartbeat.New(*t.Spec.Heartbeat)
	if err != nil { // it was judged: only the machine's table of time zones can have changed
		m.mistake("/heartbeat", spec.CodeUnknownValue, "this cannot be read here")
		return
	}
	t.Interval = schedule.Longest(m.around.now)
	t.Timeout = uptime.DefaultTimeout(t.Interval).Truncate(time.Millisecond)
}

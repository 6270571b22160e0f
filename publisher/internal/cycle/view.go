package cycle

import (
	"context"
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/service"
)

// fullFor is how long after a refusal the stream counts as full.
const fullFor = 10 * time.Second

// View is what the loop lets others see: complete after each pass, never changed.
type View struct {
	Leader  bool
	Tick    int64 // last complete second
	Lag     int64 // seconds that are due and not complete
	Seq     int64 // schedule sequence
	Targets int
	Regions []string         // active
	Retired map[string]int64 // since when
	Passed  time.Time        // end of the pass, own clock
	clock   redisClock
	outage  [2]int64
}

// now is Redis' time.
func (v *View) now() time.Time { return v.clock.now() }

// published is the instant before which every slot was published or stated as missed; zero
// until Redis has been asked.
func (v *View) published() time.Time {
	if v.Tick == 0 {
		return time.Time{}
	}
	return time.Unix(v.Tick+1, 0)
}

// inOutage says whether a stretch touches the last time Redis was unusable.
func (v *View) inOutage(from, to time.Time) bool {
	return v.outage[0] > 0 && from.Unix() <= v.outage[1] && to.Unix() >= v.outage[0]
}

// tell publishes the view and what follows from it: metrics and health.
func (l *Loop) tell(clock checkstream.Clock) {
	v := &View{Leader: l.Lease.Held(), Tick: max(clock.Tick, l.tick), Seq: l.known, Passed: time.Now(), clock: l.clock, outage: l.outage.over}
	if l.outage.since > 0 {
		v.outage = [2]int64{l.outage.since, l.clock.second()}
	}
	v.Lag = max(0, l.clock.second()+1-v.Tick)
	rate := 0.0
	if l.wheel != nil {
		v.Targets, v.Regions, v.Retired, rate = l.wheel.Targets(), l.wheel.Regions(), l.wheel.Retired(), l.wheel.Rate()
	}
	l.view.Store(v)

	l.metrics.leader.Set(0)
	if v.Leader {
		l.metrics.leader.Set(1)
	}
	l.metrics.lag.Set(float64(v.Lag))
	l.metrics.seq.Set(float64(v.Seq))
	l.metrics.targets.Set(float64(v.Targets))
	l.metrics.rate.Set(rate)
	l.metrics.backlog.Set(float64(clock.Backlog))
	l.metrics.scheduleAge.Set(l.feed.age().Seconds())

	if v.Leader && !l.fullAt.IsZero() && time.Since(l.fullAt) < fullFor {
		l.Health.Set("stream", service.Degraded, "full: probers do not keep up, and new checks are stated as missed(backpressure)")
	} else {
		l.Health.Set("stream", service.OK, "")
	}
	switch {
	case !v.Leader || v.Lag <= 5:
		l.Health.Set("publishing", service.OK, "")
	case v.Lag <= 60:
		l.Health.Set("publishing", service.Degraded, fmt.Sprintf("catching up, %d s behind", v.Lag))
	default:
		l.Health.Set("publishing", service.Error, fmt.Sprintf("%d s behind", v.Lag))
	}
}

// facts are the fields of /healthz. They are taken from the last view, so they
// tell of a loop that hangs as well.
func (l *Loop) facts() {
	l.Health.Fact("publisher", func() any {
		v := l.view.Load()
		age := -1.0
		if !v.Passed.IsZero() {
			age = time.Since(v.Passed).Seconds()
		}
		return map[string]any{
			"leader": v.Leader, "last_tick": time.Unix(v.Tick, 0).UTC(), "lag_s": v.Lag, "last_pass_age_s": age,
			"schedule_seq": v.Seq, "targets": v.Targets, "regions": v.Regions, "schedule_age_s": l.feed.age().Seconds(),
		}
	})
}

// hung says that no pass has ended for long: every call in it has a limit, so
// this is a defect or a frozen machine.
const hung = 30 * time.Second

func (l *Loop) checkAlive(context.Context) {
	if age := time.Since(l.view.Load().Passed); !l.view.Load().Passed.IsZero() && age > hung {
		l.Health.Set("loop", service.Error, fmt.Sprintf("no pass has ended for %v", age.Round(time.Second)))
		return
	}
	l.Health.Set("loop", service.OK, "")
}

func unhealthy(fatal bool) service.Level {
	if fatal {
		return service.Error
	}
	return service.Degraded
}

package jobs

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	queued    = jobstore.Queued
	running   = jobstore.InProgress
	completed = jobstore.Completed
	retryable = jobstore.FailedRetryable
	permanent = jobstore.FailedPermanent
)

// TestWhatAJobComesTo has one way for each kind of answer.
func TestWhatAJobComesTo(t *testing.T) {
	t.Parallel()
	always := func(look uptime.Look) func(checkstream.Visit) (uptime.Look, bool) {
		return func(checkstream.Visit) (uptime.Look, bool) { return look, true }
	}
	invalid := unmeasured(uptime.ReasonInternal)
	invalid.Invalid = true
	for name, c := range map[string]struct {
		answer  func(checkstream.Visit) (uptime.Look, bool)
		states  []jobstore.State
		retries int
		visits  int
		err     string
	}{
		"up":                {always(measured(uptime.StatusUp)), []jobstore.State{queued, running, completed}, 0, 2, ""},
		"down is an answer": {always(measured(uptime.StatusDown)), []jobstore.State{queued, running, completed}, 0, 2, ""},
		"blocked":           {always(unmeasured(uptime.ReasonBlockedAddress)), []jobstore.State{queued, running, permanent}, 0, 2, "eu: because of blocked_address; us: because of blocked_address"},
		"redirect blocked":  {always(unmeasured(uptime.ReasonRedirectBlocked)), []jobstore.State{queued, running, permanent}, 0, 2, "eu: because of redirect_blocked"},
		"invalid":           {always(invalid), []jobstore.State{queued, running, permanent}, 0, 2, "eu: because of internal"},
		"never measured": {always(unmeasured(uptime.ReasonProbeDNS)),
			[]jobstore.State{queued, running, retryable, running, retryable, running, retryable, running, permanent}, 3, 8, "gave up after 3 retries; eu: because of probe_dns"},
		"nobody answers": {func(checkstream.Visit) (uptime.Look, bool) { return uptime.Look{}, false },
			[]jobstore.State{queued, running, retryable, running, retryable, running, retryable, running, permanent}, 3, 8, "gave up after 3 retries; eu: no prober answered in time; us: no prober answered in time"},
		"measured at the second attempt": {func(v checkstream.Visit) (uptime.Look, bool) {
			if v.Attempt == 1 {
				return unmeasured(uptime.ReasonFrozen), true
			}
			return measured(uptime.StatusUp), true
		}, []jobstore.State{queued, running, retryable, running, completed}, 1, 4, ""},
		"only what is missing is repeated": {func(v checkstream.Visit) (uptime.Look, bool) {
			return measured(uptime.StatusUp), v.Region == "eu" || v.Attempt == 3
		}, []jobstore.State{queued, running, retryable, running, retryable, running, completed}, 2, 4, ""},
		"one region never": {func(v checkstream.Visit) (uptime.Look, bool) { return measured(uptime.StatusUp), v.Region == "eu" },
			[]jobstore.State{queued, running, retryable, running, retryable, running, retryable, running, completed}, 3, 5, "us: no prober answered in time"},
		"one region blocked": {func(v checkstream.Visit) (uptime.Look, bool) {
			if v.Region == "eu" {
				return unmeasured(uptime.ReasonBlockedAddress), true
			}
			return measured(uptime.StatusDegraded), true
		}, []jobstore.State{queued, running, completed}, 0, 2, "eu: because of blocked_address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, c.answer)
				start := time.Now()
				j := r.accept()
				if j.State != queued || !slices.Equal(j.Regions, []string{"eu", "us"}) || !j.CreatedAt.Equal(start) {
					t.Errorf("accepted as %+v", j)
				}
				time.Sleep(10 * time.Minute)
				got := r.get(j.ID)
				if states := r.states(j.ID); !slices.Equal(states, c.states) || got.State != c.states[len(c.states)-1] {
					t.Errorf("went %v, is %v", states, got.State)
				}
				if got.RetryCount != c.retries || len(r.lane.visits()) != c.visits || len(got.Looks) != 2 || !got.NextAttemptAt.IsZero() || got.LastAttemptAt.Before(start) {
					t.Errorf("%d visits: %+v", len(r.lane.visits()), got)
				}
				if !strings.HasPrefix(got.Error, c.err) || c.err == "" && got.Error != "" {
					t.Errorf("error %q", got.Error)
				}
				if r.held() != 0 || r.evidence != 0 {
					t.Errorf("%v jobs and %d bytes stay in memory", r.held(), r.evidence)
				}
			})
		})
	}
}

// TestPausesGrow: between the attempts, and only there.
func TestPausesGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(checkstream.Visit) (uptime.Look, bool) { return unmeasured(uptime.ReasonInternal), true })
		j := r.accept("eu")
		var at []time.Time
		for attempt := 0; len(at) < 4; {
			time.Sleep(50 * time.Millisecond)
			if n := len(r.lane.visits()); n > attempt {
				attempt = n
				at = append(at, time.Now())
			}
		}
		for i, base := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second} {
			if gap := at[i+1].Sub(at[i]) - r.lane.takes; gap < base/2 || gap > base*3/2+100*time.Millisecond {
				t.Errorf("pause %d is %v", i, gap)
			}
		}
		time.Sleep(time.Minute)
		if got := r.get(j.ID); got.State != permanent {
			t.Errorf("%v", got.State)
		}
	})
}

// TestAnswersThatAreFast: an outcome may overtake the reply to the call that asked for it.
func TestAnswersThatAreFast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(checkstream.Visit) (uptime.Look, bool) { return measured(uptime.StatusUp), true })
		r.lane.takes = 0
		for range 20 {
			j := r.accept()
			synctest.Wait()
			if states := r.states(j.ID); !slices.Equal(states, []jobstore.State{queued, running, completed}) {
				t.Fatalf("%v", states)
			}
		}
	})
}

// TestStrayAnswersChangeNothing: of other jobs, attempts and regions, and repetitions.
func TestStrayAnswersChangeNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(checkstream.Visit) (uptime.Look, bool) { return uptime.Look{}, false })
		j := r.accept("eu", "us")
		synctest.Wait()
		say := func(job, region string, attempt int, status uptime.Status) {
			look := measured(status)
			look.Region, look.Attempt = region, attempt
			r.lane.tell(checkstream.VisitOutcome{Job: job, Look: look, Size: 10})
			synctest.Wait()
		}
		say("other", "eu", 1, uptime.StatusUp)
		say(j.ID, "eu", 2, uptime.StatusUp)
		say(j.ID, "asia", 1, uptime.StatusUp)
		if got := r.get(j.ID); len(got.Looks) != 0 || got.State != running {
			t.Fatalf("%+v", got)
		}
		say(j.ID, "eu", 1, uptime.StatusUp)
		say(j.ID, "eu", 1, uptime.StatusDown)
		if got := r.get(j.ID); len(got.Looks) != 1 || got.Looks[0].Status != uptime.StatusUp || got.State != running {
			t.Fatalf("%+v", got)
		}
		say(j.ID, "us", 1, uptime.StatusDown)
		say(j.ID, "us", 1, uptime.StatusUp)
		time.Sleep(time.Second)
		if got := r.get(j.ID); got.State != completed || got.Looks[1].Status != uptime.StatusDown {
			t.Fatalf("%+v", got)
		}
	})
}

func TestJobsWaitForRedis(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(checkstream.Visit) (uptime.Look, bool) { return measured(uptime.StatusUp), true })
		for _, err := range []error{errAway, checkstream.ErrLaneFull} {
			r.lane.fail(err)
			j := r.accept()
			time.Sleep(20 * time.Minute)
			if got := r.get(j.ID); got.State != queued || got.RetryCount != 0 {
				t.Fatalf("%v: %+v", err, got)
			}
			r.lane.fail(nil)
			time.Sleep(10 * time.Second)
			if got := r.get(j.ID); got.State != completed || got.RetryCount != 0 {
				t.Fatalf("%v: %+v", err, got)
			}
		}
		r.lane.fail(checkstream.ErrVisit)
		j := r.accept()
		time.Sleep(time.Second)
		if got := r.get(j.ID); got.State != permanent || got.Error == "" {
			t.Errorf("what can never be asked: %+v", got)
		}
	})
}

func TestJobWithoutRegions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(checkstream.Visit) (uptime.Look, bool) { return measured(uptime.StatusUp), true })
		r.regions = nil
		j := r.accept()
		time.Sleep(time.Second)
		if got := r.get(j.ID); got.State != retryable || !strings.Contains(got.Error, "no region") {
			t.Fatalf("%+v", got)
		}
		r.mu.Lock()
		r.regions = []string{"eu"}
		r.mu.Unlock()
		time.Sleep(10 * time.Second)
		if got := r.get(j.ID); got.State != completed || !slices.Equal(got.Regions, []string{"eu"}) || got.RetryCount != 1 {
			t.Errorf("%+v", got)
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(checkstream.Visit) (uptime.Look, bool) { return measured(uptime.StatusUp), true })
		r.lane.fail(errAway)
		preview := request()
		preview.TargetID = 7
		for range previewRoom {
			if _, err := r.Accept(preview); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.Accept(preview); !errors.Is(err, ErrFull) {
			t.Errorf("previews take all the room: %v", err)
		}
		for range Capacity - previewRoom {
			r.accept()
		}
		if _, err := r.Accept(request()); !errors.Is(err, ErrFull) {
			t.Fatalf("%v", err)
		}
		time.Sleep(time.Minute)
		r.lane.fail(nil)
		time.Sleep(time.Minute)
		r.accept()
		// What has ended and cannot be written takes room, too.
		r.store.fail(errAway)
		for range Capacity - 1 {
			r.accept()
		}
		time.Sleep(time.Minute)
		if _, err := r.Accept(request()); !errors.Is(err, ErrFull) {
			t.Errorf("%v", err)
		}
		r.store.fail(nil)
		time.Sleep(time.Minute)
		r.accept()
	})
}

func TestEvidenceInMemoryIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(checkstream.Visit) (uptime.Look, bool) { return uptime.Look{}, false })
		r.store.fail(errAway)
		var ids []string
		for range 3 {
			j := r.accept("eu")
			synctest.Wait()
			look := measured(uptime.StatusUp)
			look.Region, look.Attempt = "eu", 1
			r.lane.tell(checkstream.VisitOutcome{Job: j.ID, Look: look, Size: maxEvidence/2 - 1})
			synctest.Wait()
			ids = append(ids, j.ID)
		}
		for i, id := range ids {
			if got := r.get(id); got.State != completed || (got.Looks[0].Evidence != nil) != (i < 2) {
				t.Errorf("job %d: %+v", i, got)
			}
		}
	})
}

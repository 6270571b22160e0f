package jobs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	answerSlack = 5 * time.Second // for the way there and back
	firstRetry  = 2 * time.Second // doubled with each
	maxError    = 500             // bytes
)

// entry is a job in memory: its states, and nothing that talks to anybody.
type entry struct {
	job      jobstore.Job
	attempt  int             // the one that is prepared or under way
	waiting  map[string]bool // regions that have not answered in it
	deadline time.Time       // of their answers, once they were asked
	evidence int             // bytes
	version  int             // rises with every change
	written  int             // the version the store has
}

// settled says whether a region needs no further attempt.
func settled(look uptime.Look) bool {
	switch {
	case look.Status.Measured(), look.Invalid:
		return true
	}
	return look.Reason == uptime.ReasonBlockedAddress || look.Reason == uptime.ReasonRedirectBlocked
}

// due says when the job wants its next attempt; false: not by itself.
func (e *entry) due() (time.Time, bool) {
	switch e.job.State {
	case jobstore.Queued:
		return e.job.CreatedAt, true
	case jobstore.FailedRetryable:
		return e.job.NextAttemptAt, true
	}
	return time.Time{}, false
}

// prepare makes the visits of the next attempt: in the regions that are not settled.
func (e *entry) prepare() []checkstream.Visit {
	e.attempt = 1
	if e.job.State == jobstore.FailedRetryable {
		e.attempt = e.job.RetryCount + 2
	}
	e.waiting = map[string]bool{}
	var visits []checkstream.Visit
	for _, region := range e.job.Regions {
		if i := e.lookAt(region); i >= 0 && settled(e.job.Looks[i]) {
			continue
		}
		e.waiting[region] = true
		visits = append(visits, checkstream.Visit{
			Job: e.job.ID, Attempt: e.attempt, Region: region, Kind: e.job.Kind, URL: e.job.URL, Timeout: e.job.Timeout, Spec: e.job.Spec,
		})
	}
	return visits
}

// begin is called when the prepared attempt was asked for.
func (e *entry) begin(now time.Time) {
	if e.job.State == jobstore.FailedRetryable {
		e.job.RetryCount++
	}
	e.job.State, e.job.LastAttemptAt, e.job.NextAttemptAt = jobstore.InProgress, now, time.Time{}
	e.deadline = now.Add(checkstream.VisitTTL + e.job.Timeout + answerSlack)
	e.touch(now)
}

// awaits says whether an answer belongs to the attempt under way, or to the one that is
// being asked for: its call may be on the way back still.
func (e *entry) awaits(look uptime.Look) bool {
	return !e.job.State.Final() && e.attempt == look.Attempt && e.waiting[look.Region]
}

// take notes what a region saw, and ends the attempt with the last one.
func (e *entry) take(look uptime.Look, now time.Time) {
	if e.job.State != jobstore.InProgress {
		e.begin(now)
	}
	delete(e.waiting, look.Region)
	e.put(look)
	e.touch(now)
	if len(e.waiting) == 0 {
		e.settle(now)
	}
}

// expire ends an attempt whose answers are overdue, and says whether it did.
func (e *entry) expire(now time.Time) bool {
	if e.job.State != jobstore.InProgress || now.Before(e.deadline) {
		return false
	}
	for region := range e.waiting {
		e.put(uptime.Look{Region: region, Attempt: e.attempt, Status: uptime.StatusMissed, Reason: uptime.ReasonRegionDown, Message: "no prober answered in time"})
	}
	e.waiting = nil
	e.settle(now)
	return true
}

// settle decides what follows from the looks there are.
func (e *entry) settle(now time.Time) {
	e.touch(now)
	measured, open := 0, len(e.job.Regions) == 0
	var wrong []string
	for _, region := range e.job.Regions {
		i := e.lookAt(region)
		if i < 0 {
			open = true
			continue
		}
		look := e.job.Looks[i]
		open = open || !settled(look)
		if look.Status.Measured() {
			measured++
			continue
		}
		wrong = append(wrong, region+": "+look.Message)
	}
	e.job.Error = cut(strings.Join(wrong, "; "))
	switch {
	case open:
		e.again(now)
	case measured > 0:
		e.end(jobstore.Completed)
	default:
		e.end(jobstore.FailedPermanent)
	}
}

// again plans another attempt, or ends the job when there were enough.
func (e *entry) again(now time.Time) {
	if e.job.RetryCount < Retries {
		e.job.State, e.job.NextAttemptAt = jobstore.FailedRetryable, now.Add(backOff(e.job.RetryCount))
		return
	}
	if slices.ContainsFunc(e.job.Looks, func(l uptime.Look) bool { return l.Status.Measured() }) {
		e.end(jobstore.Completed)
		return
	}
	e.job.Error = cut(fmt.Sprintf("gave up after %d retries; %s", Retries, e.job.Error))
	e.end(jobstore.FailedPermanent)
}

// fail ends an attempt that came to nothing for a reason of ours.
func (e *entry) fail(now time.Time, message string) {
	e.touch(now)
	e.waiting, e.job.Error = nil, message
	e.again(now)
}

// refuse ends a job that can never be asked for.
func (e *entry) refuse(now time.Time, message string) {
	e.touch(now)
	e.waiting, e.job.Error = nil, message
	e.end(jobstore.FailedPermanent)
}

func (e *entry) end(state jobstore.State) {
	e.job.State, e.job.NextAttemptAt = state, time.Time{}
}

// touch makes the time of the last change rise, so that readers of the table see each.
func (e *entry) touch(now time.Time) {
	if !now.After(e.job.UpdatedAt) {
		now = e.job.UpdatedAt.Add(time.Millisecond)
	}
	e.job.UpdatedAt = now
}

// put replaces the look of a region. The list is copied: readers have the old one.
func (e *entry) put(look uptime.Look) {
	looks := slices.Clone(e.job.Looks)
	if i := e.lookAt(look.Region); i >= 0 {
		looks[i] = look
	} else {
		looks = append(looks, look)
	}
	slices.SortFunc(looks, func(a, b uptime.Look) int { return strings.Compare(a.Region, b.Region) })
	e.job.Looks = looks
}

func (e *entry) lookAt(region string) int {
	return slices.IndexFunc(e.job.Looks, func(l uptime.Look) bool { return l.Region == region })
}

// backOff grows with each retry, and differs so that jobs do not come back all at once.
func backOff(retries int) time.Duration {
	base := firstRetry << retries
	return base/2 + rand.N(base)
}

func cut(text string) string {
	if len(text) <= maxError {
		return text
	}
	end := maxError - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

package probe

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/assertion"
	"github.com/probefleet/probefleet/internal/uptime"
)

// askedToWait says who asked to be left alone and for how long: the server that ended the
// visit with 429 (RFC 6585 §4), if that is not what the target is expected to answer.
func askedToWait(s *sighting, bad trouble, verdict assertion.Verdict) (url string, pause time.Duration) {
	if s.Status != http.StatusTooManyRequests || !rejectsStatus(bad, verdict) {
		return "", 0
	}
	return s.hops[len(s.hops)-1].URL, retryAfter(s.Header.Get("Retry-After"), time.Now())
}

func rejectsStatus(bad trouble, verdict assertion.Verdict) bool {
	for _, f := range verdict.Failed {
		if f.Failure == uptime.FailureStatusCode {
			return true
		}
	}
	return bad.failure == uptime.FailureStatusCode
}

// retryAfter reads the header of RFC 9110 §10.2.3: seconds, or a date. What is neither,
// or past, is 0.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

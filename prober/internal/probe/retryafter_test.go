package probe

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"120":                           2 * time.Minute,
		" 7 ":                           7 * time.Second,
		"0":                             0,
		"-5":                            0,
		"1.5":                           0,
		"soon":                          0,
		"99999999999999999999":          0,
		"Wed, 01 Jul 2026 12:03:00 GMT": 3 * time.Minute,
		"Wed, 01 Jul 2026 11:59:00 GMT": 0,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

// busy answers a status with Retry-After.
type busy struct {
	status int
	visits int
	wait   string
}

func (b *busy) visit(_ context.Context, s *sighting) trouble {
	b.visits++
	s.hop("http://example.com/")
	s.hop("https://www.example.com/")
	s.Status, s.Header = b.status, http.Header{"Retry-After": {b.wait}}
	return trouble{}
}

func (*busy) command() string { return "" }

func TestBusyHostIsHeardUnlessItIsExpected(t *testing.T) {
	t.Parallel()
	asserting := func(severity uptime.Severity, status string) uptime.Spec {
		return uptime.Spec{Assertions: []uptime.Assertion{{Source: "status", Op: "in", Value: status, Severity: severity}}}
	}
	cases := []struct {
		name   string
		status int
		spec   uptime.Spec
		want   time.Duration
		visits int
	}{
		{"429", 429, uptime.Spec{}, time.Minute, 1},
		{"another status", 503, uptime.Spec{}, 0, 2},
		{"429 is expected", 429, uptime.Spec{Expect: uptime.Expect{Status: []uptime.StatusRange{{From: 200, To: 499}}}}, 0, 1},
		{"429 degrades", 429, asserting(uptime.SeverityDegrade, "200-299"), time.Minute, 1},
		{"429 is asserted", 429, asserting(uptime.SeverityFail, "200-499"), 0, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := &busy{status: c.status, wait: "60"}
				e := newEngine(options(nil), with(b))
				check := checkOf("http://example.com/")
				check.Spec = c.spec.Text()
				o := checked(t.Context(), e, check)
				if o.RetryAfter != c.want || c.want > 0 && o.AnsweredBy != "https://www.example.com/" || b.visits != c.visits {
					t.Errorf("%+v after %d visits", o, b.visits)
				}
			})
		})
	}
}

package probe

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Caps of an HTTP visit.
const (
	maxRedirects = 5
	maxHeaders   = 64 << 10
	maxBody      = 256 << 10 // nothing looks at the body yet: reading stops here
	maxInterim   = 5         // 1xx answers before the real one
)

// httpChecker visits http and https URLs: HTTP/1.1, a fresh connection for every
// hop, no proxy, no cookies, no compression asked for.
type httpChecker struct {
	dialer *dialer
	roots  *x509.CertPool
	agent  string
	visits sync.Pool
}

func newHTTPChecker(o Options) *httpChecker {
	return &httpChecker{
		dialer: newDialer(o),
		roots:  o.Roots,
		agent:  "Probefleet/" + strings.TrimPrefix(o.Version, "v") + " (+https://probefleet.example/bot)",
		visits: sync.Pool{New: func() any { return newVisit() }},
	}
}

// Check implements Checker.
func (h *httpChecker) Check(ctx context.Context, check uptime.Check) Outcome {
	at, err := parseTarget(check.URL)
	if err != nil {
		return unmeasured(uptime.ReasonInternal, cleanMessage("this URL cannot be visited: "+err.Error()))
	}
	start := time.Now()
	v := h.visits.Get().(*visit)
	defer h.visits.Put(v)
	v.begin(h, start.Add(check.Timeout))
	ctx, cancel := context.WithDeadline(ctx, v.deadline)
	defer cancel()

	follow := followsRedirects(check.Expect)
	for redirects := 0; ; redirects++ {
		next, bad := v.hop(ctx, at, follow)
		if !bad.none() {
			return v.outcome(start, atRedirect(bad, redirects))
		}
		if next == nil {
			return v.outcome(start, judge(check.Expect, v.status))
		}
		if redirects == maxRedirects {
			return v.outcome(start, failed(uptime.FailureRedirectLimit, fmt.Sprintf("more than %d redirects", maxRedirects)))
		}
		if at, err = next, checkScheme(next); err != nil {
			return v.outcome(start, unknown(uptime.ReasonRedirectBlocked, "redirect to a scheme other than http and https"))
		}
	}
}

// atRedirect renames a blocked address that a redirect led to.
func atRedirect(bad trouble, redirects int) trouble {
	if bad.reason == uptime.ReasonBlockedAddress && redirects > 0 {
		return unknown(uptime.ReasonRedirectBlocked, "redirect to a host whose "+guard.ErrBlocked.Error())
	}
	return bad
}

// followsRedirects is false for a target that expects redirects and nothing else.
func followsRedirects(expect uptime.Expect) bool {
	for _, r := range expect.Status {
		if r.From < 300 || r.To > 399 {
			return true
		}
	}
	return len(expect.Status) == 0
}

func judge(expect uptime.Expect, code int) trouble {
	if expect.Accepts(code) {
		return trouble{}
	}
	text := strings.TrimSpace(fmt.Sprint(code, " ", http.StatusText(code)))
	wanted := make([]string, len(expect.Status))
	for i, r := range expect.Status {
		wanted[i] = r.String()
	}
	if len(wanted) == 0 {
		wanted = []string{"200-399"}
	}
	return failed(uptime.FailureStatusCode, "answered "+text+", expected "+strings.Join(wanted, ", "))
}

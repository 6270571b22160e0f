package probe

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// answerOf makes a sighting of an answer.
func answerOf(at time.Time, url, certificate string, headers http.Header) *sighting {
	s := &sighting{hops: []uptime.Hop{{URL: url}}}
	s.At, s.Header = at, headers
	if certificate != "" {
		s.chain = []*x509.Certificate{{Raw: []byte(certificate)}}
	}
	return s
}

const anURL = "https://a.example/"

// Only what seldom changes makes a print, and only when it differs from the last.
func TestPrintOnlyOfChanges(t *testing.T) {
	t.Parallel()
	headers := func(pairs ...string) http.Header {
		h := http.Header{"Server": {"nginx"}, "Cache-Control": {"max-age=60"}, "Content-Security-Policy": {"script-src 'nonce-abc'"}, "Date": {"today"}}
		for i := 0; i < len(pairs); i += 2 {
			h[pairs[i]] = []string{pairs[i+1]}
		}
		return h
	}
	p, at := &plan{url: anURL}, time.Unix(1_800_000_000, 0)
	first := answerOf(at, anURL, "one", headers()).print(p)
	if first == nil || first.URL != anURL || first.Certificate == nil || first.Unsteady != uptime.Steady ||
		!slices.Equal(first.Headers, []uptime.Header{{Name: "Cache-Control", Value: "max-age=60"}, {Name: "Content-Security-Policy", Value: "script-src 'nonce-abc'"}, {Name: "Server", Value: "nginx"}}) {
		t.Fatalf("%+v", first)
	}
	long := strings.Repeat("x", uptime.MaxEvidenceValue)
	for _, step := range []struct {
		what string
		s    *sighting
		new  bool
	}{
		{"the same", answerOf(at, anURL, "one", headers()), false},
		{"what changes from answer to answer", answerOf(at, anURL, "one", headers("Date", "tomorrow", "Cache-Control", "max-age=59", "Content-Security-Policy", "script-src 'nonce-xyz1'", "Etag", "x", "Set-Cookie", "a=b", "Via", "1.1 node7")), false},
		{"a certificate", answerOf(at, anURL, "two", headers()), true},
		{"and the same", answerOf(at, anURL, "two", headers()), false},
		{"a redirect", answerOf(at, anURL+"in", "two", headers()), true},
		{"a header", answerOf(at, anURL+"in", "two", headers("Server", "caddy")), true},
		{"another header", answerOf(at, anURL+"in", "two", headers("Server", "caddy", "X-Powered-By", "x")), true},
		{"a long header", answerOf(at, anURL+"in", "two", headers("Server", long+"a")), true},
		{"beyond what is stored of it", answerOf(at, anURL+"in", "two", headers("Server", long+"b")), false},
		{"no headers", answerOf(at, anURL+"in", "two", http.Header{}), true},
		{"no TLS", answerOf(at, anURL+"in", "", http.Header{}), true},
		{"neither", answerOf(at, anURL+"in", "", nil), false},
	} {
		if got := step.s.print(p); (got != nil) != step.new {
			t.Errorf("%s: %+v", step.what, got)
		}
	}
	if got := answerOf(at, anURL, "", nil).print(&plan{}); got != nil {
		t.Errorf("of a visit that sees nothing of the kind: %+v", got)
	}
	if got := answerOf(at, anURL, "one", nil).print(&plan{}); got == nil || got.Certificate == nil || got.URL != "" {
		t.Errorf("of a handshake: %+v", got)
	}
}

// What is stored is dropped in the end, so it is stored again each week, and for each target at another time.
func TestPrintIsRepeatedEachWeek(t *testing.T) {
	t.Parallel()
	begins := map[time.Duration]bool{}
	for _, url := range []string{"https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"} {
		p, at := &plan{url: url}, time.Unix(1_800_000_000, 0)
		var stored []time.Time
		for end := at.Add(5 * printAgain); at.Before(end); at = at.Add(time.Hour) {
			if answerOf(at, url, "one", nil).print(p) != nil {
				stored = append(stored, at)
			}
		}
		// At first, and at five ends of its weeks; the last of them may come within the hour after the last visit.
		if len(stored) < 5 || len(stored) > 6 || at.Sub(stored[len(stored)-1]) > printAgain+time.Hour {
			t.Fatalf("stored %d times in five weeks, last %v before their end", len(stored), at.Sub(stored[len(stored)-1]))
		}
		for i := 2; i < len(stored); i++ {
			if gap := stored[i].Sub(stored[i-1]); (gap - printAgain).Abs() > time.Hour {
				t.Errorf("stored again after %v", gap)
			}
		}
		begins[stored[1].Sub(stored[0])] = true
	}
	if len(begins) < 2 {
		t.Error("all targets at the same time")
	}
}

// A target whose answers differ all the time costs few rows, and what is left out is said.
func TestPrintsOfWhatIsUnsteadyAreFew(t *testing.T) {
	t.Parallel()
	p, at := &plan{url: anURL}, time.Unix(1_800_000_000, 0)
	var stored []uptime.Print
	visit := func(url, certificate, server string) {
		if got := answerOf(at, url, certificate, http.Header{"Server": {server}}).print(p); got != nil {
			stored = append(stored, *got)
		}
	}
	for i := range 100 {
		visit(anURL, "one", string(rune('a'+i)))
	}
	if last := stored[len(stored)-1]; len(stored) != printsUntil+1 || last.Unsteady != uptime.UnsteadyHeaders || last.Headers != nil || last.URL != anURL || last.Certificate == nil {
		t.Fatalf("%d prints, the last %+v", len(stored), last)
	}
	visit(anURL, "two", "x")
	if len(stored) != printsUntil+2 {
		t.Error("another certificate is not seen any more")
	}
	for i := range 100 {
		visit(anURL+string(rune('a'+i)), "one", "x")
	}
	if last := stored[len(stored)-1]; last.Unsteady != uptime.UnsteadyURL || last.URL != "" || last.Certificate == nil {
		t.Errorf("%+v", last)
	}
	for i := range 100 {
		visit(anURL, string(rune('a'+i)), "x")
	}
	if last := stored[len(stored)-1]; last.Unsteady != uptime.UnsteadyAll || last.Certificate != nil || len(stored) != 3*printsUntil+1 {
		t.Errorf("%d prints, the last %+v", len(stored), last)
	}
	at = at.Add(printAgain)
	visit(anURL, "one", "x")
	if last := stored[len(stored)-1]; last.Unsteady != uptime.Steady || len(last.Headers) != 1 {
		t.Errorf("a week later: %+v", last)
	}
}

// However a site flaps, a week has a bounded number of prints, and seven days at most those of two: also
// where prints are lost and made again, and visits in between are not up.
func TestPrintsOfAFlappingSiteAreBounded(t *testing.T) {
	t.Parallel()
	p, at := &plan{url: anURL}, time.Unix(1_800_000_000, 0)
	weeks, stored := map[uint64]int{}, []time.Time{}
	for i := range 4 * 7 * 24 * 60 { // four weeks, every minute
		at = at.Add(time.Minute)
		if i%3 == 1 {
			continue // down: there is evidence
		}
		name := strconv.Itoa(i)
		s := answerOf(at, anURL+name, name, http.Header{"Server": {name}})
		if s.print(p) != nil {
			weeks[s.week(p)]++
			stored = append(stored, at)
		}
		if i%5 == 0 {
			p.printed.forget()
		}
	}
	most := 0
	for i := range stored {
		n := 0
		for _, other := range stored[i:] {
			if other.Sub(stored[i]) < printAgain {
				n++
			}
		}
		most = max(most, n)
	}
	if len(weeks) != 5 || most > 2*printsMost {
		t.Errorf("%v, %d in seven days", weeks, most)
	}
	for week, n := range weeks {
		if n > printsMost {
			t.Errorf("week %d: %d prints", week, n)
		}
	}
}

// What every check pays allocates nothing.
func TestPrintOfTheSameAllocatesNothing(t *testing.T) {
	p := &plan{url: anURL}
	s := answerOf(time.Unix(1_800_000_000, 0), anURL, "one", http.Header{"Server": {"nginx"}, "Cache-Control": {"max-age=60, public"}, "Content-Security-Policy": {"'nonce-a'"}})
	if s.print(p) == nil {
		t.Fatal("no print")
	}
	if n := testing.AllocsPerRun(100, func() { s.print(p) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Of a check that is up there is a print, of one that is not there is evidence; what was not
// measured after all is made again.
func TestPrintsOfChecks(t *testing.T) {
	t.Parallel()
	broken := false
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case broken:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/":
			http.Redirect(w, r, "/in?token=canary", http.StatusFound)
		default:
			w.Header().Set("Server", "nginx")
		}
	}))
	defer server.Close()
	e := New(options(nil, func(o *Options) {
		o.Roots = x509.NewCertPool()
		o.Roots.AddCert(server.Certificate())
	}))
	check := checkOf(server.URL + "/")
	check.Interval = 0 // no second look
	o := checked(t.Context(), e, check)
	if o.Status != uptime.StatusUp || o.Evidence != nil || o.Print == nil || o.Print.URL != server.URL+"/in?token=…" || o.Print.Certificate == nil || o.Print.Certificate.SHA256 == "" {
		t.Fatalf("%+v %+v", o, o.Print)
	}
	if o := checked(t.Context(), e, check); o.Status != uptime.StatusUp || o.Print != nil {
		t.Errorf("again: %+v %+v", o, o.Print)
	}
	broken = true
	if o := checked(t.Context(), e, check); o.Status != uptime.StatusDown || o.Print != nil || o.Evidence == nil {
		t.Errorf("down: %+v", o)
	}
	broken = false
	e.freeze.thawed.Store(int64(time.Hour))
	if o := checked(t.Context(), e, check); o.Reason != uptime.ReasonFrozen || o.Print != nil {
		t.Errorf("frozen: %+v", o)
	}
	e.freeze.thawed.Store(-1)
	if o := checked(t.Context(), e, check); o.Status != uptime.StatusUp || o.Print == nil {
		t.Errorf("after a freeze, which may have had it: %+v", o)
	}
	if o := e.Look(t.Context(), check); o.Print != nil || o.Evidence == nil {
		t.Errorf("of a look that is not recorded: %+v", o)
	}
}

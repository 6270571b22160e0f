package assertion

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

func compile(t testing.TB, list ...uptime.Assertion) *Set {
	t.Helper()
	set, err := Compile(list)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A text that was cut decides what its first part decides, and nothing else passes.
func TestCutTextNeverPassesUndecided(t *testing.T) {
	t.Parallel()
	const seen = "start abc" // and more that was not read
	sha := strings.Repeat("0", 64)
	cases := []struct {
		source uptime.Source
		name   string
		op     uptime.Op
		value  string
		want   outcome
	}{
		{"body", "", "contains", "abc", passed},
		{"body", "", "contains", "abcd", undecided},
		{"body", "", "not_contains", "abc", failed},
		{"body", "", "not_contains", "xyz", undecided},
		{"body", "", "equals", "start abc", failed},
		{"body", "", "equals", "start abc and more", undecided},
		{"body", "", "equals", "stop abc and more", failed},
		{"body", "", "not_equals", "start", passed},
		{"body", "", "not_equals", "start abc and more", undecided},
		{"body", "", "matches", "a.c", passed},
		{"body", "", "matches", "^start", passed},
		{"body", "", "matches", `\bstart\b`, passed},
		{"body", "", "matches", `abc\b`, undecided},
		{"body", "", "matches", `abc$`, undecided},
		{"body", "", "matches", "xyz", undecided},
		{"body", "", "not_matches", "a.c", failed},
		{"body", "", "not_matches", `abc$`, undecided},
		{"body", "", "not_matches", `abc\B`, undecided},
		{"body", "", "not_matches", "xyz", undecided},
		{"body_hash", "", "equals", sha, undecided},
		{"body_hash", "", "not_equals", sha, undecided},
		{"body_size", "", "lt", "9", failed},
		{"body_size", "", "lt", "10", undecided},
		{"body_size", "", "lte", "9", failed},
		{"body_size", "", "gt", "9", passed},
		{"body_size", "", "gt", "10", undecided},
		{"body_size", "", "gte", "9", passed},
		{"body_size", "", "equals", "9", failed},
		{"body_size", "", "equals", "10", undecided},
		{"body_size", "", "not_equals", "9", passed},
		{"body_size", "", "not_equals", "10", undecided},
		{"json", "$.a", "exists", "", undecided},
		{"json", "$.a", "absent", "", undecided},
		{"json", "$.a", "not_equals", "b", undecided},
		{"received", "", "contains", "abc", passed},
		{"received", "", "not_contains", "xyz", undecided},
		{"received", "", "exists", "", passed},
		{"received", "", "absent", "", failed},
	}
	for _, c := range cases {
		a := uptime.Assertion{Source: c.source, Name: c.name, Op: c.op, Value: c.value}
		v := compile(t, a).Evaluate(&Observation{Body: []byte(seen), BodyCut: true, Received: []byte(seen), ReceivedCut: true})
		got := passed
		if len(v.Failed) > 0 {
			if got = failed; v.First().Undecided {
				got = undecided
			}
		}
		if got != c.want {
			t.Errorf("%s %s %q: outcome %d, want %d", c.source, c.op, c.value, got, c.want)
		}
		if got == undecided && (v.First().Failure != uptime.FailureTooLarge || v.Status() != uptime.StatusDown || !strings.Contains(v.First().Message, "undecided, as no more than 9 bytes were read; want it ")) {
			t.Errorf("%s %s %q: %s, %s, %q", c.source, c.op, c.value, v.Status(), v.First().Failure, v.First().Message)
		}
	}
}

// The first part of a rune is not a character of the text.
func TestCutRuneMatchesNothing(t *testing.T) {
	t.Parallel()
	o := &Observation{Body: []byte("caf\xc3"), BodyCut: true} // café
	for _, pattern := range []string{`caf[^é]`, "caf\ufffd", `caf.`} {
		v := compile(t, uptime.Assertion{Source: "body", Op: "matches", Value: pattern}).Evaluate(o)
		if !v.First().Undecided {
			t.Errorf("%s: %+v", pattern, v)
		}
	}
	if text := wholeRunes([]byte("é\xff\xff\xff\xff\xff")); len(text) != 7 {
		t.Errorf("%q: what is no rune was dropped", text)
	}
}

func TestFailuresNameTheirSource(t *testing.T) {
	t.Parallel()
	want := map[uptime.Source]uptime.Failure{
		"status": "status_code", "header": "header", "body": "body", "json": "body", "body_size": "body", "body_hash": "body",
		"latency": "latency", "phase": "latency", "certificate_days": "tls_other", "redirect": "header", "protocol": "protocol",
		"tls_version": "tls_other", "dns": "dns", "rcode": "dns", "address": "dns", "received": "body",
	}
	for _, g := range golden {
		v := compile(t, uptime.Assertion{Source: g.source, Name: g.name, Op: g.op, Value: g.value}).Evaluate(see(g.source, g.name, g.fails))
		wanted := want[g.source]
		if g.source == "certificate_days" && g.fails == "-1s" {
			wanted = uptime.FailureTLSExpired
		}
		if v.First().Failure != wanted {
			t.Errorf("%s: failure %q, want %q", g.source, v.First().Failure, wanted)
		}
	}
}

func TestVerdictIsTheWorst(t *testing.T) {
	t.Parallel()
	slow := uptime.Assertion{Source: "latency", Op: "lt", Value: "1", Severity: "degrade"}
	wrong := uptime.Assertion{Source: "status", Op: "equals", Value: "200"}
	gone := uptime.Assertion{Source: "body", Op: "contains", Value: "x", Severity: "fail"}
	good := uptime.Assertion{Source: "status", Op: "lt", Value: "599"}
	cases := []struct {
		list   []uptime.Assertion
		status uptime.Status
		first  int
		failed []int
	}{
		{nil, uptime.StatusUp, 0, nil},
		{[]uptime.Assertion{good}, uptime.StatusUp, 0, nil},
		{[]uptime.Assertion{good, slow}, uptime.StatusDegraded, 1, []int{1}},
		{[]uptime.Assertion{slow, good, wrong, gone}, uptime.StatusDown, 2, []int{0, 2, 3}},
		{[]uptime.Assertion{wrong, slow}, uptime.StatusDown, 0, []int{0, 1}},
	}
	for i, c := range cases {
		v := compile(t, c.list...).Evaluate(&Observation{Status: 500, TotalUS: 5000})
		var failed []int
		for _, f := range v.Failed {
			failed = append(failed, f.Index)
		}
		if v.Status() != c.status || v.First().Index != c.first || fmt.Sprint(failed) != fmt.Sprint(c.failed) {
			t.Errorf("case %d: %s, first %d, failed %v", i, v.Status(), v.First().Index, failed)
		}
	}
}

func TestSetSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	cases := []struct {
		assertion     uptime.Assertion
		body, headers bool
		limit         int
		status        bool
	}{
		{uptime.Assertion{Source: "latency", Op: "lt", Value: "5"}, false, false, LeastBody, false},
		{uptime.Assertion{Source: "header", Name: "a", Op: "exists"}, false, true, LeastBody, false},
		{uptime.Assertion{Source: "status", Op: "lt", Value: "400"}, false, false, LeastBody, true},
		{uptime.Assertion{Source: "body", Op: "contains", Value: "5"}, true, false, MostBody, false},
		{uptime.Assertion{Source: "json", Name: "$", Op: "exists"}, true, false, MostBody, false},
		{uptime.Assertion{Source: "body_hash", Op: "equals", Value: sumOfAbc}, true, false, MostBody, false},
		{uptime.Assertion{Source: "body_size", Op: "lt", Value: "5"}, false, false, MostBody, false},
	}
	for _, c := range cases {
		s := compile(t, c.assertion)
		if s.NeedsBody() != c.body || s.NeedsHeaders() != c.headers || s.BodyLimit() != c.limit || s.JudgesStatus() != c.status || s.Len() != 1 {
			t.Errorf("%+v: body %v, headers %v, limit %d, status %v", c.assertion, s.NeedsBody(), s.NeedsHeaders(), s.BodyLimit(), s.JudgesStatus())
		}
	}
}

func TestRedirectsAreNotFollowedWhenNothingElseWillDo(t *testing.T) {
	t.Parallel()
	cases := []struct {
		op, value string
		want      bool
	}{
		{"in", "301,302", true}, {"equals", "308", true}, {"in", "200-399", false}, {"not_in", "100-299,400-599", true},
		{"equals", "200", false}, {"not_equals", "500", false},
	}
	for _, c := range cases {
		s := compile(t, uptime.Assertion{Source: "status", Op: uptime.Op(c.op), Value: c.value})
		if s.WantsOnlyRedirects() != c.want {
			t.Errorf("status %s %s: %v", c.op, c.value, s.WantsOnlyRedirects())
		}
	}
	both := compile(t, uptime.Assertion{Source: "status", Op: "lt", Value: "400"}, uptime.Assertion{Source: "status", Op: "gte", Value: "300"})
	never := compile(t, uptime.Assertion{Source: "status", Op: "lt", Value: "200"}, uptime.Assertion{Source: "status", Op: "gte", Value: "300"})
	if !both.WantsOnlyRedirects() || never.WantsOnlyRedirects() || compile(t).WantsOnlyRedirects() {
		t.Error("several assertions, contradictions or none")
	}
}

func mixed() []uptime.Assertion {
	return []uptime.Assertion{
		{Source: "status", Op: "in", Value: "200-299,301"},
		{Source: "latency", Op: "lt", Value: "500", Severity: "degrade"},
		{Source: "phase", Name: "wait", Op: "lte", Value: "400"},
		{Source: "header", Name: "content-type", Op: "contains", Value: "json"},
		{Source: "header", Name: "x-cache", Op: "matches", Value: "^(hit|miss)"},
		{Source: "certificate_days", Op: "gt", Value: "14"},
		{Source: "tls_version", Op: "gte", Value: "1.2"},
		{Source: "address", Op: "in", Value: "192.0.2.0/24"},
	}
}

func answer() *Observation {
	return &Observation{
		At: visitedAt, Status: 200, TotalUS: 120_000, Phases: uptime.Phases{Wait: 90_000}, CertNotAfter: visitedAt.Add(30 * 24 * time.Hour), TLSVersion: 0x0304,
		Header:  http.Header{"Content-Type": {"application/json; charset=utf-8"}, "X-Cache": {"hit"}},
		Address: netip.MustParseAddr("192.0.2.7"), Body: []byte(`{"status":"ok","items":[{"id":1,"tags":["a","b"]},{"id":2}]}`),
	}
}

// What a prober does for every check that is up must not make garbage. Patterns are
// left out: regexp takes its machines from a sync.Pool, which the race detector makes
// forgetful on purpose.
func TestPassingWithoutBodyRulesAllocatesNothing(t *testing.T) {
	list := slices.DeleteFunc(mixed(), func(a uptime.Assertion) bool { return a.Op == "matches" })
	set, o := compile(t, list...), answer()
	if allocs := testing.AllocsPerRun(100, func() {
		if v := set.Evaluate(o); v.Severity != "" {
			t.Fatalf("%+v", v)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestSetIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	list := append(mixed(),
		uptime.Assertion{Source: "json", Name: "$.items[?@.id==2].x", Op: "exists"},
		uptime.Assertion{Source: "json", Name: "$.items[-1].id", Op: "gt", Value: "1"},
		uptime.Assertion{Source: "body", Op: "not_matches", Value: `"o.?k`})
	set, o := compile(t, list...), answer()
	want := fmt.Sprint(set.Evaluate(o))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if got := fmt.Sprint(set.Evaluate(o)); got != want {
					t.Errorf("got %s, want %s", got, want)
					return
				}
			}
		})
	}
	group.Wait()
}

func BenchmarkEvaluate(b *testing.B) {
	cases := map[string][]uptime.Assertion{
		"status_latency_header": {mixed()[0], mixed()[1], mixed()[3]},
		"eight_without_body":    mixed(),
		"json":                  {{Source: "json", Name: "$.items[1].id", Op: "equals", Value: "2"}},
		"body_contains":         {{Source: "body", Op: "contains", Value: `"ok"`}},
	}
	for name, list := range cases {
		b.Run(name, func(b *testing.B) {
			set, o := compile(b, list...), answer()
			b.ReportAllocs()
			for b.Loop() {
				if v := set.Evaluate(o); v.Severity != "" {
					b.Fatalf("%+v", v)
				}
			}
		})
	}
}

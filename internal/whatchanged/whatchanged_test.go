package whatchanged

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/uptime"
)

var (
	expiry  = time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	renewed = expiry.AddDate(0, 3, 0)
	first   = netip.MustParseAddr("192.0.2.1")
	second  = netip.MustParseAddr("192.0.2.2")
)

func certificate(name string, until time.Time) uptime.Certificate {
	return uptime.Certificate{SHA256: name, Issuer: "CN=" + name, NotAfter: until}
}

// good is the result of a check that was up, with its print.
func good(change ...func(*uptime.Result)) *uptime.Result {
	leaf := certificate("one", expiry)
	return changed(&uptime.Result{
		Status: uptime.StatusUp, HTTPStatus: 200, Address: first, CertNotAfter: expiry, Phases: uptime.Phases{DNS: 1000, Connect: 20_000, TLS: 40_000, Wait: 80_000, Transfer: 500},
		Seen: uptime.Seen{Protocol: "HTTP/2.0", TLSVersion: 0x0304, Hops: 2},
		Print: &uptime.Print{URL: "https://a.example/in", Certificate: &leaf, Headers: []uptime.Header{
			{Name: "Cache-Control", Value: "max-age=60"}, {Name: "Content-Type", Value: "text/html"}, {Name: "Server", Value: "nginx"},
		}},
	}, change)
}

// bad is that of one whose answer was as good, but for the status.
func bad(change ...func(*uptime.Result)) *uptime.Result {
	r := good()
	r.Print = nil
	r.Status, r.Failure, r.HTTPStatus = uptime.StatusDown, uptime.FailureStatusCode, 503
	r.Evidence = &uptime.Evidence{
		Hops:         []uptime.Hop{{URL: "https://a.example/"}, {URL: "https://a.example/in"}},
		Headers:      []uptime.Header{{Name: "Cache-Control", Value: "max-age=5"}, {Name: "Content-Type", Value: "text/html"}, {Name: "Date", Value: "now"}, {Name: "Server", Value: "nginx"}},
		Certificates: []uptime.Certificate{certificate("one", expiry), certificate("above", renewed)},
	}
	return changed(r, change)
}

func changed(r *uptime.Result, change []func(*uptime.Result)) *uptime.Result {
	for _, f := range change {
		f(r)
	}
	return r
}

// unanswered is a check that ended in a phase of its last hop.
func unanswered(failure uptime.Failure, last uptime.Phases, hops ...uptime.Hop) func(*uptime.Result) {
	return func(r *uptime.Result) {
		hops = append(hops, uptime.Hop{URL: "https://a.example/", Phases: last})
		*r = uptime.Result{Status: uptime.StatusDown, Failure: failure, Phases: last, Seen: uptime.Seen{Hops: uint8(len(hops))}, Evidence: &uptime.Evidence{Hops: hops}}
	}
}

// atWWW is a good check that was led from a.example to www.a.example.
func atWWW(r *uptime.Result) { r.Print.URL = "https://www.a.example/" }

// apex is a hop to a.example, which has another address and another certificate.
func apex(status int) uptime.Hop {
	return uptime.Hop{URL: "https://a.example/", Address: second, Status: status, Phases: uptime.Phases{Connect: 9, TLS: 9, Wait: 9}}
}

// seenAtApex is what a bad check has of servers whose last one showed nothing of itself.
func seenAtApex(r *uptime.Result, last string) {
	r.Address, r.CertNotAfter, r.Evidence.Certificates = second, renewed, []uptime.Certificate{certificate("apex", renewed)}
	r.Seen.TLSVersion, r.Evidence.Hops[len(r.Evidence.Hops)-1].URL = 0x0303, last
}

// told writes an answer down, a difference or a gap a line.
func told(kind uptime.Kind, good, bad *uptime.Result) []string {
	differences, gaps := Between(kind, good, bad)
	var lines []string
	for _, d := range differences {
		line := fmt.Sprintf("%s %q > %q", d.What, d.Before, d.After)
		if d.What == Headers { // its hashes are not for reading
			line = "headers"
			if d.Before == d.After || len(d.Before) != 16 || len(d.After) != 16 {
				line = fmt.Sprintf("hashes %q %q", d.Before, d.After)
			}
		}
		if d.What == Phase {
			line += fmt.Sprintf(" %s ended=%v", d.Phase, d.Ended)
		}
		for _, h := range d.Headers {
			line += fmt.Sprintf("; %s %q > %q", h.Name, h.Before, h.After)
		}
		lines = append(lines, line)
	}
	for _, g := range gaps {
		lines = append(lines, fmt.Sprintf("? %s %s", g.What, g.Why))
	}
	return lines
}

func TestBetween(t *testing.T) {
	t.Parallel()
	type change = func(*uptime.Result)
	const failed, status = `failure "" > "status_code"`, `http_status "200" > "503"`
	for name, c := range map[string]struct {
		kind      uptime.Kind
		good, bad change
		want      []string
	}{
		"nothing but the answer": {want: []string{failed, status}},
		"everything": {
			bad: func(r *uptime.Result) {
				r.Address, r.Seen.Protocol, r.Seen.TLSVersion, r.Phases.Wait = second, "HTTP/1.1", 0x0303, 900_000
				r.Evidence.Hops[1].URL = "https://a.example/out"
				r.Evidence.Certificates[0] = certificate("two", renewed)
				r.Evidence.Headers = []uptime.Header{{Name: "Content-Type", Value: "text/plain"}, {Name: "Server", Value: "nginx"}, {Name: "X-Powered-By", Value: "x"}}
			},
			want: []string{failed, status, `phase "80000" > "900000" wait ended=false`, `address "192.0.2.1" > "192.0.2.2"`, `certificate "one" > "two"`, `issuer "CN=one" > "CN=two"`,
				`expiry "2026-09-01T00:00:00Z" > "2026-12-01T00:00:00Z"`, `redirect "https://a.example/in" > "https://a.example/out"`, `tls "1.3" > "1.2"`, `protocol "HTTP/2.0" > "HTTP/1.1"`,
				`headers; Cache-Control "max-age=60" > ""; Content-Type "text/html" > "text/plain"; X-Powered-By "" > "x"`},
		},
		"renewed by the same issuer": {
			bad: func(r *uptime.Result) {
				r.Evidence.Certificates[0].SHA256, r.Evidence.Certificates[0].NotAfter = "two", renewed
			},
			want: []string{failed, status, `certificate "one" > "two"`, `expiry "2026-09-01T00:00:00Z" > "2026-12-01T00:00:00Z"`},
		},
		"another server before a last hop without TLS": {
			good: func(r *uptime.Result) { r.Print.URL = "http://a.example/in" },
			bad: func(r *uptime.Result) {
				r.CertNotAfter, r.Seen.TLSVersion, r.Evidence.Certificates[0] = renewed, 0x0303, certificate("two", renewed)
				r.Evidence.Hops[0].URL, r.Evidence.Hops[1].URL = "https://b.example/", "http://a.example/in"
			},
			want: []string{failed, status},
		},
		"no TLS any more": {
			bad: func(r *uptime.Result) {
				r.CertNotAfter, r.Seen.TLSVersion, r.Evidence.Certificates = time.Time{}, 0, nil
				r.Evidence.Hops = r.Evidence.Hops[:1]
				r.Evidence.Hops[0].URL, r.Seen.Hops = "http://a.example/", 1
			},
			want: []string{failed, status, `redirect "https://a.example/in" > "http://a.example/"`, "? certificate elsewhere"},
		},
		"the name is gone": {
			bad:  unanswered(uptime.FailureDNS, uptime.Phases{DNS: 3000}),
			want: []string{`failure "" > "dns"`, `phase "1000" > "3000" dns ended=true`, "? address not_reached", "? certificate not_reached", "? redirect not_reached", "? headers not_reached"},
		},
		"nobody listens elsewhere": {
			bad: func(r *uptime.Result) {
				unanswered(uptime.FailureConnectRefused, uptime.Phases{DNS: 3000, Connect: 9})(r)
				r.Address, r.Evidence.Hops[0].Address = second, second
			},
			want: []string{`failure "" > "connect_refused"`, `phase "20000" > "9" connect ended=true`, `address "192.0.2.1" > "192.0.2.2"`, "? certificate not_reached", "? redirect not_reached", "? headers not_reached"},
		},
		"no answer in time behind a redirect": {
			bad: func(r *uptime.Result) {
				hop := uptime.Hop{URL: "https://a.example/", Status: 302, Phases: uptime.Phases{Wait: 50_000, Transfer: 9}}
				unanswered(uptime.FailureTimeout, uptime.Phases{Connect: 9000, TLS: 20_000, Wait: 9_000_000}, hop)(r)
				r.Phases = uptime.Phases{Connect: 9000, TLS: 20_000, Wait: 9_050_000, Transfer: 9}
				r.Seen.TLSVersion, r.CertNotAfter, r.Address = 0x0304, expiry, first
				r.Evidence.Certificates, r.Evidence.Hops[1].URL, r.Evidence.Hops[1].Address = []uptime.Certificate{certificate("one", expiry)}, "https://a.example/in", first
			},
			want: []string{`failure "" > "timeout"`, `phase "80000" > "9050000" wait ended=true`, "? headers not_reached"},
		},
		"a certificate that is not believed": {
			bad: func(r *uptime.Result) {
				unanswered(uptime.FailureTLSUntrusted, uptime.Phases{Connect: 9, TLS: 9000})(r)
				r.Address, r.Evidence.Hops[0].Address = first, first
				r.CertNotAfter, r.Evidence.Certificates = renewed, []uptime.Certificate{certificate("self", renewed)}
			},
			want: []string{`failure "" > "tls_untrusted"`, `phase "40000" > "9000" tls ended=true`, `certificate "one" > "self"`, `issuer "CN=one" > "CN=self"`, `expiry "2026-09-01T00:00:00Z" > "2026-12-01T00:00:00Z"`,
				"? redirect not_reached", "? headers not_reached"},
		},
		// What rows and evidence have of servers is what was seen last, at whichever hop.
		"the second server does not connect": {
			good: atWWW,
			bad: func(r *uptime.Result) {
				unanswered(uptime.FailureConnectTimeout, uptime.Phases{DNS: 3000, Connect: 9_000_000}, apex(302))(r)
				seenAtApex(r, "https://www.a.example/")
			},
			want: []string{`failure "" > "connect_timeout"`, `phase "20000" > "9000000" connect ended=true`, "? address not_reached", "? certificate not_reached", "? headers not_reached"},
		},
		"the second server hangs in its handshake": {
			good: atWWW,
			bad: func(r *uptime.Result) {
				unanswered(uptime.FailureTimeout, uptime.Phases{Connect: 9, TLS: 9_000_000}, apex(302))(r)
				seenAtApex(r, "https://www.a.example/")
				r.Address, r.Evidence.Hops[1].Address = first, first
			},
			want: []string{`failure "" > "timeout"`, `phase "40000" > "9000000" tls ended=true`, "? certificate not_reached", "? headers not_reached"},
		},
		"the second server is not believed": {
			good: atWWW,
			bad: func(r *uptime.Result) {
				unanswered(uptime.FailureTLSName, uptime.Phases{Connect: 9, TLS: 9000}, apex(302))(r)
				seenAtApex(r, "https://www.a.example/")
				r.Address, r.Evidence.Hops[1].Address, r.Evidence.Certificates = first, first, []uptime.Certificate{certificate("two", expiry)}
			},
			want: []string{`failure "" > "tls_name"`, `phase "40000" > "9000" tls ended=true`, `certificate "one" > "two"`, `issuer "CN=one" > "CN=two"`, "? headers not_reached"},
		},
		"the first server answers itself": {
			good: atWWW,
			bad: func(r *uptime.Result) {
				r.Seen.Hops, r.Seen.TLSVersion, r.Evidence.Hops = 1, 0x0303, []uptime.Hop{apex(503)}
				seenAtApex(r, "https://a.example/")
			},
			want: []string{failed, status, `redirect "https://www.a.example/" > "https://a.example/"`, "? address elsewhere", "? certificate elsewhere"},
		},
		"the first server is gone": {
			good: atWWW,
			bad: func(r *uptime.Result) {
				unanswered(uptime.FailureTLSExpired, uptime.Phases{Connect: 9, TLS: 9000})(r)
				seenAtApex(r, "https://a.example/")
			},
			want: []string{`failure "" > "tls_expired"`, `phase "40000" > "9000" tls ended=true`, "? address not_reached", "? certificate not_reached", "? redirect not_reached", "? headers not_reached"},
		},
		"http that leads to https, and nobody listens": {
			bad: func(r *uptime.Result) {
				unanswered(uptime.FailureTimeout, uptime.Phases{Connect: 9, Wait: 9_000_000})(r)
				r.Address, r.Evidence.Hops[0] = second, uptime.Hop{URL: "http://a.example/", Address: second, Phases: r.Phases}
			},
			want: []string{`failure "" > "timeout"`, `phase "80000" > "9000000" wait ended=true`, `address "192.0.2.1" > "192.0.2.2"`, "? certificate not_reached", "? redirect not_reached", "? headers not_reached"},
		},
		"no print, and another number of servers": {
			good: func(r *uptime.Result) { r.Print = nil },
			bad: func(r *uptime.Result) {
				r.Seen.Hops, r.Evidence.Hops = 1, []uptime.Hop{apex(503)}
				seenAtApex(r, "https://a.example/")
			},
			want: []string{failed, status, "? address elsewhere", "? certificate elsewhere", "? redirect no_print", "? headers no_print"},
		},
		"slower, within the answer": {
			bad: func(r *uptime.Result) {
				r.Status, r.Failure, r.HTTPStatus, r.Phases.Connect, r.Phases.Wait = uptime.StatusDegraded, uptime.FailureLatency, 200, 140_000, 179_999
			},
			want: []string{`failure "" > "latency"`, `phase "20000" > "140000" connect ended=false`},
		},
		"degraded before": {
			good: func(r *uptime.Result) {
				b := bad()
				r.Print, r.Evidence, r.Status, r.Failure = nil, b.Evidence, uptime.StatusDegraded, uptime.FailureLatency
				r.Evidence.Headers[3].Value = "caddy"
			},
			want: []string{`failure "latency" > "status_code"`, status, `headers; Server "caddy" > "nginx"`},
		},
		"no print": {
			good: func(r *uptime.Result) { r.Print = nil },
			bad:  func(r *uptime.Result) { r.CertNotAfter = renewed },
			want: []string{failed, status, `expiry "2026-09-01T00:00:00Z" > "2026-12-01T00:00:00Z"`, "? certificate no_print", "? redirect no_print", "? headers no_print"},
		},
		"a print of before the certificate was renewed": {
			good: func(r *uptime.Result) { r.CertNotAfter = renewed },
			bad: func(r *uptime.Result) {
				r.CertNotAfter, r.Evidence.Certificates[0] = renewed, certificate("two", renewed)
			},
			want: []string{failed, status, "? certificate no_print", "? redirect no_print", "? headers no_print"},
		},
		"the target was edited": {
			good: func(r *uptime.Result) { r.SpecVersion = 7 },
			bad:  func(r *uptime.Result) { r.SpecVersion = 12 },
			want: []string{failed, status, `target "7" > "12"`},
		},
		"nobody knows whether the target was edited": {bad: func(r *uptime.Result) { r.SpecVersion = 12 }, want: []string{failed, status}},
		"no evidence":      {bad: func(r *uptime.Result) { r.Evidence = nil }, want: []string{failed, status, "? certificate no_evidence", "? redirect no_evidence", "? headers no_evidence"}},
		"unsteady headers": {good: func(r *uptime.Result) { r.Print.Unsteady, r.Print.Headers = uptime.UnsteadyHeaders, nil }, want: []string{failed, status, "? headers unsteady"}},
		"unsteady": {good: func(r *uptime.Result) { r.Print = &uptime.Print{Unsteady: uptime.UnsteadyAll} },
			want: []string{failed, status, "? certificate unsteady", "? redirect unsteady", "? headers unsteady"}},
		"more headers than are kept": {
			bad: func(r *uptime.Result) {
				for n := range uptime.MaxEvidenceHeaders {
					r.Evidence.Headers = slices.Insert(r.Evidence.Headers, 3, uptime.Header{Name: fmt.Sprintf("D-%02d", n)})
				}
				r.Evidence.Headers = r.Evidence.Headers[:uptime.MaxEvidenceHeaders]
			},
			want: []string{failed, status},
		},
		"ping": {
			kind: uptime.KindICMP,
			good: func(r *uptime.Result) {
				*r = uptime.Result{Status: uptime.StatusUp, Address: first, Phases: uptime.Phases{Wait: 9}}
			},
			bad: func(r *uptime.Result) {
				unanswered(uptime.FailureTimeout, uptime.Phases{Wait: 1_000_000})(r)
				r.Address, r.Evidence.Hops[0].Address = first, first
			},
			want: []string{`failure "" > "timeout"`, `phase "9" > "1000000" wait ended=true`},
		},
		"handshake": {
			kind: uptime.KindTLS,
			good: func(r *uptime.Result) { r.HTTPStatus, r.Print.URL, r.Print.Headers = 0, "", nil },
			bad: func(r *uptime.Result) {
				r.HTTPStatus, r.Failure, r.Seen.TLSVersion, r.Evidence.Headers = 0, uptime.FailureTLSExpired, 0x0303, nil
				r.Phases.TLS, r.Evidence.Hops = 7, []uptime.Hop{{URL: "tls://a.example:443", Address: first, Phases: uptime.Phases{TLS: 7}}}
				r.Seen.Hops = 1
			},
			want: []string{`failure "" > "tls_expired"`, `phase "40000" > "7" tls ended=true`, `tls "1.3" > "1.2"`},
		},
		"heartbeat": {
			kind: uptime.KindHeartbeat,
			good: func(r *uptime.Result) { *r = uptime.Result{Status: uptime.StatusUp} },
			bad:  func(r *uptime.Result) { *r = uptime.Result{Status: uptime.StatusDown, Failure: uptime.FailureReported} },
			want: []string{`failure "" > "reported"`},
		},
	} {
		kind := c.kind
		if kind == "" {
			kind = uptime.KindHTTP
		}
		var changes [2][]change
		for i, f := range []change{c.good, c.bad} {
			if f != nil {
				changes[i] = []change{f}
			}
		}
		was, is := good(changes[0]...), bad(changes[1]...)
		if diff := cmp.Diff(c.want, told(kind, was, is)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if again := told(kind, was, is); !slices.Equal(again, c.want) {
			t.Errorf("%s: asked again it is %s", name, strings.Join(again, "\n"))
		}
	}
}

// The hash of headers is that of what is steady in them.
func TestHashOfHeaders(t *testing.T) {
	t.Parallel()
	hashOf := func(age string) string {
		d, _ := Between(uptime.KindHTTP, good(func(r *uptime.Result) { r.Print.Headers[0].Value = age }), bad(func(r *uptime.Result) { r.Evidence.Headers[3].Value = "caddy" }))
		return d[len(d)-1].Before
	}
	if a, b, c := hashOf("max-age=60"), hashOf("max-age=7"), hashOf("no-store"); a != b || a == c {
		t.Error(a, b, c)
	}
}

package probe

import (
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

// matrixFile says of every kind what a visit that ends well comes to, and of every failure what one
// comes to that ends in it, or why none ever does. It holds what people are told word for word, so
// that a change of that is seen where it is reviewed.
const matrixFile = "testdata/matrix.golden"

// row is one kind of check, or one of several ways to make it, named "kind/way": of each failure
// a visit that ends in it (an uptime.Check or a ping), or why none can (a string).
type row map[uptime.Failure]any

// ping is a visit to a host made by hand: none on this machine fails as it is told to.
type ping struct {
	host  *host
	check uptime.Check
}

// never says why some failures cannot be.
func (r row) never(why string, failures ...uptime.Failure) row {
	for _, failure := range failures {
		if _, there := r[failure]; there {
			panic(string(failure) + " can be")
		}
		r[failure] = why
	}
	return r
}

// matrix are the servers of TestMatrix, beside those that a row starts for itself.
type matrix struct {
	t      *testing.T
	lab    *lab.Lab
	engine *Engine
	bad    map[uptime.Failure]string // addresses of servers that are not believed, by the failure
}

func newMatrix(t *testing.T) *matrix {
	m := &matrix{t: t, lab: startLab(t), bad: map[uptime.Failure]string{}}
	m.engine = New(options(m.lab, func(o *Options) { o.Resolver = names{"good.test": {"127.0.0.1"}} }))
	for failure, name := range badCertificates {
		m.bad[failure] = serveTLS(t, certificateOf(t, m.lab, name), "")
	}
	m.bad[uptime.FailureTLSOther] = m.at("tcp-banner")
	return m
}

// badCertificates are those of the lab's servers.
var badCertificates = map[uptime.Failure]string{
	uptime.FailureTLSExpired: "expired", uptime.FailureTLSName: "wrong-name", uptime.FailureTLSUntrusted: "untrusted",
}

func (m *matrix) at(name string) string { return labAt(m.t, m.lab, name) }

func certificateOf(t *testing.T, l *lab.Lab, name string) tls.Certificate {
	t.Helper()
	certificate, err := l.CertificateOf(name)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// serveTLS says one thing over TLS, to whatever it is sent first, and ends. It agrees on no
// protocol, so that clients of all of them get as far as to its certificate.
func serveTLS(t *testing.T, certificate tls.Certificate, text string) string {
	t.Helper()
	return serve(t, func(c *net.TCPConn) {
		secure := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{certificate}})
		if _, err := secure.Read(make([]byte, 4096)); err == nil {
			_, _ = io.WriteString(secure, text)
			_ = secure.CloseWrite()
			_, _ = io.Copy(io.Discard, c)
		}
	})
}

// TestMatrix visits, for every kind of check and every failure, a server at which that kind
// fails in that way, and one at which it does not fail. Nobody adds a kind or a failure without
// saying here what they come to.
func TestMatrix(t *testing.T) { // not parallel: so many visits at once are other tests' timeouts
	m := newMatrix(t)
	golden := goldenLines(t)
	all, goods := m.rows(), m.goods()
	for kind := range compilers(options(nil)) {
		if all[string(kind)] == nil {
			t.Errorf("the kind %s has no row", kind)
		}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if goods[name+" good"] == nil {
			t.Errorf("%s: there is no visit that ends well", name)
		}
		for _, good := range slices.Sorted(maps.Keys(goods)) {
			if strings.HasPrefix(good, name+" good") {
				names = append(names, good)
			}
		}
		for _, failure := range uptime.Failures() {
			if all[name][failure] == nil {
				t.Errorf("%s %s: neither a visit nor why there is none", name, failure)
			}
			names = append(names, name+" "+string(failure))
		}
		if len(all[name]) > len(uptime.Failures()) {
			t.Errorf("%s: %d failures, of which there are %d", name, len(all[name]), len(uptime.Failures()))
		}
	}
	if cells := len(goods) + len(all)*len(uptime.Failures()); len(names) != cells {
		t.Errorf("%d cells have a row, of %d", len(names), cells)
	}
	m.ahead(all)
	var mu sync.Mutex
	now := map[string]string{}
	t.Run("cells", func(t *testing.T) {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				where, word, _ := strings.Cut(name, " ")
				kind, _, _ := strings.Cut(where, "/")
				failure := uptime.Failure(word)
				var line string
				switch cell := all[where][failure].(type) {
				case string:
					line = "never: " + cell
				case nil:
					line = m.good(t, uptime.Kind(kind), goods[name])
				default:
					line = m.visit(t, uptime.Kind(kind), failure, cell)
				}
				if !*update && golden[name] != line {
					t.Errorf("got  %s\nwant %s", line, golden[name])
				}
				mu.Lock()
				defer mu.Unlock()
				now[name] = line
			})
		}
	})
	if *update {
		writeGolden(t, names, golden, now)
	} else if len(golden) != len(names) {
		t.Errorf("%s has %d lines for %d cells", matrixFile, len(golden), len(names))
	}
}

// moment is what differs from run to run in messages.
var moment = regexp.MustCompile(`: current time .*|[\d.]+( ms, want)`)

// ahead begins the visits that end at their timeouts: all of them wait at once.
func (m *matrix) ahead(all map[string]row) {
	for _, row := range all {
		for _, failure := range []uptime.Failure{uptime.FailureTimeout, uptime.FailureConnectTimeout} {
			check, is := row[failure].(uptime.Check)
			if !is {
				continue
			}
			check.Timeout = 3 * time.Second // the handshake of a busy machine takes its part
			outcome := make(chan Outcome, 1)
			go func() { outcome <- m.engine.Look(m.t.Context(), check) }()
			row[failure] = begun{check, outcome}
		}
	}
}

// begun is a visit under way.
type begun struct {
	check   uptime.Check
	outcome <-chan Outcome
}

// look makes the visit of a cell.
func (m *matrix) look(t *testing.T, cell any) (check uptime.Check, o Outcome) {
	switch cell := cell.(type) {
	case uptime.Check:
		check, o = cell, m.engine.Look(t.Context(), cell)
	case begun:
		check, o = cell.check, <-cell.outcome
	case ping:
		check = cell.check
		synctest.Test(t, func(t *testing.T) {
			o = pinging(cell.host).Look(t.Context(), check)
			time.Sleep(check.Timeout) // in the bubble: until the host is done
		})
	}
	return check, o
}

// visit makes the visit of a cell and says what it came to.
func (m *matrix) visit(t *testing.T, kind uptime.Kind, failure uptime.Failure, cell any) string {
	check, o := m.look(t, cell)
	if verify(t, o, failure, o.HTTPStatus); check.Kind != kind {
		t.Errorf("this is a check of the kind %s", check.Kind)
	}
	if took := time.Duration(o.TotalUS) * time.Microsecond; took > check.Timeout+10*time.Second || failure == uptime.FailureTimeout && took < check.Timeout-10*time.Millisecond {
		t.Errorf("it took %v of %v", took, check.Timeout)
	}
	hops := 1
	if failure == uptime.FailureRedirectLimit {
		hops = 1 + maxRedirects
	}
	if len(o.Evidence.Hops) != hops || int(o.Seen.Hops) != hops || o.Evidence.Command == "" {
		t.Errorf("%d hops, evidence %+v", o.Seen.Hops, o.Evidence)
	}
	if !o.Address.IsValid() && failure != uptime.FailureDNS {
		t.Error("it is not said at which address")
	}
	switch failure {
	case uptime.FailureTLSExpired, uptime.FailureTLSName, uptime.FailureTLSUntrusted:
		if len(o.Evidence.Certificates) == 0 || o.CertNotAfter.IsZero() || o.Issuer == "" || o.CertNotAfter.Before(time.Now()) != (failure == uptime.FailureTLSExpired) {
			t.Errorf("the certificate is not shown: %+v, %+v", o, o.Evidence)
		}
	}
	return fmt.Sprintf("%v %s %d %s", o.Status, o.Failure, o.HTTPStatus, moment.ReplaceAllString(o.Message, "…$1"))
}

func goldenLines(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile(matrixFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(content)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " | ")
		lines[name] = rest
	}
	return lines
}

// writeGolden keeps the old line of a cell that was not run.
func writeGolden(t *testing.T, names []string, old, now map[string]string) {
	t.Helper()
	var text strings.Builder
	maps.Copy(old, now)
	for _, name := range names {
		fmt.Fprintf(&text, "%s | %s\n", name, old[name])
	}
	if err := os.WriteFile(matrixFile, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

package probe

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

// oracleModules is the configuration of blackbox_exporter; what we say of the same
// visits is in specOf.
const oracleModules = `modules:
  plain: {prober: http, timeout: 5s, http: {valid_http_versions: ["HTTP/1.1", "HTTP/2.0"], valid_status_codes: [200, 204, 302, 304], preferred_ip_protocol: ip4, enable_http2: false, tls_config: {ca_file: %[1]q}}}
  h2: {prober: http, timeout: 5s, http: {preferred_ip_protocol: ip4, tls_config: {ca_file: %[1]q}}}
  stay: {prober: http, timeout: 5s, http: {valid_status_codes: [302], follow_redirects: false, preferred_ip_protocol: ip4}}
  unavailable: {prober: http, timeout: 5s, http: {valid_status_codes: [503], preferred_ip_protocol: ip4}}
  post: {prober: http, timeout: 5s, http: {method: POST, body: hello, headers: {X-Mine: "yes"}, fail_if_body_not_matches_regexp: ['"method": ?"POST"', 'hello', 'X-Mine'], preferred_ip_protocol: ip4}}
  basic: {prober: http, timeout: 5s, http: {basic_auth: {username: me, password: pass}, preferred_ip_protocol: ip4}}
  body: {prober: http, timeout: 5s, http: {fail_if_body_not_matches_regexp: [hello], preferred_ip_protocol: ip4}}
  without: {prober: http, timeout: 5s, http: {fail_if_body_matches_regexp: [hello], preferred_ip_protocol: ip4}}
  header: {prober: http, timeout: 5s, http: {fail_if_header_not_matches: [{header: Content-Type, regexp: json}], preferred_ip_protocol: ip4}}
  gzip: {prober: http, timeout: 5s, http: {compression: gzip, fail_if_body_not_matches_regexp: [hello], headers: {Accept-Encoding: gzip}, preferred_ip_protocol: ip4}}
  trusting: {prober: http, timeout: 5s, http: {preferred_ip_protocol: ip4, enable_http2: false, tls_config: {insecure_skip_verify: true}}}
  impatient: {prober: http, timeout: 1s, http: {preferred_ip_protocol: ip4, tls_config: {ca_file: %[1]q}}}
  tcp: {prober: tcp, timeout: 5s, tcp: {preferred_ip_protocol: ip4}}
  tcp-impatient: {prober: tcp, timeout: 1s, tcp: {preferred_ip_protocol: ip4}}
  tcp-echo: {prober: tcp, timeout: 5s, tcp: {preferred_ip_protocol: ip4, query_response: [{send: "echo hello"}, {expect: hello}]}}
  tcp-slow: {prober: tcp, timeout: 5s, tcp: {preferred_ip_protocol: ip4, query_response: [{send: "slow 300ms hello"}, {expect: hello}]}}
  tcp-other: {prober: tcp, timeout: 1s, tcp: {preferred_ip_protocol: ip4, query_response: [{send: "echo goodbye"}, {expect: hello}]}}
  tcp-greeting: {prober: tcp, timeout: 1s, tcp: {preferred_ip_protocol: ip4, query_response: [{expect: "^220 "}]}}
  tls: {prober: tcp, timeout: 5s, tcp: {preferred_ip_protocol: ip4, tls: true, tls_config: {ca_file: %[1]q}}}
  tls-impatient: {prober: tcp, timeout: 1s, tcp: {preferred_ip_protocol: ip4, tls: true, tls_config: {ca_file: %[1]q}}}
  tls-trusting: {prober: tcp, timeout: 5s, tcp: {preferred_ip_protocol: ip4, tls: true, tls_config: {insecure_skip_verify: true}}}
  icmp: {prober: icmp, timeout: 5s, icmp: {preferred_ip_protocol: ip4}}
`

// oracleQuestion is a module for the question of a row: name, type, transport, the seconds it
// may take, and roots.
const oracleQuestion = `  %[1]q: {prober: dns, timeout: %[6]s, dns: {preferred_ip_protocol: ip4, query_name: %[2]q, query_type: %[3]s, transport_protocol: %[4]s, dns_over_tls: %[5]t, tls_config: {ca_file: %[7]q}, validate_answer_rrs: {fail_if_none_matches_regexp: [".*"]}}}
`

// oracleHealth is a module for the health check of a row: name, service, TLS or not, and roots.
const oracleHealth = `  %[1]q: {prober: grpc, timeout: 5s, grpc: {preferred_ip_protocol: ip4, service: %[2]q, tls: %[3]t, tls_config: {ca_file: %[4]q}}}
`

// specOf says to us what a module says to the oracle.
func specOf(t *testing.T, module string) (spec uptime.Spec) {
	t.Helper()
	one := func(code int) uptime.Expect {
		return uptime.Expect{Status: []uptime.StatusRange{{From: code, To: code}}}
	}
	spec.Expect = uptime.Expect{Status: []uptime.StatusRange{{From: 200, To: 299}}}
	asserting := func(source uptime.Source, name string, op uptime.Op, value string) {
		spec.Assertions = append(spec.Assertions, uptime.Assertion{Source: source, Name: name, Op: op, Value: value})
	}
	none := 0
	switch module {
	case "plain":
		spec.Expect = uptime.Expect{Status: []uptime.StatusRange{{From: 200, To: 200}, {From: 204, To: 204}, {From: 302, To: 302}, {From: 304, To: 304}}}
	case "h2":
		spec.HTTP = &uptime.HTTPSpec{Version: uptime.HTTPBest}
	case "stay":
		spec.Expect, spec.HTTP = one(302), &uptime.HTTPSpec{Redirects: &none}
	case "unavailable":
		spec.Expect = one(503)
	case "post":
		spec.HTTP = &uptime.HTTPSpec{Method: "POST", Body: "hello", Headers: []uptime.Header{{Name: "X-Mine", Value: "yes"}}}
		asserting("body", "", "matches", `"method": ?"POST"`)
		asserting("body", "", "matches", "hello")
		asserting("body", "", "matches", "X-Mine")
	case "basic":
		spec.HTTP = &uptime.HTTPSpec{Username: "me", Password: sealed(t, "pass")}
	case "body":
		asserting("body", "", "matches", "hello")
	case "without":
		asserting("body", "", "not_matches", "hello")
	case "header":
		asserting("header", "Content-Type", "matches", "json")
	case "gzip":
		spec.HTTP = &uptime.HTTPSpec{Headers: []uptime.Header{{Name: "Accept-Encoding", Value: "gzip"}}}
		asserting("body", "", "matches", "hello")
	case "trusting":
		spec.TLS = &uptime.TLSSpec{SkipVerify: true}
	}
	switch kind, _, _ := strings.Cut(module, "-"); kind {
	case "tcp", "tls", "dns", "grpc", "icmp":
		spec.Expect = uptime.Expect{}
	}
	switch module {
	case "tcp-echo":
		spec.TCP = &uptime.TCPSpec{Send: "echo hello\n"}
		asserting("received", "", "contains", "hello")
	case "tcp-slow":
		spec.TCP = &uptime.TCPSpec{Send: "slow 300ms hello\n"}
		asserting("received", "", "contains", "hello")
	case "tcp-other":
		spec.TCP = &uptime.TCPSpec{Send: "echo goodbye\n"}
		asserting("received", "", "contains", "hello")
	case "tcp-greeting":
		asserting("received", "", "matches", "^220 ")
	case "tls-trusting":
		spec.TLS = &uptime.TLSSpec{SkipVerify: true}
	case "dns-tcp":
		spec.DNS = &uptime.DNSSpec{Transport: uptime.DNSOverTCP}
	case "dns-tls":
		spec.DNS = &uptime.DNSSpec{Transport: uptime.DNSOverTLS}
	}
	return spec
}

// oracleRows are visits on which both must agree: server, path, module. A server is visited
// by its address, or by the name behind the @. That is localhost alone here: the oracle asks the
// servers of /etc/resolv.conf at port 53, whatever it is told, so for others it takes what
// TestOracleOfSlowNames does. What dns targets ask is asked of the lab, by both. No health check
// hangs here: the oracle of Debian 12 would wait for it without end.
const oracleRows = `
plain /ok plain
plain /status/204 plain
plain /status/304 plain
plain /status/404 plain
plain /status/500 plain
plain /status/503 plain
plain /status/503 unavailable
plain /ok unavailable
plain /slow/300ms plain
plain /slow/3s impatient
plain /hang impatient
plain /drip/5/60ms plain
plain /drip/1000/50ms impatient
plain /reset plain
plain /close plain
plain /malformed plain
plain /cut-headers plain
plain /reset-headers plain
plain /cut body
plain /reset-body body
plain /body/100000 plain
plain /chunked/100000 plain
plain /until-close/1000 plain
plain /length/100/50 body
plain /text/hello body
plain /text/goodbye body
plain /text/hello without
plain /text/goodbye without
plain /json/health header
plain /ok header
plain /echo post
plain /basic/me/pass basic
plain /basic/me/other basic
plain /encoded/gzip/hello gzip
plain /encoded-lie/gzip/hello gzip
plain /redirect/1 plain
plain /redirect/3 plain
plain /redirect/1 stay
plain /redirect-slow/2/300ms plain
plain /redirect-loop h2
plain /interim/2 plain
plain /many-headers/200 plain
plain /slow-headers/5/40ms plain
tls /ok plain
tls /slow/200ms plain
tls /redirect/2 plain
tls-slow /ok plain
tls-slow /redirect/2 plain
tls-slow /redirect-slow/2/300ms plain
expired /ok plain
expired /ok trusting
wrong-name /ok plain
wrong-name /ok trusting
self-signed /ok plain
self-signed /ok trusting
untrusted /ok plain
chain /ok plain
incomplete /ok plain
expires-in-72h /ok plain
tls12 /ok plain
tls13 /ok plain
tls-plain /ok plain
tls-stall /ok impatient
tls-cut /ok plain
tls-reset /ok plain
h2 /ok h2
h2-only /ok h2
tls13 /ok h2
refused /ok plain
black-hole /ok impatient
plain@localhost /ok plain
plain@localhost /slow/300ms plain
plain@localhost /redirect/2 plain
plain@localhost /status/503 plain
any-name@localhost /ok plain
tls@localhost /ok plain
refused@localhost /ok plain
tcp - tcp
tcp - tcp-echo
tcp - tcp-slow
tcp - tcp-other
tcp - tcp-greeting
tcp-banner - tcp-greeting
smtp - tcp-greeting
imap - tcp-greeting
tcp-silent - tcp
tcp-silent - tcp-greeting
tcp-close - tcp
tcp-close - tcp-greeting
tcp-reset - tcp-greeting
tcp-drip - tcp-greeting
refused - tcp
refused - tcp-greeting
full - tcp-impatient
tcp@localhost - tcp-echo
tls - tls
tls12 - tls
tls13 - tls
tls11 - tls
tls-slow - tls
expired - tls
expired - tls-trusting
not-yet-valid - tls
not-yet-valid - tls-trusting
wrong-name - tls
wrong-name - tls-trusting
self-signed - tls
self-signed - tls-trusting
untrusted - tls
chain - tls
incomplete - tls
expires-in-72h - tls
rsa - tls
ecdsa - tls
tls-alert - tls
tls-garbage - tls
tls-cut - tls
tls-reset - tls
tls-silent - tls-impatient
tls-stall - tls-impatient
plain - tls
refused - tls
any-name@localhost - tls
tls@localhost - tls
dns /a-192-0-2-1.lab.test?type=A dns
dns /a-192-0-2-1.lab.test?type=A dns-tcp
dot /a-192-0-2-1.lab.test?type=A dns-tls
dns /aaaa-2001-db8--1.lab.test?type=AAAA dns
dns /lab.test?type=MX dns
dns /lab.test?type=TXT dns-tcp
dns /lab.test?type=SOA dns
dns /cname-2.a-192-0-2-1.lab.test?type=A dns
dns /slow-300ms.a-192-0-2-1.lab.test?type=A dns
dns /slow-300ms.a-192-0-2-1.lab.test?type=A dns-tcp
dot /slow-300ms.a-192-0-2-1.lab.test?type=A dns-tls
dns /gone.lab.test?type=A dns
dns /nodata.lab.test?type=MX dns
dns /servfail.lab.test?type=A dns
dns /refused.lab.test?type=A dns
dns /example.com?type=A dns
dns /silent.lab.test?type=A dns-impatient
refused /lab.test?type=A dns-impatient
refused /lab.test?type=A dns-tcp
dns@localhost /lab.test?type=A dns
h2c / grpc
h2c /serving grpc
h2c /not-serving grpc
h2c /unknown grpc
h2c /service-unknown grpc
h2c /nobody-knows grpc
h2c /status-12 grpc
h2c /status-14 grpc
h2c /late-status-14 grpc
h2c /slow-300ms grpc
h2c /http-503 grpc
h2c /wrong-type grpc
h2c /no-status grpc
h2c /cut grpc
h2c /garbage grpc
h2c /compressed grpc
h2c /huge grpc
plain / grpc
refused / grpc
h2c@localhost /serving grpc
h2 / grpc-tls
h2 /serving grpc-tls
h2 /not-serving grpc-tls
h2 /slow-300ms grpc-tls
h2c / grpc-tls
tls / grpc-tls
expired / grpc-tls
plain - icmp
plain@localhost - icmp
`

// oracleSlowNames are visits to names that take 300 ms to resolve, each time. There is none of gRPC: the
// oracle resolves the name twice there.
const oracleSlowNames = `
plain@slow-300ms.ttl-0.a-127-0-0-1.lab.test /ok plain
plain@slow-300ms.ttl-0.a-127-0-0-1.lab.test /status/503 plain
any-name@slow-300ms.ttl-0.a-127-0-0-1.lab.test /ok plain
tcp@slow-300ms.ttl-0.a-127-0-0-1.lab.test - tcp-echo
any-name@slow-300ms.ttl-0.a-127-0-0-1.lab.test - tls
dns@slow-300ms.ttl-0.a-127-0-0-1.lab.test /lab.test?type=A dns
plain@slow-300ms.ttl-0.a-127-0-0-1.lab.test - icmp
`

// oracleVisit is a row for both.
type oracleVisit struct {
	row, target, module string
	check               uptime.Check
}

func readOracleRow(t *testing.T, l *lab.Lab, row string) oracleVisit {
	t.Helper()
	words := strings.Fields(row)
	server, host, named := strings.Cut(words[0], "@")
	addr := labAt(t, l, server)
	kind, _, _ := strings.Cut(words[2], "-")
	v := oracleVisit{row: row, module: words[2]}
	spec := specOf(t, words[2])
	if named {
		addr = host + addr[strings.LastIndex(addr, ":"):]
		spec.Family = uptime.FamilyV4 // as the oracle prefers
	}
	switch v.target = addr; kind {
	case "tcp", "tls":
		v.check = checkOf(kind + "://" + addr)
		v.check.Kind = uptime.Kind(kind)
	case "dns":
		v.check = checkOf("dns://" + addr + words[1])
		v.check.Kind, v.module = uptime.KindDNS, words[2]+words[1]
	case "grpc":
		scheme := "grpc"
		if words[2] == "grpc-tls" {
			scheme = "grpcs"
		}
		v.check, v.module = grpcCheck(scheme+"://"+addr+words[1], spec), words[2]+words[1]
	case "icmp":
		v.target, _, _ = net.SplitHostPort(addr)
		v.check = checkAt("icmp://"+v.target, spec)
	default:
		v.target = "https://" + addr + words[1]
		if server == "plain" {
			v.target = "http://" + addr + words[1]
		}
		v.check = checkOf(v.target)
	}
	v.check.Timeout, v.check.Spec = 5*time.Second, spec.Text()
	if strings.HasSuffix(words[2], "impatient") || words[2] == "tcp-other" || words[2] == "tcp-greeting" {
		v.check.Timeout = time.Second
	}
	return v
}

// questions are the oracle's modules for the dns and grpc targets among the rows.
func questions(rows []string, roots string) string {
	all := map[string]string{}
	for _, row := range rows {
		words := strings.Fields(row)
		if module := words[2]; strings.HasPrefix(module, "grpc") {
			all[module+words[1]] = fmt.Sprintf(oracleHealth, module+words[1], strings.TrimPrefix(words[1], "/"), module == "grpc-tls", roots)
		}
		name, kind, asks := strings.Cut(strings.TrimPrefix(words[1], "/"), "?type=")
		if module := words[2]; asks && strings.HasPrefix(module, "dns") {
			transport, timeout := "udp", "5s"
			switch module {
			case "dns-tcp", "dns-tls":
				transport = "tcp"
			case "dns-impatient":
				timeout = "1s"
			}
			all[module+words[1]] = fmt.Sprintf(oracleQuestion, module+words[1], name, kind, transport, module == "dns-tls", timeout, roots)
		}
	}
	return strings.Join(slices.Collect(maps.Values(all)), "")
}

// TestOracle visits the same servers with blackbox_exporter: whether a target is well,
// its status code, its certificate's end and each phase must be what that says.
func TestOracle(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	rows := strings.Split(strings.TrimSpace(oracleRows), "\n")
	conn, err := openEcho(netip.MustParseAddr("127.0.0.1"))
	if err != nil { // nor may the oracle
		t.Log("without echo requests: ", err)
		rows = slices.DeleteFunc(rows, func(row string) bool { return strings.HasSuffix(row, " icmp") })
	} else {
		_ = conn.Close()
	}
	agree(t, l, startOracle(t, l, rows), rows, "http tls", "http wait", "http transfer", "tcp wait", "tls tls", "dns wait", "grpc wait")
}

// TestOracleOfSlowNames has the oracle ask the lab for names, by a /etc/resolv.conf of its own.
func TestOracleOfSlowNames(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	if os.Getuid() != 0 {
		t.Skip("only root may answer at port 53, and give a process files of its own")
	}
	if out, err := exec.Command("unshare", "--mount", "mount", "--bind", "/etc/resolv.conf", "/etc/resolv.conf").CombinedOutput(); err != nil {
		if !strings.Contains(string(out), "not permitted") && !strings.Contains(string(out), "denied") {
			t.Fatalf("%v: %s", err, out)
		}
		t.Skipf("this process may have no mounts of its own: %s", out)
	}
	resolv := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(resolv, []byte("nameserver "+relayDNS(t, labAt(t, l, "dns"))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(oracleSlowNames), "\n")
	oracle := startOracle(t, l, rows, "unshare", "--mount", "sh", "-c", `mount --bind "$0" /etc/resolv.conf && exec "$@"`, resolv)
	agree(t, l, oracle, rows, "http dns", "tcp dns", "tls dns", "dns dns", "icmp dns")
}

// relayDNS passes questions at port 53 on to a server at another.
func relayDNS(t *testing.T, to string) (host string) {
	t.Helper()
	host = "127.0.0.4" // of its own: nobody else is there
	packets, err := net.ListenPacket("udp", host+":53")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = packets.Close() })
	go func() {
		for {
			question := make([]byte, 1<<10)
			n, from, err := packets.ReadFrom(question)
			if err != nil {
				return
			}
			go func() {
				server, err := net.Dial("udp", to)
				if err != nil {
					return
				}
				defer server.Close()
				_ = server.SetDeadline(time.Now().Add(hang))
				_, _ = server.Write(question[:n])
				answer := make([]byte, 4<<10)
				if n, err := server.Read(answer); err == nil {
					_, _ = packets.WriteTo(answer[:n], from)
				}
			}()
		}
	}()
	return host
}

// agree makes the visits of the rows. Of what a server makes slow, as each of slow is in one row at
// least, the oracle would tell if we said that it took no time.
func agree(t *testing.T, l *lab.Lab, oracle oracle, rows []string, slow ...string) {
	t.Helper()
	e := New(options(l, func(o *Options) { o.Resolver = own(t, labAt(t, l, "dns"), *o) }))
	gate := make(chan struct{}, 6)
	var visits sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]bool{}
	for _, row := range rows {
		v := readOracleRow(t, l, row)
		visits.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			// What a busy machine adds now, it does not add each time.
			var differ []string
			for range 5 {
				said, err := oracle.ask(t.Context(), v.target, v.module)
				if err != nil {
					t.Errorf("%s: %v", row, err)
					return
				}
				o := e.Look(t.Context(), v.check)
				if differ = differences(v.check.Kind, o, said); len(differ) == 0 {
					mu.Lock()
					defer mu.Unlock()
					for phase, told := range slowPhases(v.check.Kind, o, said) {
						if seen[phase] = true; !told && !testing.Short() {
							t.Errorf("%s: that %s took no time would not be told", row, phase)
						}
					}
					return
				}
			}
			t.Errorf("%s: %s", row, strings.Join(differ, "; "))
		})
	}
	visits.Wait()
	for _, phase := range slow {
		if !seen[phase] {
			t.Errorf("there is no row with a slow %s", phase)
		}
	}
	t.Logf("%d visits, slow: %v", len(rows), slices.Sorted(maps.Keys(seen)))
}

// slowPhases are the phases of a visit that took a quarter of a second or more, and whether the
// oracle would tell that one took none: what both agree on is nearer than that.
func slowPhases(kind uptime.Kind, o Outcome, said map[string]float64) map[string]bool {
	told := map[string]bool{}
	if o.Status != uptime.StatusUp {
		return told
	}
	p := &o.Phases
	for name, phase := range map[string]*uint32{"dns": &p.DNS, "connect": &p.Connect, "tls": &p.TLS, "wait": &p.Wait, "transfer": &p.Transfer} {
		if took := *phase; took >= 250_000 {
			*phase = 0
			told[string(kind)+" "+name] = len(differences(kind, o, said)) > 0
			*phase = took
		}
	}
	return told
}

// differences are what the two do not agree on. They are measured one after the other,
// so phases agree when they differ by less than a tenth of a second, or a third: in long runs only,
// as a machine that is busy makes them differ by more.
func differences(kind uptime.Kind, o Outcome, said map[string]float64) (differ []string) {
	note := func(format string, args ...any) { differ = append(differ, fmt.Sprintf(format, args...)) }
	if up := o.Status == uptime.StatusUp; up != (said["probe_success"] == 1) {
		note("we say %v (%s), the oracle %v", o.Status, o.Message, said["probe_success"])
	}
	if code := said["probe_http_status_code"]; o.HTTPStatus != int(code) && (o.HTTPStatus == 0 || code > 0) {
		note("we saw status %d, the oracle %v", o.HTTPStatus, code)
	}
	if end := said["probe_ssl_earliest_cert_expiry"]; end > 0 && !o.CertNotAfter.IsZero() && math.Abs(end-float64(o.CertNotAfter.Unix())) > 1 {
		note("the certificate ends %v, says the oracle %v", o.CertNotAfter.Unix(), end)
	}
	if o.Status != uptime.StatusUp || testing.Short() {
		return differ
	}
	for _, of := range oracleTimes(kind, o) {
		ours, theirs := float64(of.us)/1e6, said[of.name]
		if diff := math.Abs(ours - theirs); diff > 0.1 && diff > max(ours, theirs)/3 {
			note("%s is %v s here, says the oracle %v s", of.name, ours, theirs)
		}
	}
	return differ
}

// oracleTime is a time of ours, by the oracle's name.
type oracleTime struct {
	name string
	us   uint32
}

// oracleTimes are our times. The oracle has no phases of TCP, and of a health check it knows but
// two.
func oracleTimes(kind uptime.Kind, o Outcome) []oracleTime {
	p := o.Phases
	switch kind {
	case uptime.KindHTTP:
		const name = "probe_http_duration_seconds"
		return []oracleTime{{name + `{phase="resolve"}`, p.DNS}, {name + `{phase="connect"}`, p.Connect}, {name + `{phase="tls"}`, p.TLS}, {name + `{phase="processing"}`, p.Wait}, {name + `{phase="transfer"}`, p.Transfer}}
	case uptime.KindDNS:
		const name = "probe_dns_duration_seconds"
		return []oracleTime{{name + `{phase="resolve"}`, p.DNS}, {name + `{phase="connect"}`, p.Connect + p.TLS}, {name + `{phase="request"}`, p.Wait + p.Transfer}}
	case uptime.KindGRPC:
		const name = "probe_grpc_duration_seconds"
		return []oracleTime{{name + `{phase="resolve"}`, p.DNS}, {name + `{phase="check"}`, p.Connect + p.TLS + p.Wait + p.Transfer}}
	case uptime.KindICMP:
		const name = "probe_icmp_duration_seconds"
		return []oracleTime{{name + `{phase="resolve"}`, p.DNS}, {name + `{phase="rtt"}`, p.Wait}}
	}
	const name = "probe_duration_seconds"
	return []oracleTime{{"probe_dns_lookup_time_seconds", p.DNS}, {name, o.TotalUS}, {name, p.DNS + p.Connect + p.TLS + p.Wait + p.Transfer}}
}

type oracle struct{ url string }

// startOracle starts blackbox_exporter, by another program if there is one.
func startOracle(t *testing.T, l *lab.Lab, rows []string, by ...string) oracle {
	t.Helper()
	binary := ""
	for _, name := range []string{"prometheus-blackbox-exporter", "blackbox_exporter"} {
		if path, err := exec.LookPath(name); err == nil {
			binary = path
		}
	}
	if binary == "" {
		t.Fatal("there is no blackbox_exporter on this machine: make deps installs it")
	}
	dir := t.TempDir()
	roots, config := filepath.Join(dir, "roots.pem"), filepath.Join(dir, "modules.yml")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(roots, string(l.Authority()))
	write(config, fmt.Sprintf(oracleModules, roots)+questions(rows, roots))
	listener, err := net.Listen("tcp", "127.0.0.3:0") // an address of its own: its port is nobody else's
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	line := append(by, binary, "--config.file="+config, "--web.listen-address="+address, "--log.level=error")
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), "GODEBUG=netdns=go") // which reads /etc/resolv.conf itself
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	o := oracle{"http://" + address}
	for deadline := time.After(hang); ; {
		if response, err := http.Get(o.url + "/-/healthy"); err == nil {
			_ = response.Body.Close()
			return o
		}
		select {
		case <-deadline:
			t.Fatal("blackbox_exporter does not answer")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ask gives every metric of a visit.
func (o oracle) ask(ctx context.Context, target, module string) (map[string]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url+"/probe?"+url.Values{"target": {target}, "module": {module}}.Encode(), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	said := map[string]float64{}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		name, value, found := strings.Cut(lines.Text(), " ")
		if number, err := strconv.ParseFloat(value, 64); found && err == nil && !strings.HasPrefix(name, "#") {
			said[name] = number
		}
	}
	if _, probed := said["probe_success"]; !probed {
		_, _ = io.Copy(io.Discard, response.Body)
		return nil, fmt.Errorf("the oracle answers %s", response.Status)
	}
	return said, nil
}

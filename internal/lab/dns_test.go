package lab

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// exchange sends a question to a server and gives the raw answer.
func exchange(t *testing.T, l *Lab, network, name string, kind uint16, change ...func(*dns.Msg)) []byte {
	t.Helper()
	question := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	question.Id = 77
	for _, f := range change {
		f(question)
	}
	packed, err := question.Pack()
	if err != nil {
		t.Fatal(err)
	}
	c := &dns.Conn{Conn: dialDNS(t, l, network), UDPSize: 65535}
	if _, err := c.Write(packed); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 65535)
	n, err := c.Read(answer)
	if err != nil {
		t.Fatalf("%s over %s: %v", name, network, err)
	}
	return answer[:n]
}

func dialDNS(t *testing.T, l *Lab, network string) net.Conn {
	t.Helper()
	switch network {
	case "tcp":
		return dial(t, l, "dns")
	case "tls":
		return dialTLS(t, l, "dot", "dot")
	}
	addr, err := l.Addr("dns")
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	return c
}

func query(t *testing.T, l *Lab, network, name string, kind uint16, change ...func(*dns.Msg)) *dns.Msg {
	t.Helper()
	answer := new(dns.Msg)
	if err := answer.Unpack(exchange(t, l, network, name, kind, change...)); err != nil {
		t.Fatalf("%s over %s: %v", name, network, err)
	}
	return answer
}

// said are the data of the answer's records.
func said(m *dns.Msg) []string {
	texts := []string{}
	for _, record := range m.Answer {
		texts = append(texts, strings.TrimPrefix(record.String(), record.Header().String()))
	}
	return texts
}

func TestDNSRecords(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for _, c := range []struct {
		name  string
		kind  uint16
		rcode int
		want  []string
	}{
		{"lab.test", dns.TypeA, 0, []string{"127.0.0.1"}},
		{"A-192-0-2-1.Lab.Test", dns.TypeA, 0, []string{"192.0.2.1"}},
		{"a-192-0-2-1.lab.test", dns.TypeAAAA, 0, []string{}},
		{"aaaa-2001-db8--1.lab.test", dns.TypeAAAA, 0, []string{"2001:db8::1"}},
		{"a-192-0-2-1.a-192-0-2-2.aaaa-2001-db8--1.lab.test", dns.TypeA, 0, []string{"192.0.2.1", "192.0.2.2"}},
		{"many-3.lab.test", dns.TypeA, 0, []string{"198.18.0.0", "198.18.0.1", "198.18.0.2"}},
		{"cname-2.a-192-0-2-1.lab.test", dns.TypeA, 0, []string{"cname-1.a-192-0-2-1.lab.test.", "a-192-0-2-1.lab.test.", "192.0.2.1"}},
		{"cname-2.a-192-0-2-1.lab.test", dns.TypeCNAME, 0, []string{"cname-1.a-192-0-2-1.lab.test."}},
		{"cname-1.nxdomain.lab.test", dns.TypeA, 3, []string{}},
		{"a-192-0-2-1.lab.test", dns.TypeCNAME, 0, []string{}},
		{"loop.lab.test", dns.TypeA, 0, []string{"loop-back.lab.test.", "loop.lab.test."}},
		{"txt-hello.lab.test", dns.TypeTXT, 0, []string{`"hello"`}},
		{"lab.test", dns.TypeTXT, 0, []string{`"v=spf1 -all"`}},
		{"lab.test", dns.TypeMX, 0, []string{"10 lab.test.", "20 x-backup.lab.test."}},
		{"lab.test", dns.TypeNS, 0, []string{"x-ns1.lab.test.", "x-ns2.lab.test."}},
		{"lab.test", dns.TypeSOA, 0, []string{"x-ns1.lab.test. hostmaster.lab.test. 1 3600 600 86400 60"}},
		{"lab.test", dns.TypeCAA, 0, []string{`0 issue "ca.lab.test"`}},
		{"_https._tcp.lab.test", dns.TypeSRV, 0, []string{"10 5 443 lab.test."}},
		{"slow-1ms.a-192-0-2-1.lab.test", dns.TypeA, 0, []string{"192.0.2.1"}},
		{"nodata.a-192-0-2-1.lab.test", dns.TypeA, 0, []string{}},
		{"nodata.lab.test", dns.TypeTXT, 0, []string{}},
		{"x-1.lab.test", dns.TypePTR, 0, []string{}},
		{"nxdomain.lab.test", dns.TypeA, 3, []string{}},
		{"nxdomain.lab.test", dns.TypeTXT, 3, []string{}},
		{"nothing.lab.test", dns.TypeA, 3, []string{}},
		{"a-300-0-2-1.lab.test", dns.TypeA, 3, []string{}},
		{"a-2001-db8--1.lab.test", dns.TypeA, 3, []string{}},
		{"rebind-1-2.lab.test", dns.TypeA, 3, []string{}},
		{"rebind-1-1-1-1-300-0-0-1.lab.test", dns.TypeA, 3, []string{}},
		{"slow-much.lab.test", dns.TypeA, 3, []string{}},
		{"servfail.a-192-0-2-1.lab.test", dns.TypeA, 2, []string{}},
		{"refused.lab.test", dns.TypeA, 5, []string{}},
		{"formerr.lab.test", dns.TypeA, 1, []string{}},
		{"notimp.lab.test", dns.TypeA, 4, []string{}},
		{"elsewhere.test", dns.TypeA, 5, []string{}},
		{"notlab.test", dns.TypeA, 5, []string{}},
		{"truncated.many-2.lab.test", dns.TypeA, 0, []string{"198.18.0.0", "198.18.0.1"}},
	} {
		for _, network := range []string{"udp", "tcp", "tls"} {
			answer := query(t, l, network, c.name, c.kind)
			want := c.want
			if network == "udp" && strings.HasPrefix(c.name, "truncated") {
				want = []string{}
			}
			if got := said(answer); answer.Rcode != c.rcode || !slices.Equal(got, want) || answer.Id != 77 || !answer.RecursionAvailable || answer.Truncated != (len(want) < len(c.want)) {
				t.Errorf("%s %s over %s: %v", c.name, dns.TypeToString[c.kind], network, answer)
			}
			if outer := strings.HasSuffix(c.name, "elsewhere.test") || c.name == "notlab.test"; len(c.want) == 0 && (len(answer.Ns) == 0) != outer {
				t.Errorf("%s over %s: the SOA of a negative answer: %v", c.name, network, answer.Ns)
			}
		}
	}
	if got := l.RequestsTo("servfail.a-192-0-2-1.lab.test"); got != 3 {
		t.Errorf("counted %d questions", got)
	}
	for name, want := range map[string]uint32{"ttl-5.cname-1.a-192-0-2-1.lab.test": 5, "lab.test": 60, "rebind.lab.test": 0, "rebind.ttl-9.lab.test": 9} {
		for _, record := range query(t, l, "udp", name, dns.TypeA).Answer {
			if record.Header().Ttl != want {
				t.Errorf("%s: %v", name, record)
			}
		}
	}
}

func TestDNSRebinds(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for name, want := range map[string][2]string{
		"rebind.lab.test": {"8.8.8.8", "127.0.0.1"}, "rebind.x-2.lab.test": {"8.8.8.8", "127.0.0.1"},
		"rebind-1-1-1-1-169-254-169-254.lab.test": {"1.1.1.1", "169.254.169.254"}, "cname-1.rebind.x-3.lab.test": {"8.8.8.8", "127.0.0.1"},
	} {
		for i, network := range []string{"udp", "tcp", "udp"} {
			got := said(query(t, l, network, name, dns.TypeA))
			if got[len(got)-1] != want[min(i, 1)] {
				t.Errorf("%s, question %d: %v", name, i, got)
			}
			if six := query(t, l, "udp", name, dns.TypeAAAA); six.Rcode != 0 {
				t.Errorf("%s: %v", name, six)
			}
		}
	}
}

func TestDNSLimits(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	edns := func(m *dns.Msg) { m.SetEdns0(4096, false) }
	short := exchange(t, l, "udp", "many-100.lab.test", dns.TypeA)
	if len(short) > 512 || len(short) < 400 || short[2]&2 == 0 { // the TC bit
		t.Errorf("100 addresses in %d bytes: %x", len(short), short)
	}
	if m := query(t, l, "udp", "many-100.lab.test", dns.TypeA, edns); m.Truncated || len(m.Answer) != 100 || m.IsEdns0() == nil {
		t.Errorf("%d addresses with EDNS, truncated %v", len(m.Answer), m.Truncated)
	}
	if m := query(t, l, "tcp", "many-3000.lab.test", dns.TypeA); m.Truncated || len(m.Answer) != 3000 {
		t.Errorf("%d addresses over TCP, truncated %v", len(m.Answer), m.Truncated)
	}
	if m := query(t, l, "tcp", "always-truncated.lab.test", dns.TypeA); !m.Truncated || len(m.Answer) > 0 {
		t.Error(m)
	}
	if m := query(t, l, "udp", "lab.test", dns.TypeA, func(m *dns.Msg) { m.Opcode = dns.OpcodeNotify }); m.Rcode != dns.RcodeFormatError {
		t.Error(m)
	}
}

func TestDNSLies(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for _, network := range []string{"udp", "tcp", "tls"} {
		if m := query(t, l, network, "wrong-id.a-192-0-2-1.lab.test", dns.TypeA); m.Id != 78 || len(m.Answer) != 1 {
			t.Error(m)
		}
		if m := query(t, l, network, "wrong-name.a-192-0-2-1.lab.test", dns.TypeA); m.Question[0].Name != "x-other.lab.test." || m.Answer[0].Header().Name != "x-other.lab.test." {
			t.Error(m)
		}
		if m := query(t, l, network, "spoofed.a-192-0-2-1.lab.test", dns.TypeA); m.Id != 78 || said(m)[0] != "127.0.0.66" {
			t.Error(m)
		}
		if got := exchange(t, l, network, "garbage.lab.test", dns.TypeA); string(got) != "this is not DNS" {
			t.Errorf("%q", got)
		}
		if got := exchange(t, l, network, "header.lab.test", dns.TypeA); len(got) != 12 || got[5] != 1 {
			t.Errorf("%x", got)
		}
		half := exchange(t, l, network, "half.a-192-0-2-1.lab.test", dns.TypeA)
		if whole := exchange(t, l, network, "x-lf.a-192-0-2-1.lab.test", dns.TypeA); len(half) != len(whole)/2 {
			t.Errorf("%d of %d bytes", len(half), len(whole))
		}
		loop := exchange(t, l, network, "pointer-loop.lab.test", dns.TypeA)
		if at := len(loop) - 16; loop[at] != 0xc0 || int(loop[at+1]) != at || loop[7] != 1 || new(dns.Msg).Unpack(loop) == nil {
			t.Errorf("%x", loop)
		}
	}
}

func TestDNSSilence(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for _, network := range []string{"udp", "tcp"} {
		c := &dns.Conn{Conn: dialDNS(t, l, network)}
		if err := c.WriteMsg(new(dns.Msg).SetQuestion("silent.lab.test.", dns.TypeA)); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		if m, err := c.ReadMsg(); err == nil || strings.Contains(err.Error(), "EOF") {
			t.Errorf("over %s: %v, %v", network, m, err)
		}
	}
	begin := time.Now()
	query(t, l, "udp", "slow-300ms.lab.test", dns.TypeA)
	if took := time.Since(begin); took < 300*time.Millisecond {
		t.Errorf("slow-300ms took %v", took)
	}
}

func TestDNSOverHTTPS(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	question, err := new(dns.Msg).SetQuestion("a-192-0-2-1.lab.test.", dns.TypeA).Pack()
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: l.CertPool()}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	two := &http.Client{Transport: transport}
	encoded := base64.RawURLEncoding.EncodeToString(question)
	post := func(kind string) (*http.Response, error) {
		return two.Post(at(t, l, "doh"), kind, bytes.NewReader(question))
	}
	for name, ask := range map[string]func() (*http.Response, error){
		"GET":      func() (*http.Response, error) { return two.Get(at(t, l, "doh") + "?dns=" + encoded) },
		"HTTP/1.1": func() (*http.Response, error) { return client.Get(l.URL() + "/dns-query?dns=" + encoded) },
		"POST":     func() (*http.Response, error) { return post("application/dns-message") },
	} {
		response, err := ask()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		content, _ := io.ReadAll(response.Body)
		m := new(dns.Msg)
		if err := m.Unpack(content); err != nil || fmt.Sprint(said(m)) != "[192.0.2.1]" || response.Header.Get("Content-Type") != "application/dns-message" {
			t.Errorf("%s: %s, %v, %v", name, response.Status, m, err)
		}
	}
	if response, err := post("text/plain"); err != nil || response.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("%v, %v", response, err)
	}
	for query, code := range map[string]int{"?dns=*": 400, "?dns=AAAA": 400, "": 400} {
		if response, err := two.Get(at(t, l, "doh") + query); err != nil || response.StatusCode != code {
			t.Errorf("%s: %v, %v", query, response, err)
		}
	}
	if response, _ := send(t, client, "PUT", l.URL()+"/dns-query", nil); response.StatusCode != http.StatusMethodNotAllowed {
		t.Error(response.Status)
	}
}

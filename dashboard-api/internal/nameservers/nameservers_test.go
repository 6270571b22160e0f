package nameservers

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
)

// rig is a directory that asks what the test says.
type rig struct {
	*Directory
	zones map[string][]string
	fails bool
	asked []string
}

func newRig(t *testing.T, zones map[string][]string) *rig {
	r := &rig{zones: zones}
	r.Directory = New(func(_ context.Context, name string) ([]*net.NS, error) {
		r.asked = append(r.asked, name)
		if r.fails {
			return nil, &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
		}
		var found []*net.NS
		for _, host := range r.zones[name] {
			found = append(found, &net.NS{Host: host})
		}
		if found == nil {
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}
		return found, nil
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

// settle lets what is due be asked.
func settle() {
	time.Sleep(time.Minute) // of the bubble
	synctest.Wait()
}

func TestZonesOfHosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, map[string][]string{
			"example.com.":       {"NS2.dns-provider.net.", "ns1.dns-provider.net.", "a.other.org."},
			"sub.example.co.uk.": {"ns.sub.example.co.uk."},
			"example.co.uk.":     {"ns.elsewhere.net."},
		})
		want := map[string]string{
			"www.example.com": "dns-provider.net, other.org", "a.b.example.com": "dns-provider.net, other.org", "www.sub.example.co.uk": "example.co.uk",
			"www.example.co.uk": "elsewhere.net", "unknown.example": "", "192.0.2.1": "", "2001:db8::1": "", "localhost": "", "co.uk": "", "": "",
		}
		for host := range want {
			if got := r.Of(host); got != "" {
				t.Errorf("%s: %q before it was asked", host, got)
			}
		}
		settle()
		for host, servers := range want {
			if got := r.Of(host); got != servers {
				t.Errorf("%s: %q, want %q", host, got, servers)
			}
		}
		for _, name := range r.asked {
			if name == "com." || name == "uk." || name == "co.uk." || strings.HasPrefix(name, "192") {
				t.Errorf("asked about %s", name)
			}
		}
		slices.Sort(r.asked)
		if len(slices.Compact(slices.Clone(r.asked))) != len(r.asked) {
			t.Errorf("asked twice: %v", r.asked)
		}
	})
}

// Who answers has to be known when nobody answers any more.
func TestKnownWhileNobodyAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, map[string][]string{"example.com.": {"ns.one.net."}})
		r.Of("example.com")
		settle()
		r.fails = true
		time.Sleep(freshFor)
		r.Of("example.com")
		r.Of("new.example")
		settle()
		if got := r.Of("example.com"); got != "one.net" {
			t.Errorf("%q", got)
		}
		r.fails, r.zones["example.com."] = false, []string{"ns.two.net."}
		time.Sleep(againIn)
		asked := len(r.asked)
		r.Of("example.com")
		settle()
		if got := r.Of("example.com"); got != "two.net" || len(r.asked) != asked+1 {
			t.Errorf("%q after %d more questions", got, len(r.asked)-asked)
		}
		time.Sleep(freshFor / 2)
		r.Of("example.com")
		settle()
		if len(r.asked) != asked+1 {
			t.Error("asked although it is known")
		}
	})
}

// A name server's own words are read as those above.
func TestAnswersOfANameServer(t *testing.T) {
	t.Parallel()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: socket, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		m.RecursionAvailable = true
		switch q.Question[0].Name {
		case "example.com.":
			m.Answer = append(m.Answer, &dns.NS{Hdr: dns.RR_Header{Name: "example.com.", Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: 60}, Ns: "ns1.provider.net."})
		case "www.example.com.": // no zone
		case "broken.example.":
			m.Rcode = dns.RcodeServerFailure
		default:
			m.Rcode = dns.RcodeNameError
		}
		_ = w.WriteMsg(m)
	})}
	started := make(chan struct{})
	server.NotifyStartedFunc = func() { close(started) }
	go func() { _ = server.ActivateAndServe() }()
	<-started
	t.Cleanup(func() { _ = server.Shutdown() })
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", socket.LocalAddr().String())
	}}
	d := New(resolver.LookupNS)
	for host, want := range map[string]string{"www.example.com": "provider.net", "nothing.example": ""} {
		if got, err := d.ask(t.Context(), host, map[string]*entry{}); got != want || err != nil {
			t.Errorf("%s: %q, %v", host, got, err)
		}
	}
	var trouble *net.DNSError
	if _, err := d.ask(t.Context(), "broken.example", map[string]*entry{}); !errors.As(err, &trouble) {
		t.Errorf("a server that failed: %v", err)
	}
}

package probe

import (
	"crypto/tls"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// goods are visits that end well: of every row one at least, named "row good", and some that get
// there in another way, named "row good/way".
func (m *matrix) goods() map[string]any {
	over1, over2, over3 := "https://"+m.at("tls"), "https://"+m.at("h2"), startHTTP3(m.t, m.lab, m.lab)
	web := func(url string, version uptime.HTTPVersion) uptime.Check {
		return waiting(uptime.KindHTTP, url, uptime.Spec{HTTP: &uptime.HTTPSpec{Version: version}})
	}
	socket := func(url, kind string, spec uptime.Spec) uptime.Check {
		return waiting(uptime.KindWebSocket, "ws"+strings.TrimPrefix(url, "http")+"/ws/"+kind, spec)
	}
	asked := func(server, name string, transport uptime.DNSTransport) uptime.Check {
		return waiting(uptime.KindDNS, "dns://"+m.at(server)+"/"+name, over(transport))
	}
	health := func(url string) uptime.Check { return waiting(uptime.KindGRPC, url, uptime.Spec{}) }
	named := "https://good.test" + m.at("any-name")[strings.LastIndex(m.at("any-name"), ":"):]
	answer := func(_ int, request []byte) [][]byte { return [][]byte{replyTo(m.t, request, nil)} }
	hello := saying("hi", "received - equals hi")
	const address = "a-192-0-2-1.lab.test"
	return map[string]any{
		"http good":               web(m.lab.URL()+"/ok", uptime.HTTP1),
		"http good/tls":           web(over1+"/ok", uptime.HTTP1),
		"http good/tls12":         web("https://"+m.at("tls12")+"/ok", uptime.HTTP1),
		"http good/name":          web(named+"/ok", uptime.HTTP1),
		"http good/redirects":     web(over1+"/redirect/2", uptime.HTTP1),
		"http good/no-body":       web(m.lab.URL()+"/status/204", uptime.HTTP1),
		"http good/chunks":        web(m.lab.URL()+"/chunked/5000", uptime.HTTP1),
		"http good/decoded":       waiting(uptime.KindHTTP, m.lab.URL()+"/encoded/gzip/hello", wanting("body - equals hello")),
		"http good/best":          web(over2+"/ok", uptime.HTTPBest),
		"http/2 good":             web(over2+"/ok", uptime.HTTP2),
		"http/2 good/redirects":   web(over2+"/redirect/2", uptime.HTTP2),
		"http/3 good":             web(over3+"/ok", uptime.HTTP3),
		"http/3 good/redirects":   web(over3+"/redirect/2", uptime.HTTP3),
		"tcp good":                tcpCheck(m.t, m.lab, "tcp-silent", uptime.Spec{}),
		"tcp good/talk":           tcpCheck(m.t, m.lab, "tcp", sends("echo hello\n", hears("contains", "hello")...)),
		"tcp good/smtp":           tcpCheck(m.t, m.lab, "smtp", starts(uptime.StartTLSSMTP)),
		"tcp good/imap":           tcpCheck(m.t, m.lab, "imap", starts(uptime.StartTLSIMAP)),
		"tcp good/ftp":            tcpCheck(m.t, m.lab, "ftp", starts(uptime.StartTLSFTP)),
		"tls good":                checkAt("tls://"+m.at("tls"), uptime.Spec{}),
		"tls good/tls12":          checkAt("tls://"+m.at("tls12"), uptime.Spec{}),
		"icmp good":               ping{&host{answer: answer, after: 50 * time.Millisecond}, checkAt("icmp://127.0.0.1", uptime.Spec{})}, // the time of a bubble stands still unless somebody waits
		"dns good":                asked("dns", address, uptime.DNSOverUDP),
		"dns good/truncated":      asked("dns", "truncated."+address, uptime.DNSOverUDP),
		"dns good/tcp":            asked("dns", address, uptime.DNSOverTCP),
		"dns/tls good":            asked("dot", address, uptime.DNSOverTLS),
		"dns/https good":          asked("h2", address, uptime.DNSOverHTTPS),
		"dns/https good/http1":    asked("tls", address, uptime.DNSOverHTTPS),
		"grpc good":               health("grpc://" + m.at("h2c")),
		"grpc good/service":       health("grpc://" + m.at("h2c") + "/serving"),
		"grpc good/tls":           health("grpcs://" + m.at("h2")),
		"websocket good":          socket(m.lab.URL(), "echo", hello),
		"websocket good/tls":      socket(over1, "echo", hello),
		"websocket good/ping":     socket(m.lab.URL(), "echo", uptime.Spec{}),
		"websocket good/tls-ping": socket(over1, "echo", uptime.Spec{}),
	}
}

// good makes a visit that ends well, and says what of it is the same each time.
func (m *matrix) good(t *testing.T, kind uptime.Kind, cell any) string {
	check, o := m.look(t, cell)
	if verify(t, o, nil, o.HTTPStatus); check.Kind != kind {
		t.Errorf("this is a check of the kind %s", check.Kind)
	}
	e := o.Evidence
	if o.Message != "" || !o.Address.IsValid() || o.Attempts != 1 || len(e.Failed) > 0 || e.Command == "" || len(e.Hops) != int(o.Seen.Hops) {
		t.Errorf("%+v, evidence %+v", o, e)
	}
	encrypted := o.Seen.TLSVersion != 0
	if encrypted == o.CertNotAfter.IsZero() || encrypted == (o.Issuer == "") || encrypted == (len(e.Certificates) == 0) || encrypted == (e.TLSCipher == "") {
		t.Errorf("the certificate: %+v, evidence %+v", o, e)
	}
	words := []string{fmt.Sprintf("%v %d %s", o.Status, o.HTTPStatus, orNone(o.Seen.Protocol))}
	if encrypted {
		words = append(words, tls.VersionName(o.Seen.TLSVersion))
	}
	words = append(words, "phases "+began(o.Phases))
	for _, hop := range e.Hops {
		words = append(words, strings.TrimSpace("hop "+strconv.Itoa(hop.Status)+" "+orNone(hop.Protocol)+" "+began(hop.Phases)))
	}
	return strings.Join(append(words, fmt.Sprintf("%d bytes of %d", o.Seen.BodyBytes, o.Seen.WireBytes)), ", ")
}

func orNone(word string) string {
	if word == "" {
		return "-"
	}
	return word
}

// began names the phases that took any time.
func began(p uptime.Phases) string {
	var names []string
	for i, took := range []uint32{p.DNS, p.Connect, p.TLS, p.Wait, p.Transfer} {
		if took > 0 {
			names = append(names, []string{"dns", "connect", "tls", "wait", "transfer"}[i])
		}
	}
	return orNone(strings.Join(names, "+"))
}

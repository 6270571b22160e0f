package lab

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestCertificates(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	_, err := client.Get(l.ExpiredURL() + "/ok")
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); !ok || invalid.Reason != x509.Expired {
		t.Errorf("expired: %v", err)
	}
	_, err = client.Get(l.WrongNameURL() + "/ok")
	if _, ok := errors.AsType[x509.HostnameError](err); !ok {
		t.Errorf("wrong name: %v", err)
	}
	_, err = client.Get(at(t, l, "not-yet-valid"))
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); !ok || invalid.Reason != x509.Expired || invalid.Cert.NotBefore.Before(time.Now().Add(48*time.Hour)) {
		t.Errorf("not yet valid: %v", err)
	}
	for name, selfSigned := range map[string]bool{"self-signed": true, "untrusted": false, "incomplete": false} {
		_, err := client.Get(at(t, l, name))
		if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); !ok || (unknown.Cert.CheckSignatureFrom(&x509.Certificate{
			PublicKey: unknown.Cert.PublicKey, PublicKeyAlgorithm: unknown.Cert.PublicKeyAlgorithm, Version: 1,
		}) == nil && unknown.Cert.Subject.String() == unknown.Cert.Issuer.String()) != selfSigned {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// peer shakes hands and gives what the server showed.
func peer(t *testing.T, l *Lab, name string) tls.ConnectionState {
	t.Helper()
	return dialTLS(t, l, name).ConnectionState()
}

func TestGoodCertificates(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	if chain := peer(t, l, "chain").PeerCertificates; len(chain) != 2 || !chain[1].IsCA {
		t.Errorf("%d certificates in the chain", len(chain))
	}
	if key, is := peer(t, l, "rsa").PeerCertificates[0].PublicKey.(*rsa.PublicKey); !is || key.N.BitLen() != 2048 {
		t.Errorf("the RSA key is %v", key)
	}
	if key, is := peer(t, l, "ecdsa").PeerCertificates[0].PublicKey.(*ecdsa.PublicKey); !is || key.Curve.Params().BitSize != 384 {
		t.Errorf("the ECDSA key is %v", key)
	}
	if left := time.Until(peer(t, l, "expires-in-72h").PeerCertificates[0].NotAfter); left < 71*time.Hour || left > 72*time.Hour {
		t.Errorf("expires in %v", left)
	}
	if subject := peer(t, l, "odd-subject").PeerCertificates[0].Subject.CommonName; !strings.Contains(subject, "<script>") || !strings.Contains(subject, "\r\n\x1b") {
		t.Errorf("subject %q", subject)
	}
	size := 0
	for _, certificate := range peer(t, l, "long-chain").PeerCertificates {
		size += len(certificate.Raw)
	}
	if size < 100<<10 || size > 200<<10 {
		t.Errorf("a long chain of %d bytes", size)
	}
	for _, name := range []string{"shop.test", "mail.test"} {
		c := tls.Client(dial(t, l, "any-name"), &tls.Config{RootCAs: l.CertPool(), ServerName: name})
		if err := c.Handshake(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHugeChain reads it off the wire: Go's client refuses it unread.
func TestHugeChain(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	addr, err := l.Addr("huge-chain")
	if err != nil {
		t.Fatal(err)
	}
	_, err = tls.Dial("tcp", addr, &tls.Config{RootCAs: l.CertPool(), ServerName: "127.0.0.1"})
	if err == nil || !strings.Contains(err.Error(), "exceeds maximum") {
		t.Errorf("a chain of 1 MB: %v", err)
	}
	certificate, err := l.certificate("huge-chain")
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, der := range certificate.Certificate {
		size += len(der)
	}
	if size < 1<<20 || size > 1200<<10 {
		t.Errorf("%d bytes", size)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for name, only := range map[string]uint16{"tls10": tls.VersionTLS10, "tls11": tls.VersionTLS11, "tls12": tls.VersionTLS12, "tls13": tls.VersionTLS13} {
		for version := uint16(tls.VersionTLS10); version <= tls.VersionTLS13; version++ {
			c := tls.Client(dial(t, l, name), &tls.Config{RootCAs: l.CertPool(), ServerName: "127.0.0.1", MinVersion: version, MaxVersion: version})
			if err := c.Handshake(); (err == nil) != (version == only) {
				t.Errorf("%s asked for %s: %v", name, tls.VersionName(version), err)
			}
		}
	}
}

func TestALPN(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for name, want := range map[string]map[string]string{ // offered, agreed
		"tls":     {"h2 http/1.1": "http/1.1"},
		"h2":      {"h2 http/1.1": "h2", "http/1.1": "http/1.1"},
		"h2-only": {"h2 http/1.1": "h2", "http/1.1": "refused"},
	} {
		for offered, agreed := range want {
			c := tls.Client(dial(t, l, name), &tls.Config{RootCAs: l.CertPool(), ServerName: "127.0.0.1", NextProtos: strings.Fields(offered)})
			err := c.Handshake()
			got := c.ConnectionState().NegotiatedProtocol
			if err != nil {
				got = "refused"
			}
			if got != agreed {
				t.Errorf("%s offered %s: %q, %v", name, offered, got, err)
			}
		}
	}
}

func TestHTTP2Works(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for _, name := range []string{"h2", "h2-only", "h2c"} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: l.CertPool()}, Protocols: protocols((*http.Protocols).SetHTTP2, (*http.Protocols).SetUnencryptedHTTP2)}
		response, err := (&http.Client{Transport: transport}).Get(at(t, l, name) + "/echo")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var told Echo
		if err := json.NewDecoder(response.Body).Decode(&told); err != nil || told.Protocol != "HTTP/2.0" || (told.TLS == nil) != (name == "h2c") {
			t.Errorf("%s: %+v, %v", name, told, err)
		}
		if response, err = (&http.Client{Transport: transport}).Get(at(t, l, name) + "/cut"); err != nil || response.StatusCode != http.StatusInternalServerError {
			t.Errorf("%s: raw bytes inside HTTP/2: %v, %v", name, response, err)
		}
		transport.CloseIdleConnections()
	}
}

func TestClientCertificate(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	if _, err := client.Get(at(t, l, "client-cert")); err == nil || !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("without a certificate: %v", err)
	}
	certificate, err := l.ClientCertificate()
	if err != nil {
		t.Fatal(err)
	}
	c := tls.Client(dial(t, l, "client-cert"), &tls.Config{RootCAs: l.CertPool(), ServerName: "127.0.0.1", Certificates: []tls.Certificate{certificate}})
	if answer, err := ask(c, "GET /echo HTTP/1.0\r\n\r\n"); err != nil || !strings.Contains(answer, `"certificates":1`) {
		t.Errorf("with one: %q, %v", answer, err)
	}
}

// TestHandshakesThatFail sends a real hello and looks at the bytes that come back.
func TestHandshakesThatFail(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	hello := helloOf(t)
	for name, c := range map[string]struct {
		prefix string
		size   int // of all that comes, -1 for any
		ends   error
	}{
		"tls-cut":     {"\x16\x03\x03", helloPart, io.EOF},
		"tls-reset":   {"\x16\x03\x03", -1, syscall.ECONNRESET},
		"tls-stall":   {"\x16\x03\x03", helloPart, os.ErrDeadlineExceeded},
		"tls-silent":  {"", 0, os.ErrDeadlineExceeded},
		"black-hole":  {"", 0, os.ErrDeadlineExceeded},
		"tls-alert":   {"\x15\x03\x03\x00\x02\x02\x28", 7, io.EOF},
		"tls-garbage": {"220 this is not TLS", -1, io.EOF},
		"tls-plain":   {"HTTP/1.1 400 ", -1, io.EOF},
	} {
		conn := &recorder{Conn: dial(t, l, name)}
		if _, err := io.WriteString(conn, hello); err != nil {
			t.Fatal(err)
		}
		if c.ends == os.ErrDeadlineExceeded { // all that comes, and then nothing for a while
			if _, err := io.CopyN(io.Discard, struct{ io.Reader }{conn}, int64(c.size)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			_ = conn.SetDeadline(time.Now().Add(100 * time.Millisecond))
		}
		err := restOf(conn)
		if !errors.Is(err, c.ends) || !strings.HasPrefix(string(conn.seen), c.prefix) && c.size >= 0 || c.size >= 0 && len(conn.seen) != c.size {
			t.Errorf("%s: %d bytes %.60q, then %v", name, len(conn.seen), conn.seen, err)
		}
	}
}

// restOf reads to the end, and says how it came.
func restOf(c net.Conn) error {
	if _, err := io.Copy(io.Discard, struct{ io.Reader }{c}); err != nil {
		return err
	}
	return io.EOF
}

func TestHandshakesWithoutEnd(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for name, size := range map[string]int{"tls-flood": 2 << 20, "tls-drip": 8} {
		conn := &recorder{Conn: dial(t, l, name)}
		begin := time.Now()
		_, _ = io.WriteString(conn, helloOf(t))
		_, err := io.CopyN(io.Discard, struct{ io.Reader }{conn}, int64(size))
		if err != nil || conn.seen[0] != 0x16 || name == "tls-drip" && time.Since(begin) < 300*time.Millisecond {
			t.Errorf("%s: %d bytes %.20q, %v", name, len(conn.seen), conn.seen, err)
		}
	}
}

// helloOf is the hello of Go's client.
func helloOf(t *testing.T) string {
	t.Helper()
	near, far := net.Pipe()
	defer far.Close()
	go func() {
		defer near.Close()
		_ = tls.Client(near, &tls.Config{ServerName: "127.0.0.1"}).Handshake()
	}()
	hello := make([]byte, 4096)
	n, err := far.Read(hello)
	if err != nil {
		t.Fatal(err)
	}
	return string(hello[:n])
}

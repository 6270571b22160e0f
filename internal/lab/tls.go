package lab

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

const expiresIn = "expires-in-"

// certificateSites are the TLS servers that answer every path, once a client
// accepts their certificate and version.
func certificateSites() map[string]opener {
	all := map[string]opener{}
	for _, name := range []string{
		"tls", "expired", "wrong-name", "self-signed", "untrusted", "not-yet-valid", "chain", "incomplete", "long-chain", "huge-chain",
		"odd-subject", "any-name", "tls-slow", "rsa", "ecdsa", "tls10", "tls11", "tls12", "tls13", "client-cert", "h2", "h2-only",
	} {
		all[name] = openCertificate
	}
	all["plain"] = openPlain
	all["h2c"] = openPlain
	all["tls-plain"] = openPlain
	return all
}

// openPlain starts an HTTP server without TLS, whatever its URL says.
func openPlain(l *Lab, name string) (site, error) {
	versions := http1()
	if name == "h2c" {
		versions.SetUnencryptedHTTP2(true)
	}
	s, err := l.serveHTTP(name, l.free(), nil, versions)
	if name == "tls-plain" {
		s.url = "https://" + s.addr
	}
	return s, err
}

func openCertificate(l *Lab, name string) (site, error) {
	certificate, err := l.certificate(name)
	if err != nil {
		return site{}, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{*certificate}}
	versions := http1()
	switch name {
	case "tls10":
		config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS10
	case "tls11":
		config.MinVersion, config.MaxVersion = tls.VersionTLS11, tls.VersionTLS11
	case "tls12":
		config.MinVersion, config.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	case "tls13":
		config.MinVersion = tls.VersionTLS13
	case "client-cert":
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, l.CertPool()
	case "h2":
		versions = protocols((*http.Protocols).SetHTTP1, (*http.Protocols).SetHTTP2)
	case "h2-only":
		versions = protocols((*http.Protocols).SetHTTP2)
		config.GetConfigForClient = refuseHTTP1(certificate)
	case "tls-slow":
		config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			l.wait(hello.Context(), 300*time.Millisecond)
			return nil, nil
		}
	case "any-name":
		config.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if hello.ServerName == "" {
				return certificate, nil
			}
			return l.authority.issue(hello.ServerName, order{})
		}
	}
	return l.serveHTTP(name, l.free(), config, versions)
}

// refuseHTTP1 ends the handshake of clients that offer something but not h2, with
// the alert of RFC 7301 §3.2: crypto/tls would let them in.
func refuseHTTP1(certificate *tls.Certificate) func(*tls.ClientHelloInfo) (*tls.Config, error) {
	strict := &tls.Config{Certificates: []tls.Certificate{*certificate}, NextProtos: []string{"none of yours"}}
	return func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if slices.Contains(hello.SupportedProtos, "h2") {
			return nil, nil
		}
		return strict, nil
	}
}

// ClientCertificate is one that the server "client-cert" accepts.
func (l *Lab) ClientCertificate() (tls.Certificate, error) {
	certificate, err := l.authority.issue("client.lab.test", order{})
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("lab client certificate: %w", err)
	}
	return *certificate, nil
}

// certificate makes what the server of that name presents.
func (l *Lab) certificate(name string) (*tls.Certificate, error) {
	now := time.Now()
	switch name {
	case "expired":
		return l.authority.issue(l.host, order{from: now.AddDate(-1, 0, 0), to: now.AddDate(0, 0, -3)})
	case "not-yet-valid":
		return l.authority.issue(l.host, order{from: now.AddDate(0, 0, 3)})
	case "wrong-name":
		return l.authority.issue("elsewhere.invalid", order{})
	case "odd-subject":
		return l.authority.issue(l.host, order{subject: "<script>alert(1)</script>\r\n\x1b[2J\u202elab"})
	case "self-signed", "untrusted":
		return l.strange(name)
	case "chain", "incomplete":
		return l.chain(name == "chain")
	case "long-chain": // 25 times 4 KB
		return l.padded(4<<10, 25)
	case "huge-chain": // 32 times 32 KB
		return l.padded(32<<10, 32)
	case "rsa":
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return nil, err
		}
		return l.authority.issue(l.host, order{key: key})
	case "ecdsa":
		key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
		if err != nil {
			return nil, err
		}
		return l.authority.issue(l.host, order{key: key})
	}
	if text, asked := strings.CutPrefix(name, expiresIn); asked {
		left, err := time.ParseDuration(text)
		if err != nil {
			return nil, err
		}
		return l.authority.issue(l.host, order{from: now.AddDate(-1, 0, 0), to: now.Add(left)})
	}
	return l.authority.issue(l.host, order{})
}

// strange is signed by an authority nobody knows, or by itself.
func (l *Lab) strange(name string) (*tls.Certificate, error) {
	issuer := "Nobody's authority"
	if name == "self-signed" { // issuer, subject and key are the same
		issuer = l.host
	}
	other, err := newAuthority(issuer, nil)
	if err != nil {
		return nil, err
	}
	return other.issue(l.host, order{})
}

func (l *Lab) chain(whole bool) (*tls.Certificate, error) {
	between, err := newAuthority("Probefleet lab intermediate", l.authority)
	if err != nil {
		return nil, err
	}
	certificate, err := between.issue(l.host, order{})
	if err != nil {
		return nil, err
	}
	if whole {
		certificate.Certificate = append(certificate.Certificate, between.certificate.Raw)
	}
	return certificate, nil
}

// padded is a good certificate with others behind it that nobody needs.
func (l *Lab) padded(size, times int) (*tls.Certificate, error) {
	certificate, err := l.authority.issue(l.host, order{})
	if err != nil {
		return nil, err
	}
	filler, err := l.authority.issue("filler.invalid", order{padding: size})
	if err != nil {
		return nil, err
	}
	certificate.Certificate = append(certificate.Certificate, slices.Repeat(filler.Certificate, times)...)
	return certificate, nil
}

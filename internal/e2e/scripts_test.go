//go:build browser

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// nothingWrittenRuns fills every field that people may write in with scripts, has servers answer
// with them, and shows it all in a browser: none runs, and the policy has none to keep from running.
func nothingWrittenRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("make verify: every field takes minutes; `names of other people run no script` (dashboard.test.mjs) is the one of make test")
	}
	s := newSystem(t, "--regions", "eu")
	s.env = append(s.env, "API_SMTP_URL=smtp://127.0.0.1:9?security=none", "API_SMTP_FROM=status@example.com")
	s.start()
	const name = "<img src=x onerror=top.__ran=1>"
	prober := s.program("prober", "hostile", append(s.proberEnv(), "REGION=eu", "PROBER_NAME="+name, "PROBER_SPOOL_DIR="+t.TempDir(), "PROBER_SPOOL_VOLATILE=true")...)
	s.browse(t, []string{"HOSTILE_TLS=" + strings.Join(hostileCertificates(t), " "), "HOSTILE_PROBER=" + name}, "xss")
	_ = prober.Process.Kill() // what it writes in goes with the test
	_ = prober.Wait()
}

// hostileCertificates serves certificates whose names are scripts, and gives the addresses.
func hostileCertificates(t *testing.T) (urls []string) {
	for i, text := range []string{"<img src=x onerror=top.__ran=1>", "</title><svg onload=top.__ran=1>", "<script>top.__ran=1</script>"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		name := pkix.Name{CommonName: text, Organization: []string{text}, OrganizationalUnit: []string{text}}
		template := &x509.Certificate{SerialNumber: big.NewInt(int64(i + 1)), Subject: name, Issuer: name, DNSNames: []string{text},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(nil)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
		server.StartTLS()
		t.Cleanup(server.Close)
		urls = append(urls, server.URL)
	}
	return urls
}

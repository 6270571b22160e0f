package probe

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"math/big"
	"testing"
	"testing/synctest"
	"time"
)

// leafUntil makes a certificate for leaf.test that its own root signed.
func leafUntil(t *testing.T, until time.Time) (chain []*x509.Certificate, roots *x509.CertPool) {
	t.Helper()
	chain, roots, _ = keyedLeaf(t, until)
	return chain, roots
}

// keyedLeaf is leafUntil with the certificate's key.
func keyedLeaf(t *testing.T, until time.Time) (chain []*x509.Certificate, roots *x509.CertPool, leafKey *ecdsa.PrivateKey) {
	t.Helper()
	sign := func(template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) *x509.Certificate {
		raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := x509.ParseCertificate(raw)
		if err != nil {
			t.Fatal(err)
		}
		return certificate
	}
	rootKey := newKey(t)
	leafKey = newKey(t)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(9, 0, 0), IsCA: true, BasicConstraintsValid: true,
	}
	root = sign(root, root, rootKey, rootKey)
	leaf := sign(&x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Minute), NotAfter: until, DNSNames: []string{"leaf.test", "other.test"},
	}, root, leafKey, rootKey)
	roots = x509.NewCertPool()
	roots.AddCert(root)
	return []*x509.Certificate{leaf}, roots, leafKey
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestChainsAreKeptForAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		chain, roots := leafUntil(t, time.Now().AddDate(1, 0, 0))
		c := newChains(x509.NewCertPool())
		good := func(name string, want bool) {
			t.Helper()
			if err := c.verify(chain, name); (err == nil) != want {
				t.Errorf("%s: %v", name, err)
			}
		}
		good("leaf.test", false)
		c.roots = roots
		good("leaf.test", true) // what was bad is not kept
		c.roots = x509.NewCertPool()
		good("leaf.test", true)
		good("other.test", false) // it was good for another name
		chain = append(chain, chain[0])
		good("leaf.test", false) // it was another chain
		chain = chain[:1]
		time.Sleep(chainTrust - time.Second)
		good("leaf.test", true)
		time.Sleep(time.Second)
		good("leaf.test", false)
	})
}

func TestKeptChainsExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := time.Now().Add(10 * time.Minute).Truncate(time.Second)
		chain, roots := leafUntil(t, end)
		c := newChains(roots)
		if err := c.verify(chain, "leaf.test"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(end) + time.Second)
		if err := c.verify(chain, "leaf.test"); err == nil {
			t.Error("an expired chain is believed")
		}
	})
}

// Ends of life go by the clock of the day, which may be put right, and not by the
// monotonic one.
func TestKeptChainsGoByTheClockOfTheDay(t *testing.T) {
	t.Parallel()
	chain, roots := leafUntil(t, time.Now().AddDate(1, 0, 0))
	c := newChains(roots)
	if err := c.verify(chain, "leaf.test"); err != nil {
		t.Fatal(err)
	}
	for _, v := range c.good {
		if !v.until.Equal(chain[0].NotAfter) || v.until != v.until.Round(0) {
			t.Errorf("kept until %v", v.until)
		}
	}
}

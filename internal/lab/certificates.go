package lab

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"net"
	"time"
)

// authority signs the lab's certificates. Its key lives as long as the process.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// newAuthority is signed by the given one, or by itself.
func newAuthority(name string, by *authority) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().AddDate(-2, 0, 0), NotAfter: time.Now().AddDate(2, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	if by == nil {
		by = &authority{certificate: template, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.certificate, &key.PublicKey, by.key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{certificate: certificate, key: key}, nil
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// order says what certificate is wanted beyond its host, a name or an address.
// What is zero has a plain value: a year from an hour ago, the authority's own key
// (nothing here is secret), the host as its subject.
type order struct {
	from, to time.Time
	key      crypto.Signer
	subject  string
	padding  int // bytes of an extension that means nothing
}

// issue signs a certificate, and leaves the authority's own out of the chain.
func (a *authority) issue(host string, o order) (*tls.Certificate, error) {
	if o.from.IsZero() {
		o.from = time.Now().Add(-time.Hour)
	}
	if o.to.IsZero() {
		o.to = time.Now().AddDate(1, 0, 0)
	}
	if o.key == nil {
		o.key = a.key
	}
	if o.subject == "" {
		o.subject = host
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: o.subject},
		NotBefore: o.from, NotAfter: o.to,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	if o.padding > 0 {
		template.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 32473, 1}, Value: make([]byte, o.padding)}} // RFC 5612: for examples
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, o.key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: o.key}, nil
}

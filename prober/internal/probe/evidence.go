package probe

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/assertion"
	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	maxEvidenceCertificates = 10
	maxEvidenceNames        = 20
	maxEvidenceRecords      = 50
	maxEvidenceURL          = 2 << 10 // bytes of a hop's
)

// evidence copies what people may see of a visit.
func (s *sighting) evidence(p *plan, verdict assertion.Verdict) *uptime.Evidence {
	e := &uptime.Evidence{Hops: s.shownHops(), Headers: s.shownHeaders(), Cookies: s.shownCookies(), Rcode: s.Rcode, Records: s.shownRecords(), Command: p.visitor.command()}
	if s.statusLine != "" {
		e.StatusLine = s.text(s.Protocol+" "+s.statusLine, uptime.MaxEvidenceValue)
	}
	e.Body, e.BodyCut = s.excerpt(s.Body, s.BodyCut || s.BodySize > int64(len(s.Body)), false)
	e.Received, e.ReceivedCut = s.excerpt(s.Received, s.ReceivedCut, true)
	if s.TLSVersion != 0 {
		e.TLSVersion, e.TLSCipher = strings.TrimPrefix(tls.VersionName(s.TLSVersion), "TLS "), tls.CipherSuiteName(s.cipher)
	}
	for _, certificate := range s.chain[:min(len(s.chain), maxEvidenceCertificates)] {
		e.Certificates = append(e.Certificates, shownCertificate(certificate))
	}
	for _, f := range verdict.Failed {
		e.Failed = append(e.Failed, uptime.Failed{Index: f.Index, Severity: f.Severity, Message: f.Message})
	}
	return e
}

// text is one line of at most limit bytes, without secrets.
func (s *sighting) text(line string, limit int) string { return redact.Text(line, s.Secrets, limit) }

// excerpt is the beginning of a text as it is: valid UTF-8, without secrets. One that was
// cut, or is open because more could have come, may end within a secret.
func (s *sighting) excerpt(body []byte, before, open bool) (text string, cut bool) {
	kept := body[:min(len(body), 2*uptime.MaxEvidenceBody)]
	cut = before || len(kept) < len(body)
	hide := redact.Hide
	if cut || open {
		hide = redact.HideCut
	}
	text = hide(string(kept), s.Secrets)
	if text = strings.ToValidUTF8(text, "\uFFFD"); len(text) <= uptime.MaxEvidenceBody {
		return text, cut
	}
	end := uptime.MaxEvidenceBody
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end], true
}

// shownHops are the hops: where a redirect led may repeat what the target was sent.
func (s *sighting) shownHops() []uptime.Hop {
	hops := slices.Clone(s.hops)
	for i := range hops {
		hops[i].URL = s.text(hops[i].URL, maxEvidenceURL)
	}
	return hops
}

func (s *sighting) shownHeaders() []uptime.Header {
	var lines []uptime.Header
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		for _, value := range s.Header[name] {
			if len(lines) == uptime.MaxEvidenceHeaders {
				return lines
			}
			lines = append(lines, s.shownHeader(name, value))
		}
	}
	return lines
}

func (s *sighting) shownHeader(name, value string) uptime.Header {
	switch {
	case redact.Name(name):
		value = redact.Secret
	case name == "Location" || name == "Content-Location" || name == "Link" || name == "Refresh":
		value = redact.URL(value)
	}
	return uptime.Header{Name: s.text(name, uptime.MaxEvidenceValue), Value: s.text(value, uptime.MaxEvidenceValue)}
}

func (s *sighting) shownRecords() []uptime.Record {
	records := slices.Clone(s.records[:min(len(s.records), maxEvidenceRecords)])
	for i := range records {
		records[i].Data = s.text(records[i].Data, uptime.MaxEvidenceValue)
	}
	return records
}

func shownCertificate(c *x509.Certificate) uptime.Certificate {
	digest := sha256.Sum256(c.Raw)
	shown := uptime.Certificate{
		Subject: Message(c.Subject.String()), Issuer: Message(c.Issuer.String()),
		NotBefore: c.NotBefore.UTC(), NotAfter: c.NotAfter.UTC(), SHA256: hex.EncodeToString(digest[:]),
	}
	for _, name := range c.DNSNames[:min(len(c.DNSNames), maxEvidenceNames)] {
		shown.Names = append(shown.Names, Message(name))
	}
	for _, address := range c.IPAddresses[:min(len(c.IPAddresses), maxEvidenceNames)] {
		shown.Names = append(shown.Names, address.String())
	}
	return shown
}

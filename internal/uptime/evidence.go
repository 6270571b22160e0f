package uptime

import (
	"net/netip"
	"time"
)

// Limits of evidence.
const (
	MaxEvidenceBody    = 4 << 10 // bytes of a body
	MaxEvidenceHeaders = 40      // lines
	MaxEvidenceValue   = 512     // bytes of a header's value
)

// Evidence is what a visit saw, for people: kept of visits that were not up and of
// checks on demand. Secrets the target was visited with, and values of headers whose
// names tell that they are secret, are removed before it is made.
type Evidence struct {
	Hops         []Hop         `json:"hops,omitempty"` // in the order they were made; the last is the one judged
	StatusLine   string        `json:"status_line,omitempty"`
	Headers      []Header      `json:"headers,omitempty"` // of the last answer, in alphabetical order
	Cookies      []string      `json:"cookies,omitempty"` // names of those that the last answer set
	Body         string        `json:"body,omitempty"`    // decoded; what is not text is shown as �
	BodyCut      bool          `json:"body_cut,omitempty"`
	Received     string        `json:"received,omitempty"` // by a TCP or websocket check; what is not text is shown as �
	ReceivedCut  bool          `json:"received_cut,omitempty"`
	Records      []Record      `json:"records,omitempty"` // of a DNS check
	Rcode        string        `json:"rcode,omitempty"`
	TLSVersion   string        `json:"tls_version,omitempty"`
	TLSCipher    string        `json:"tls_cipher,omitempty"`
	Certificates []Certificate `json:"certificates,omitempty"` // as sent, the server's own first
	Failed       []Failed      `json:"failed,omitempty"`       // assertions
	Command      string        `json:"command,omitempty"`      // a line for a shell that does much the same
}

// Hop is one request of a visit, or one connection of a check that makes no requests.
type Hop struct {
	URL       string     `json:"url"` // without what is secret in it
	Address   netip.Addr `json:"address,omitzero"`
	Protocol  string     `json:"protocol,omitempty"`
	Status    int        `json:"status,omitempty"`
	Phases    Phases     `json:"phases"`
	DNSCached bool       `json:"dns_cached,omitempty"`
}

// Record is one answer of a DNS check, its data as in a zone file.
type Record struct {
	Type string `json:"type"`
	Data string `json:"data"`
	TTL  uint32 `json:"ttl"` // s
}

// Certificate is one of the chain a server sent.
type Certificate struct {
	Subject   string    `json:"subject"`
	Issuer    string    `json:"issuer"`
	Names     []string  `json:"names,omitempty"`
	NotBefore time.Time `json:"not_before"`
	NotAfter  time.Time `json:"not_after"`
	SHA256    string    `json:"sha256"`
}

// Failed is an assertion that did not pass, and why.
type Failed struct {
	Index    int      `json:"index"` // in the target's list
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
}

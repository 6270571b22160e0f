package assertion

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Observation is what a visit saw. Evaluate only reads it, and keeps nothing of it
// but what it quotes in messages. What the kind of check does not have stays zero.
type Observation struct {
	At           time.Time           // start of the visit; the time certificates have left is counted from here
	Status       int                 // of the last answer
	Header       http.Header         // of the last answer, with canonical names
	Body         []byte              // decoded; needed if the set NeedsBody
	BodySize     int64               // bytes decoded; at least len(Body)
	BodyCut      bool                // there was more than was read
	Phases       uptime.Phases       // summed over redirect hops, µs
	TotalUS      uint32              // the whole visit
	CertNotAfter time.Time           // of the certificate in the chain that expires first; zero without TLS
	Redirect     string              // absolute URL of the last redirect, followed or not; empty without one
	Protocol     string              // of the last answer, such as HTTP/1.1
	TLSVersion   uint16              // as crypto/tls numbers it; 0 without TLS
	Records      map[string][]string // answers by type ("A"), data as in a zone file; texts without quotes
	Rcode        string              // such as NOERROR; 16 is BADVERS
	Address      netip.Addr          // visited
	Received     []byte              // by a TCP or websocket check
	ReceivedCut  bool                // there was more than was read
	Secrets      []string            // never shown, in every form they may appear in
}

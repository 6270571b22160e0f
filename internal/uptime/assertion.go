package uptime

import "slices"

// Assertion is one thing the answer of a target must satisfy. What may be said of
// which source is in AssertionRules; package assertion judges and evaluates.
//
// A target without a status assertion is judged by its Expect (200-399 unless it
// says otherwise). An explicit status assertion, whatever its severity, replaces
// Expect as a whole.
type Assertion struct {
	Source   Source   `json:"source"`
	Name     string   `json:"name,omitempty"` // which header, JSONPath, phase or record type; empty for other sources
	Op       Op       `json:"op"`
	Value    string   `json:"value,omitempty"`    // read as the rule of the source and op says
	Severity Severity `json:"severity,omitempty"` // empty means SeverityFail
}

// Source is the part of an answer that an assertion looks at. The set is closed.
type Source string

// Sources.
const (
	SourceStatus      Source = "status"           // HTTP status code of the last answer
	SourceHeader      Source = "header"           // a header of the last answer; several lines are joined by ", " (RFC 9110 §5.3)
	SourceBody        Source = "body"             // the decoded body, byte for byte
	SourceJSON        Source = "json"             // what a JSONPath (RFC 9535) selects in the body
	SourceBodySize    Source = "body_size"        // bytes of the decoded body
	SourceBodyHash    Source = "body_hash"        // SHA-256 of the decoded body, in hex
	SourceLatency     Source = "latency"          // the whole visit, ms
	SourcePhase       Source = "phase"            // one phase of it, summed over redirect hops, ms
	SourceCertificate Source = "certificate_days" // whole days until the first certificate of the chain expires
	SourceRedirect    Source = "redirect"         // URL the visit was redirected to, or would be
	SourceProtocol    Source = "protocol"         // such as HTTP/1.1
	SourceTLSVersion  Source = "tls_version"      // such as 1.3
	SourceDNS         Source = "dns"              // records of one type
	SourceRcode       Source = "rcode"            // DNS response code, such as NXDOMAIN
	SourceAddress     Source = "address"          // the IP address that was visited
	SourceReceived    Source = "received"         // bytes a TCP server sent, or the answer to what a websocket sent
)

// Op is how a value is compared. The set is closed.
type Op string

// Ops.
const (
	OpEquals      Op = "equals"
	OpNotEquals   Op = "not_equals"
	OpContains    Op = "contains"
	OpNotContains Op = "not_contains"
	OpMatches     Op = "matches" // an RE2 pattern, anywhere in the text
	OpNotMatches  Op = "not_matches"
	OpExists      Op = "exists"
	OpAbsent      Op = "absent"
	OpIn          Op = "in" // a comma-separated list
	OpNotIn       Op = "not_in"
	OpLess        Op = "lt"
	OpAtMost      Op = "lte"
	OpMore        Op = "gt"
	OpAtLeast     Op = "gte"
)

// Severity is what a failed assertion makes of its target. The set is closed.
type Severity string

// Severities. The empty word means SeverityFail.
const (
	SeverityFail    Severity = "fail"    // the target is down
	SeverityDegrade Severity = "degrade" // the target is degraded
)

// ValueType is how the text of a Value is read.
type ValueType string

// Types of values.
const (
	ValueNone      ValueType = "none"       // the op takes no value
	ValueText      ValueType = "text"       // compared byte for byte
	ValueTexts     ValueType = "texts"      // texts, comma-separated, space around them dropped
	ValuePattern   ValueType = "pattern"    // RE2, of bounded cost
	ValueNumber    ValueType = "number"     // as JSON writes numbers
	ValueInteger   ValueType = "integer"    // 0 or more
	ValueMillis    ValueType = "ms"         // whole milliseconds, 1 to 30000
	ValueStatus    ValueType = "status"     // a code from 100 to 599
	ValueStatuses  ValueType = "statuses"   // codes and ranges: 200-299,301
	ValueAddress   ValueType = "address"    // an IP address
	ValueAddresses ValueType = "addresses"  // addresses and CIDR ranges: 192.0.2.0/24,2001:db8::1
	ValueHash      ValueType = "sha256"     // 64 hexadecimal digits
	ValueHTTP      ValueType = "http"       // HTTP/1.0, HTTP/1.1, HTTP/2 or HTTP/3
	ValueTLS       ValueType = "tls"        // 1.0, 1.1, 1.2 or 1.3
	ValueRcode     ValueType = "rcode"      // NOERROR, NXDOMAIN, SERVFAIL, …
	ValueRcodes    ValueType = "rcodes"     // several of them, comma-separated
	ValueDNSText   ValueType = "dns_text"   // an address for A and AAAA records, else text as in a zone file
	ValueDNSTexts  ValueType = "dns_texts"  // several of them; for A and AAAA also CIDR ranges
	ValueJSONText  ValueType = "json_text"  // a number equals as a number, a string as its text, anything else as compact JSON
	ValueJSONTexts ValueType = "json_texts" // several of them
)

// AssertionRule says what may be asserted of a source.
type AssertionRule struct {
	Source Source
	Kinds  []Kind // of targets that have the source
	Name   string // what Name holds, for people; empty when the source takes none
	Ops    []OpRule
}

// OpRule is an op that a source allows, and how its value is read.
type OpRule struct {
	Op    Op
	Value ValueType
}

// Op gives the rule of an op, and whether the source allows it.
func (r AssertionRule) Op(op Op) (OpRule, bool) {
	at := slices.IndexFunc(r.Ops, func(o OpRule) bool { return o.Op == op })
	if at < 0 {
		return OpRule{}, false
	}
	return r.Ops[at], true
}

// AssertionRules is the table of all sources. The caller owns what it gets.
func AssertionRules() []AssertionRule {
	web := []Kind{KindHTTP}
	every := []Kind{KindHTTP, KindTCP, KindTLS, KindDNS, KindICMP, KindGRPC, KindWebSocket}
	secure := []Kind{KindHTTP, KindTCP, KindTLS, KindGRPC, KindWebSocket}
	dialled := []Kind{KindHTTP, KindTCP, KindTLS, KindICMP, KindGRPC, KindWebSocket}
	const text, pattern, number, none = ValueText, ValuePattern, ValueNumber, ValueNone
	presence := []OpRule{{OpExists, none}, {OpAbsent, none}}
	texts := []OpRule{{OpEquals, text}, {OpNotEquals, text}, {OpContains, text}, {OpNotContains, text}, {OpMatches, pattern}, {OpNotMatches, pattern}}
	numbers := ordered(number)
	return []AssertionRule{
		{SourceStatus, web, "", slices.Concat(equality(ValueStatus), membership(ValueStatuses), ordered(ValueStatus))},
		{SourceHeader, web, "the name of the header", slices.Concat(texts, presence, membership(ValueTexts), numbers)},
		{SourceBody, web, "", texts},
		{SourceJSON, web, "a JSONPath, such as $.status", slices.Concat(equality(ValueJSONText), texts[2:], presence, membership(ValueJSONTexts), numbers)},
		{SourceBodySize, web, "", slices.Concat(equality(ValueInteger), ordered(ValueInteger))},
		{SourceBodyHash, web, "", equality(ValueHash)},
		{SourceLatency, every, "", ordered(ValueMillis)},
		{SourcePhase, every, "dns, connect, tls, wait or transfer", ordered(ValueMillis)},
		{SourceCertificate, secure, "", ordered(ValueInteger)},
		{SourceRedirect, web, "", slices.Concat(texts, presence)},
		{SourceProtocol, []Kind{KindHTTP, KindWebSocket}, "", slices.Concat(equality(ValueHTTP), ordered(ValueHTTP))},
		{SourceTLSVersion, secure, "", slices.Concat(equality(ValueTLS), ordered(ValueTLS))},
		{SourceDNS, []Kind{KindDNS}, "a record type, such as A or MX", slices.Concat(equality(ValueDNSText), texts[2:], presence, membership(ValueDNSTexts))},
		{SourceRcode, []Kind{KindDNS}, "", slices.Concat(equality(ValueRcode), membership(ValueRcodes))},
		{SourceAddress, dialled, "", slices.Concat(equality(ValueAddress), membership(ValueAddresses))},
		{SourceReceived, []Kind{KindTCP, KindWebSocket}, "", slices.Concat(texts, presence)},
	}
}

func equality(v ValueType) []OpRule { return []OpRule{{OpEquals, v}, {OpNotEquals, v}} }

func membership(v ValueType) []OpRule { return []OpRule{{OpIn, v}, {OpNotIn, v}} }

func ordered(v ValueType) []OpRule {
	return []OpRule{{OpLess, v}, {OpAtMost, v}, {OpMore, v}, {OpAtLeast, v}}
}

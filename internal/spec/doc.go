// Package spec judges what users ask of a check: the URL, and the parts of a
// uptime.Spec. It is for whoever saves a target or starts a check; probers judge
// again what they dial.
//
// Promises:
//   - Nothing is looked up: names are judged by the prober, at each dial. Literal
//     addresses and names of this machine are judged here, by the same guard.
//   - Every mistake is named at once, each with a JSON pointer into the target, a code
//     that never changes, and a sentence that says what to do. A field has one mistake.
//   - Messages quote nothing of what was given but words from closed sets: what is wrong
//     may be a secret in the wrong place.
//   - The cost is bounded: lists that are too long are not looked at.
package spec

// Limits of what a target may ask for.
const (
	MaxURL          = 2048     // bytes
	MaxSpec         = 48 << 10 // bytes of the encoded spec, secrets sealed
	MaxBody         = 64 << 10 // bytes of a body, or of what is sent otherwise
	MaxHeaders      = 40       // of a request
	MaxHeaderName   = 128      // bytes
	MaxHeaderValue  = 8 << 10  // bytes, also of a token
	MaxMethod       = 32       // bytes
	MaxCredential   = 1 << 10  // bytes of a user name or password
	MaxRedirects    = 5        // that may be followed
	MaxSubprotocols = 10       // of a websocket
	MaxService      = 200      // bytes of a gRPC service's name
	maxHostName     = 253      // bytes (RFC 1035 §2.3.4, as text)
	maxStatusRanges = 20       // of an expectation
)

// Problem is one mistake.
type Problem struct {
	Pointer string // JSON pointer (RFC 6901) within the target
	Code    string // stable, for programs
	Message string // what to do about it, for people
}

// Codes of problems, besides those of package assertion.
const (
	CodeTooLong         = "too_long"
	CodeTooMany         = "too_many"
	CodeInvalidText     = "invalid_text"
	CodeInvalidURL      = "invalid_url"
	CodeURLScheme       = "url_scheme"
	CodeURLCredentials  = "url_credentials"
	CodeURLSecret       = "url_secret"
	CodePrivateAddress  = "private_address"
	CodeNotOfKind       = "not_of_kind"
	CodeRequired        = "required"
	CodeUnknownValue    = "unknown_value"
	CodeOutOfRange      = "out_of_range"
	CodeConflict        = "conflict"
	CodeFamilyMismatch  = "family_mismatch"
	CodeInvalidMethod   = "invalid_method"
	CodeInvalidHeader   = "invalid_header"
	CodeReservedHeader  = "reserved_header"
	CodeDuplicateHeader = "duplicate_header"
	CodeInvalidName     = "invalid_name"
)

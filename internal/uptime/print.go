package uptime

import (
	"strings"
)

// Print is what a visit saw that was up, as far as it seldom changes: of such visits there
// is no evidence. Probers store one when it differs from the last.
type Print struct {
	URL         string       `json:"url,omitempty"` // of the last request, without what is secret in it; "": the check makes none
	Certificate *Certificate `json:"certificate,omitempty"`
	Headers     []Header     `json:"headers,omitempty"` // of the last answer, those of PrintHeaders, in their order
	Unsteady    Unsteady     `json:"unsteady,omitempty"`
}

// Unsteady says what changes so often that it was left out of a print. The numbers are stored:
// never renumber. Each leaves out what those before it do.
type Unsteady uint8

// What is left out.
const (
	Steady          Unsteady = iota
	UnsteadyHeaders          // the headers
	UnsteadyURL              // and the URL
	UnsteadyAll              // and the certificate
)

// PrintHeaders are the headers of a print, in alphabetical order. Others change from answer to
// answer (Date, Set-Cookie, ETag), or name the machine that answered (Via).
var PrintHeaders = [...]string{
	"Cache-Control", "Content-Encoding", "Content-Security-Policy", "Content-Type", "Location", "Server", "Strict-Transport-Security", "X-Powered-By",
}

// NextSteady gives the first part of a header's value that stays the same from answer to answer,
// and what is behind the part after it that does not: ages count down, nonces are used once.
func NextSteady(name, value string) (part, rest string) {
	switch name {
	case "Cache-Control":
		if from := strings.IndexAny(value, "0123456789"); from >= 0 {
			return value[:from], strings.TrimLeft(value[from:], "0123456789")
		}
	case "Content-Security-Policy":
		const nonce = "'nonce-"
		if from := strings.Index(value, nonce); from >= 0 {
			from += len(nonce)
			if to := strings.IndexByte(value[from:], '\''); to >= 0 {
				return value[:from], value[from+to:]
			}
			return value[:from], ""
		}
	case "Location":
		if from := strings.IndexAny(value, "?#"); from >= 0 {
			return value[:from], ""
		}
	}
	return value, ""
}

// SteadyValue is a header's value without what changes from answer to answer.
func SteadyValue(name, value string) string {
	var all strings.Builder
	for value != "" {
		var part string
		part, value = NextSteady(name, value)
		all.WriteString(part)
	}
	return all.String()
}

// Print is what evidence has of what a print has; nil of nil.
func (e *Evidence) Print() *Print {
	if e == nil {
		return nil
	}
	p := &Print{}
	if len(e.Hops) > 0 {
		p.URL = e.Hops[len(e.Hops)-1].URL
	}
	if len(e.Certificates) > 0 {
		p.Certificate = &e.Certificates[0]
	}
	for _, h := range e.Headers {
		for _, name := range PrintHeaders {
			if h.Name == name {
				p.Headers = append(p.Headers, h)
			}
		}
	}
	return p
}

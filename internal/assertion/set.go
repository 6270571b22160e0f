package assertion

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Set is a compiled list of assertions: immutable, and safe for concurrent use.
type Set struct {
	checks       []check
	bodyRule     bool // one looks at the size or content of the body
	needsBody    bool
	needsHeaders bool
	judgesStatus bool
	onlyRedirect bool
	received     bool
	silence      bool
}

// check is one compiled assertion.
type check struct {
	index    int
	source   uptime.Source
	op       uptime.Op
	severity uptime.Severity
	want     string // the value as written, for messages

	name   string // as shown
	key    string // canonical name of a header
	path   *path
	hidden bool // values are not shown
	url    bool // values are URLs

	text     string
	raw      []byte // text, of sources that are bytes
	number   int64  // ms are in µs
	list     []string
	ranges   []uptime.StatusRange
	prefixes []netip.Prefix
	pattern  *pattern
}

// Compile makes a set of assertions that Validate let pass. The error names the
// first mistake, which a prober meets when a newer version knows more than it does.
func Compile(list []uptime.Assertion) (*Set, error) {
	checks, found := build(list, anyKind, "")
	if len(found) > 0 {
		p := found[0]
		if p.Index < 0 {
			return nil, fmt.Errorf("assertions: %s", p.Message)
		}
		return nil, fmt.Errorf("assertion %d, %s: %s", p.Index, p.Field, p.Message)
	}
	s := &Set{checks: checks}
	for _, c := range checks {
		switch c.source {
		case uptime.SourceBody, uptime.SourceJSON, uptime.SourceBodyHash:
			s.bodyRule, s.needsBody = true, true
		case uptime.SourceBodySize:
			s.bodyRule = true
		case uptime.SourceHeader:
			s.needsHeaders = true
		case uptime.SourceStatus:
			s.judgesStatus = true
		case uptime.SourceReceived:
			s.received, s.silence = true, s.silence || c.op == uptime.OpAbsent
		}
	}
	s.onlyRedirect = s.judgesStatus && s.wantsOnlyRedirects()
	return s, nil
}

// Len is the number of assertions.
func (s *Set) Len() int { return len(s.checks) }

// NeedsBody says whether the decoded body must be kept for the observation. When it
// need not, its size is still counted up to BodyLimit.
func (s *Set) NeedsBody() bool { return s.needsBody }

// LooksAtBody says whether an assertion is about the body, its size included.
func (s *Set) LooksAtBody() bool { return s.bodyRule }

// BodyLimit is how many bytes of the decoded body are to be read.
func (s *Set) BodyLimit() int {
	if s.bodyRule {
		return MostBody
	}
	return LeastBody
}

// NeedsHeaders says whether the observation must have headers.
func (s *Set) NeedsHeaders() bool { return s.needsHeaders }

// JudgesStatus says whether a status assertion replaces the target's Expect.
func (s *Set) JudgesStatus() bool { return s.judgesStatus }

// WantsOnlyRedirects says whether the status assertions let nothing but redirects
// (300-399) pass: then redirects are not to be followed.
func (s *Set) WantsOnlyRedirects() bool { return s.onlyRedirect }

func (s *Set) wantsOnlyRedirects() bool {
	some := false
	for code := 100; code <= 599; code++ {
		passes := !slices.ContainsFunc(s.checks, func(c check) bool { return c.source == uptime.SourceStatus && !c.status(code) })
		if passes && (code < 300 || code > 399) {
			return false
		}
		some = some || passes
	}
	return some
}

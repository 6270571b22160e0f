package assertion

import (
	"encoding/json"
	"errors"
	"fmt"
	"github.com/probefleet/probefleet/internal/redact"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// path is a parsed JSONPath: RFC 9535 without functions, without queries from the
// root inside filters, without inner queries that select more than one node, and
// without steps below 1. It selects a set of nodes: the order of nodes and nodes
// selected twice mean nothing to an assertion.
type path struct {
	segments []segment
	counts   bool // it needs the lengths of arrays
}

// segment is one step down: to children, or to all descendants.
type segment struct {
	descend   bool
	selectors []selector
}

type selectorKind uint8

const (
	selectName selectorKind = iota
	selectIndex
	selectAll
	selectSlice
	selectFilter
)

// selector picks children of a node.
type selector struct {
	kind   selectorKind
	name   string
	index  int // also where a slice starts
	to     int // where a slice ends, if it has an end
	step   int
	hasTo  bool
	filter *filter
}

// filter is a condition on a child.
type filter struct {
	op      filterOp
	left    *filter // of and, or, not
	right   *filter // of and, or
	query   []selector
	literal literal
}

type filterOp uint8

const (
	filterExists filterOp = iota
	filterAnd
	filterOr
	filterNot
	filterEqual
	filterNotEqual
	filterLess
	filterAtMost
	filterMore
	filterAtLeast
)

const (
	literalText byte = iota
	literalNumber
	literalWord // true, false or null
)

// literal is what a filter compares with.
type literal struct {
	kind byte   // literalText, literalNumber or literalWord
	text string // of a string, decoded; else as written
}

var (
	errPathStart = errors.New("it must start with $")
	errPathEnd   = errors.New("it ends too early")
	errPathSize  = errors.New("it has too many parts")
)

// parser reads a path from left to right.
type parser struct {
	text      string
	at        int
	selectors int
	terms     int
	parens    int
	path      path
}

// parsePath parses a path of at most MaxPath bytes.
func parsePath(text string) (*path, error) {
	p := parser{text: text}
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8")
	}
	if !p.take("$") {
		return nil, errPathStart
	}
	for p.space(); p.at < len(text); p.space() {
		if len(p.path.segments) == maxSegments {
			return nil, errPathSize
		}
		s, err := p.segment()
		if err != nil {
			return nil, err
		}
		p.path.segments = append(p.path.segments, s)
	}
	if isSpace(text[len(text)-1]) {
		return nil, errors.New("it ends in a space")
	}
	return &p.path, nil
}

// wrong is the error of what stands where something else should.
func (p *parser) wrong(want string) error {
	if p.at >= len(p.text) {
		return errPathEnd
	}
	return fmt.Errorf("at byte %d, want %s", p.at+1, want)
}

func (p *parser) take(token string) bool {
	if !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

func (p *parser) space() {
	for p.at < len(p.text) && isSpace(p.text[p.at]) {
		p.at++
	}
}

func (p *parser) segment() (segment, error) {
	var s segment
	if p.take("..") {
		s.descend = true
	} else if !strings.HasPrefix(p.text[p.at:], "[") && !p.take(".") {
		return s, p.wrong(". or [")
	}
	if p.take("[") {
		if !s.descend && p.text[p.at-2] == '.' {
			return s, p.wrong("a name: leave the dot before [ out")
		}
		var err error
		s.selectors, err = p.bracket()
		return s, err
	}
	one, err := p.shorthand()
	s.selectors = []selector{one}
	return s, err
}

// shorthand reads the name or * after a dot.
func (p *parser) shorthand() (selector, error) {
	if err := p.count(); err != nil {
		return selector{}, err
	}
	if p.take("*") {
		return selector{kind: selectAll}, nil
	}
	start := p.at
	for p.at < len(p.text) && nameByte(p.text[p.at], p.at > start) {
		p.at++
	}
	if p.at == start {
		return selector{}, p.wrong("a name, or write it like ['odd name']")
	}
	return selector{kind: selectName, name: p.text[start:p.at]}, nil
}

func nameByte(b byte, later bool) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_' || b >= utf8.RuneSelf || later && b >= '0' && b <= '9'
}

func (p *parser) count() error {
	if p.selectors++; p.selectors > maxSelectors {
		return errPathSize
	}
	return nil
}

// bracket reads the selectors up to ].
func (p *parser) bracket() ([]selector, error) {
	var list []selector
	for {
		p.space()
		if err := p.count(); err != nil {
			return nil, err
		}
		one, err := p.selector()
		if err != nil {
			return nil, err
		}
		list = append(list, one)
		p.space()
		if p.take("]") {
			return list, nil
		}
		if !p.take(",") {
			return nil, p.wrong("] or a comma")
		}
	}
}

func (p *parser) selector() (selector, error) {
	switch {
	case p.take("*"):
		return selector{kind: selectAll}, nil
	case p.take("?"):
		f, err := p.or()
		return selector{kind: selectFilter, filter: f}, err
	case p.quoted():
		name, err := p.str()
		return selector{kind: selectName, name: name}, err
	}
	return p.slice()
}

// slice reads an index, or from:to:step.
func (p *parser) slice() (selector, error) {
	s := selector{kind: selectIndex, step: 1}
	from, hasFrom, err := p.integer()
	if err != nil {
		return s, err
	}
	s.index = from
	blank := p.at
	if p.space(); !p.take(":") {
		if p.at = blank; !hasFrom {
			return s, p.wrong("a name in quotes, an index, a slice, * or ?")
		}
		p.path.counts = p.path.counts || from < 0
		return s, nil
	}
	s.kind = selectSlice
	p.space()
	if s.to, s.hasTo, err = p.integer(); err != nil {
		return s, err
	}
	p.path.counts = p.path.counts || from < 0 || s.to < 0
	blank = p.at
	if p.space(); !p.take(":") {
		p.at = blank
		return s, nil
	}
	p.space()
	step, hasStep, err := p.integer()
	if err != nil {
		return s, err
	}
	if hasStep {
		s.step = step
	}
	if s.step < 1 {
		return s, errors.New("the step of a slice is at least 1: the order means nothing here")
	}
	return s, nil
}

// integer reads one, if there is one.
func (p *parser) integer() (int, bool, error) {
	start := p.at
	p.take("-")
	digits := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	text := p.text[start:p.at]
	switch {
	case text == "":
		return 0, false, nil
	case p.at == digits:
		return 0, false, p.wrong("a number")
	case text == "-0" || p.text[digits] == '0' && p.at > digits+1:
		return 0, false, fmt.Errorf("at byte %d, a number has no leading zeros and zero no sign", start+1)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n > maxIndex || n < -maxIndex {
		return 0, false, fmt.Errorf("at byte %d, an index is at most %d", start+1, maxIndex)
	}
	return n, true, nil
}

func (p *parser) quoted() bool {
	return p.at < len(p.text) && (p.text[p.at] == '\'' || p.text[p.at] == '"')
}

// namesSecret says whether a member that the path asks for has the name of a secret.
func (p *path) namesSecret() bool {
	return slices.ContainsFunc(p.segments, func(s segment) bool {
		return slices.ContainsFunc(s.selectors, selector.namesSecret)
	})
}

func (s selector) namesSecret() bool {
	return s.kind == selectName && redact.Name(s.name) || s.filter != nil && s.filter.namesSecret()
}

func (f *filter) namesSecret() bool {
	return f.left != nil && f.left.namesSecret() || f.right != nil && f.right.namesSecret() || slices.ContainsFunc(f.query, selector.namesSecret)
}

// str reads a string in quotes (RFC 9535 §2.3.1.1) by making JSON of it.
func (p *parser) str() (string, error) {
	quote := p.text[p.at]
	start := p.at
	out := []byte{'"'}
	for p.at++; p.at < len(p.text); p.at++ {
		switch b := p.text[p.at]; {
		case b == quote:
			p.at++
			var text string
			if err := json.Unmarshal(append(out, '"'), &text); err != nil {
				return "", fmt.Errorf("at byte %d, this string has an escape or a control character that JSON does not know", start+1)
			}
			return text, nil
		case b == '"':
			out = append(out, '\\', '"')
		case b == '\\' && p.at+1 < len(p.text):
			p.at++
			if next := p.text[p.at]; next == '\'' && quote == '\'' {
				out = append(out, '\'')
			} else {
				out = append(out, '\\', next)
			}
		default:
			out = append(out, b)
		}
	}
	return "", errPathEnd
}

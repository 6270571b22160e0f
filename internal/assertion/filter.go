package assertion

import (
	"errors"
	"strings"
)

// or reads a filter: tests joined by ||, which binds less than && (RFC 9535 §2.3.5.1).
func (p *parser) or() (*filter, error) { return p.joined("||", filterOr, p.and) }

func (p *parser) and() (*filter, error) { return p.joined("&&", filterAnd, p.term) }

func (p *parser) joined(token string, op filterOp, next func() (*filter, error)) (*filter, error) {
	left, err := next()
	for err == nil {
		blank := p.at
		if p.space(); !p.take(token) {
			p.at = blank
			return left, nil
		}
		var right *filter
		if right, err = next(); err == nil {
			left = &filter{op: op, left: left, right: right}
		}
	}
	return nil, err
}

// term reads a comparison, a test for presence, or a filter in parentheses.
func (p *parser) term() (*filter, error) {
	p.space()
	if p.terms++; p.terms > maxTerms {
		return nil, errPathSize
	}
	not := p.take("!")
	if p.space(); p.take("(") {
		f, err := p.paren()
		return negate(f, not), err
	}
	if !strings.HasPrefix(p.text[p.at:], "@") {
		if not {
			return nil, p.wrong("@ or ( after !")
		}
		return p.flipped()
	}
	query, err := p.query()
	if err != nil {
		return nil, err
	}
	blank := p.at
	p.space()
	op, ok := p.comparison()
	if !ok {
		p.at = blank
		return negate(&filter{op: filterExists, query: query}, not), nil
	}
	if not {
		return nil, errors.New("! is for tests and parentheses: write !(…) around a comparison")
	}
	p.space()
	value, err := p.literal()
	return &filter{op: op, query: query, literal: value}, err
}

func negate(f *filter, not bool) *filter {
	if !not {
		return f
	}
	return &filter{op: filterNot, left: f}
}

func (p *parser) paren() (*filter, error) {
	if p.parens++; p.parens > maxParens {
		return nil, errPathSize
	}
	f, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.space(); !p.take(")") {
		return nil, p.wrong(")")
	}
	p.parens--
	return f, nil
}

// flipped reads a comparison that has its literal first.
func (p *parser) flipped() (*filter, error) {
	value, err := p.literal()
	if err != nil {
		return nil, err
	}
	p.space()
	op, ok := p.comparison()
	if !ok {
		return nil, p.wrong("a comparison")
	}
	if p.space(); !strings.HasPrefix(p.text[p.at:], "@") {
		return nil, p.wrong("@")
	}
	query, err := p.query()
	switch op {
	case filterLess:
		op = filterMore
	case filterAtMost:
		op = filterAtLeast
	case filterMore:
		op = filterLess
	case filterAtLeast:
		op = filterAtMost
	}
	return &filter{op: op, query: query, literal: value}, err
}

// query reads @ and the one node it leads to.
func (p *parser) query() ([]selector, error) {
	p.take("@")
	query := []selector{}
	for {
		blank := p.at
		if p.space(); p.at == len(p.text) || p.text[p.at] != '.' && p.text[p.at] != '[' {
			p.at = blank
			return query, nil
		}
		s, err := p.segment()
		if err != nil {
			return nil, err
		}
		if s.descend || len(s.selectors) != 1 || s.selectors[0].kind > selectIndex || s.selectors[0].index < 0 {
			return nil, errors.New("inside a filter only names and indexes from 0 can follow @")
		}
		query = append(query, s.selectors[0])
	}
}

func (p *parser) comparison() (filterOp, bool) {
	switch {
	case p.take("=="):
		return filterEqual, true
	case p.take("!="):
		return filterNotEqual, true
	case p.take("<="):
		return filterAtMost, true
	case p.take("<"):
		return filterLess, true
	case p.take(">="):
		return filterAtLeast, true
	case p.take(">"):
		return filterMore, true
	}
	return 0, false
}

func (p *parser) literal() (literal, error) {
	if p.quoted() {
		text, err := p.str()
		return literal{literalText, text}, err
	}
	start := p.at
	for p.at < len(p.text) && (nameByte(p.text[p.at], true) || strings.IndexByte("+-.", p.text[p.at]) >= 0) {
		p.at++
	}
	switch text := p.text[start:p.at]; {
	case text == "true" || text == "false" || text == "null":
		return literal{literalWord, text}, nil
	case isNumber(text):
		return literal{literalNumber, text}, nil
	}
	p.at = start
	return literal{}, p.wrong("@, a number, a text in quotes, true, false or null; functions are not known here")
}

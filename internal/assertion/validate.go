package assertion

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Problem is one mistake in a list of assertions.
type Problem struct {
	Index   int    // of the assertion; -1 for the list as a whole
	Field   string // source, name, op, value or severity; empty for the assertion, or the list, as a whole
	Code    string // stable, for programs
	Message string // what to do about it, for people
}

// Codes of problems.
const (
	CodeTooMany         = "too_many_assertions"
	CodeUnknownSource   = "unknown_source"
	CodeSourceOfKind    = "source_not_of_kind"
	CodeUnknownOp       = "unknown_op"
	CodeOpOfSource      = "op_not_of_source"
	CodeUnknownSeverity = "unknown_severity"
	CodeRequired        = "required"
	CodeNotAllowed      = "not_allowed"
	CodeTooLong         = "too_long"
	CodeInvalidText     = "invalid_text"
	CodeInvalidName     = "invalid_name"
	CodeInvalidPath     = "invalid_path"
	CodeInvalidValue    = "invalid_value"
	CodeInvalidPattern  = "invalid_pattern"
	CodePatternCost     = "pattern_too_costly"
)

// Fields of an assertion, as JSON names them.
const (
	fieldSource   = "source"
	fieldName     = "name"
	fieldOp       = "op"
	fieldValue    = "value"
	fieldSeverity = "severity"
)

// Validate gives every mistake in the assertions of a target of a kind, in order;
// none when they can be used. Of each field it names one.
func Validate(list []uptime.Assertion, kind uptime.Kind) []Problem {
	_, found := build(list, func(rule uptime.AssertionRule) bool { return slices.Contains(rule.Kinds, kind) }, kind)
	return found
}

// anyKind lets every source pass: a set is compiled of assertions that were judged before.
func anyKind(uptime.AssertionRule) bool { return true }

// table is made once: a prober compiles the assertions of a hundred thousand targets.
var table = sync.OnceValue(uptime.AssertionRules) //nolint:gochecknoglobals // a table, read only

// build compiles as many assertions as can be, and says what is wrong with the others.
func build(list []uptime.Assertion, offered func(uptime.AssertionRule) bool, kind uptime.Kind) ([]check, []Problem) {
	if len(list) > MaxAssertions {
		return nil, []Problem{{Index: -1, Code: CodeTooMany, Message: fmt.Sprintf("a target has at most %d assertions, not %d", MaxAssertions, len(list))}}
	}
	var (
		checks []check
		found  []Problem
		rules  = table()
		cost   int
	)
	for i, a := range list {
		b := builder{index: i, kind: kind, rules: rules, offered: offered, costLeft: MaxPatternCost - cost}
		c := b.build(a)
		cost += b.cost
		found = append(found, b.found...)
		if len(b.found) == 0 {
			checks = append(checks, c)
		}
	}
	return checks, found
}

// builder compiles one assertion.
type builder struct {
	index    int
	kind     uptime.Kind
	rules    []uptime.AssertionRule
	offered  func(uptime.AssertionRule) bool
	costLeft int
	cost     int
	found    []Problem
}

func (b *builder) problem(field, code, format string, args ...any) {
	b.found = append(b.found, Problem{Index: b.index, Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (b *builder) build(a uptime.Assertion) check {
	c := check{index: b.index, source: a.Source, op: a.Op, severity: a.Severity, want: a.Value, url: a.Source == uptime.SourceRedirect}
	switch a.Severity {
	case "":
		c.severity = uptime.SeverityFail
	case uptime.SeverityFail, uptime.SeverityDegrade:
	default:
		b.problem(fieldSeverity, CodeUnknownSeverity, "a severity is fail or degrade; leave it out for fail")
	}
	at := slices.IndexFunc(b.rules, func(r uptime.AssertionRule) bool { return r.Source == a.Source })
	if at < 0 {
		b.problem(fieldSource, CodeUnknownSource, "there is no such source; known: %s", b.known())
		return c
	}
	rule := b.rules[at]
	if !b.offered(rule) {
		b.problem(fieldSource, CodeSourceOfKind, "a check of kind %s has no %s; it has: %s", shownKind(b.kind), a.Source, b.known())
		return c
	}
	b.name(&c, rule, a.Name)
	op, ok := rule.Op(a.Op)
	if !ok {
		code := CodeUnknownOp
		if b.anyOp(a.Op) {
			code = CodeOpOfSource
		}
		b.problem(fieldOp, code, "for %s the op is one of: %s", a.Source, ops(rule))
		return c
	}
	b.value(&c, op.Value, a.Value)
	return c
}

func (b *builder) anyOp(op uptime.Op) bool {
	return slices.ContainsFunc(b.rules, func(r uptime.AssertionRule) bool { _, ok := r.Op(op); return ok })
}

// known lists the sources that may be used.
func (b *builder) known() string {
	var words []string
	for _, rule := range b.rules {
		if b.offered(rule) {
			words = append(words, string(rule.Source))
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

func ops(rule uptime.AssertionRule) string {
	words := make([]string, len(rule.Ops))
	for i, o := range rule.Ops {
		words[i] = string(o.Op)
	}
	return strings.Join(words, ", ")
}

// shownKind keeps what a client sent out of a sentence unless it is a word.
func shownKind(kind uptime.Kind) string {
	if kind == "" || len(kind) > 16 || strings.Trim(string(kind), "abcdefghijklmnopqrstuvwxyz") != "" {
		return "this name"
	}
	return string(kind)
}

package assertion

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

// errPatternSize is that of a pattern which no budget has room for.
var errPatternSize = errors.New("pattern too large")

// pattern is a compiled RE2 pattern.
type pattern struct {
	*regexp.Regexp
	size int  // in weighted instructions
	end  bool // it looks at what comes after its match: $, \b and their like
}

// compilePattern compiles a pattern of at most limit weighted instructions. The
// time a match takes is bounded by size × length of the text.
func compilePattern(text string, limit int) (*pattern, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if treeSize(tree, limit) > limit { // before repetitions are unrolled
		return nil, errPatternSize
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	p := &pattern{}
	for i := range program.Inst {
		p.size += weight(&program.Inst[i])
		p.end = p.end || looksAhead(&program.Inst[i])
	}
	if p.size > limit {
		return nil, errPatternSize
	}
	p.Regexp, err = regexp.Compile(text)
	return p, err
}

// weight is 1 for most instructions; a class of characters is looked through, and a
// letter of either case is looked up.
func weight(i *syntax.Inst) int {
	switch {
	case i.Op != syntax.InstRune:
		return 1
	case syntax.Flags(i.Arg)&syntax.FoldCase != 0 || len(i.Rune) > 8:
		return 3
	case len(i.Rune) > 2:
		return 2
	}
	return 1
}

func looksAhead(i *syntax.Inst) bool {
	const before = syntax.EmptyBeginLine | syntax.EmptyBeginText
	return i.Op == syntax.InstEmptyWidth && syntax.EmptyOp(i.Arg)&^before != 0
}

// treeSize estimates, from below, the instructions a tree is unrolled to. It stops
// counting past limit.
func treeSize(tree *syntax.Regexp, limit int) int {
	size := 1
	switch tree.Op {
	case syntax.OpLiteral:
		size = len(tree.Rune)
	case syntax.OpEmptyMatch, syntax.OpConcat, syntax.OpRepeat:
		size = 0
	}
	for _, sub := range tree.Sub {
		size += treeSize(sub, limit)
		if size > limit {
			return limit + 1
		}
	}
	if tree.Op == syntax.OpRepeat {
		if size *= max(tree.Min, tree.Max); size > limit {
			return limit + 1
		}
	}
	return size
}

package assertion

import (
	"bytes"
	"math/bits"
)

const (
	stepsVisit  = 32 // what a look at a node takes, beyond its bytes
	stepsDecode = 64 // what a name with escapes takes, beyond its bytes
)

// walk visits the nodes of a valid document that a path selects, in place and in
// one pass: at each node it knows which beginnings of the path lead there, as a set
// of bits. So a node is visited once however many ways lead to it, and the time is
// bytes × segments. Lengths of arrays, filters and the ends of selected nodes need
// looks ahead; steps counts all of it.
type walk struct {
	body  []byte
	path  *path
	steps int                    // that may still be taken
	visit func(node []byte) bool // false ends the walk
	ended bool
}

// run reports whether the walk came to its end, or to the end its visitor made.
func (w *walk) run() bool {
	w.value(w.space(0), 1)
	return w.steps >= 0
}

func (w *walk) space(at int) int {
	for at < len(w.body) && isSpace(w.body[at]) {
		at++
	}
	return at
}

// over says whether to stop.
func (w *walk) over() bool { return w.ended || w.steps < 0 }

// skip passes over a value.
func (w *walk) skip(at int) int {
	end := endOf(w.body, at)
	w.steps -= end - at
	return end
}

// value visits the value at a byte, to which the beginnings in states lead, and
// gives the first byte past it; once over, any.
func (w *walk) value(at int, states uint32) int {
	all := uint32(1) << len(w.path.segments)
	if states&all != 0 {
		end := w.skip(at)
		if w.steps < 0 {
			return end
		}
		w.ended = !w.visit(w.body[at:end])
		if states &^= all; states == 0 || w.ended {
			return end
		}
	}
	if b := w.body[at]; states == 0 || b != '{' && b != '[' {
		return w.skip(at)
	}
	return w.children(at, states)
}

func (w *walk) children(at int, states uint32) int {
	object := w.body[at] == '{'
	length := -1
	if !object && w.path.counts {
		length = w.length(at)
	}
	at = w.space(at + 1)
	for i := 0; w.body[at] != '}' && w.body[at] != ']'; i++ {
		child := child{index: i, length: length}
		if object {
			end := endOfText(w.body, at)
			child.key = w.key(at, end)
			at = w.space(w.space(end) + 1)
		}
		child.at = at
		next := w.next(states, child)
		if w.over() {
			return at
		}
		at = w.space(w.value(at, next))
		if w.over() {
			return at
		}
		if w.body[at] == ',' {
			at = w.space(at + 1)
		}
	}
	return at + 1
}

// child is a member of an object, or an element of an array.
type child struct {
	key    []byte // decoded; nil in an array
	index  int
	length int // of the array, if the path counts
	at     int
}

// next gives the beginnings of the path that lead to a child.
func (w *walk) next(states uint32, c child) uint32 {
	var next uint32
	w.steps--
	for ; states != 0; states &= states - 1 {
		n := bits.TrailingZeros32(states)
		s := &w.path.segments[n]
		if s.descend {
			next |= 1 << n
		}
		for i := range s.selectors {
			w.steps--
			if w.picks(&s.selectors[i], c) {
				next |= 1 << (n + 1)
				break
			}
		}
	}
	return next
}

func (w *walk) picks(s *selector, c child) bool {
	switch s.kind {
	case selectAll:
		return true
	case selectFilter:
		return w.holds(s.filter, c.at)
	case selectName:
		return c.key != nil && string(c.key) == s.name
	case selectIndex:
		return c.key == nil && c.index == fromEnd(s.index, c.length)
	}
	if c.key != nil { // a slice
		return false
	}
	from := max(fromEnd(s.index, c.length), 0)
	return c.index >= from && (!s.hasTo || c.index < fromEnd(s.to, c.length)) && (c.index-from)%s.step == 0
}

func fromEnd(index, length int) int {
	if index < 0 {
		return length + index
	}
	return index
}

// key gives the name between two bytes.
func (w *walk) key(at, end int) []byte {
	raw := w.body[at:end]
	w.steps -= len(raw)
	if bytes.IndexByte(raw, '\\') >= 0 {
		w.steps -= stepsDecode
	}
	return decodeText(raw)
}

// length counts the elements of the array at a byte.
func (w *walk) length(at int) int {
	n := 0
	for at = w.space(at + 1); w.body[at] != ']' && w.steps >= 0; n++ {
		if at = w.space(w.skip(at)); w.body[at] == ',' {
			at = w.space(at + 1)
		}
	}
	return n
}

// holds evaluates a filter on the value at a byte.
func (w *walk) holds(f *filter, at int) bool {
	switch f.op {
	case filterAnd:
		return w.holds(f.left, at) && w.holds(f.right, at)
	case filterOr:
		return w.holds(f.left, at) || w.holds(f.right, at)
	case filterNot:
		return !w.holds(f.left, at)
	}
	at = w.find(f.query, at)
	if f.op == filterExists || w.steps < 0 {
		return at >= 0
	}
	var raw []byte
	if at >= 0 {
		raw = w.body[at:w.skip(at)]
	}
	return f.compare(raw)
}

// find gives where the one node of a query starts; -1 if it is not there. Of
// members with the same name it takes the first.
func (w *walk) find(query []selector, at int) int {
	for i := range query {
		if at = w.findChild(&query[i], at); at < 0 {
			return -1
		}
	}
	return at
}

func (w *walk) findChild(s *selector, at int) int {
	object := w.body[at] == '{'
	if !object && w.body[at] != '[' || object != (s.kind == selectName) {
		return -1
	}
	at = w.space(at + 1)
	for i := 0; w.body[at] != '}' && w.body[at] != ']' && w.steps >= 0; i++ {
		w.steps--
		if found := i == s.index; object {
			end := endOfText(w.body, at)
			found = string(w.key(at, end)) == s.name
			if at = w.space(w.space(end) + 1); found {
				return at
			}
		} else if found {
			return at
		}
		if at = w.space(w.skip(at)); w.body[at] == ',' {
			at = w.space(at + 1)
		}
	}
	return -1
}

// compare compares as RFC 9535 §2.3.5.2.2 says; raw is nil when there is no node.
func (f *filter) compare(raw []byte) bool {
	equal, order, ordered := f.literal.against(raw)
	switch f.op {
	case filterEqual:
		return equal
	case filterNotEqual:
		return !equal
	case filterLess:
		return ordered && order < 0
	case filterAtMost:
		return equal || ordered && order < 0
	case filterMore:
		return ordered && order > 0
	default:
		return equal || ordered && order > 0
	}
}

// against compares a node with the literal: whether they are equal, and how they
// are ordered, if they are.
func (l literal) against(raw []byte) (equal bool, order int, ordered bool) {
	if raw == nil {
		return false, 0, false
	}
	switch b := raw[0]; {
	case l.kind == literalText && b == '"':
		order = bytes.Compare(decodeText(raw), []byte(l.text))
		return order == 0, order, true
	case l.kind == literalNumber && (b == '-' || isDigit(b)):
		order = compareNumbers(string(raw), l.text)
		return order == 0, order, true
	}
	return l.kind == literalWord && string(raw) == l.text, 0, false
}

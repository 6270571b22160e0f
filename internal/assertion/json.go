package assertion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// judgeJSON says what keeps a body from being used as JSON (RFC 8259); empty when
// nothing does. Undecided means that it may be JSON, but not of a kind we look into.
func judgeJSON(body []byte) (why string, undecided bool) {
	c := checker{body: body}
	c.space()
	if c.at == len(body) {
		return "the body is empty", false
	}
	if c.value(0) {
		if c.space(); c.at == len(body) {
			return "", false
		}
	}
	if c.deep {
		return fmt.Sprintf("the body is nested deeper than %d", maxDepth), true
	}
	return fmt.Sprintf("the body is not JSON (byte %d)", c.at+1), false
}

// checker reads a document once, without keeping anything.
type checker struct {
	body []byte
	at   int
	deep bool
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func (c *checker) space() {
	for c.at < len(c.body) && isSpace(c.body[c.at]) {
		c.at++
	}
}

func (c *checker) take(b byte) bool {
	if c.at >= len(c.body) || c.body[c.at] != b {
		return false
	}
	c.at++
	return true
}

func (c *checker) value(depth int) bool {
	if c.at >= len(c.body) {
		return false
	}
	switch b := c.body[c.at]; b {
	case '{', '[':
		if depth == maxDepth {
			c.deep = true
			return false
		}
		c.at++
		return c.container(b, depth+1)
	case '"':
		return c.text()
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	}
	return c.number()
}

// container reads what follows { or [.
func (c *checker) container(open byte, depth int) bool {
	end := open + 2 // ] and } stand two after [ and {
	if c.space(); c.take(end) {
		return true
	}
	for {
		if open == '{' {
			if c.space(); !c.text() {
				return false
			}
			if c.space(); !c.take(':') {
				return false
			}
		}
		if c.space(); !c.value(depth) {
			return false
		}
		if c.space(); c.take(end) {
			return true
		}
		if !c.take(',') {
			return false
		}
	}
}

func (c *checker) word(word string) bool {
	if !bytes.HasPrefix(c.body[c.at:], []byte(word)) {
		return false
	}
	c.at += len(word)
	return true
}

func (c *checker) text() bool {
	if !c.take('"') {
		return false
	}
	for c.at < len(c.body) {
		switch b := c.body[c.at]; {
		case b == '"':
			c.at++
			return true
		case b < ' ':
			return false
		case b == '\\':
			if c.at++; !c.escape() {
				return false
			}
		default:
			c.at++
		}
	}
	return false
}

func (c *checker) escape() bool {
	if c.at >= len(c.body) {
		return false
	}
	b := c.body[c.at]
	c.at++
	if b != 'u' {
		return bytes.IndexByte([]byte(`"\/bfnrt`), b) >= 0
	}
	for range 4 {
		if c.at >= len(c.body) || !isDigit(c.body[c.at]) && (c.body[c.at]|0x20 < 'a' || c.body[c.at]|0x20 > 'f') {
			return false
		}
		c.at++
	}
	return true
}

func (c *checker) number() bool {
	c.take('-')
	if !c.take('0') && !c.digits() {
		return false
	}
	if c.take('.') && !c.digits() {
		return false
	}
	if c.take('e') || c.take('E') {
		if !c.take('+') {
			c.take('-')
		}
		return c.digits()
	}
	return true
}

func (c *checker) digits() bool {
	start := c.at
	for c.at < len(c.body) && isDigit(c.body[c.at]) {
		c.at++
	}
	return c.at > start
}

// isNumber says whether text is a number as JSON writes it.
func isNumber(text string) bool {
	c := checker{body: []byte(text)}
	return c.number() && c.at == len(text)
}

// compareNumbers gives -1, 0 or 1. Whole numbers are compared exactly as far as 64
// bits go; beyond, and with fractions, as float64.
func compareNumbers(a, b string) int {
	m, err1 := strconv.ParseInt(a, 10, 64)
	n, err2 := strconv.ParseInt(b, 10, 64)
	if err1 == nil && err2 == nil {
		return compare(m, n)
	}
	return compare(float(a), float(b))
}

// float reads a JSON number; what is too large is infinite.
func float(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

func compare[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// endOf gives the first byte past the value that starts at a byte of valid JSON.
func endOf(body []byte, at int) int {
	depth := 0
	for {
		switch b := body[at]; b {
		case '"':
			at = endOfText(body, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\t', '\r', '\n':
			at++
			continue // only inside of a container
		default:
			for at < len(body) && bytes.IndexByte([]byte(",:]} \t\r\n"), body[at]) < 0 {
				at++
			}
		}
		if depth == 0 {
			return at
		}
	}
}

// endOfText gives the first byte past the string that starts at a byte.
func endOfText(body []byte, at int) int {
	for at++; body[at] != '"'; at++ {
		if body[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// decodeText gives what a JSON string says; without escapes, no copy is made.
func decodeText(raw []byte) []byte {
	inner := raw[1 : len(raw)-1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return inner
	}
	return []byte(text)
}

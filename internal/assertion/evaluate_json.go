package assertion

import (
	"bytes"
	"slices"

	"github.com/probefleet/probefleet/internal/uptime"
)

// jsonBody is what the JSON assertions of one evaluation share.
type jsonBody struct {
	text      []byte
	why       string // it cannot be looked into
	undecided bool
	steps     int // left for all paths together
}

func openJSON(body []byte) *jsonBody {
	j := &jsonBody{text: bytes.TrimPrefix(body, []byte("\ufeff"))} // RFC 8259 §8.1
	j.steps = maxWorkBase + maxWorkByte*len(j.text)
	j.why, j.undecided = judgeJSON(j.text)
	return j
}

func (e *evaluation) judgeJSON(c *check) outcome {
	if e.observation.BodyCut {
		e.cut = true
		return undecided
	}
	if e.json == nil {
		e.json = openJSON(e.observation.Body)
	}
	var result outcome
	result, e.node, e.why = e.json.judge(c)
	return result
}

// judge gives the outcome of a check, with the node it is about, or why there is none.
func (j *jsonBody) judge(c *check) (result outcome, about []byte, why string) {
	switch {
	case j.undecided:
		return undecided, nil, j.why
	case j.why != "":
		return failed, nil, j.why
	}
	var (
		there, bad bool
		room       = len(j.text) // for nodes that lie in each other, so that no op sees more than a body's worth
	)
	w := walk{body: j.text, path: c.path, steps: j.steps}
	w.visit = func(node []byte) bool {
		there = true
		if c.op == uptime.OpExists || c.op == uptime.OpAbsent {
			about = node
			return false
		}
		if room -= len(node); room < 0 {
			return false
		}
		w.steps -= (stepsVisit + len(node)) * (1 + len(c.list))
		if bad = !c.compareNode(node); bad {
			about = node
		}
		return !bad
	}
	done := w.run()
	j.steps = max(w.steps, 0)
	switch {
	case there && c.op == uptime.OpExists:
		return passed, nil, ""
	case there && c.op == uptime.OpAbsent, bad:
		return failed, about, ""
	case !done, room < 0:
		return undecided, nil, "the path takes too much work on this body"
	}
	return passedIf(there || c.op == uptime.OpAbsent || negative(c.op)), nil, ""
}

// compareNode compares one node: a string by its text, everything else as compact JSON.
func (c *check) compareNode(node []byte) bool {
	text := nodeText(node)
	switch c.op {
	case uptime.OpEquals, uptime.OpNotEquals:
		return equalNode(text, node[0], c.text) != negative(c.op)
	case uptime.OpIn, uptime.OpNotIn:
		in := slices.ContainsFunc(c.list, func(item string) bool { return equalNode(text, node[0], item) })
		return in != negative(c.op)
	}
	return c.compare(text)
}

// nodeText is what a node is compared as.
func nodeText(node []byte) string {
	switch node[0] {
	case '"':
		return string(decodeText(node))
	case '{', '[':
		return compactJSON(string(node))
	}
	return string(node)
}

// equalNode compares a number as a number, and all else as text.
func equalNode(text string, first byte, want string) bool {
	if text == want {
		return true
	}
	return (first == '-' || isDigit(first)) && isNumber(want) && compareNumbers(text, want) == 0
}

package assertion

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// FuzzPath holds paths against RFC 9535 taken literally, as TestPathsAgreeWithTheDefinition
// does, and what is wrong with others against a message of one line.
func FuzzPath(f *testing.F) {
	for _, path := range []string{
		"$", "$.a", "$..b[0]", "$[?@.a == 1 || @.b < 2 && !(@[0] >= -3e2)]", `$['\ud83d\ude00',"a"][-1:1:2]`, "$[?!@['x y']]", "$[?1 <= @, -1]..*", "$[?@ != 0.5]", "$['\\'", "$[?((@)", "$.ü .c", "$[::0]", "$[01]", "$..a", "$..c..*", "$..price", "$..[-1]",
	} {
		f.Add(path, `{"a":[1,{"b":2,"a":1.5},[0.5,"x"]],"b":{"a":null,"c":[[]]},"😀":3,"x y":{}}`)
		f.Add(path, store)
	}
	f.Fuzz(func(t *testing.T, text, body string) {
		if len(text) > MaxPath || len(body) > 4<<10 {
			return
		}
		parsed, err := parsePath(text)
		if err != nil {
			if message := err.Error(); message == "" || len(message) > MaxMessage || strings.ContainsFunc(message, unicode.IsControl) {
				t.Fatalf("%q: %q", text, message)
			}
			return
		}
		selectors := 0
		for _, s := range parsed.segments {
			selectors += len(s.selectors)
		}
		if len(parsed.segments) > maxSegments || selectors > maxSelectors || len(text) > 1 && selectors == 0 {
			t.Fatalf("%q has %d segments with %d selectors", text, len(parsed.segments), selectors)
		}
		compareWithDefinition(t, parsed, text, body)
	})
}

// compareWithDefinition walks a document that is written as encoding/json writes it. What
// the definition takes too long for, or does not know, it leaves out.
func compareWithDefinition(t *testing.T, parsed *path, text, body string) {
	t.Helper()
	var tree any
	if json.Unmarshal([]byte(body), &tree) != nil {
		return
	}
	canonical, err := json.Marshal(tree)
	if why, _ := judgeJSON(canonical); err != nil || why != "" {
		return
	}
	list := []any{tree}
	for _, s := range parsed.segments {
		if slices.ContainsFunc(s.selectors, func(s selector) bool { return s.filter != nil && !simple(s.filter) }) {
			return
		}
		if list = applySegment(s, list); len(list) > 300 {
			return
		}
	}
	want, got := map[string]bool{}, map[string]bool{}
	for _, node := range list {
		encoded, err := json.Marshal(node)
		if err != nil {
			t.Fatal(err)
		}
		want[string(encoded)] = true
	}
	nodes, done := selected(t, text, string(canonical), 1<<22)
	for _, node := range nodes {
		got[node] = true
	}
	if !done || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s in %s selects %v, want %v (done: %v)", text, canonical, got, want, done)
	}
}

// simple says whether a filter compares with nothing but numbers that floats hold exactly.
func simple(f *filter) bool {
	if f.left != nil && !simple(f.left) || f.right != nil && !simple(f.right) {
		return false
	}
	return f.op <= filterNot || f.literal.kind == literalNumber && len(f.literal.text) <= 15
}

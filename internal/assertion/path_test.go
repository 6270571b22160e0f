package assertion

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/uptime"
)

// selected gives the nodes of a path as compact JSON, and whether the walk came to its end.
func selected(t testing.TB, text, body string, steps int) ([]string, bool) {
	t.Helper()
	parsed, err := parsePath(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var nodes []string
	w := walk{body: []byte(body), path: parsed, steps: steps, visit: func(node []byte) bool {
		nodes = append(nodes, compactJSON(string(node)))
		return true
	}}
	done := w.run()
	return nodes, done
}

const store = `{ "store": { "book": [
  { "category": "reference", "author": "Nigel Rees", "title": "Sayings of the Century", "price": 8.95 },
  { "category": "fiction", "author": "Evelyn Waugh", "title": "Sword of Honour", "price": 12.99 },
  { "category": "fiction", "author": "Herman Melville", "title": "Moby Dick", "isbn": "0-553-21311-3", "price": 8.99 },
  { "category": "fiction", "author": "J. R. R. Tolkien", "title": "The Lord of the Rings", "isbn": "0-395-19395-8", "price": 22.99 } ],
  "bicycle": { "color": "red", "price": 399 } } }`

// The cases are those of RFC 9535 where it has one, in document order.
func TestPathsSelect(t *testing.T) {
	t.Parallel()
	const (
		names   = `{"o": {"j j": {"k.k": 3}}, "'": {"@": 2}}`
		numbers = `["a", "b", "c", "d", "e", "f", "g"]`
		nested  = `{"o": {"j": 1, "k": 2}, "a": [5, 3, [{"j": 4}, {"k": 6}]]}`
		filters = `{"a": [3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}], "o": {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}}, "e": "f"}`
	)
	cases := []struct{ body, path, want string }{
		{store, "$.store.book[*].author", `"Nigel Rees" "Evelyn Waugh" "Herman Melville" "J. R. R. Tolkien"`},
		{store, "$..author", `"Nigel Rees" "Evelyn Waugh" "Herman Melville" "J. R. R. Tolkien"`},
		{store, "$.store..price", "8.95 12.99 8.99 22.99 399"},
		{store, "$..book[2].author", `"Herman Melville"`},
		{store, "$..book[2].publisher", ""},
		{store, "$..book[-1].price", "22.99"},
		{store, "$..book[0,1].price", "8.95 12.99"},
		{store, "$..book[:2].price", "8.95 12.99"},
		{store, "$..book[?@.isbn].price", "8.99 22.99"},
		{store, "$..book[?@.price<10].price", "8.95 8.99"},
		{store, "$.store.bicycle", `{"color":"red","price":399}`},
		{names, "$.o['j j']", `{"k.k":3}`},
		{names, "$.o['j j']['k.k']", "3"},
		{names, `$["'"]["@"]`, "2"},
		{names, `$['\'']['\u0040']`, "2"},
		{`{"a\"b":1,"a\u0062":2,"":3,"ü":4,"_x9":5}`, `$['a"b']`, "1"},
		{`{"a\"b":1,"a\u0062":2,"":3,"ü":4,"_x9":5}`, `$.ab`, "2"},
		{`{"a\"b":1,"a\u0062":2,"":3,"ü":4,"_x9":5}`, `$['',"ü"]`, "3 4"},
		{`{"a\"b":1,"a\u0062":2,"":3,"ü":4,"_x9":5}`, `$.ü`, "4"},
		{`{"a\"b":1,"a\u0062":2,"":3,"ü":4,"_x9":5}`, `$ ._x9`, "5"},
		{`{"😀":1}`, `$['\ud83d\ude00']`, "1"},
		{nested, "$[*]", `{"j":1,"k":2} [5,3,[{"j":4},{"k":6}]]`},
		{nested, "$.o[*, *]", "1 2"},
		{nested, "$..[*]", `{"j":1,"k":2} 1 2 [5,3,[{"j":4},{"k":6}]] 5 3 [{"j":4},{"k":6}] {"j":4} 4 {"k":6} 6`},
		{nested, "$..j", "1 4"},
		{nested, "$..o", `{"j":1,"k":2}`},
		{nested, "$.a..[0, 1]", `5 3 {"j":4} {"k":6}`},
		{nested, "$..a..j", "4"},
		{nested, "$.j", ""},
		{nested, "$.o[0]", ""},
		{nested, "$.a.length", ""},
		{`["a","b"]`, "$[1]", `"b"`},
		{`["a","b"]`, "$[-2]", `"a"`},
		{`["a","b"]`, "$[2]", ""},
		{`["a","b"]`, "$[-3]", ""},
		{`["a","b"]`, "$[0,-2]", `"a"`}, // once, not twice
		{numbers, "$[1:3]", `"b" "c"`},
		{numbers, "$[5:]", `"f" "g"`},
		{numbers, "$[1:5:2]", `"b" "d"`},
		{numbers, "$[ -3 : -1 : 1 ]", `"e" "f"`},
		{numbers, "$[::3]", `"a" "d" "g"`},
		{numbers, "$[-100:2]", `"a" "b"`},
		{numbers, "$[-100::2]", `"a" "c" "e" "g"`},
		{numbers, "$[3:1]", ""},
		{filters, "$.a[?@.b == 'kilo']", `{"b":"kilo"}`},
		{filters, "$.a[?(@.b == 'kilo')]", `{"b":"kilo"}`},
		{filters, "$.a[?@>3.5]", "5 4 6"},
		{filters, "$.a[?3.5 < @]", "5 4 6"},
		{filters, "$.a[?@.b]", `{"b":"j"} {"b":"k"} {"b":{}} {"b":"kilo"}`},
		{filters, "$[?@.b]", ""},
		{filters, "$.o[?@<3, ?@<3]", "1 2"},
		{filters, "$.a[?@<2 || @.b == \"k\"]", `1 {"b":"k"}`},
		{filters, "$.o[?@>1 && @<4]", "2 3"},
		{filters, "$.o[?@.u || @.x]", `{"u":6}`},
		{filters, "$.a[?!@.b && @ != 3]", "5 1 2 4 6"},
		{filters, "$.o[?!(@ > 1)]", `1 {"u":6}`},
		{filters, "$.o[?@==1 || @==2 && @==3]", "1"},
		{filters, "$.o[?(@==1 || @==2) && @==3]", ""},
		{filters, "$.o[?1 >= @]", "1"},
		{filters, "$.o[?3 <= @]", "3 5"},
		{filters, "$.o[?5 > @ ][0]", ""},
		{filters, "$[?@[0] == 3][0]", "3"},
		{`[{"a":null},{"a":false},{}]`, "$[?@.a == null]", `{"a":null}`},
		{`[{"a":null},{"a":false},{}]`, "$[?@.a != null]", `{"a":false} {}`},
		{`[{"a":null},{"a":false},{}]`, "$[?@.a <= null]", `{"a":null}`},
		{`[{"a":null},{"a":false},{}]`, "$[?@.a == false]", `{"a":false}`},
		{`[{"a":null},{"a":false},{}]`, "$[?@.a < 'x']", ""},
		{`["a","b","\u0062"]`, "$[?@ >= 'b']", `"b" "\u0062"`},
		{`[1,"1",1.0,10e-1,-1]`, "$[?@ == 1]", "1 1.0 10e-1"},
		{`[{"a":[{"b":1}]}]`, "$[?@ .a [0] ['b'] == 1]", `{"a":[{"b":1}]}`},
		{` 5 `, "$", "5"},
		{`"x"`, "$.a", ""},
		{`[]`, "$[*]", ""},
		{`{}`, "$..*", ""},
		{"[1 , 2\n]", "$..[?@ > 1]", "2"},
		{`{"a":1,"a":2}`, "$.a", "1 2"},
	}
	for _, c := range cases {
		if why, _ := judgeJSON([]byte(c.body)); why != "" {
			t.Fatalf("%s: %s", c.body, why)
		}
		nodes, done := selected(t, c.path, c.body, 1<<20)
		if got := strings.Join(nodes, " "); got != c.want || !done {
			t.Errorf("%s in %.60s selects %s, want %s (done %v)", c.path, c.body, got, c.want, done)
		}
	}
}

func TestBadPathsSayWhatToDo(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"status":               "it must start with $",
		"":                     "it must start with $",
		" $.a":                 "it must start with $",
		"$.a ":                 "it ends in a space",
		"$.":                   "it ends too early",
		"$..":                  "it ends too early",
		"$.a.":                 "it ends too early",
		"$[":                   "it ends too early",
		"$['a":                 "it ends too early",
		"$['a'":                "it ends too early",
		"$['a\\":               "it ends too early",
		"$[?@.a ==":            "it ends too early",
		"$a":                   "at byte 2, want . or [",
		"$.a-b":                "at byte 4, want . or [",
		"$.1":                  "at byte 3, want a name, or write it like ['odd name']",
		"$...a":                "at byte 4, want a name, or write it like ['odd name']",
		"$.['a']":              "at byte 4, want a name: leave the dot before [ out",
		"$[]":                  "at byte 3, want a name in quotes, an index, a slice, * or ?",
		"$[a]":                 "at byte 3, want a name in quotes, an index, a slice, * or ?",
		"$[0 1]":               "at byte 5, want ] or a comma",
		"$[01]":                "at byte 3, a number has no leading zeros and zero no sign",
		"$[-0]":                "at byte 3, a number has no leading zeros and zero no sign",
		"$[-]":                 "at byte 4, want a number",
		"$[99999999999999999]": "at byte 3, an index is at most 1000000",
		"$[-1000001]":          "at byte 3, an index is at most 1000000",
		"$[::0]":               "the step of a slice is at least 1: the order means nothing here",
		"$[::-1]":              "the step of a slice is at least 1: the order means nothing here",
		"$['\\x']":             "at byte 3, this string has an escape or a control character that JSON does not know",
		"$['\n']":              "at byte 3, this string has an escape or a control character that JSON does not know",
		"$[\"\\'\"]":           "at byte 3, this string has an escape or a control character that JSON does not know",
		"$[?@.a == b]":         "at byte 11, want @, a number, a text in quotes, true, false or null; functions are not known here",
		"$[?length(@.a) == 1]": "at byte 4, want @, a number, a text in quotes, true, false or null; functions are not known here",
		"$[?$.a]":              "at byte 4, want @, a number, a text in quotes, true, false or null; functions are not known here",
		"$[?1]":                "at byte 5, want a comparison",
		"$[?1 == 1]":           "at byte 9, want @",
		"$[?@.a =~ /x/]":       "at byte 8, want ] or a comma",
		"$[?!1]":               "at byte 5, want @ or ( after !",
		"$[?!@.a == 1]":        "! is for tests and parentheses: write !(…) around a comparison",
		"$[?(@.a]":             "at byte 8, want )",
		"$[?@..a]":             "inside a filter only names and indexes from 0 can follow @",
		"$[?@[*]]":             "inside a filter only names and indexes from 0 can follow @",
		"$[?@[-1]]":            "inside a filter only names and indexes from 0 can follow @",
		"$[?@['a','b']]":       "inside a filter only names and indexes from 0 can follow @",
		"$['\xff']":            "it is not UTF-8",
		"$" + strings.Repeat(".a", maxSegments+1):                                     "it has too many parts",
		"$[0" + strings.Repeat(",0", maxSelectors) + "]":                              "it has too many parts",
		"$[?@" + strings.Repeat("||@", maxTerms) + "]":                                "it has too many parts",
		"$[?" + strings.Repeat("(", maxParens+1) + "@" + strings.Repeat(")", 9) + "]": "it has too many parts",
	}
	for text, want := range cases {
		if p, err := parsePath(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v %v, want %s", text, p, err, want)
		}
	}
	for _, text := range []string{
		"$" + strings.Repeat(".a", maxSegments), "$[0" + strings.Repeat(",0", maxSelectors-2) + "]", "$[?@" + strings.Repeat("||@", maxTerms-1) + "]",
		"$[?" + strings.Repeat("(", maxParens) + "@" + strings.Repeat(")", maxParens) + "]", "$[?(@)&&(@)&&(@)&&(@)&&(@)]", "$[1000000:-1000000]",
	} {
		if _, err := parsePath(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The walk agrees with RFC 9535 taken literally: lists of nodes of a decoded
// document, one segment after the other.
func TestPathsAgreeWithTheDefinition(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	compared, documents := 0, 10_000
	if testing.Short() {
		documents = 1000
	}
	for range documents {
		scalars := 0
		body := randomJSON(random, 4, &scalars)
		text := randomPath(random)
		var tree any
		if err := json.Unmarshal([]byte(body), &tree); err != nil {
			t.Fatal(err)
		}
		parsed, err := parsePath(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		list := []any{tree}
		for _, s := range parsed.segments {
			list = applySegment(s, list)
		}
		want, got := map[string]bool{}, map[string]bool{}
		for _, node := range list {
			encoded, err := json.Marshal(node)
			if err != nil {
				t.Fatal(err)
			}
			want[string(encoded)] = true
		}
		nodes, done := selected(t, text, body, 1<<20)
		for _, node := range nodes {
			got[node] = true
		}
		if compared += len(want); !done || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s in %s selects %v, want %v", text, body, got, want)
		}
	}
	if compared < 2*documents/5 {
		t.Errorf("only %d nodes were compared", compared)
	}
}

// applySegment is RFC 9535 §2.5.
func applySegment(s segment, list []any) []any {
	var out []any
	for _, node := range list {
		if !s.descend {
			out = append(out, applySelectors(s.selectors, node)...)
			continue
		}
		var down func(any)
		down = func(node any) {
			out = append(out, applySelectors(s.selectors, node)...)
			for _, child := range applySelectors([]selector{{kind: selectAll}}, node) {
				down(child)
			}
		}
		down(node)
	}
	return out
}

// applySelectors is RFC 9535 §2.3.
func applySelectors(list []selector, node any) []any {
	var out []any
	elements, _ := node.([]any)
	members, _ := node.(map[string]any)
	for _, s := range list {
		switch s.kind {
		case selectName:
			if value, ok := members[s.name]; ok {
				out = append(out, value)
			}
		case selectIndex:
			if i := s.index; i < 0 && i+len(elements) >= 0 {
				out = append(out, elements[i+len(elements)])
			} else if i >= 0 && i < len(elements) {
				out = append(out, elements[i])
			}
		case selectSlice:
			bound := func(i int) int {
				if i < 0 {
					i += len(elements)
				}
				return min(max(i, 0), len(elements))
			}
			end := len(elements)
			if s.hasTo {
				end = bound(s.to)
			}
			for i := bound(s.index); i < end; i += s.step {
				out = append(out, elements[i])
			}
		case selectAll, selectFilter:
			for _, child := range elements {
				if s.kind == selectAll || keeps(s.filter, child) {
					out = append(out, child)
				}
			}
			for _, child := range members {
				if s.kind == selectAll || keeps(s.filter, child) {
					out = append(out, child)
				}
			}
		}
	}
	return out
}

// keeps is RFC 9535 §2.3.5 for numbers.
func keeps(f *filter, node any) bool {
	switch f.op {
	case filterAnd:
		return keeps(f.left, node) && keeps(f.right, node)
	case filterOr:
		return keeps(f.left, node) || keeps(f.right, node)
	case filterNot:
		return !keeps(f.left, node)
	}
	list := []any{node}
	for _, s := range f.query {
		list = applySegment(segment{selectors: []selector{s}}, list)
	}
	if f.op == filterExists {
		return len(list) > 0
	}
	if len(list) == 0 {
		return f.op == filterNotEqual
	}
	number, ok := list[0].(float64)
	want := float(f.literal.text)
	switch f.op {
	case filterEqual:
		return ok && number == want
	case filterNotEqual:
		return !ok || number != want
	case filterLess:
		return ok && number < want
	case filterAtMost:
		return ok && number <= want
	case filterAtLeast:
		return ok && number >= want
	default:
		return ok && number > want
	}
}

// randomJSON makes a document with sorted keys and no scalar twice.
func randomJSON(r *rand.Rand, depth int, scalars *int) string {
	n := r.IntN(4)
	switch kind := r.IntN(5); {
	case depth == 0 || kind == 0:
		*scalars++
		return fmt.Sprint(*scalars)
	case kind < 3:
		var members []string
		for _, key := range []string{"a", "b", "c"}[:min(n, 3)] {
			members = append(members, fmt.Sprintf("%q:%s", key, randomJSON(r, depth-1, scalars)))
		}
		return "{" + strings.Join(members, ",") + "}"
	default:
		elements := make([]string, n)
		for i := range elements {
			elements[i] = randomJSON(r, depth-1, scalars)
		}
		return "[" + strings.Join(elements, ",") + "]"
	}
}

func randomPath(r *rand.Rand) string {
	parts := []string{".a", ".b", "['c']", "[0]", "[1]", "[-1]", "[-2]", ".*", "[*]", "[0:2]", "[1:]", "[-2:]", "[:-1]", "[::2]", "['a','b']", "[0,1]", "[0,-1]", "..a", "..b", "..*", "..[0]", "..[-1]", "[?@.a]", "[?@.b > 3]", "[?@.a == 2 || @.b != 3 && !@[0]]", "[?@ < 5]", "[?@.a, 0]", "..[?@.c]"}
	text := "$"
	for range 1 + r.IntN(3) {
		text += parts[r.IntN(len(parts))]
	}
	return text
}

// Paths that would multiply what they select are as cheap as any.
func TestPathsDoNotMultiply(t *testing.T) {
	t.Parallel()
	cases := []struct{ path, body string }{
		{"$" + strings.Repeat("[0,0]", maxSegments), strings.Repeat("[", 100) + strings.Repeat("]", 100)},
		{"$" + strings.Repeat("[0,-1]", maxSegments), strings.Repeat("[", 100) + strings.Repeat("]", 100)},
		{"$" + strings.Repeat("..*", maxSegments), strings.Repeat("[", 100) + "1,2,3" + strings.Repeat("]", 100)},
		{"$" + strings.Repeat("..a", maxSegments), strings.Repeat(`{"a":`, 120) + "1" + strings.Repeat("}", 120)},
	}
	for _, c := range cases {
		const room = 1 << 17
		nodes, done := selected(t, c.path, c.body, room)
		if !done || len(nodes) > len(c.body) {
			t.Errorf("%s takes more than %d steps, or selects %d nodes", c.path, room, len(nodes))
		}
		slices.Sort(nodes)
		if c.path[1] == '[' && len(nodes) > 1 {
			t.Errorf("%s selects %d nodes", c.path, len(nodes))
		}
	}
}

// A walk ends soon after its steps are spent: one look ahead later at the most.
func TestPathsStopWhenTheirStepsAreSpent(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("[", maxDepth) + strings.Repeat("0,", 20000) + "0" + strings.Repeat("]", maxDepth)
	for _, path := range []string{"$..[-1]", "$..[?@[900000]]", "$..[?@[9] == 1 || @.a]", "$..*", "$..[0,1,2,3]"} {
		parsed, err := parsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		w := walk{body: []byte(body), path: parsed, steps: 1000, visit: func([]byte) bool { return true }}
		if w.run() || w.steps < -2*len(body) {
			t.Errorf("%s goes on for %d steps", path, -w.steps)
		}
	}
}

// What takes too much work is undecided.
func TestPathsThatTakeTooMuchWorkAreUndecided(t *testing.T) {
	t.Parallel()
	wide := "[" + strings.Repeat("0,", 20000) + "0]"
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("0,", 20000) + "0" + strings.Repeat("]", maxDepth)
	cases := []struct{ path, op, value, body string }{
		{"$..[-1]", "not_equals", "x", deep},                             // the length of each array, over and over
		{"$..[?@[900000]]", "absent", "", deep},                          // each array searched to its end
		{"$..*", "not_contains", "x", deep},                              // every array whole
		{"$..*", "not_in", strings.Repeat("1,", maxItems-1) + "2", deep}, // many comparisons
		{"$[*]", "not_in", strings.Repeat("1,", maxItems-1) + "2", wide}, // many comparisons of small nodes
		{"$..[?@[0] == 1 || @[1] == 1]", "not_equals", "x", deep},        // filters that look at large children
	}
	for _, c := range cases {
		a := uptime.Assertion{Source: "json", Name: c.path, Op: uptime.Op(c.op), Value: c.value}
		v := compile(t, a).Evaluate(&Observation{Body: []byte(c.body)})
		if len(v.Failed) != 1 || !v.First().Undecided || v.First().Failure != uptime.FailureBody || !strings.Contains(v.First().Message, "is undecided, as the path takes too much work on this body; want it") {
			t.Errorf("%s %s: %+v", c.path, c.op, v)
		}
	}
}

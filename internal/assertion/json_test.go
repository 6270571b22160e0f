package assertion

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestOnlyJSONIsJSON(t *testing.T) {
	t.Parallel()
	cases := []string{
		`null`, `true`, `false`, `nul`, `truee`, `0`, `-0`, `01`, `-`, `1.`, `.5`, `1e5`, `1E+5`, `1e-`, `1.5e3`, `+1`, `0x1`, `NaN`,
		`""`, `"a`, `"\n"`, "\"\n\"", `"\x"`, `"\u12g4"`, `"\u12"`, `"\ud800"`, "\"\xff\"", "\"\x7f\"", `'a'`,
		`[]`, `[1,]`, `[,1]`, `[1 2]`, `[1`, `]`, `[}`, `{}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":1,"b":[{}]}`, `{1:2}`,
		` [ 1 , 2 ] `, `[] []`, "\u00a0[]", "", " ", `// x`, "[\v]",
	}
	for _, text := range cases {
		why, undecided := judgeJSON([]byte(text))
		if (why == "") != json.Valid([]byte(text)) || undecided {
			t.Errorf("%q: %q, but valid is %v", text, why, json.Valid([]byte(text)))
		}
		if why != "" && !strings.HasPrefix(why, "the body is ") {
			t.Errorf("%q: %q", text, why)
		}
	}
}

func TestDeepJSONIsUndecided(t *testing.T) {
	t.Parallel()
	set := compile(t, uptime.Assertion{Source: "json", Name: "$.a", Op: "absent"})
	for depth, want := range map[int]bool{maxDepth: false, maxDepth + 1: true, 500_000: true} {
		v := set.Evaluate(&Observation{Body: []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))})
		if v.First().Undecided != want || want && v.First().Message != "json $.a is undecided, as the body is nested deeper than 128; want it to be absent" {
			t.Errorf("depth %d: %+v", depth, v)
		}
	}
}

func TestJSONMayStartWithAByteOrderMark(t *testing.T) {
	t.Parallel()
	set := compile(t, uptime.Assertion{Source: "json", Name: "$.a", Op: "equals", Value: "1"})
	if v := set.Evaluate(&Observation{Body: []byte("\ufeff{\"a\":1}")}); v.Severity != "" {
		t.Errorf("%+v", v)
	}
}

func TestNumbersCompare(t *testing.T) {
	t.Parallel()
	cases := []struct {
		a, b string
		want int
	}{
		{"1", "1.0", 0}, {"-0", "0", 0}, {"1e2", "100", 0}, {"2", "10", -1}, {"9007199254740993", "9007199254740992", 1},
		{"1e999", "1e308", 1}, {"-1e999", "-1", -1}, {"1e-999", "0", 0}, {"18446744073709551616", "1", 1},
	}
	for _, c := range cases {
		if got := compareNumbers(c.a, c.b); got != c.want {
			t.Errorf("%s against %s: %d", c.a, c.b, got)
		}
	}
}

package assertion

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// enough is far more than anything here may take, under the race detector on a busy machine.
const enough = 20 * time.Second

func FuzzValidate(f *testing.F) {
	for _, g := range golden {
		f.Add(string(g.source), g.name, string(g.op), g.value, "http")
	}
	for _, path := range []string{"$..a[?@.b == 'c' && !(@.d < 1)]['e',-1,1:2:3]", "$['\\ud83d']", "$[?"} {
		f.Add("json", path, "in", "1,2", "http")
	}
	for _, pattern := range []string{"((a{10}){10}){10}", "(?i)[^\\pL]{1,99}", "\\Q.\\E*?$", strings.Repeat("(", 1024)} {
		f.Add("body", "", "matches", pattern, "http")
	}
	f.Fuzz(func(t *testing.T, source, name, op, value, kind string) {
		start := time.Now()
		a := []uptime.Assertion{{Source: uptime.Source(source), Name: name, Op: uptime.Op(op), Value: value}}
		found := Validate(a, uptime.Kind(kind))
		set, err := Compile(a)
		if len(found) == 0 && err != nil {
			t.Fatalf("%+v is valid for %s but does not compile: %v", a[0], kind, err)
		}
		for _, p := range found {
			if p.Index != 0 || p.Field == "" || p.Code == "" || p.Message == "" || len(p.Message) > 512 {
				t.Fatalf("%+v: %+v", a[0], p)
			}
		}
		if err == nil {
			if c := set.checks[0]; c.pattern != nil && c.pattern.size > MaxPatternCost/shortTextKiB {
				t.Fatalf("a pattern of %d instructions", c.pattern.size)
			}
			set.Evaluate(&Observation{})
		}
		if took := time.Since(start); took > enough {
			t.Fatalf("took %v", took)
		}
	})
}

func FuzzEvaluate(f *testing.F) {
	for _, g := range golden {
		f.Add(string(g.source), g.name, string(g.op), g.value, []byte(g.fails), false)
		f.Add(string(g.source), g.name, string(g.op), g.value, []byte(g.passes), true)
	}
	for _, path := range []string{"$..*", "$..[-1]..[1:]", "$[0,0][0,0][0,0]", "$..[?@.a == 1 || @.b]", "$..a..a..a", "$[?@[0] != null][-2:]"} {
		f.Add("json", path, "not_equals", "1", []byte(store), false)
		f.Add("json", path, "in", "1,null,x", []byte(`{"a":[[1,2,[3]],{"a":{"a":1}}],"\u0061":null,"b":[[],{}]}`), false)
		f.Add("json", path, "matches", "^[a-z]*$", []byte(strings.Repeat(`[{"a":`, 50)+`"x"`+strings.Repeat("}]", 50)), false)
	}
	f.Fuzz(func(t *testing.T, source, name, op, value string, seen []byte, cut bool) {
		set, err := Compile([]uptime.Assertion{{Source: uptime.Source(source), Name: name, Op: uptime.Op(op), Value: value}})
		if err != nil {
			return
		}
		if why, undecided := judgeJSON(seen); (why == "") != json.Valid(seen) && !undecided {
			t.Fatalf("%q: %q, but valid is %v", seen, why, json.Valid(seen))
		}
		text := string(seen)
		o := &Observation{
			At: visitedAt, Status: len(seen), Header: map[string][]string{}, Body: seen, BodyCut: cut, Received: seen, ReceivedCut: cut,
			TotalUS: uint32(len(seen)), CertNotAfter: visitedAt.Add(time.Duration(len(seen)) * time.Hour), Redirect: text, Protocol: text,
			TLSVersion: uint16(len(seen)), Records: map[string][]string{strings.ToUpper(name): {text, text}}, Rcode: text, Secrets: []string{canary, text[:len(text)/2]},
		}
		o.Header.Add(name, text)
		before := bytes.Clone(seen)
		start := time.Now()
		v := set.Evaluate(o)
		if took := time.Since(start); took > enough {
			t.Fatalf("took %v", took)
		}
		if !bytes.Equal(seen, before) {
			t.Fatal("the body was changed")
		}
		for _, failed := range v.Failed {
			if !goodMessage(failed.Message) || failed.Failure == uptime.FailureNone || strings.Contains(failed.Message, canary) {
				t.Fatalf("%+v", failed)
			}
		}
		if cut && v.Severity == "" && (source == "json" || source == "body_hash" || op == "not_contains" && source == "body") {
			t.Fatal("what was cut passes")
		}
	})
}

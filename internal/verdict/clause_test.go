package verdict

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/uptime"
)

func written(t *testing.T, clauses []Clause) string {
	t.Helper()
	var lines []string
	for _, c := range clauses {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	return strings.Join(lines, "\n")
}

func TestReasonsOfARule(t *testing.T) {
	t.Parallel()
	slow, ending := seen("eu", uptime.StatusUp, 0), seen("us", uptime.StatusUp, 0)
	slow.TotalUS, ending.CertNotAfter = 200_000, noon.Add(time.Hour)
	rules := Rules{Interval: time.Minute, Active: true, Regions: []string{"eu", "us"}, Policy: Policy{Degraded: Degraded{LatencyMS: 100, CertificateDays: 7}}}
	v := Fold(rules, Conditions{}, []Observation{slow, ending}, Verdict{}, noon)
	if diff := cmp.Diff(`{"is":"degraded","n":2,"of":2,"seen":[{"region":"eu","what":"slow"},{"region":"us","what":"certificate"}]}`, written(t, v.Because)); diff != "" {
		t.Error(diff)
	}
	if v.Why != "Degraded in 2 of 2 regions: eu slower than allowed, us certificate ends soon." {
		t.Error(v.Why)
	}
}

// What a state is put down to, for who says it in another language.
func TestReasonsForAState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy Policy
		lines  string
		want   string
	}{
		"up":       {Policy{}, "0 ap,eu,us up", `{"is":"up","n":3}`},
		"unheard":  {Policy{}, "0 tick", `{"is":"unheard","names":["ap","eu","us"]}`},
		"edited":   {Policy{}, "0 ap,eu,us up\n10 edit\n11 tick", `{"is":"unheard","names":["ap","eu","us"]}`},
		"paused":   {Policy{}, "0 ap,eu,us down\n10 pause", `{"is":"paused"}`},
		"silent":   {Policy{}, "0 eu up", "{\"is\":\"up\",\"n\":1}\n" + `{"is":"silent","names":["ap","us"]}`},
		"no data":  {Policy{}, "0 eu up\n300 tick", "{\"is\":\"no_data\",\"at\":\"2026-03-01T12:00:00Z\"}\n" + `{"is":"silent","names":["ap","eu","us"]}`},
		"doubted":  {Policy{DownAfter: 3}, "0 ap,eu,us up\n60 eu down\n120 eu down", "{\"is\":\"up\",\"n\":3}\n" + `{"is":"doubted","seen":[{"region":"eu","what":"status_code","http_status":503,"n":2,"of":3}]}`},
		"unproven": {Policy{DownAfter: 3}, "0 ap,us up\n60 eu down\n120 eu down", `{"is":"degraded","n":1,"of":3,"seen":[{"region":"eu","what":"status_code","http_status":503,"n":2,"of":3}]}`},
		"degraded": {Policy{}, "0 ap,us up\n0 eu degraded", `{"is":"degraded","n":1,"of":3,"seen":[{"region":"eu","what":"degraded"}]}`},
		"maintained": {
			Policy{}, "0 us,eu down\n10 maintain 0-600\n10 parent\n20 blind ap 0",
			`{"is":"maintenance"}` + "\n" + `{"is":"down","n":2,"of":2,"seen":[{"region":"eu","what":"status_code","http_status":503},{"region":"us","what":"status_code","http_status":503}]}` + "\n" +
				`{"is":"blind","names":["ap"]}` + "\n" + `{"is":"depends","name":"the router"}`,
		},
		"recovering": {
			Policy{UpAfter: 2}, "0 ap,us up\n0 eu down\n60 eu up",
			`{"is":"down","n":1,"of":3,"seen":[{"region":"eu","what":"recovering","n":1,"of":2}]}`,
		},
	} {
		s := play(t, c.policy, c.lines)
		v := s.state.Verdict(s.rules, s.conditions, s.state.At)
		if diff := cmp.Diff(c.want, written(t, v.Because)); diff != "" {
			t.Errorf("%s: %s\n%s", name, v.Why, diff)
		}
	}
}

func TestReasonsForAnIncident(t *testing.T) {
	t.Parallel()
	const up = "0 ap,eu,us up\n"
	last := func(lines string, policy Policy, kind Kind) string {
		t.Helper()
		s := play(t, policy, lines)
		for _, d := range slices.Backward(s.decisions) {
			if d.Kind == kind {
				return written(t, d.Because)
			}
		}
		t.Fatalf("no %s: %+v", kind, s.decisions)
		return ""
	}
	got := last(up+"10 parent until 40\n30 eu,us down\n60 eu,us down", Policy{DownAfter: 2, ForS: 30}, Opened)
	if diff := cmp.Diff(`{"is":"down","n":2,"of":3,"seen":[{"region":"eu","what":"status_code","http_status":503},{"region":"us","what":"status_code","http_status":503}]}
{"is":"began","at":"2026-03-01T12:00:30Z"}
{"is":"needs","n":2,"of":3}
{"is":"times","n":2}
{"is":"lasting","n":30}`, got); diff != "" {
		t.Error(diff)
	}
	got = last(up+"30 maintain 30-100\n60 eu,us down\n120 eu,us down", Policy{}, Opened)
	if !strings.HasSuffix(got, "\n"+`{"is":"held","what":"maintenance"}`) {
		t.Error(got)
	}
	got = last(up+"60 eu degraded\n120 eu,us down", Policy{OpenOn: SeverityDegraded}, SeverityChanged)
	if !strings.HasPrefix(got, `{"is":"changed","what":"degraded","name":"down"}`+"\n"+`{"is":"down",`) {
		t.Error(got)
	}
}

// The words that pages are promised are all that there are.
func TestFactsAreListed(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "clause.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var facts []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, is := n.(*ast.ValueSpec); is && strings.HasPrefix(spec.Names[0].Name, "Fact") {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			facts = append(facts, text)
		}
		return true
	})
	is, _ := reflect.TypeFor[Clause]().FieldByName("Is")
	if diff := cmp.Diff(facts, strings.Split(is.Tag.Get("enum"), ",")); diff != "" {
		t.Error(diff)
	}
}

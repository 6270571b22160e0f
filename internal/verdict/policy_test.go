package verdict

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPolicyMistakesPointAtTheirField(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		`{}`: nil,
		`{"quorum":{"rule":"count","count":2,"firm":true},"down_after":3,"up_after":10,"for_s":60,"open_on":"degraded","degraded":{"latency_ms":500,"certificate_days":14,"ignore_minority":true},"flapping":{"half_life_s":600,"begin":1.2,"end":0.1}}`: nil,
		`{"quorum":{"rule":"most"}}`:                             {"/quorum/rule"},
		`{"quorum":{"rule":"count"}}`:                            {"/quorum/count"},
		`{"quorum":{"count":2}}`:                                 {"/quorum/count"},
		`{"quorum":{"rule":"count","count":2,"at_least":3}}`:     {"/quorum/at_least"},
		`{"quorum":{"at_least":-1}}`:                             {"/quorum/at_least"},
		`{"down_after":11,"up_after":-1,"for_s":86401}`:          {"/down_after", "/up_after", "/for_s"},
		`{"open_on":"up"}`:                                       {"/open_on"},
		`{"degraded":{"latency_ms":-5,"certificate_days":9999}}`: {"/degraded/latency_ms", "/degraded/certificate_days"},
		`{"flapping":{"half_life_s":1,"begin":1,"end":1}}`:       {"/flapping/half_life_s", "/flapping/begin", "/flapping/end"},
		`{"flapping":{"begin":2}}`:                               {"/flapping/begin"},
		`{"down_after":"3"}`:                                     {"/down_after"},
		`{"quorum":{"count":true}}`:                              {"/quorum/count"},
		`{"unheard_of":1}`:                                       {"unheard_of"},
		`{} {}`:                                                  {"something follows"},
		`[`:                                                      {"policy"},
	} {
		p, err := ParsePolicy([]byte(body))
		if (err != nil) != (want != nil) {
			t.Errorf("%s: %v", body, err)
			continue
		}
		for _, pointer := range want {
			if !strings.Contains(err.Error(), pointer) {
				t.Errorf("%s: %v does not name %s", body, err, pointer)
			}
		}
		if err == nil {
			written, _ := json.Marshal(p)
			if string(written) != body {
				t.Errorf("%s is written as %s", body, written)
			}
		}
	}
}

func TestQuorum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		quorum Quorum
		need   []int // with 1, 2, 3, 4, 5 fresh regions
	}{
		{Quorum{}, []int{1, 2, 2, 3, 3}},
		{Quorum{Rule: QuorumMajority, AtLeast: 1}, []int{1, 2, 2, 3, 3}},
		{Quorum{AtLeast: 3}, []int{1, 2, 3, 3, 3}},
		{Quorum{Firm: true}, []int{2, 2, 2, 3, 3}},
		{Quorum{Rule: QuorumAll}, []int{1, 2, 3, 4, 5}},
		{Quorum{Rule: QuorumCount, Count: 1}, []int{1, 1, 1, 1, 1}},
		{Quorum{Rule: QuorumCount, Count: 3}, []int{1, 2, 3, 3, 3}},
		{Quorum{Rule: QuorumCount, Count: 3, Firm: true}, []int{3, 3, 3, 3, 3}},
	} {
		var got []int
		for fresh := 1; fresh <= 5; fresh++ {
			got = append(got, c.quorum.need(fresh))
		}
		if !slices.Equal(got, c.need) {
			t.Errorf("%+v: %v, want %v", c.quorum, got, c.need)
		}
	}
}

func TestDegradedRules(t *testing.T) {
	t.Parallel()
	policy := Policy{Degraded: Degraded{LatencyMS: 500, CertificateDays: 14}}
	s := play(t, policy, allUp)
	for _, c := range []struct {
		us    uint32
		days  float64
		state State
		why   string
	}{
		{500_000, 14, StateUp, "Up in 3 of 3"},
		{500_001, 100, StateDegraded, "Degraded in 1 of 3 regions: eu slower than allowed."},
		{10, 13.99, StateDegraded, "eu certificate ends soon."},
		{10, 0, StateUp, ""},
	} {
		o := s.observation("eu", "up", s.state.At.Add(time.Second))
		o.TotalUS = c.us
		if c.days > 0 {
			o.CertNotAfter = o.ScheduledAt.Add(time.Duration(c.days * 24 * float64(time.Hour)))
		}
		s.step(Event{o.ScheduledAt, o})
		if v := s.state.Verdict(s.rules, s.conditions, s.state.At); v.State != c.state || !strings.Contains(v.Why, c.why) {
			t.Errorf("%+v: %s, %s", c, v.State, v.Why)
		}
	}
	if s.decisions != nil {
		t.Error(s.told())
	}
}

func TestOnlyStatesOfThisVersionAreRead(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"v":2}`, `{}`, `[]`, ``} {
		if _, err := DecodeState([]byte(body)); err == nil {
			t.Errorf("%q was read", body)
		}
	}
}

package livefeed

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/probefleet/probefleet/internal/uptime"
)

func samples(n int) []uptime.Result {
	slot := time.UnixMilli(1_700_000_000_123).UTC()
	kinds := []uptime.Result{
		{Status: uptime.StatusUp, HTTPStatus: 200, Attempt: 1, CheckedAt: slot.Add(3 * time.Millisecond), IngestedAt: slot.Add(time.Second), TotalUS: 123_456,
			Phases: uptime.Phases{DNS: 1, Connect: 20_000, TLS: 31_000, Wait: 70_000, Transfer: 2_455}, Address: netip.MustParseAddr("192.0.2.7"), Issuer: "Somebody R11"},
		{Status: uptime.StatusDown, Failure: uptime.FailureTLSExpired, Attempt: 3, CheckedAt: slot.Add(-time.Millisecond), Message: "certificate expired äöü",
			Address: netip.MustParseAddr("2001:db8::1"), CertNotAfter: time.Unix(1_690_000_000, 0).UTC(), Late: true},
		{Status: uptime.StatusMissed, Reason: uptime.ReasonExpired, Prober: "_janitor"},
		{Status: uptime.StatusUnknown, Reason: uptime.ReasonFrozen, TotalUS: 1<<32 - 1},
	}
	out := make([]uptime.Result, n)
	for i := range out {
		r := kinds[i%len(kinds)]
		r.TargetID, r.Region, r.ScheduledAt, r.SpecVersion = int64(i+1), []string{"eu", "us"}[i%2], slot.Add(time.Duration(i)*time.Millisecond), 77
		out[i] = r
	}
	return out
}

var sameAddress = cmpopts.EquateComparable(netip.Addr{})

func TestResultsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 4, MaxResults} {
		want := samples(n)
		payload := encode(want)
		got, err := decode(payload)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, sameAddress, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		if n == MaxResults && len(payload) > 60*n {
			t.Errorf("%d bytes a result", len(payload)/n)
		}
	}
}

// Probers are upgraded after the API: it reads what they announce until then.
func TestResultsOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	payload, err := os.ReadFile("testdata/results.v1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	want := samples(4)
	for i := range want {
		want[i].Issuer = ""
	}
	if diff := cmp.Diff(want, got, sameAddress); diff != "" {
		t.Error(diff)
	}
}

func TestLongMessagesAreCut(t *testing.T) {
	t.Parallel()
	r := samples(1)
	r[0].Message = strings.Repeat("x", 1<<20)
	got, err := decode(encode(r))
	if err != nil || len(got[0].Message) != maxString {
		t.Fatal(err)
	}
}

func TestStrangeResultsAreErrors(t *testing.T) {
	t.Parallel()
	good := encode(samples(3))
	for end := range good {
		if _, err := decode(good[:end]); err == nil {
			t.Fatalf("read %d of %d bytes", end, len(good))
		}
	}
	for name, payload := range map[string][]byte{
		"other version": append([]byte{9}, good[1:]...),
		"too long":      append(good, 0),
		"huge count":    {version, 0xff, 0xff, 0xff, 0xff, 0x0f},
		"10 MB":         make([]byte, 10<<20),
	} {
		if _, err := decode(payload); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

func FuzzDecodeResults(f *testing.F) {
	f.Add(encode(samples(4)))
	f.Add(encode(nil))
	f.Fuzz(func(t *testing.T, payload []byte) {
		results, err := decode(payload)
		if err != nil {
			return
		}
		again, err := decode(encode(results))
		if err != nil {
			t.Fatal(err)
		}
		if len(again) != len(results) {
			t.Fatal("not the same again")
		}
	})
}

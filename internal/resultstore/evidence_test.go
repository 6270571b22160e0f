package resultstore

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/probefleet/probefleet/internal/uptime"
)

func fullEvidence(at time.Time) *uptime.Evidence {
	return &uptime.Evidence{
		Hops: []uptime.Hop{
			{URL: "http://example.com/", Address: netip.MustParseAddr("2001:db8::1"), Protocol: "HTTP/1.1", Status: 302, Phases: uptime.Phases{DNS: 1, Connect: 2, TLS: 3, Wait: 4, Transfer: 5}, DNSCached: true},
			{URL: "https://example.com/?q=…"},
		},
		StatusLine: "HTTP/1.1 503 Busy", Headers: []uptime.Header{{Name: "Server", Value: `a "b" \ <c>`}},
		Body: strings.Repeat("é", uptime.MaxEvidenceBody/2), BodyCut: true, Received: "220 x\r\n\x00", ReceivedCut: true, Records: []uptime.Record{{Type: "MX", Data: "10 mail.example.com.", TTL: 60}}, Rcode: "NOERROR",
		TLSVersion: "1.3", TLSCipher: "TLS_AES_128_GCM_SHA256",
		Certificates: []uptime.Certificate{{Subject: "CN=x", Issuer: "CN=y", Names: []string{"x"}, NotBefore: at, NotAfter: at.Add(time.Hour), SHA256: "00"}},
		Failed:       []uptime.Failed{{Index: 3, Severity: uptime.SeverityDegrade, Message: "it is not so"}}, Command: "curl 'x'",
	}
}

// What a measurement saw comes back from every list, and its evidence from where it is asked for.
func TestSeenAndEvidenceComeBack(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	slot := base()
	down := up(1, "eu", slot)
	down.Status, down.Failure, down.HTTPStatus, down.Address, down.Message = uptime.StatusDown, uptime.FailureBody, 503, netip.MustParseAddr("192.0.2.1"), "x"
	down.Seen = uptime.Seen{Protocol: "HTTP/2.0", TLSVersion: 0x0304, Hops: 3, WireBytes: 1 << 20, BodyBytes: 1<<32 - 1, DNSCached: true}
	down.Evidence = fullEvidence(slot)
	busy := up(1, "us", slot)
	busy.Seen = uptime.Seen{Saturated: true}
	empty := up(1, "ap", slot)
	empty.Status, empty.Failure, empty.Evidence = uptime.StatusDown, uptime.FailureTimeout, &uptime.Evidence{}
	plain := up(2, "eu", slot)
	never := missed(2, "us", slot)
	insert(t, s, batchOf(down, busy, empty, plain, never))

	for _, want := range []uptime.Result{down, busy, empty, plain, never} {
		got, found, err := s.Result(t.Context(), want.Slot())
		if err != nil || !found {
			t.Errorf("%v: %v %v", want.Slot(), found, err)
			continue
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}), cmpopts.EquateApproxTime(2*time.Millisecond)); diff != "" {
			t.Errorf("%v: %s", want.Slot(), diff)
		}
	}
	rows, err := s.Results(t.Context(), ResultQuery{TargetID: 1, Limit: 10})
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		want := map[string]uptime.Seen{"eu": down.Seen, "us": busy.Seen}[r.Region]
		if r.Seen != want || r.Evidence != nil {
			t.Errorf("%s is listed as %+v with %v", r.Region, r.Seen, r.Evidence)
		}
	}
}

func TestResultOfNoSlot(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	slot := base()
	insert(t, s, batchOf(up(1, "eu", slot)))
	for _, none := range []uptime.Slot{
		{TargetID: 2, Region: "eu", ScheduledAt: slot}, {TargetID: 1, Region: "us", ScheduledAt: slot}, {TargetID: 1, Region: "eu", ScheduledAt: slot.Add(time.Millisecond)},
		{TargetID: 1, Region: "", ScheduledAt: slot}, {TargetID: 1, Region: "e'u\\", ScheduledAt: slot}, {TargetID: 1, Region: "eu", ScheduledAt: time.Unix(0, 0)},
	} {
		if r, found, err := s.Result(t.Context(), none); err != nil || found || r.TargetID != 0 {
			t.Errorf("%v: %v %v %v", none, r, found, err)
		}
	}
	if _, found, err := s.Result(t.Context(), uptime.Slot{TargetID: 1, Region: "eu", ScheduledAt: slot}); err != nil || !found {
		t.Error(found, err)
	}
}

// The row of a slot that counts gives the evidence: a reason, or a late row, hides none.
func TestEvidenceIsThatOfTheRowThatCounts(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	down := up(1, "eu", base())
	down.Status, down.Failure, down.Evidence = uptime.StatusDown, uptime.FailureBody, &uptime.Evidence{Body: "first"}
	again := down
	again.IngestedAt, again.Evidence = down.IngestedAt.Add(time.Second), &uptime.Evidence{Body: "second"}
	late := down
	late.Late, late.IngestedAt, late.Evidence = true, down.IngestedAt.Add(time.Hour), &uptime.Evidence{Body: "late"}
	insert(t, s, batchOf(again), batchOf(down), batchOf(late), batchOf(missed(1, "eu", down.ScheduledAt)))
	got, found, err := s.Result(t.Context(), down.Slot())
	if err != nil || !found || got.Evidence == nil || got.Evidence.Body != "second" {
		t.Errorf("%+v %v %v", got.Evidence, found, err)
	}
}

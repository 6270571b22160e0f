package probe

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestDNSRecords(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	server := "dns://" + labAt(t, l, "dns") + "/"
	e := New(options(l))
	record := func(kind, data string, ttl uint32) uptime.Record {
		return uptime.Record{Type: kind, Data: data, TTL: ttl}
	}
	for name, want := range map[string][]uptime.Record{
		"a-192-0-2-1.a-192-0-2-2.ttl-7.lab.test": {record("A", "192.0.2.2", 7), record("A", "192.0.2.1", 7)},
		"aaaa-2001-db8--1.lab.test?type=AAAA":    {record("AAAA", "2001:db8::1", 60)},
		"cname-2.a-192-0-2-1.lab.test": {
			record("CNAME", "cname-1.a-192-0-2-1.lab.test.", 60), record("CNAME", "a-192-0-2-1.lab.test.", 60), record("A", "192.0.2.1", 60),
		},
		"cname-1.lab.test?type=CNAME":       {record("CNAME", "lab.test.", 60)},
		"lab.test?type=MX":                  {record("MX", "10 lab.test.", 60), record("MX", "20 x-backup.lab.test.", 60)},
		"txt-one.txt-two.lab.test?type=TXT": {record("TXT", "onetwo", 60)},
		"lab.test?type=NS":                  {record("NS", "x-ns1.lab.test.", 60), record("NS", "x-ns2.lab.test.", 60)},
		"lab.test?type=SOA":                 {record("SOA", "x-ns1.lab.test. hostmaster.lab.test. 1 3600 600 86400 60", 60)},
		"lab.test?type=CAA":                 {record("CAA", `0 issue "ca.lab.test"`, 60)},
		"_sip._udp.lab.test?type=SRV":       {record("SRV", "10 5 443 lab.test.", 60)},
	} {
		o := e.Look(t.Context(), dnsCheck(server+name, uptime.Spec{}))
		if o.Evidence == nil || o.Evidence.Rcode != "NOERROR" {
			t.Fatalf("%s: %+v", name, o)
		}
		got := slices.Clone(o.Evidence.Records)
		if strings.HasPrefix(name, "a-192") { // in whichever order
			slices.SortFunc(got, func(a, b uptime.Record) int { return strings.Compare(b.Data, a.Data) })
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	o := e.Look(t.Context(), dnsCheck(server+"many-300.lab.test", wanting("dns A in 198.18.0.0/15")))
	if o.Status != uptime.StatusUp || len(o.Evidence.Records) != maxEvidenceRecords || o.Evidence.Hops[1].Protocol != "TCP" || o.Seen.Protocol != "TCP" {
		t.Errorf("%+v", o)
	}
}

// What a server adds about names that nobody asked for is not believed.
func TestDNSStrangersRecordsAreLeftOut(t *testing.T) {
	t.Parallel()
	m := new(dns.Msg)
	for _, line := range []string{
		"A.test. 60 IN CNAME b.TEST.", "b.test. 60 IN CNAME c.test.", "c.test. 4294967295 IN A 192.0.2.1", "evil.test. 60 IN A 192.0.2.66", "c.test. 60 CH A 192.0.2.67",
		`b.test. 60 IN TXT "say \"hi\" \\ \195\164"`,
	} {
		record, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		m.Answer = append(m.Answer, record)
	}
	var s sighting
	s.sawAnswer(m, dns.Question{Name: "a.test."})
	want := map[string][]string{"CNAME": {"b.TEST.", "c.test."}, "A": {"192.0.2.1"}, "TXT": {`say "hi" \ ä`}}
	if diff := cmp.Diff(want, s.Records); diff != "" {
		t.Error(diff)
	}
	if s.records[2].TTL != 0 {
		t.Errorf("a TTL of %d s", s.records[2].TTL)
	}
}

package checkstream

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func visit(job, region string) Visit {
	return Visit{Job: job, Attempt: 1, Region: region, Kind: uptime.KindHTTP, URL: "https://example.com/a?b=c d", Timeout: 5 * time.Second, Spec: `{"expect":{"status":["204"]}}`}
}

func looked(message string) VisitOutcome {
	return VisitOutcome{Look: uptime.Look{
		Prober: "p1", CheckedAt: time.Unix(1_700_000_000, 0).UTC(), Status: uptime.StatusDown, Failure: uptime.FailureStatusCode, HTTPStatus: 503, Message: message,
		Phases: uptime.Phases{DNS: 1, Connect: 2, TLS: 3, Wait: 4, Transfer: 5}, TotalUS: 15, Address: netip.MustParseAddr("192.0.2.1"),
		Seen: uptime.Seen{Protocol: "HTTP/1.1", Hops: 1}, Evidence: &uptime.Evidence{StatusLine: "HTTP/1.1 503 Service Unavailable", Body: "no"},
	}}
}

// read gives the visits of one read that does not wait.
func read(t *testing.T, c *AdhocConsumer) []VisitEntry {
	t.Helper()
	entries, err := c.Read(t.Context(), 100, 0)
	must(t, err)
	return entries
}

func outcomes(t *testing.T, a *Adhoc, after *string) []VisitOutcome {
	t.Helper()
	var list []VisitOutcome
	for {
		got, next, err := a.Outcomes(t.Context(), *after, time.Millisecond)
		must(t, err)
		if list = append(list, got...); next == *after || next == firstPosition {
			*after = next
			return list
		}
		*after = next
	}
}

func TestVisitComesToItsRegionAndBack(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		a := NewAdhoc(r)
		eu, us := NewAdhocConsumer(r, "eu", "p1"), NewAdhocConsumer(r, "us", "p1")
		if len(read(t, eu)) != 0 || len(read(t, us)) != 0 {
			t.Fatal("visits before anybody asked")
		}
		_, at, err := a.Outcomes(t.Context(), "", 0)
		must(t, err)
		wanted := []Visit{visit("j1", "eu"), visit("j1", "us"), visit("j2", "eu")}
		must(t, a.Add(t.Context(), wanted))
		must(t, a.Add(t.Context(), wanted)) // a repetition
		if n, err := a.Open(t.Context()); err != nil || n != 3 {
			t.Errorf("%d open, %v", n, err)
		}
		got := read(t, eu)
		if len(got) != 2 || len(read(t, eu)) != 0 {
			t.Fatalf("eu reads %+v", got)
		}
		if diff := cmp.Diff([]Visit{wanted[0], wanted[2]}, []Visit{got[0].Visit, got[1].Visit}); diff != "" {
			t.Error(diff)
		}
		if other := read(t, us); len(other) != 1 || other[0].Visit != wanted[1] {
			t.Errorf("us reads %+v", other)
		}
		must(t, eu.Settle(t.Context(), got[0], looked("one")))
		must(t, eu.Settle(t.Context(), got[0], looked("twice")))
		must(t, eu.Drop(t.Context(), got[1]))
		want := looked("one")
		want.Job, want.Region, want.Attempt = "j1", "eu", 1
		told := outcomes(t, a, &at)
		if len(told) != 1 || told[0].Size < 100 || cmp.Diff(want, told[0], cmpopts.IgnoreFields(VisitOutcome{}, "Size"), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })) != "" {
			t.Errorf("told %+v", told)
		}
		if n, err := a.Open(t.Context()); err != nil || n != 1 {
			t.Errorf("%d open, %v", n, err)
		}
		if n, err := r.commands.XLen(t.Context(), eu.stream()).Result(); err != nil || n != 0 {
			t.Errorf("%d entries are left: %v", n, err)
		}
	})
}

func TestFullLaneTakesNothingMore(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		a := NewAdhoc(r)
		if a.most != 1000 {
			t.Errorf("room for %d", a.most)
		}
		a.most = 3
		must(t, a.Add(t.Context(), []Visit{visit("j1", "eu"), visit("j1", "us")}))
		if err := a.Add(t.Context(), []Visit{visit("j2", "eu"), visit("j2", "us")}); !errors.Is(err, ErrLaneFull) {
			t.Fatalf("%v", err)
		}
		eu := NewAdhocConsumer(r, "eu", "p1")
		entries := read(t, eu)
		if len(entries) != 1 {
			t.Fatalf("a refused call added: %+v", entries)
		}
		must(t, a.Add(t.Context(), []Visit{visit("j1", "eu"), visit("j3", "eu")})) // one of them is open already
		must(t, eu.Settle(t.Context(), entries[0], looked("")))
		must(t, a.Add(t.Context(), []Visit{visit("j4", "us")}))
		// What nobody settles makes room once it has expired.
		must(t, r.commands.ZAddXX(t.Context(), keyOpen, zs(1, visit("j3", "eu").name(), visit("j4", "us").name())...).Err())
		must(t, a.Add(t.Context(), []Visit{visit("j5", "eu"), visit("j6", "eu")}))
	})
}

func TestExpiredVisitIsNotBegun(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		a, eu := NewAdhoc(r), NewAdhocConsumer(r, "eu", "p1")
		must(t, eu.ensureGroup(t.Context()))
		past := (redisNow(t, r) - 10) * 1000
		expired := map[string]any{"v": "1", "x": past, "j": "j1", "n": 1, "t": 5000, "k": "http", "u": "https://a/", "s": ""}
		must(t, r.commands.XAdd(t.Context(), xadd(eu.stream(), expired)).Err())
		if got := read(t, eu); len(got) != 0 {
			t.Errorf("handed out %+v", got)
		}
		if n := r.commands.XLen(t.Context(), eu.stream()).Val(); n != 0 {
			t.Errorf("%d are left", n)
		}
		// One that nobody reads is swept with the next call, unless it may be under way.
		expired["x"] = past - (VisitGrace + VisitTTL).Milliseconds()
		must(t, r.commands.XAdd(t.Context(), xadd(eu.stream(), expired)).Err())
		must(t, a.Add(t.Context(), []Visit{visit("j2", "eu")}))
		if n := r.commands.XLen(t.Context(), eu.stream()).Val(); n != 1 {
			t.Errorf("%d are left", n)
		}
		if ttl := r.commands.PTTL(t.Context(), eu.stream()).Val(); ttl <= VisitTTL || ttl > 10*time.Minute {
			t.Errorf("the stream of a region that is asked no more stays for %v", ttl)
		}
	})
}

func TestDeadProbersVisitIsTakenOverOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		a := NewAdhoc(r)
		dead, alive, third := NewAdhocConsumer(r, "eu", "dead"), NewAdhocConsumer(r, "eu", "alive"), NewAdhocConsumer(r, "eu", "third")
		must(t, a.Add(t.Context(), []Visit{visit("j1", "eu"), visit("j2", "eu")}))
		if got := read(t, dead); len(got) != 2 {
			t.Fatalf("%+v", got)
		}
		for _, c := range []*AdhocConsumer{alive, third} {
			c.quiet = 0
		}
		heartbeat(t, NewConsumer(r, "eu", "dead"), Heartbeat{})
		if got, err := alive.Take(t.Context(), 10, false); err != nil || len(got) != 0 {
			t.Fatalf("taken from a prober that lives: %+v %v", got, err)
		}
		staleBeat(t, r, "eu", "dead")
		got, err := alive.Take(t.Context(), 1, false)
		if err != nil || len(got) != 1 || got[0].Visit != visit("j1", "eu") || got[0].Deliveries != 2 {
			t.Fatalf("%+v %v", got, err)
		}
		if again, err := third.Take(t.Context(), 10, false); err != nil || len(again) != 1 || again[0].Job != "j2" {
			t.Errorf("what was taken over once is taken again: %+v %v", again, err)
		}
		// The one that was dead after all is not believed any more than once.
		must(t, dead.Settle(t.Context(), VisitEntry{Visit: visit("j1", "eu"), ID: got[0].ID}, looked("zombie")))
		must(t, alive.Settle(t.Context(), got[0], looked("second")))
		at := firstPosition
		if told := outcomes(t, a, &at); len(told) != 1 || told[0].Message != "zombie" {
			t.Errorf("told %+v", told)
		}
	})
}

func TestStuckAndOwnVisitsAreTaken(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		a, one, two := NewAdhoc(r), NewAdhocConsumer(r, "eu", "p1"), NewAdhocConsumer(r, "eu", "p2")
		if none, err := two.Take(t.Context(), 10, true); err != nil || len(none) != 0 {
			t.Fatalf("without a stream: %v %v", none, err)
		}
		must(t, a.Add(t.Context(), []Visit{visit("j1", "eu"), visit("j2", "eu")}))
		heartbeat(t, NewConsumer(r, "eu", "p1"), Heartbeat{})
		if got, err := one.Read(t.Context(), 1, 0); err != nil || len(got) != 1 {
			t.Fatalf("%v %v", got, err)
		}
		if got, err := one.Take(t.Context(), 10, false); err != nil || len(got) != 0 {
			t.Errorf("taken from itself: %v %v", got, err)
		}
		two.idle = 0
		if got, err := two.Take(t.Context(), 10, false); err != nil || len(got) != 1 || got[0].Job != "j1" {
			t.Errorf("idle for longer than any visit: %v %v", got, err)
		}
		if got, err := one.Read(t.Context(), 1, 0); err != nil || len(got) != 1 {
			t.Fatalf("%v %v", got, err)
		}
		if got, err := NewAdhocConsumer(r, "eu", "p1").Take(t.Context(), 10, true); err != nil || len(got) != 1 || got[0].Job != "j2" {
			t.Errorf("left by an earlier life: %v %v", got, err)
		}
	})
}

func TestOutcomesAreBounded(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		a, c := NewAdhoc(r), NewAdhocConsumer(r, "eu", "p1")
		must(t, r.commands.XAdd(t.Context(), xaddID(keyResults, "1-1", map[string]any{"o": "old"})).Err())
		_, at, err := a.Outcomes(t.Context(), "0-0", time.Millisecond)
		if err != nil || at != "1-1" || a.Skipped() != 1 {
			t.Errorf("at %s, %d skipped, %v", at, a.Skipped(), err)
		}
		for i := range maxOutcomes + 5 {
			must(t, r.commands.XAdd(t.Context(), xadd(keyResults, map[string]any{"o": fmt.Sprint(i)})).Err())
		}
		must(t, a.Add(t.Context(), []Visit{visit("j1", "eu")}))
		must(t, c.Settle(t.Context(), read(t, c)[0], looked("")))
		if n := r.commands.XLen(t.Context(), keyResults).Val(); n != maxOutcomes {
			t.Errorf("%d outcomes are kept", n)
		}
		if first := r.commands.XRangeN(t.Context(), keyResults, "-", "+", 1).Val(); len(first) != 1 || first[0].ID == "1-1" {
			t.Errorf("the oldest is %v", first)
		}
		if told := outcomes(t, a, &at); len(told) != 1 || told[0].Job != "j1" {
			t.Errorf("%+v", told)
		}
		// Redis lost its data: everything that is there from now on is told.
		must(t, r.commands.FlushDB(t.Context()).Err())
		if told := outcomes(t, a, &at); len(told) != 0 || at != firstPosition {
			t.Errorf("%+v at %s", told, at)
		}
	})
}

func TestLaneWithoutRedis(t *testing.T) {
	t.Parallel()
	r := open(t, "redis://127.0.0.1:1/0")
	a, c := NewAdhoc(r), NewAdhocConsumer(r, "eu", "p1")
	if err := a.Add(t.Context(), []Visit{visit("j1", "eu")}); err == nil || errors.Is(err, ErrLaneFull) {
		t.Error(err)
	}
	if _, next, err := a.Outcomes(t.Context(), "5-5", 0); err == nil || next != "5-5" {
		t.Errorf("%s %v", next, err)
	}
	if _, err := c.Read(t.Context(), 1, 0); err == nil {
		t.Error("reads")
	}
	if _, err := c.Take(t.Context(), 1, true); err == nil {
		t.Error("takes")
	}
}

func TestBadVisitsAreNotAsked(t *testing.T) {
	t.Parallel()
	a := NewAdhoc(open(t, testbackend.Redis(t)))
	for name, spoil := range map[string]func(*Visit){
		"no job": func(v *Visit) { v.Job = "" }, "job with a space": func(v *Visit) { v.Job = "a b" }, "no attempt": func(v *Visit) { v.Attempt = 0 },
		"region": func(v *Visit) { v.Region = "EU" }, "no kind": func(v *Visit) { v.Kind = "" }, "no url": func(v *Visit) { v.URL = "" },
		"two lines": func(v *Visit) { v.URL = "http://a/\r\nx" }, "no timeout": func(v *Visit) { v.Timeout = 0 }, "long": func(v *Visit) { v.Timeout = time.Minute },
		"huge": func(v *Visit) { v.Spec = uptime.SpecText(strings.Repeat("x", maxField+1)) },
	} {
		v := visit("j1", "eu")
		spoil(&v)
		if err := a.Add(t.Context(), []Visit{v}); !errors.Is(err, ErrVisit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := a.Open(t.Context()); err != nil || n != 0 {
		t.Errorf("%d %v", n, err)
	}
}

func TestLargeOutcomesLoseTheirEvidence(t *testing.T) {
	t.Parallel()
	o := looked("x")
	o.Job, o.Region, o.Attempt = "j1", "eu", 1
	o.Evidence.Body, o.Evidence.Received = strings.Repeat("\x01", maxOutcome/6), "x"
	text, err := encodeOutcome(o)
	got, decodeErr := DecodeOutcome(text)
	if err != nil || decodeErr != nil || got.Evidence == nil || got.Evidence.Body+got.Evidence.Received != "" || !got.Evidence.BodyCut || !got.Evidence.ReceivedCut || got.Evidence.StatusLine == "" {
		t.Errorf("%.200s %v %v", text, err, decodeErr)
	}
	o.Evidence.Command = strings.Repeat("x", maxOutcome)
	text, err = encodeOutcome(o)
	if got, decodeErr := DecodeOutcome(text); err != nil || decodeErr != nil || got.Evidence != nil || got.Message != "x" {
		t.Errorf("%.200s %v %v", text, err, decodeErr)
	}
	o.Message = strings.Repeat("x", maxOutcome)
	if text, err = encodeOutcome(o); err == nil {
		t.Errorf("%d bytes", len(text))
	}
}

func TestStrangeOutcomesAreErrors(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing": "", "not JSON": "{", "a list": "[]", "no job": `{"region":"eu","attempt":1,"status":"up"}`, "no region": `{"job":"j","attempt":1,"status":"up"}`,
		"no attempt": `{"job":"j","region":"eu","status":"up"}`, "no status": `{"job":"j","region":"eu","attempt":1}`, "strange status": `{"job":"j","region":"eu","attempt":1,"status":"fine"}`,
		"missed": `{"job":"j","region":"eu","attempt":1,"status":"missed","reason":"lost"}`, "unknown without reason": `{"job":"j","region":"eu","attempt":1,"status":"unknown"}`,
		"up with a reason": `{"job":"j","region":"eu","attempt":1,"status":"up","reason":"frozen"}`, "no word": `{"job":"j","region":"eu","attempt":1,"status":"down","failure":"<b>"}`,
		"huge": `{"job":"j","region":"eu","attempt":1,"status":"up","message":"` + strings.Repeat("x", maxOutcome) + `"}`,
	} {
		if o, err := DecodeOutcome(text); err == nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if _, err := DecodeOutcome(`{"job":"j","region":"eu","attempt":1,"status":"up","newer":{"x":1}}`); err != nil {
		t.Error(err)
	}
}

func FuzzDecodeVisit(f *testing.F) {
	f.Add("1", "1700000000000", "j1", "1", "5000", "http", "https://a/", `{}`)
	f.Add("2", "", "", "", "", "", "", "")
	f.Fuzz(func(t *testing.T, version, expiry, job, attempt, timeout, kind, url, spec string) {
		e := decodeVisit("eu", "1-1", 1, map[string]any{"v": version, "x": expiry, "j": job, "n": attempt, "t": timeout, "k": kind, "u": url, "s": spec})
		if e.Err != nil {
			return
		}
		args := e.fields() // what was read can be written, and reads the same again
		fields := map[string]any{"v": version, "x": expiry}
		for i, name := range []string{"j", "n", "t", "k", "u", "s"} {
			fields[name] = fmt.Sprint(args[i+1])
		}
		if back := decodeVisit("eu", "1-1", 1, fields); back != e {
			t.Fatalf("%+v reads %+v", e, back)
		}
	})
}

func FuzzDecodeOutcome(f *testing.F) {
	o := looked("x")
	o.Job, o.Region, o.Attempt = "j1", "eu", 1
	text, _ := encodeOutcome(o)
	f.Add(text)
	f.Add(`{"job":"j","region":"eu","attempt":1,"status":"unknown","reason":"frozen"}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, err := DecodeOutcome(text)
		if err != nil {
			return
		}
		again, err := encodeOutcome(o)
		if err != nil {
			if len(text) > maxOutcome/8 { // control characters grow when they are written again
				return
			}
			t.Fatalf("%q was read but cannot be written: %v", text, err)
		}
		if _, err := DecodeOutcome(again); err != nil {
			t.Fatalf("%q was written as %q: %v", text, again, err)
		}
	})
}

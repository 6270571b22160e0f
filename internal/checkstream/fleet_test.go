package checkstream

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHeartbeatRoundTrip(t *testing.T) {
	t.Parallel()
	slot := time.UnixMilli(1_800_000_000_123).UTC()
	ahead := -1500 * time.Millisecond
	onBoth(t, func(t *testing.T, r *Redis) {
		for name, want := range map[string]Heartbeat{
			"p1": {Version: "1.2", AllowCIDRs: []string{"10.0.0.0/8"}, InFlight: 3, Waiting: 4, Spooled: 5, SpoolFirst: slot, SpoolLast: slot.Add(time.Hour),
				StartedAt: slot, ClickHouse: "down", Breaker: "half_open", LatenessP50MS: 1.5, LatenessP99MS: math.NaN(),
				State: Drained, SpoolBytes: 8192, CanariesAnswered: 2, CanariesAll: 5, ClockOffset: &ahead, LastExit: &LastExit{Cause: "signal", Signal: "KILL", At: slot.Truncate(time.Second)}},
			"p2": {StartedAt: slot, ClickHouse: "ok", Breaker: "closed"},
		} {
			c, _ := consumer(r, "eu", name)
			heartbeat(t, c, want)
			all, err := NewFleet(r).Probers(t.Context())
			must(t, err)
			got := all[len(all)-1]
			for _, beat := range all {
				if beat.Name == name {
					got = beat
				}
			}
			if !got.Live() || time.Since(got.At).Abs() > time.Minute {
				t.Errorf("%+v", got)
			}
			want.Region, want.Name, want.At, want.Age = "eu", name, got.At, got.Age
			if name == "p1" {
				want.LatenessP99MS = 0
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// The server's clock was ahead for a while: a prober that died then is not alive for
// as long as it was ahead.
func TestHeartbeatFromTheFutureIsNoSignOfLife(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	for text, live := range map[string]bool{
		`{"at_ms":1800000000000}`:             true,
		`{"at_ms":1799999996000}`:             true,
		`{"at_ms":1800000001000}`:             true, // the clock is being slowed down
		`{"at_ms":1799999993000}`:             false,
		`{"at_ms":1800003600000}`:             false,
		`{"at_ms":9223372036854775807}`:       false,
		`{"at_ms":-9223372036854775808}`:      false,
		`{"at_ms":1800000000000,"version":7}`: false,
		`?`:                                   false,
		``:                                    false,
	} {
		if beat := decodeBeat("eu/p1", text, now); beat.Live() != live || beat.Region != "eu" || beat.Name != "p1" {
			t.Errorf("%s: %+v", text, beat)
		}
	}
}

func FuzzDecodeHeartbeat(f *testing.F) {
	good, err := Heartbeat{Version: "1", StartedAt: time.UnixMilli(1), SpoolFirst: time.UnixMilli(5), Breaker: "open", State: Draining}.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add("eu/p1", `{"at_ms":1800000000000,`+string(good[1:]))
	f.Add("eu", `{"at_ms":1e99}`)
	f.Add("", "[]")
	now := time.UnixMilli(1_800_000_000_000)
	f.Fuzz(func(t *testing.T, field, text string) {
		beat := decodeBeat(field, text, now)
		if beat.Age < 0 || beat.Live() && now.Sub(beat.At).Abs() >= HeartbeatTTL {
			t.Fatalf("%+v", beat)
		}
		if beat.Region != field && !strings.HasPrefix(field, beat.Region+"/") {
			t.Fatalf("%q became %+v", field, beat)
		}
		if _, err := beat.encode(); err != nil {
			t.Fatal(err)
		}
	})
}

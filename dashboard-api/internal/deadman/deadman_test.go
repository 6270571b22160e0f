package deadman

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/service"
)

// outside is who is called.
type outside struct {
	*httptest.Server
	status int
	heard  []string // path and text
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{status: http.StatusOK}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		o.heard = append(o.heard, r.Method+" "+r.URL.Path+" "+string(text))
		w.WriteHeader(o.status)
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *outside) since(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(o.heard, want) {
		t.Errorf("heard %q, not %q", o.heard, want)
	}
	o.heard = nil
}

type health struct{ level, reason string }

func (h *health) Set(_ string, level service.Level, reason string) {
	h.level, h.reason = map[service.Level]string{service.OK: "ok", service.Degraded: "degraded"}[level], reason
}

// rig is a switch whose fleet is as told.
type rig struct {
	*Switch
	leading bool
	wrong   []string
	health  health
}

func newRig(url, failURL string, transport http.RoundTripper) *rig {
	r := &rig{leading: true}
	r.Switch = New(Options{
		URL: secret.New(url), FailURL: secret.New(failURL), Leading: func() bool { return r.leading }, Wrong: func(context.Context) []string { return r.wrong },
		Health: &r.health, Log: slog.New(slog.DiscardHandler), Transport: transport,
	})
	return r
}

func TestCallsOnlyWhileAllIsWell(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	r := newRig(o.URL+"/well", o.URL+"/wrong", nil)
	r.once(t.Context())
	o.since(t, "POST /well ")

	r.wrong = []string{"nobody publishes", "nobody probes eu"}
	r.once(t.Context())
	o.since(t) // who leads since a moment ago does not know enough
	r.led = time.Now().Add(-grace)
	r.once(t.Context())
	r.once(t.Context()) // as long as it is so
	o.since(t, "POST /wrong nobody publishes\nnobody probes eu", "POST /wrong nobody publishes\nnobody probes eu")

	r.leading = false
	r.once(t.Context())
	r.wrong = nil
	r.once(t.Context())
	o.since(t)

	r.leading = true
	r.once(t.Context())
	o.since(t, "POST /well ")
}

// Without a second URL silence is all there is to say.
func TestSilenceIsTheAlarm(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	r := newRig(o.URL+"/well", "", nil)
	r.wrong, r.led = []string{"nobody publishes"}, time.Now().Add(-grace)
	r.once(t.Context())
	o.since(t)
}

func TestTroubleOnTheWayIsTold(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	r := newRig(o.URL+"/token-4711", "", nil)
	o.status = http.StatusTeapot
	r.once(t.Context())
	if r.health.level != "degraded" || !strings.Contains(r.health.reason, "418") {
		t.Errorf("health is %+v", r.health)
	}
	o.status = http.StatusNoContent
	r.once(t.Context())
	if r.health != (health{level: "ok"}) {
		t.Errorf("health is %+v", r.health)
	}
	o.Close()
	r.once(t.Context())
	if r.health.level != "degraded" || strings.Contains(r.health.reason, "4711") {
		t.Errorf("health is %+v", r.health)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Somebody who waits for two calls rings within a minute of the last good look.
func TestCallsComeRegularly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls []time.Duration
		began := time.Now()
		r := newRig("http://outside.example/", "", transport(func(*http.Request) (*http.Response, error) {
			calls = append(calls, time.Since(began))
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		}))
		ctx, stop := context.WithTimeout(t.Context(), 3*Every+time.Second)
		defer stop()
		_ = r.Run(ctx)
		if want := []time.Duration{0, Every, 2 * Every, 3 * Every}; !slices.Equal(calls, want) {
			t.Errorf("called after %v, not %v", calls, want)
		}
	})
}

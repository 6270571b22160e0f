package probe

import (
	"strings"
	"sync"
	"testing"

	"github.com/probefleet/probefleet/internal/uptime"
)

// A plan is used by many visits at once: nothing in it is theirs alone.
func TestVisitsOfOneTargetAtOnce(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for _, check := range []uptime.Check{
		dnsCheck("dns://"+labAt(t, l, "dns")+"/a-192-0-2-1.lab.test", uptime.Spec{}),
		dnsCheck("dns://"+labAt(t, l, "dns")+"/truncated.a-192-0-2-1.lab.test", uptime.Spec{}),
		dnsCheck("dns://"+labAt(t, l, "h2")+"/a-192-0-2-1.lab.test", over(uptime.DNSOverHTTPS)),
		grpcCheck("grpcs://"+labAt(t, l, "h2")+"/serving", uptime.Spec{}),
		wsCheck("ws"+strings.TrimPrefix(l.URL(), "http")+"/ws/echo", saying("hi", "received - equals hi")),
	} {
		e := New(options(l))
		var visits sync.WaitGroup
		for range 10 {
			visits.Go(func() {
				for range 5 {
					if o := e.Look(t.Context(), check); o.Status != uptime.StatusUp {
						t.Errorf("%s: %+v", check.URL, o)
					}
				}
			})
		}
		visits.Wait()
	}
}

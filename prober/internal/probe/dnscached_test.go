package probe

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/probefleet/probefleet/prober/internal/resolve"
)

// slowNames takes its time for every name, and has kept the answers for some.
type slowNames struct {
	names
	kept map[string]bool
}

func (n slowNames) Lookup(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error) {
	for begin := time.Now(); time.Since(begin) < time.Millisecond; { // busy, so that it is measured
	}
	answer, err := n.names.Lookup(ctx, host, family)
	answer.Cached = n.kept[host]
	return answer, err
}

// A name whose answer was kept took no time, and the result says why; one name that was asked for is enough to say
// that the time is a resolver's.
func TestKeptNamesTakeNoTime(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	mux.Handle("/to-kept", http.RedirectHandler("http://kept.test:"+port+"/", http.StatusFound))
	mux.Handle("/to-asked", http.RedirectHandler("http://asked.test:"+port+"/", http.StatusFound))
	known := names{"kept.test": {"127.0.0.1"}, "asked.test": {"127.0.0.1"}}
	e := New(options(nil, func(o *Options) { o.Resolver = slowNames{known, map[string]bool{"kept.test": true}} }))
	for _, c := range []struct {
		url    string
		hops   []bool // whether the name of each was kept
		cached bool
	}{
		{"http://kept.test:" + port + "/", []bool{true}, true},
		{"http://asked.test:" + port + "/", []bool{false}, false},
		{"http://kept.test:" + port + "/to-kept", []bool{true, true}, true},
		{"http://kept.test:" + port + "/to-asked", []bool{true, false}, false},
		{"http://asked.test:" + port + "/to-kept", []bool{false, true}, false},
		{"http://127.0.0.1:" + port + "/", []bool{false}, false}, // nobody was asked
		{"http://127.0.0.1:" + port + "/to-kept", []bool{false, true}, true},
	} {
		o := e.Look(t.Context(), checkOf(c.url))
		verify(t, o, nil, http.StatusOK)
		var sum uint32
		for i, hop := range o.Evidence.Hops {
			sum += hop.Phases.DNS
			if hop.DNSCached != c.hops[i] || hop.DNSCached && hop.Phases.DNS != 0 {
				t.Errorf("%s: hop %d: %+v", c.url, i, hop)
			}
		}
		if o.Seen.DNSCached != c.cached || o.Phases.DNS != sum || len(o.Evidence.Hops) != len(c.hops) {
			t.Errorf("%s: cached %v, %d µs, %d hops", c.url, o.Seen.DNSCached, o.Phases.DNS, len(o.Evidence.Hops))
		}
	}
}

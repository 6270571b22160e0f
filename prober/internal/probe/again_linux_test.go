package probe

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

// turning are names whose answer depends on how they are asked.
type turning struct{ kept, anew, elsewhere names }

func (n turning) Lookup(ctx context.Context, host string, f resolve.Family) (resolve.Answer, error) {
	return n.kept.Lookup(ctx, host, f)
}

func (n turning) LookupAnew(ctx context.Context, host string, f resolve.Family) (resolve.Answer, error) {
	return n.anew.Lookup(ctx, host, f)
}

func (n turning) LookupElsewhere(ctx context.Context, host string, f resolve.Family) (resolve.Answer, error) {
	return n.elsewhere.Lookup(ctx, host, f)
}

// The second look keeps away from what the first one failed by: it asks for the address again, a
// name that was not found at another server, and begins with another address. (Only Linux has all
// of 127.0.0.0/8.)
func TestSecondLookGoesAnotherWay(t *testing.T) {
	t.Parallel()
	bad, err := net.Listen("tcp", "127.0.0.3:0")
	if err != nil {
		t.Fatal(err)
	}
	port := bad.Addr().(*net.TCPAddr).Port
	good, err := net.Listen("tcp", fmt.Sprint("127.0.0.4:", port))
	if err != nil {
		t.Fatal(err)
	}
	serve := func(l net.Listener, status int) {
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "hello")
		})}
		go func() { _ = server.Serve(l) }()
		t.Cleanup(func() { _ = server.Close() })
	}
	serve(bad, http.StatusServiceUnavailable)
	serve(good, http.StatusOK)
	nothing, only, both := names{}, names{"a.test": {"127.0.0.3"}}, names{"a.test": {"127.0.0.3", "127.0.0.4"}}
	moved := names{"a.test": {"127.0.0.4"}}
	for name, c := range map[string]struct {
		names turning
		want  uptime.Status
		first string // what the first look ended in
	}{
		"there is no other way":                {turning{only, only, nothing}, uptime.StatusDown, ""},
		"another address":                      {turning{both, both, nothing}, uptime.StatusUp, "status_code"},
		"the name has moved":                   {turning{only, moved, nothing}, uptime.StatusUp, "status_code"},
		"another server knows the name":        {turning{nothing, nothing, moved}, uptime.StatusUp, "dns"},
		"no server knows the name":             {turning{nothing, moved, nothing}, uptime.StatusDown, ""},
		"another address, where both are down": {turning{both, only, nothing}, uptime.StatusDown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(nil)
			o.Guard, o.Resolver = guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}), c.names
			got := checked(t.Context(), New(o), checkOf(fmt.Sprint("http://a.test:", port, "/")))
			if got.Status != c.want || got.Attempts != 2 || c.first != "" && !strings.HasSuffix(got.Message, c.first) {
				t.Errorf("%v after %d attempts: %s", got.Status, got.Attempts, got.Message)
			}
		})
	}
}

func TestFailedAddressComesLast(t *testing.T) {
	t.Parallel()
	var all []netip.Addr
	for _, text := range []string{"2001:db8::1", "2001:db8::2", "192.0.2.1", "192.0.2.2"} {
		all = append(all, netip.MustParseAddr(text))
	}
	for failed, want := range map[string]string{
		"2001:db8::1": "[192.0.2.1 192.0.2.2 2001:db8::2 2001:db8::1]",
		"192.0.2.2":   "[2001:db8::1 2001:db8::2 192.0.2.1 192.0.2.2]",
		"192.0.2.9":   "[2001:db8::1 2001:db8::2 192.0.2.1 192.0.2.2]",
	} {
		if got := fmt.Sprint(lastly(all, netip.MustParseAddr(failed))); got != want {
			t.Errorf("%s failed: %s", failed, got)
		}
	}
	if all[0].String() != "2001:db8::1" {
		t.Error("the resolver's own answer was turned")
	}
}

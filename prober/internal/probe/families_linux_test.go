package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"testing"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

// bothFamilies resolves every name to this machine, in the family that is asked for.
type bothFamilies struct{ names }

func (bothFamilies) Lookup(_ context.Context, _ string, family resolve.Family) (resolve.Answer, error) {
	six, four := netip.IPv6Loopback(), netip.MustParseAddr("127.0.0.9")
	return resolve.Answer{Addrs: map[resolve.Family][]netip.Addr{resolve.V4: {four}, resolve.V6: {six}, resolve.Both: {six, four}}[family]}, nil
}

// A target's family is what its name is resolved to and visited at, whatever the method. (Only Linux has
// all of 127.0.0.0/8, where nobody else takes the port.)
func TestFamiliesAndMethods(t *testing.T) {
	t.Parallel()
	six, err := net.Listen("tcp", "[::1]:0")
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
		t.Skip("this machine has no IPv6: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	port := six.Addr().(*net.TCPAddr).Port
	four, err := net.Listen("tcp", fmt.Sprint("127.0.0.9:", port))
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.Context().Value(http.LocalAddrContextKey).(net.Addr).String())
		asked <- r.Method + " " + host
	})}
	t.Cleanup(func() { _ = server.Close() })
	for _, l := range []net.Listener{six, four} {
		go func() { _ = server.Serve(l) }()
	}
	e := New(options(nil, func(o *Options) {
		o.Guard = guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.9/32"), netip.MustParsePrefix("::1/128")})
		o.Resolver = bothFamilies{}
	}))
	at := map[uptime.Family]string{uptime.FamilyAny: "::1", uptime.FamilyV4: "127.0.0.9", uptime.FamilyV6: "::1"}
	for family, want := range at {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"} {
			check := checkOf(fmt.Sprintf("http://both.test:%d/", port))
			check.Spec = uptime.Spec{Family: family, HTTP: &uptime.HTTPSpec{Method: method}}.Text()
			o := e.Look(t.Context(), check)
			verify(t, o, nil, http.StatusOK)
			if got := <-asked; got != method+" "+want || o.Address.String() != want {
				t.Errorf("family %q: %s, at %v", family, got, o.Address)
			}
		}
	}
	literal := checkOf(fmt.Sprintf("http://[::1]:%d/", port))
	o := e.Look(t.Context(), literal)
	if verify(t, o, nil, http.StatusOK); <-asked != "GET ::1" || o.Address != netip.IPv6Loopback() {
		t.Errorf("at %v", o.Address)
	}
}

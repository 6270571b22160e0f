package probe

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/uptime"
)

// TestPingLoopback sends real packets, in whichever ways this process may.
func TestPingLoopback(t *testing.T) {
	t.Parallel()
	e := New(options(nil, loopback))
	for _, url := range []string{"icmp://127.0.0.1", "icmp://[::1]"} {
		pingLoopback(t, e, url, mayPing(t, url))
	}
}

func loopback(o *Options) {
	o.Guard = guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("::1/128")})
}

// mayPing is nil if this process, as it is now, may send echo requests.
func mayPing(tb testing.TB, url string) error {
	tb.Helper()
	addr := netip.MustParseAddr(strings.Trim(strings.TrimPrefix(url, "icmp://"), "[]"))
	conn, err := openEcho(addr)
	if err == nil {
		tb.Logf("%s by %T", url, conn)
		_ = conn.Close()
	}
	return err
}

func pingLoopback(t *testing.T, e *Engine, url string, may error) {
	t.Helper()
	check := checkAt(url, uptime.Spec{})
	var o Outcome
	e.visit(t.Context(), &check, e.freeze.mark(), true, &o) // on this thread
	switch {
	case may == nil:
		if verify(t, o, nil, 0); o.Phases.Wait == 0 || o.Phases.Connect != 0 || o.Evidence.Hops[0].Address != o.Address {
			t.Errorf("%s: %+v", url, o)
		}
	case errors.Is(may, errNoPing):
		if verify(t, o, uptime.ReasonInternal, 0); !strings.Contains(o.Message, "ping_group_range") {
			t.Errorf("%s: %q", url, o.Message)
		}
	default: // there is no such family here
		verify(t, o, uptime.ReasonProbeBlind, 0)
	}
}

// TestPingByLeave takes the ways to send echo requests away one by one, from one thread
// alone: in a network of its own, whose sysctl it may write, and without the capability.
func TestPingByLeave(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	var refusal error
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with what was done to it
		if refusal = unix.Unshare(unix.CLONE_NEWNET); refusal != nil {
			return
		}
		if err := loopbackUp(); err != nil {
			t.Error(err)
			return
		}
		e := New(options(nil, loopback))
		pingAs(t, e, fmt.Sprintf("%T", &rawSocket{}))
		pingGroups(t, fmt.Sprint(os.Getgid(), " ", os.Getgid()))
		pingAs(t, e, fmt.Sprintf("%T", &pingSocket{}))
		pingGroups(t, "1 0") // nobody
		if err := withoutRaw(); err != nil {
			t.Error(err)
			return
		}
		pingAs(t, e, "")
	}()
	<-done
	switch {
	case errors.Is(refusal, unix.EPERM):
		t.Skip("this process may have no network of its own: ", refusal)
	case refusal != nil:
		t.Error("a network of its own: ", refusal)
	}
}

// pingAs pings by a socket of that type; by none, it must be told why.
func pingAs(t *testing.T, e *Engine, want string) {
	t.Helper()
	for _, addr := range []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")} {
		conn, err := openEcho(addr)
		if got := fmt.Sprintf("%T", conn); err == nil && got != want || err != nil && (want != "" || !errors.Is(err, errNoPing)) {
			t.Errorf("%v: %s, %v; want %q", addr, got, err, want)
		}
		if err == nil {
			_ = conn.Close()
		}
		pingLoopback(t, e, shownEndpoint("icmp", endpoint{host: addr.String()}), err)
	}
}

func pingGroups(t *testing.T, groups string) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte(groups), 0); err != nil {
		t.Error(err)
	}
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	flags, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	flags.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, flags)
}

// withoutRaw gives the thread's CAP_NET_RAW up.
func withoutRaw() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return err
	}
	sets[0].Effective &^= 1 << unix.CAP_NET_RAW
	sets[0].Permitted &^= 1 << unix.CAP_NET_RAW
	return unix.Capset(&header, &sets[0])
}

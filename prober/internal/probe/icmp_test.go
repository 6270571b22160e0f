package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/uptime"
)

// host answers echo requests as it is told to, over a pipe: each write is a packet.
type host struct {
	mu     sync.Mutex
	asked  []netip.Addr
	open   error
	broken error // of every request
	answer func(n int, request []byte) [][]byte
	after  time.Duration
}

func (h *host) connect(to netip.Addr) (echoConn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, to)
	if h.open != nil {
		return nil, h.open
	}
	ours, theirs := net.Pipe()
	requests := make(chan []byte, maxEchoes)
	go func() {
		defer close(requests)
		for {
			in := make([]byte, 512)
			n, err := theirs.Read(in)
			if err != nil {
				return
			}
			requests <- in[:n]
		}
	}()
	go func() {
		defer theirs.Close()
		n := 0
		for request := range requests {
			n++
			if h.answer == nil {
				continue
			}
			for _, packet := range h.answer(n, request) {
				time.Sleep(h.after) // in a bubble
				if _, err := theirs.Write(packet); err != nil {
					return
				}
			}
		}
	}()
	return &lossyEcho{ours, h.broken}, nil
}

// lossyEcho fails to send.
type lossyEcho struct {
	net.Conn
	err error
}

func (l *lossyEcho) Write(p []byte) (int, error) {
	if l.err != nil {
		return 0, &net.OpError{Op: "write", Err: l.err}
	}
	return l.Conn.Write(p)
}

// replyTo is a right answer, changed.
func replyTo(tb testing.TB, request []byte, change func(*icmp.Message, *icmp.Echo)) []byte {
	tb.Helper()
	protocol := protocolICMP
	if request[0] == byte(ipv6.ICMPTypeEchoRequest) {
		protocol = protocolICMPv6
	}
	message, err := icmp.ParseMessage(protocol, request)
	if err != nil {
		tb.Fatal(err)
	}
	message.Type = ipv4.ICMPTypeEchoReply
	if protocol == protocolICMPv6 {
		message.Type = ipv6.ICMPTypeEchoReply
	}
	if change != nil {
		change(message, message.Body.(*icmp.Echo))
	}
	raw, err := message.Marshal(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// pinging is an engine whose echo requests reach a host made by hand.
func pinging(h *host, change ...func(*Options)) *Engine {
	o := options(nil, append([]func(*Options){func(o *Options) {
		o.Guard = guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("fd00::1/128")})
		o.Resolver = names{"both.test": {"127.0.0.2", "127.0.0.1"}, "inside.test": {"127.0.0.2"}, "six.test": {"fd00::1", "127.0.0.1"}}
	}}, change...)...)
	return newEngine(o, map[uptime.Kind]compiler{uptime.KindICMP: (&pings{dialer: newDialer(o), guard: o.Guard, open: h.connect}).compile})
}

func TestPingGolden(t *testing.T) {
	t.Parallel()
	right := func(_ int, request []byte) [][]byte { return [][]byte{replyTo(t, request, nil)} }
	only := func(which int) func(int, []byte) [][]byte {
		return func(n int, request []byte) [][]byte {
			if n != which {
				return nil
			}
			return right(n, request)
		}
	}
	wrong := func(change func(*icmp.Message, *icmp.Echo)) func(int, []byte) [][]byte {
		return func(_ int, request []byte) [][]byte { return [][]byte{replyTo(t, request, change)} }
	}
	const silent = "no answer to any echo request within the timeout"
	cases := []struct {
		name, url string
		host      host
		want      any
		message   string
		wait      time.Duration
		took      time.Duration
		asked     string
	}{
		{"answers", "icmp://127.0.0.1", host{answer: right, after: 30 * time.Millisecond}, nil, "", 30 * time.Millisecond, 30 * time.Millisecond, "127.0.0.1"},
		{"answers over IPv6", "icmp://[fd00::1]", host{answer: right, after: 30 * time.Millisecond}, nil, "", 30 * time.Millisecond, 30 * time.Millisecond, "fd00::1"},
		{"the second is answered", "icmp://127.0.0.1", host{answer: only(2), after: 30 * time.Millisecond}, nil, "", 30 * time.Millisecond, 1030 * time.Millisecond, "127.0.0.1"},
		{"the third is answered", "icmp://127.0.0.1", host{answer: only(3), after: 30 * time.Millisecond}, nil, "", 30 * time.Millisecond, 2030 * time.Millisecond, "127.0.0.1"},
		{"answers late", "icmp://127.0.0.1", host{answer: only(1), after: 3500 * time.Millisecond}, nil, "", 3500 * time.Millisecond, 3500 * time.Millisecond, "127.0.0.1"},
		{"silent", "icmp://127.0.0.1", host{}, uptime.FailureTimeout, silent, 0, 4 * time.Second, "127.0.0.1"},
		{"answers too late", "icmp://127.0.0.1", host{answer: right, after: 5 * time.Second}, uptime.FailureTimeout, silent, 0, 4 * time.Second, "127.0.0.1"},
		{"answers another token", "icmp://127.0.0.1", host{answer: wrong(func(_ *icmp.Message, e *icmp.Echo) { e.Data[3]++ })}, uptime.FailureTimeout, silent, 0, 4 * time.Second, "127.0.0.1"},
		{"answers with less", "icmp://127.0.0.1", host{answer: wrong(func(_ *icmp.Message, e *icmp.Echo) { e.Data = e.Data[1:] })}, uptime.FailureTimeout, silent, 0, 4 * time.Second, "127.0.0.1"},
		{"answers what was not sent", "icmp://127.0.0.1", host{answer: wrong(func(_ *icmp.Message, e *icmp.Echo) { e.Seq += 2 })}, uptime.FailureTimeout, silent, 0, 4 * time.Second, "127.0.0.1"},
		{"asks back", "icmp://127.0.0.1", host{answer: wrong(func(m *icmp.Message, _ *icmp.Echo) { m.Type = ipv4.ICMPTypeEcho })}, uptime.FailureTimeout, silent, 0, 4 * time.Second, "127.0.0.1"},
		{"answers garbage first", "icmp://127.0.0.1", host{answer: func(_ int, request []byte) [][]byte {
			return [][]byte{{1}, make([]byte, 300), {0, 0, 0, 0}, {3, 1, 0, 0, 0, 0, 0, 0}, replyTo(t, request, nil)}
		}}, nil, "", 0, 0, "127.0.0.1"},
		{"second address is public", "icmp://both.test", host{answer: right}, nil, "", 0, 0, "127.0.0.1"},
		{"blocked", "icmp://127.0.0.2", host{answer: right}, uptime.ReasonBlockedAddress, "not public", 0, 0, ""},
		{"blocked name", "icmp://inside.test", host{answer: right}, uptime.ReasonBlockedAddress, "not public", 0, 0, ""},
		{"metadata", "icmp://169.254.169.254", host{answer: right}, uptime.ReasonBlockedAddress, "not public", 0, 0, ""},
		{"mapped", "icmp://[::ffff:127.0.0.1]", host{answer: right}, nil, "", 0, 0, "127.0.0.1"},
		{"no such name", "icmp://gone.test", host{}, uptime.FailureDNS, "no such", 0, 0, ""},
		{"may not", "icmp://127.0.0.1", host{open: errNoPing}, uptime.ReasonInternal, "net.ipv4.ping_group_range, or give it the capability CAP_NET_RAW", 0, 0, "127.0.0.1"},
		{"no such family", "icmp://six.test", host{open: syscall.EAFNOSUPPORT}, uptime.ReasonProbeBlind, "no route", 0, 0, "fd00::1 127.0.0.1"},
		{"no route out", "icmp://127.0.0.1", host{broken: syscall.ENETUNREACH}, uptime.ReasonProbeBlind, "no route", 0, 0, "127.0.0.1"},
		{"no such host", "icmp://127.0.0.1", host{broken: syscall.EHOSTUNREACH}, uptime.FailureConnectTimeout, "no route to the host", 0, 0, "127.0.0.1"},
		{"firewall", "icmp://127.0.0.1", host{broken: syscall.EPERM}, uptime.ReasonInternal, "firewall", 0, 0, "127.0.0.1"},
		{"no room", "icmp://127.0.0.1", host{broken: syscall.ENOBUFS}, uptime.ReasonInternal, "no buffer space", 0, 4 * time.Second, "127.0.0.1"},
		{"out of descriptors", "icmp://127.0.0.1", host{open: syscall.EMFILE}, uptime.ReasonInternal, "too many open files", 0, 0, "127.0.0.1"},
		{"port", "icmp://127.0.0.1:7", host{}, uptime.ReasonInternal, "has a port", 0, 0, ""},
		{"empty port", "icmp://127.0.0.1:", host{}, uptime.ReasonInternal, "has a port", 0, 0, ""},
		{"no host", "icmp://", host{}, uptime.ReasonInternal, "host", 0, 0, ""},
	}
	for i := range cases {
		c := &cases[i]
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				check := checkAt(c.url, uptime.Spec{})
				check.Timeout = 4 * time.Second
				begin := time.Now()
				o := pinging(&c.host).Look(t.Context(), check)
				took := time.Since(begin)
				time.Sleep(10 * time.Second) // in a bubble: until the host is done
				if verifyPing(t, o, c.want); took != c.took || !strings.Contains(o.Message, c.message) {
					t.Errorf("%v, message %q", took, o.Message)
				}
				if c.want == nil && time.Duration(o.Phases.Wait)*time.Microsecond != c.wait {
					t.Errorf("phases %+v", o.Phases)
				}
				var asked []string
				for _, addr := range c.host.asked {
					asked = append(asked, addr.String())
				}
				if got := strings.Join(asked, " "); got != c.asked {
					t.Errorf("asked %q", got)
				}
			})
		})
	}
}

// verifyPing is verify for visits that take no time in a bubble.
func verifyPing(t *testing.T, o Outcome, want any) {
	t.Helper()
	switch w := want.(type) {
	case uptime.Failure:
		if o.Status != uptime.StatusDown || o.Failure != w {
			t.Errorf("%+v", o)
		}
	case uptime.Reason:
		if o.Status != uptime.StatusUnknown || o.Reason != w || o.Address.IsValid() || o.TotalUS != 0 {
			t.Errorf("%+v", o)
		}
	default:
		if o.Status != uptime.StatusUp || !o.Address.IsValid() || len(o.Evidence.Hops) != 1 || o.Evidence.Hops[0].Address != o.Address {
			t.Errorf("%+v", o)
		}
	}
}

func TestPingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		check := checkAt("icmp://127.0.0.1", uptime.Spec{})
		check.Timeout = 30 * time.Second
		begin := time.Now()
		time.AfterFunc(1500*time.Millisecond, cancel)
		pinging(&host{}).Look(ctx, check)
		if took := time.Since(begin); took != 1500*time.Millisecond {
			t.Errorf("ended after %v", took)
		}
	})
}

// refusing fails to read, as when a router says that a host is not there.
type refusing struct{ *lossyEcho }

func (refusing) Read([]byte) (int, error) {
	return 0, &net.OpError{Op: "read", Err: syscall.EHOSTUNREACH}
}

func TestPingHearsThatAHostIsNotThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		conn, _ := h.connect(netip.Addr{})
		defer conn.Close()
		begin := time.Now()
		e := &echo{conn: refusing{conn.(*lossyEcho)}, wait: time.Second, deadline: begin.Add(4 * time.Second)}
		if _, err := e.run(t.Context()); !errors.Is(err, syscall.EHOSTUNREACH) || time.Since(begin) != 4*time.Second || e.sent[2].Sub(begin) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

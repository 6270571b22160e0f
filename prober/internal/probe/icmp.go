package probe

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"net/netip"
	"syscall"
	"time"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	maxEchoes = 3 // requests of a visit, until one is answered
	maxTry    = time.Second
)

// pings are the icmp targets. It asks with golang.org/x/net/icmp: pro-bing polls its
// socket, so that a visit ends up to 100 ms late, and takes three goroutines for an echo.
type pings struct {
	dialer *dialer
	guard  *guard.Guard
	open   func(netip.Addr) (echoConn, error)
}

// echoConn is a socket for the echoes of one address. A write is a message, and so is a read.
type echoConn interface {
	Read(p []byte) (int, error)
	Write(p []byte) (int, error)
	SetReadDeadline(t time.Time) error
	Close() error
}

// pingVisitor sends an echo request to a host, and two more if it is not answered within a
// second, or a third of the timeout: packets get lost. The first address that the guard
// lets pass and that there is a route to is the one. The phase wait is the round trip of
// the request that was answered.
type pingVisitor struct {
	*pings
	to    endpoint
	shown string
}

func (p *pings) compile(b blueprint) (visitor, error) {
	to, err := parseEndpoint(b, "icmp", portNone)
	if err != nil {
		return nil, err
	}
	if err := refuseOthers(b.spec); err != nil {
		return nil, err
	}
	return &pingVisitor{pings: p, to: to, shown: shownEndpoint("icmp", to)}, nil
}

// visit implements visitor.
func (v *pingVisitor) visit(ctx context.Context, s *sighting) trouble {
	hop := s.hop(v.shown)
	addrs, bad := v.dialer.lookup(ctx, v.to, s, hop)
	if !bad.none() {
		return bad
	}
	bad = unknown(uptime.ReasonBlockedAddress, guard.ErrBlocked.Error())
	for _, addr := range addrs {
		addr = addr.Unmap()
		if !v.guard.Allows(addr) {
			continue
		}
		hop.Address, s.Address = addr, addr
		if bad = v.ping(ctx, addr, s, hop); bad.reason != uptime.ReasonProbeBlind {
			return bad
		}
	}
	return bad
}

// ping asks one address.
func (v *pingVisitor) ping(ctx context.Context, addr netip.Addr, s *sighting, hop *uptime.Hop) trouble {
	conn, err := v.open(addr)
	if err != nil {
		return pingTrouble(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()
	e := &echo{conn: conn, v6: addr.Is6(), deadline: s.deadline}
	e.wait = min(maxTry, time.Until(s.deadline)/maxEchoes)
	if _, err := rand.Read(e.token[:]); err != nil {
		return unknown(uptime.ReasonInternal, err.Error())
	}
	begin := time.Now()
	trip, err := e.run(ctx)
	if err == nil {
		hop.Phases.Wait = micros(trip)
		return trouble{}
	}
	lap(&hop.Phases.Wait, &begin)
	return pingTrouble(err)
}

// errSilent is the end of an echo that nobody answered.
var errSilent = errors.New("no answer to any echo request within the timeout")

// pingTrouble reads why there was no answer.
func pingTrouble(err error) trouble {
	switch {
	case errors.Is(err, errNoPing):
		return unknown(uptime.ReasonInternal, err.Error())
	case errors.Is(err, errSilent):
		return failed(uptime.FailureTimeout, errSilent.Error())
	case errors.Is(err, syscall.EAFNOSUPPORT), errors.Is(err, syscall.EADDRNOTAVAIL):
		return unknown(uptime.ReasonProbeBlind, "the prober has no route to the target's network")
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return unknown(uptime.ReasonInternal, "the prober's firewall does not let echo requests out")
	}
	return dialTrouble(err)
}

// command implements visitor.
func (v *pingVisitor) command() string {
	return fmt.Sprintf("ping -c %d%s %s", maxEchoes, familyFlag(v.to.family), quoted(v.to.host))
}

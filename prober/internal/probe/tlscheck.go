package probe

import (
	"context"
	"crypto/tls"
	"time"
)

// tlsVisitor connects and makes a TLS handshake, whose outcome is all it is about.
type tlsVisitor struct {
	dialer *dialer
	to     endpoint
	shown  string
	config *tls.Config
	line   string
}

func (d *dialer) compileTLS(b blueprint) (visitor, error) {
	to, err := parseEndpoint(b, "tls", 443)
	if err != nil {
		return nil, err
	}
	others := b.spec
	others.TLS = nil
	if err := refuseOthers(others); err != nil {
		return nil, err
	}
	return &tlsVisitor{
		dialer: d, to: to, shown: shownEndpoint("tls", to), config: d.tlsOf(b.spec.TLS, to.host), line: handshakeCommand(to, b.spec.TLS, ""),
	}, nil
}

// visit implements visitor.
func (v *tlsVisitor) visit(ctx context.Context, s *sighting) trouble {
	hop := s.hop(v.shown)
	conn, release, bad := v.dialer.dial(ctx, v.to, s, hop)
	if !bad.none() {
		return bad
	}
	defer conn.Close()
	defer release()
	mark := time.Now()
	_, bad = handshake(conn, v.config, s)
	lap(&hop.Phases.TLS, &mark)
	return bad
}

// command implements visitor.
func (v *tlsVisitor) command() string { return v.line }

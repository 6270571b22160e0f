package probe

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/probefleet/probefleet/internal/assertion"
	"github.com/probefleet/probefleet/internal/uptime"
)

// tcpVisitor connects to a port, and talks if there is something to say or to judge: it
// upgrades to TLS, sends, and listens until what comes decides the assertions on it. What
// is sent without an assertion on the answer wants any answer at all.
//
// The phase wait ends with the first byte of the server, transfer with the last that was
// needed; after an upgrade both go on. What was received is what came after the upgrade, or,
// when it failed, before.
type tcpVisitor struct {
	dialer  *dialer
	to      endpoint
	shown   string
	send    []byte
	upgrade uptime.StartTLS
	config  *tls.Config // of the upgrade
	asserts *assertion.Set
	listens bool
	line    string
}

func (d *dialer) compileTCP(b blueprint) (visitor, error) {
	to, err := parseEndpoint(b, "tcp", portNamed)
	if err != nil {
		return nil, err
	}
	spec := uptime.TCPSpec{}
	if b.spec.TCP != nil {
		spec = *b.spec.TCP
	}
	others := b.spec
	if others.TCP = nil; spec.StartTLS != uptime.StartTLSNone {
		others.TLS = nil
	}
	if err := refuseOthers(others); err != nil {
		return nil, err
	}
	send, err := b.secrets.open(spec.SendSecret, spec.Send)
	if err != nil {
		return nil, err
	}
	if spec.SendSecret != "" {
		b.secrets.noteWords(send)
	}
	v := &tcpVisitor{
		dialer: d, to: to, shown: shownEndpoint("tcp", to), send: []byte(send), upgrade: spec.StartTLS, asserts: b.asserts,
		listens: send != "" || b.asserts.JudgesReceived(), line: tcpCommand(to, spec, b.spec.TLS),
	}
	switch spec.StartTLS {
	case uptime.StartTLSNone:
	case uptime.StartTLSSMTP, uptime.StartTLSIMAP, uptime.StartTLSFTP:
		v.config = d.tlsOf(b.spec.TLS, to.host)
	default:
		return nil, fmt.Errorf("it knows no STARTTLS of %.20q", spec.StartTLS)
	}
	return v, nil
}

// visit implements visitor.
func (v *tcpVisitor) visit(ctx context.Context, s *sighting) trouble {
	hop := s.hop(v.shown)
	plain, release, bad := v.dialer.dial(ctx, v.to, s, hop)
	if !bad.none() {
		return bad
	}
	defer plain.Close()
	defer release()
	mark := time.Now()
	var conn net.Conn = plain
	if v.upgrade != uptime.StartTLSNone {
		secure, bad := v.secure(plain, s, hop, &mark)
		if !bad.none() {
			return bad
		}
		conn = secure
	}
	if !v.listens {
		return trouble{}
	}
	if len(v.send) > 0 {
		if _, err := conn.Write(v.send); err != nil && !isReset(err) { // a server may answer before it has read all, and close
			return answerTrouble(err, "sending")
		}
	}
	l := &listener{tcpVisitor: v, conn: conn, s: s, hop: hop, mark: &mark}
	return l.listen(ctx)
}

// secure makes the upgrade to TLS.
func (v *tcpVisitor) secure(plain net.Conn, s *sighting, hop *uptime.Hop, mark *time.Time) (*tls.Conn, trouble) {
	talk := &clearTalk{conn: plain, text: s.body[:0], secrets: s.Secrets, answered: func() { lap(&hop.Phases.Wait, mark) }}
	bad := talk.upgrade(v.upgrade)
	s.Received, s.body = talk.text, talk.text[:0]
	if len(talk.text) == 0 {
		lap(&hop.Phases.Wait, mark)
	} else {
		lap(&hop.Phases.Transfer, mark)
	}
	if !bad.none() {
		return nil, bad
	}
	secure, bad := handshake(plain, v.config, s)
	lap(&hop.Phases.TLS, mark)
	if bad.none() {
		s.Received = nil
	}
	return secure, bad
}

// command implements visitor.
func (v *tcpVisitor) command() string { return v.line }

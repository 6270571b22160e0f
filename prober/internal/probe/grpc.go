package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	healthPath     = "/grpc.health.v1.Health/Check"
	maxHealth      = 4 << 10 // bytes of an answer; SERVING takes seven
	maxServiceName = 512     // bytes
)

// grpcKind is what all visits of grpc targets share.
type grpcKind struct {
	dialer *dialer
	agent  string
}

// grpcVisitor makes one health check (https://github.com/grpc/grpc/blob/master/doc/health-checking.md).
type grpcVisitor struct {
	*grpcKind
	at      endpoint
	service string // empty: the server as a whole
	config  *tls.Config
	spec    *uptime.TLSSpec
	shown   string
	request []byte
}

func (k *grpcKind) compile(b blueprint) (visitor, error) {
	at, service, err := parseGRPC(b.url)
	if err != nil {
		return nil, fmt.Errorf("this URL cannot be visited: %w", err)
	}
	v := &grpcVisitor{grpcKind: k, service: service, spec: b.spec.TLS, at: endpoint{host: at.host, ip: at.ip, port: at.port, family: b.spec.Family}}
	scheme := "grpc"
	if at.secure {
		scheme = "grpcs"
		v.config = k.dialer.tlsOf(b.spec.TLS, at.host, "h2")
	}
	v.shown = (&url.URL{Scheme: scheme, Host: at.header, Path: "/" + service}).String()
	v.request, err = h2Request(at.secure, at.header, healthPath, []header{
		{"Content-Type", "application/grpc"}, {"TE", "trailers"}, {"User-Agent", k.agent},
	}, healthRequest(service))
	return v, err
}

// parseGRPC reads grpc://host:port[/service], and grpcs:// for TLS, whose port is 443
// unless it says otherwise.
func parseGRPC(text string) (at address, service string, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return address{}, "", errors.New("it is malformed")
	}
	switch {
	case u.Scheme != "grpc" && u.Scheme != "grpcs" || u.Opaque != "":
		return address{}, "", errors.New("the scheme is not grpc or grpcs")
	case u.Scheme == "grpc" && u.Port() == "":
		return address{}, "", errors.New("the port is missing")
	}
	if at, err = takeApart(u); err != nil {
		return address{}, "", err
	}
	if at.secure = u.Scheme == "grpcs"; at.secure && u.Port() == "" {
		at.port = 443
	}
	service = strings.TrimPrefix(u.Path, "/")
	if len(service) > maxServiceName || !utf8.ValidString(service) {
		return address{}, "", errors.New("the name of the service is too long or not UTF-8")
	}
	return at, service, nil
}

// visit implements visitor.
func (v *grpcVisitor) visit(ctx context.Context, s *sighting) trouble {
	hop := s.hop(v.shown)
	tcp, release, bad := v.dialer.dial(ctx, v.at, s, hop)
	if !bad.none() {
		return bad
	}
	defer tcp.Close()
	defer release()
	mark := time.Now()
	var conn net.Conn = tcp
	if v.config != nil {
		secure, bad := handshake(tcp, v.config, s)
		lap(&hop.Phases.TLS, &mark)
		if !bad.none() {
			return bad
		}
		if s.agreed != protocolH2 {
			return failed(uptime.FailureProtocol, "the server did not agree on HTTP/2 in the TLS handshake, which gRPC needs")
		}
		conn = secure
	}
	phase := &hop.Phases.Wait
	defer func() { lap(phase, &mark) }()
	reply, bad := askH2(conn, v.request, maxHealth, func() {
		lap(phase, &mark)
		phase = &hop.Phases.Transfer
	})
	if !bad.none() {
		return bad
	}
	hop.Protocol, hop.Status = "HTTP/2", reply.status
	s.sawReply(reply)
	return v.judge(reply, s)
}

// command implements visitor.
func (v *grpcVisitor) command() string {
	words := []string{"grpc_health_probe", "-addr", quoted(net.JoinHostPort(v.at.host, fmt.Sprint(v.at.port)))}
	if v.service != "" {
		words = append(words, "-service", quoted(v.service))
	}
	if v.config != nil {
		words = append(words, "-tls")
		if v.spec != nil && v.spec.SkipVerify {
			words = append(words, "-tls-no-verify")
		}
		if v.spec != nil && v.spec.ServerName != "" {
			words = append(words, "-tls-server-name", quoted(v.spec.ServerName))
		}
	}
	return strings.Join(words, " ")
}

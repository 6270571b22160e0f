package probe

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

var errHeadersTooLarge = errors.New("the headers are larger than 64 KiB")

// handshakeCurves leaves the post-quantum key share out: it doubles the cost of
// a handshake whose traffic is not worth recording.
var handshakeCurves = []tls.CurveID{tls.X25519, tls.CurveP256}

// asGET tells ReadResponse which answers have a body.
var asGET = &http.Request{Method: http.MethodGet}

// visit is the state of one check, re-used from check to check.
type visit struct {
	checker  *httpChecker
	deadline time.Time
	phases   uptime.Phases
	status   int
	addr     netip.Addr
	notAfter time.Time

	conn   net.Conn // of the present hop, TLS included
	budget int64    // bytes the present hop may still read off the wire
	spent  error    // what running out of budget means
	reader *bufio.Reader
	out    []byte
	one    [1]netip.Addr
}

func newVisit() *visit {
	v := &visit{out: make([]byte, 0, 512)}
	v.reader = bufio.NewReaderSize(v, 4096)
	return v
}

func (v *visit) begin(h *httpChecker, deadline time.Time) {
	*v = visit{checker: h, deadline: deadline, reader: v.reader, out: v.out[:0]}
}

// Read counts what comes off the wire, so that no answer costs more than its cap.
func (v *visit) Read(p []byte) (int, error) {
	if v.budget <= 0 {
		return 0, v.spent
	}
	n, err := v.conn.Read(p[:min(int64(len(p)), v.budget)])
	v.budget -= int64(n)
	return n, err
}

// hop makes one request. It gives the URL of a redirect to follow, or nil when
// this was the last answer.
func (v *visit) hop(ctx context.Context, u *url.URL, follow bool) (*url.URL, trouble) {
	v.status = 0 // an earlier hop's answer says nothing about this one
	at, err := takeApart(u)
	if err != nil {
		return nil, failed(uptime.FailureProtocol, "redirect to a URL that cannot be visited: "+err.Error())
	}
	mark := time.Now()
	addrs := v.one[:]
	if addrs[0] = at.ip; !at.ip.IsValid() {
		addrs, err = v.checker.dialer.lookup(ctx, at.host)
		lap(&v.phases.DNS, &mark)
		if err != nil {
			return nil, lookupTrouble(err)
		}
		if len(addrs) == 0 {
			return nil, failed(uptime.FailureDNS, "the host name has no address")
		}
	}
	conn, addr, err := v.checker.dialer.connect(ctx, addrs, at.port, v.deadline)
	lap(&v.phases.Connect, &mark)
	if err != nil {
		return nil, dialTrouble(err)
	}
	defer conn.Close()
	v.addr, v.conn = addr.Unmap(), conn
	_ = conn.SetDeadline(v.deadline)
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()

	if at.secure {
		bad := v.handshake(conn, at.host)
		lap(&v.phases.TLS, &mark)
		if !bad.none() {
			return nil, bad
		}
	}
	return v.exchange(&at, follow, &mark)
}

func (v *visit) handshake(conn net.Conn, host string) trouble {
	secure := tls.Client(conn, &tls.Config{
		ServerName: host, RootCAs: v.checker.roots, MinVersion: tls.VersionTLS12,
		CurvePreferences: handshakeCurves, NextProtos: []string{"http/1.1"},
	})
	err := secure.Handshake()
	if err != nil {
		if rejected, ok := errors.AsType[*tls.CertificateVerificationError](err); ok && len(rejected.UnverifiedCertificates) > 0 {
			v.sawCertificate(rejected.UnverifiedCertificates[0].NotAfter)
		}
		return handshakeTrouble(err)
	}
	v.sawCertificate(secure.ConnectionState().PeerCertificates[0].NotAfter)
	v.conn = secure
	return trouble{}
}

// sawCertificate keeps the end of life that comes first over all hops.
func (v *visit) sawCertificate(notAfter time.Time) {
	if v.notAfter.IsZero() || notAfter.Before(v.notAfter) {
		v.notAfter = notAfter.UTC()
	}
}

// exchange sends the request and reads the answer.
func (v *visit) exchange(at *address, follow bool, mark *time.Time) (*url.URL, trouble) {
	v.budget, v.spent = maxHeaders, errHeadersTooLarge
	v.reader.Reset(v)
	v.request(at)
	_, err := v.conn.Write(v.out)
	if err == nil || isReset(err) { // a server may answer before it has read all, and close
		_, err = v.reader.Peek(1)
	}
	lap(&v.phases.Wait, mark)
	if err != nil {
		return nil, answerTrouble(err, "waiting for an answer")
	}
	defer lap(&v.phases.Transfer, mark)
	response, err := v.response() //nolint:bodyclose // the connection is closed as a whole, and never re-used
	if err != nil {
		return nil, answerTrouble(err, "reading the headers")
	}
	v.status = response.StatusCode
	if next, bad := redirect(response, at.url); follow && (next != nil || !bad.none()) {
		return next, bad
	}
	v.budget, v.spent = maxBody, io.EOF
	if err := v.drain(response.Body); err != nil {
		return nil, answerTrouble(err, "reading the body")
	}
	return nil, trouble{}
}

// request writes the request into v.out. Every part was checked by takeApart.
func (v *visit) request(at *address) {
	out := append(v.out[:0], "GET "...)
	out = append(out, at.uri...)
	out = append(out, " HTTP/1.1\r\nHost: "...)
	out = append(out, at.header...)
	out = append(out, "\r\nUser-Agent: "...)
	out = append(out, v.checker.agent...)
	v.out = append(out, "\r\nAccept: */*\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n"...)
}

// response reads the head of the answer, past interim ones.
func (v *visit) response() (*http.Response, error) {
	for range maxInterim {
		response, err := http.ReadResponse(v.reader, asGET)
		if err != nil || response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, err
		}
	}
	return nil, errors.New("too many interim answers")
}

// drain reads the body up to the cap: no check looks at its content yet, so what
// is beyond the cap is nobody's failure.
func (v *visit) drain(body io.Reader) error {
	_, err := io.Copy(io.Discard, io.LimitReader(body, maxBody))
	if v.budget <= 0 && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) {
		return nil // cut off by us
	}
	return err
}

// redirect gives where an answer points, if it is a redirect.
func redirect(response *http.Response, from *url.URL) (*url.URL, trouble) {
	switch response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, trouble{}
	}
	location := response.Header.Get("Location")
	if location == "" {
		return nil, trouble{}
	}
	next, err := from.Parse(location)
	if err != nil {
		return nil, failed(uptime.FailureProtocol, "the Location header is malformed")
	}
	next.Fragment, next.User = "", nil
	return next, trouble{}
}

// outcome sums the visit up. Of a target that may not be visited nothing is
// kept, not even how long it took.
func (v *visit) outcome(start time.Time, bad trouble) Outcome {
	switch {
	case bad.reason != uptime.ReasonNone:
		return unmeasured(bad.reason, bad.message)
	case v.conn == nil && bad.none():
		return unmeasured(uptime.ReasonInternal, "the visit made no connection")
	}
	o := Outcome{
		Status: uptime.StatusUp, Failure: bad.failure, HTTPStatus: v.status, Phases: v.phases, TotalUS: micros(time.Since(start)),
		Message: bad.message, Address: v.addr, CertNotAfter: v.notAfter,
	}
	if bad.failure != uptime.FailureNone {
		o.Status = uptime.StatusDown
	}
	return o
}

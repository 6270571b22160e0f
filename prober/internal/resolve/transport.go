package resolve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

const (
	maxMessage = 4096 // bytes of an answer, however it travels
	bufferSize = 1232 // what is offered over UDP: never fragmented (dnsflagday.net/2020)
)

// transport asks one server. The answer belongs to the query, whose id the transport may
// set. It returns soon after ctx ends, which has a deadline.
type transport interface {
	exchange(ctx context.Context, query *dns.Msg) (*dns.Msg, error)
	close()
}

var (
	errMalformed = errors.New("an answer that cannot be read")
	errTooLarge  = errors.New("an answer that is too large")
	errLost      = errors.New("the connection was lost")
)

func newTransport(s Server, roots *x509.CertPool, dialing time.Duration) transport {
	address := net.JoinHostPort(s.Host, strconv.Itoa(int(s.Port)))
	secure := &tls.Config{ServerName: s.Name, RootCAs: roots, MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(maxLanes)}
	switch s.Protocol {
	case TLS:
		return newTLSTransport(address, secure)
	case HTTPS:
		return newHTTPSTransport("https://"+address+s.Path, secure, dialing)
	}
	return &plainTransport{address: address}
}

// newQuery asks for recursion, without DNSSEC records.
func newQuery(question dns.Question, edns bool) *dns.Msg {
	m := &dns.Msg{Question: []dns.Question{question}}
	m.Id, m.RecursionDesired = dns.Id(), true
	if edns {
		m.SetEdns0(bufferSize, false)
	}
	return m
}

// failing tells how an exchange failed.
func failing(err error) (outcome, string) {
	var network net.Error
	switch {
	case errors.Is(err, errMalformed):
		return malformed, err.Error()
	case errors.Is(err, errTooLarge):
		return tooLarge, "its answer is larger than " + strconv.Itoa(maxMessage) + " bytes"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return silence, "no answer in time"
	}
	return unreachable, bare(err)
}

// bare gives an error without the addresses that net and http wrap around it.
func bare(err error) string {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "the server's own name cannot be looked up"
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number.Error()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		return op.Err.Error()
	}
	if post, ok := errors.AsType[*url.Error](err); ok {
		return post.Err.Error()
	}
	return err.Error()
}

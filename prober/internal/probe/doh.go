package probe

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/probefleet/probefleet/internal/uptime"
)

// DNS over HTTPS (RFC 8484). dns URLs have no place for a path: it is the one of the RFC's
// examples, which public servers have too.
const (
	dohPath = "/dns-query"
	dohType = "application/dns-message"
)

// post is a query made ready for either version of HTTP.
type post struct{ http1, http2 []byte }

func (k *dnsKind) postOf(at endpoint, query []byte) (post, error) {
	authority := hostHeader(at.host, portUnless(at.port, 443))
	fields := []header{{"Content-Type", dohType}, {"Accept", dohType}, {"User-Agent", k.agent}, {"Content-Length", strconv.Itoa(len(query))}}
	two, err := h2Request(true, authority, dohPath, fields, query)
	if err != nil {
		return post{}, err
	}
	one := "POST " + dohPath + " HTTP/1.1\r\nHost: " + authority
	for _, field := range fields {
		one += "\r\n" + field.name + ": " + field.value
	}
	return post{http1: append([]byte(one+"\r\nConnection: close\r\n\r\n"), query...), http2: two}, nil
}

// portUnless writes a port unless it is the usual one.
func portUnless(port, usual uint16) string {
	if port == usual {
		return ""
	}
	return strconv.Itoa(int(port))
}

// overHTTPS posts the question. Its id is 0, so that the same question is the same request
// (RFC 8484 §4.1).
func (v *dnsVisitor) overHTTPS(conn *tls.Conn, s *sighting, hop *uptime.Hop, p post) (*dns.Msg, trouble) {
	mark := time.Now()
	phase := &hop.Phases.Wait
	defer func() { lap(phase, &mark) }()
	begun := func() {
		lap(phase, &mark)
		phase = &hop.Phases.Transfer
	}
	var reply *httpReply
	var bad trouble
	if conn.ConnectionState().NegotiatedProtocol == "h2" {
		hop.Protocol = "HTTP/2"
		reply, bad = askH2(conn, p.http2, dns.MaxMsgSize, begun)
	} else {
		hop.Protocol = "HTTP/1.1"
		reply, bad = askH1(conn, p.http1, dns.MaxMsgSize, begun)
	}
	s.Protocol = hop.Protocol
	if !bad.none() {
		return nil, bad
	}
	hop.Status = reply.status
	if reply.status != http.StatusOK {
		return nil, failed(uptime.FailureStatusCode, strings.TrimSpace(fmt.Sprintf("the server answered %d %s over HTTP", reply.status, http.StatusText(reply.status))))
	}
	if kind, _, _ := strings.Cut(reply.header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), dohType) {
		return nil, failed(uptime.FailureProtocol, "the answer over HTTP is no DNS message: its type is "+s.text(kind, maxShownWord))
	}
	answer, err := readAnswer(reply.body, 0, v.target.question)
	if err != nil {
		return nil, failed(uptime.FailureProtocol, "the answer over HTTP does not belong to the question: "+err.Error())
	}
	return answer, trouble{}
}

// askH1 sends a request over HTTP/1.1 and reads the answer, whose body may have limit bytes.
func askH1(conn net.Conn, request []byte, limit int, begun func()) (*httpReply, trouble) {
	if _, err := conn.Write(request); err != nil && !isReset(err) {
		return nil, answerTrouble(err, "sending the request")
	}
	meter := &metered{Conn: conn, left: maxHeaders, spent: errHeadersTooLarge}
	reader := bufio.NewReader(meter)
	_, err := reader.Peek(1)
	begun()
	if err != nil {
		return nil, answerTrouble(err, "waiting for an answer")
	}
	response, err := http.ReadResponse(reader, &http.Request{Method: http.MethodPost}) //nolint:bodyclose // the connection is closed as a whole
	if err != nil && meter.left <= 0 {                                                 // it may be the line that was cut that is malformed
		err = meter.spent
	}
	if err != nil {
		bad := answerTrouble(err, "reading the headers")
		bad.message = Message(bad.message) // it may quote a first line of any length; nothing of it is a secret of ours, to be hidden before it is cut
		return nil, bad
	}
	meter.left, meter.spent = int64(limit)+framing, errTooMuch
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)+1))
	switch {
	case len(body) > limit:
		return nil, failed(uptime.FailureTooLarge, fmt.Sprintf("the answer is larger than %d bytes", limit))
	case err != nil:
		return nil, answerTrouble(err, "reading the answer")
	}
	return &httpReply{status: response.StatusCode, header: response.Header, body: body}, trouble{}
}

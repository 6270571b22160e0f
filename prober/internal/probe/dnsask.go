package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/miekg/dns"

	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	maxDatagram = 4 << 10     // bytes of an answer over UDP, whatever was offered
	maxStreamed = 128 << 10   // bytes that are read over TCP or TLS; an answer has 64 KiB at most
	maxStranger = 100         // messages that are no answer to the question, before the visit gives up
	firstRepeat = time.Second // a question that is not answered is sent again, as TCP would (RFC 6298 §2)
)

// askOwn asks the prober's own servers. Their silence is not the target's failure.
func (v *dnsVisitor) askOwn(ctx context.Context, s *sighting) (*dns.Msg, trouble) {
	hop := s.hop(v.target.shown)
	mark := time.Now()
	ctx, cancel := s.within(ctx)
	defer cancel()
	answer, err := v.questions.Exchange(ctx, v.target.question)
	lap(&hop.Phases.Wait, &mark)
	if err != nil {
		return nil, lookupTrouble(err)
	}
	return answer, trouble{}
}

// exchange sends the query to the server that the URL names, and gives the answer.
func (v *dnsVisitor) exchange(ctx context.Context, s *sighting, to endpoint, transport uptime.DNSTransport, query *dnsQuery) (*dns.Msg, trouble) {
	hop := s.hop(v.target.shown)
	if transport == uptime.DNSOverUDP {
		hop.Protocol, s.Protocol = "UDP", "UDP"
		return v.overUDP(ctx, s, hop, to, query.message)
	}
	tcp, release, bad := v.dialer.dial(ctx, to, s, hop)
	if !bad.none() {
		return nil, bad
	}
	defer tcp.Close()
	defer release()
	if v.config == nil {
		hop.Protocol, s.Protocol = "TCP", "TCP"
		return v.overStream(tcp, hop, query.message)
	}
	mark := time.Now()
	secure, bad := handshake(tcp, v.config, s)
	lap(&hop.Phases.TLS, &mark)
	switch {
	case !bad.none():
		return nil, bad
	case transport == uptime.DNSOverHTTPS:
		return v.overHTTPS(secure, s, hop, query.post)
	}
	hop.Protocol, s.Protocol = "TLS", "TLS"
	return v.overStream(secure, hop, query.message)
}

// identified gives the query an id that nobody can guess, behind so many bytes of room.
func identified(query []byte, room int) (id uint16, bytes []byte) {
	id = dns.Id()
	bytes = append(make([]byte, room, room+len(query)), query...)
	binary.BigEndian.PutUint16(bytes[room:], id)
	return id, bytes
}

func (v *dnsVisitor) overUDP(ctx context.Context, s *sighting, hop *uptime.Hop, to endpoint, query []byte) (*dns.Msg, trouble) {
	mark := time.Now()
	conn, release, bad := v.dialer.dialUDP(ctx, to, s, hop, &mark)
	if !bad.none() {
		return nil, bad
	}
	defer conn.Close()
	defer release()
	defer func() { lap(&hop.Phases.Wait, &mark) }()
	id, bytes := identified(query, 0)
	if _, err := conn.Write(bytes); err != nil {
		return nil, datagramTrouble(err)
	}
	buffer := make([]byte, maxDatagram+1)
	repeat := firstRepeat
	return v.listen(id, datagramTrouble, func() ([]byte, error) {
		for {
			_ = conn.SetReadDeadline(earlier(mark.Add(repeat), s.deadline))
			if ctx.Err() != nil { // the line above may have undone its work
				return nil, ctx.Err()
			}
			n, err := conn.Read(buffer)
			switch {
			case err == nil && n > maxDatagram:
				return nil, errAnswerTooLarge
			case err == nil || !isTimeout(err) || !time.Now().Before(s.deadline):
				return buffer[:n], err
			}
			if _, err := conn.Write(bytes); err != nil {
				return nil, err
			}
			repeat = 2*repeat + firstRepeat
		}
	})
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

var errAnswerTooLarge = errors.New("the answer over UDP is larger than 4 KiB")

// datagramTrouble reads why no answer came over UDP.
func datagramTrouble(err error) trouble {
	switch {
	case errors.Is(err, errAnswerTooLarge):
		return failed(uptime.FailureTooLarge, err.Error())
	case isTimeout(err), errors.Is(err, context.Canceled):
		return failed(uptime.FailureTimeout, "no answer within the timeout")
	}
	return dialTrouble(err) // what a packet that was sent before came to
}

// overStream asks over TCP or TLS (RFC 7766 §8). An answer is at most 64 KiB there.
func (v *dnsVisitor) overStream(conn net.Conn, hop *uptime.Hop, query []byte) (*dns.Msg, trouble) {
	mark := time.Now()
	defer func() { lap(&hop.Phases.Wait, &mark) }()
	lost := func(err error) trouble {
		if errors.Is(err, errTooMuch) {
			return failed(uptime.FailureTooLarge, err.Error())
		}
		return answerTrouble(err, "waiting for an answer")
	}
	id, bytes := identified(query, 2)
	binary.BigEndian.PutUint16(bytes, uint16(len(query)))
	if _, err := conn.Write(bytes); err != nil {
		return nil, lost(err)
	}
	meter := &metered{Conn: conn, left: maxStreamed, spent: errTooMuch}
	return v.listen(id, lost, func() ([]byte, error) {
		var size [2]byte
		if _, err := io.ReadFull(meter, size[:]); err != nil {
			return nil, err
		}
		raw := make([]byte, binary.BigEndian.Uint16(size[:]))
		_, err := io.ReadFull(meter, raw)
		return raw, err
	})
}

// listen takes messages until one is the answer. Others may be anybody's: they are passed
// over, but told of when nothing better comes.
func (v *dnsVisitor) listen(id uint16, lost func(error) trouble, next func() ([]byte, error)) (*dns.Msg, trouble) {
	var strange error
	for passed := 0; passed < maxStranger; passed++ {
		raw, err := next()
		if err != nil {
			bad := lost(err)
			if passed > 0 && !bad.none() && bad.failure != uptime.FailureNone {
				bad = failed(bad.failure, fmt.Sprintf("%s; of %d messages that came none belongs to the question, the last because %v", bad.message, passed, strange))
			}
			return nil, bad
		}
		answer, err := readAnswer(raw, id, v.target.question)
		if err == nil {
			return answer, trouble{}
		}
		if errors.Is(err, errUnreadable) {
			return nil, failed(uptime.FailureProtocol, err.Error())
		}
		strange = err
	}
	return nil, failed(uptime.FailureProtocol, fmt.Sprintf("%d messages came and none belongs to the question, the last because %v", maxStranger, strange))
}

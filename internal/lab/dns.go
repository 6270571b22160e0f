package lab

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/miekg/dns"
)

func dnsSites() map[string]opener {
	return map[string]opener{"dns": openDNS, "dot": openDNS, "doh": openDoH}
}

// openDoH opens "h2" under another name.
func openDoH(l *Lab, _ string) (site, error) {
	s, err := openCertificate(l, "h2")
	s.url += "/dns-query"
	return s, err
}

func openDNS(l *Lab, name string) (site, error) {
	stream, packets, err := l.listenDNS(name)
	if err != nil {
		return site{}, err
	}
	addr := stream.Addr().String()
	var listening net.Listener = stream
	if name == "dot" {
		certificate, err := l.certificate("tls")
		if err != nil {
			return site{}, errors.Join(err, stream.Close())
		}
		listening = tls.NewListener(stream, &tls.Config{Certificates: []tls.Certificate{*certificate}, NextProtos: []string{"dot"}})
	}
	err = l.serveDNS(&dns.Server{Listener: listening})
	if err == nil && packets != nil {
		err = l.serveDNS(&dns.Server{PacketConn: packets, UDPSize: dns.DefaultMsgSize})
	}
	if err != nil {
		return site{}, err
	}
	return site{url: name + "://" + addr, addr: addr, accepted: stream.accepted}, nil
}

// listenDNS finds a port that is free for UDP too, if that is wanted.
func (l *Lab) listenDNS(name string) (*listener, net.PacketConn, error) {
	var errs []error
	for range 20 {
		stream, err := l.listen(name, l.free())
		if err != nil || name == "dot" {
			return stream, nil, err
		}
		packets, err := new(net.ListenConfig).ListenPacket(context.Background(), "udp", stream.Addr().String())
		if err == nil {
			return stream, packets, nil
		}
		errs = append(errs, err, stream.Close())
	}
	return nil, nil, errors.Join(errs...)
}

// dnsServer is closed as others are.
type dnsServer struct{ *dns.Server }

// Close implements io.Closer.
func (s dnsServer) Close() error { return s.Shutdown() }

func (l *Lab) serveDNS(server *dns.Server) error {
	server.Handler = dns.HandlerFunc(l.serveQuestion)
	server.MsgAcceptFunc = func(dns.Header) dns.MsgAcceptAction { return dns.MsgAccept }
	server.ReadTimeout, server.IdleTimeout = 30*time.Second, func() time.Duration { return 10 * time.Minute }
	started, failed := make(chan struct{}), make(chan error, 1)
	server.NotifyStartedFunc = func() { close(started) }
	l.serving.Go(func() { failed <- server.ActivateAndServe() })
	select {
	case <-started:
		l.own(dnsServer{server})
		return nil
	case err := <-failed:
		return err
	}
}

func (l *Lab) serveQuestion(w dns.ResponseWriter, question *dns.Msg) {
	_, packet := w.RemoteAddr().(*net.UDPAddr)
	for _, message := range l.answer(context.Background(), question, packet) {
		if _, err := w.Write(message); err != nil {
			return
		}
	}
}

// answer gives the messages that answer a question: mostly one, none for
// silence. packet is true where UDP's limits hold (RFC 1035 §4.2.1, RFC 6891 §6.2.3).
func (l *Lab) answer(ctx context.Context, question *dns.Msg, packet bool) [][]byte {
	reply := new(dns.Msg).SetReply(question)
	reply.RecursionAvailable, reply.Compress = true, true
	if len(question.Question) != 1 || question.Opcode != dns.OpcodeQuery {
		reply.Rcode = dns.RcodeFormatError
		return pack(reply)
	}
	asked := question.Question[0]
	name := dns.CanonicalName(asked.Name)
	count := l.tally(strings.TrimSuffix(name, "."))
	count.requests.Add(1)
	p := l.read(name)
	if p.delay > 0 && !l.wait(ctx, p.delay) {
		return nil
	}
	reply.Answer, reply.Rcode = l.records(name, asked.Qtype)
	for _, record := range reply.Answer {
		record.Header().Ttl = p.ttl
	}
	if len(reply.Answer) == 0 && !p.outer {
		reply.Ns = []dns.RR{soa(zone, p.ttl)} // RFC 2308 §3
	}
	limit := dns.MaxMsgSize
	if packet {
		limit = dns.MinMsgSize
	}
	if edns := question.IsEdns0(); edns != nil {
		reply.SetEdns0(1232, false)
		if packet {
			limit = max(limit, int(edns.UDPSize()))
		}
	}
	reply.Truncate(limit)
	messages := bend(reply, p.mode, packet)
	for _, message := range messages {
		count.sent.Add(int64(len(message)))
	}
	return messages
}

// bend does to an answer what the mode says.
func bend(reply *dns.Msg, mode string, packet bool) [][]byte {
	switch mode {
	case "silent":
		return nil
	case "truncated", "always-truncated":
		if packet || mode == "always-truncated" {
			reply.Answer, reply.Truncated = nil, true
		}
	case "wrong-id":
		reply.Id++
	case "wrong-name":
		reply.Question[0].Name = "x-other." + zone
		for _, record := range reply.Answer {
			record.Header().Name = "x-other." + zone
		}
	case "spoofed":
		lie := reply.Copy()
		lie.Id++
		lie.Answer = []dns.RR{&dns.A{Hdr: header(reply.Question[0].Name, dns.TypeA, plainTTL), A: net.IPv4(127, 0, 0, 66)}}
		return append(pack(lie), pack(reply)...)
	case "garbage":
		return [][]byte{[]byte("this is not DNS")}
	case "header", "half":
		whole := pack(reply)[0]
		if mode == "header" {
			return [][]byte{whole[:12]}
		}
		return [][]byte{whole[:len(whole)/2]}
	case "pointer-loop":
		return [][]byte{pointing(reply)}
	}
	return pack(reply)
}

func pack(message *dns.Msg) [][]byte {
	out, err := message.Pack()
	if err != nil { // a record that cannot be written
		out, _ = new(dns.Msg).SetRcode(message, dns.RcodeServerFailure).Pack()
	}
	return [][]byte{out}
}

// before is true when it was asked the same before.
func (l *Lab) before(what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.seen) < maxPaths {
		l.seen[what]++
	}
	return l.seen[what] > 1
}

// dnsQuery is DNS over HTTPS.
func (l *Lab) dnsQuery(w http.ResponseWriter, r *http.Request) {
	const media = "application/dns-message"
	var content []byte
	var err error
	switch {
	case r.Method == http.MethodGet:
		content, err = base64.RawURLEncoding.DecodeString(r.URL.Query().Get("dns"))
	case r.Method != http.MethodPost:
		http.Error(w, "want GET or POST", http.StatusMethodNotAllowed)
		return
	case r.Header.Get("Content-Type") != media:
		http.Error(w, "want "+media, http.StatusUnsupportedMediaType)
		return
	default:
		content, err = io.ReadAll(io.LimitReader(r.Body, dns.MaxMsgSize))
	}
	question := new(dns.Msg)
	if err == nil {
		err = question.Unpack(content)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	messages := l.answer(r.Context(), question, false)
	if len(messages) == 0 {
		l.hang(w, r)
	}
	w.Header().Set("Content-Type", media)
	_, _ = w.Write(messages[0])
}

package lab

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"net"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// openHostile starts a server of HTTP/2 frames (RFC 9113): over TLS with ALPN, or
// without for clients that know beforehand.
func openHostile(l *Lab, name string) (site, error) {
	if name == "h2c-hostile" {
		return l.serveConns(name, "http", func(c *conn) { l.harm(c) })
	}
	certificate, err := l.certificate("tls")
	if err != nil {
		return site{}, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{*certificate}, NextProtos: []string{"h2"}}
	return l.serveConns(name, "https", func(c *conn) { l.harm(tls.Server(c, config)) })
}

// stream is the client's request, to which harm is done.
type stream struct {
	*http2.Framer
	out *bufio.Writer // many frames make one packet
	id  uint32
}

// errLeave ends the connection from the lab's side.
var errLeave = errors.New("the harm is done")

// harm reads the first request and does what its path says, or the service that a gRPC
// health check asks about, for as long as the client stays. What it sends meanwhile is read and dropped: the harm is in the
// frames, not in a server that does not listen.
func (l *Lab) harm(c net.Conn) {
	s, path, err := l.firstRequest(c)
	if err != nil {
		return
	}
	do, known := hostilePaths()[path]
	if !known {
		do = func(s *stream) error { return s.answer(true, ":status", "404") }
	}
	below, left := bare(c), make(chan struct{})
	l.serving.Go(func() {
		defer close(left)
		swallow(c)
		_ = below.Close() // else a flood goes on until the buffers are full
	})
	if err := errors.Join(do(s), s.out.Flush()); err == nil {
		<-left
	}
}

func (l *Lab) firstRequest(c net.Conn) (*stream, string, error) {
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c, preface); err != nil {
		return nil, "", err
	}
	out := bufio.NewWriter(c)
	s := &stream{Framer: http2.NewFramer(out, c), out: out}
	s.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	s.AllowIllegalWrites = true
	if err := errors.Join(s.WriteSettings(), out.Flush()); err != nil {
		return nil, "", err
	}
	path, err := s.asked()
	if err != nil {
		return nil, "", err
	}
	l.tally(path).requests.Add(1)
	if under, is := bare(c).(*conn); is {
		under.at.Store(l.tally(path))
		_ = under.SetWriteBuffer(32 << 10) // see frugal
	}
	return s, path, nil
}

// asked reads as far as to what the request is for.
func (s *stream) asked() (path string, err error) {
	for err == nil {
		var frame http2.Frame
		if frame, err = s.ReadFrame(); err != nil {
			break
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				err = errors.Join(s.WriteSettingsAck(), s.out.Flush())
			}
		case *http2.MetaHeadersFrame:
			s.id = f.StreamID
			if path = f.PseudoValue("path"); path != healthPath {
				return path, nil
			}
		case *http2.DataFrame:
			if path == healthPath {
				service, err := serviceAsked(bytes.NewReader(f.Data()))
				return "/" + service, err
			}
		}
	}
	return "", err
}

// answer sends headers, given as names and values in turn.
func (s *stream) answer(end bool, pairs ...string) error {
	return s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: block(pairs...), EndHeaders: true, EndStream: end})
}

// block packs headers without a word in the client's table.
func block(pairs ...string) []byte {
	var out bytes.Buffer
	encoder := hpack.NewEncoder(&out)
	for i := 0; i < len(pairs); i += 2 {
		_ = encoder.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1], Sensitive: true})
	}
	return out.Bytes()
}

// forever repeats a step until the client is gone.
func forever(step func() error) error {
	for {
		if err := step(); err != nil {
			return err
		}
	}
}

// hostilePaths are the frames that answer a request for the path.
func hostilePaths() map[string]func(*stream) error {
	all := map[string]func(*stream) error{
		"/ok": func(s *stream) error {
			return errors.Join(s.answer(false, ":status", "200"), s.WriteData(s.id, true, []byte("ok\n")))
		},
		"/silent": func(*stream) error { return nil },
		"/goaway": func(s *stream) error {
			return s.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, bytes.Repeat([]byte("calm"), 4000))
		},
		"/rst":      func(s *stream) error { return s.WriteRSTStream(s.id, http2.ErrCodeInternal) },
		"/rst-body": func(s *stream) error { return errors.Join(s.half(), s.WriteRSTStream(s.id, http2.ErrCodeCancel)) },
		"/cut":      func(s *stream) error { return errors.Join(s.half(), errLeave) },
		"/push": func(s *stream) error {
			return s.WritePushPromise(http2.PushPromiseParam{
				StreamID: s.id, PromiseID: 2, EndHeaders: true,
				BlockFragment: block(":method", "GET", ":scheme", "https", ":authority", "lab.test", ":path", "/"),
			})
		},
		"/window-overflow": func(s *stream) error {
			return errors.Join(s.WriteWindowUpdate(0, 1<<31-1), s.WriteWindowUpdate(0, 1<<31-1))
		},
		"/no-status":  func(s *stream) error { return s.answer(true, "x-a", "b") },
		"/upper-case": func(s *stream) error { return s.answer(true, ":status", "200", "X-A", "b") },
		"/connection": func(s *stream) error { return s.answer(true, ":status", "200", "connection", "close") },
		"/data-first": func(s *stream) error { return s.WriteData(s.id, true, []byte("ok\n")) },
		"/other-stream": func(s *stream) error {
			return s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id + 100, BlockFragment: block(":status", "200"), EndHeaders: true})
		},
		"/garbage": func(s *stream) error { return s.bytes("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") },
		"/big-frame": func(s *stream) error {
			if err := s.bytes("\xff\xff\xff\x00\x00" + string(binary.BigEndian.AppendUint32(nil, s.id))); err != nil {
				return err
			}
			return forever(func() error { return s.bytes(filler) })
		},
		"/hpack-bomb": (*stream).hpackBomb,
		"/unfinished": func(s *stream) error {
			const gzip = 0x80 | 16 // accept-encoding: gzip, deflate (RFC 7541, Appendix A), which takes 60 bytes
			fragment := append(block(":status", "200"), bytes.Repeat([]byte{gzip}, 4000)...)
			return s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: fragment})
		},
	}
	maps.Copy(all, floods())
	return all
}

func floods() map[string]func(*stream) error {
	return map[string]func(*stream) error{
		"/rst-flood": func(s *stream) error {
			return forever(func() error { return s.WriteRSTStream(s.id, http2.ErrCodeCancel) })
		},
		"/ping-flood": func(s *stream) error { return forever(func() error { return s.WritePing(false, [8]byte{}) }) },
		"/settings-flood": func(s *stream) error {
			return forever(func() error { return s.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100}) })
		},
		"/window-flood": func(s *stream) error { return forever(func() error { return s.WriteWindowUpdate(s.id, 1) }) },
		"/priority-flood": func(s *stream) error {
			return forever(func() error { return s.WritePriority(s.id, http2.PriorityParam{Weight: 1}) })
		},
		"/unknown-flood": func(s *stream) error {
			return forever(func() error { return s.WriteRawFrame(0xbe, 0, 0, []byte(filler)) })
		},
		"/interim-flood": func(s *stream) error { return forever(func() error { return s.answer(false, ":status", "103") }) },
		"/continuation-flood": func(s *stream) error {
			err := s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: block(":status", "200")})
			if err != nil {
				return err
			}
			more := block("x-filler", filler)
			return forever(func() error { return s.WriteContinuation(s.id, false, more) })
		},
		"/empty-data": func(s *stream) error {
			return errors.Join(s.answer(false, ":status", "200"), forever(func() error { return s.WriteData(s.id, false, nil) }))
		},
		"/overflow": func(s *stream) error {
			more := make([]byte, 16<<10)
			return errors.Join(s.answer(false, ":status", "200"), forever(func() error { return s.WriteData(s.id, false, more) }))
		},
	}
}

// half is a body that was promised to be longer.
func (s *stream) half() error {
	return errors.Join(s.answer(false, ":status", "200", "content-length", "1000"), s.WriteData(s.id, false, []byte("half")))
}

func (s *stream) bytes(text string) error {
	_, err := s.out.WriteString(text)
	return err
}

// hpackBomb puts one large header into the client's table and refers to it by a
// byte each (RFC 7541 §6.1).
func (s *stream) hpackBomb() error {
	var out bytes.Buffer
	encoder := hpack.NewEncoder(&out)
	_ = encoder.WriteField(hpack.HeaderField{Name: ":status", Value: "200", Sensitive: true})
	_ = encoder.WriteField(hpack.HeaderField{Name: "x", Value: strings.Repeat("x", 4000)})
	const latest = 0x80 | 62 // the first entry of the dynamic table
	fragment := append(out.Bytes(), bytes.Repeat([]byte{latest}, 12_000)...)
	return s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: fragment, EndHeaders: true, EndStream: true})
}

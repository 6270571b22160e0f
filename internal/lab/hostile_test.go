package lab

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// request opens an HTTP/2 connection and asks for a path, frame by frame.
func request(t *testing.T, c net.Conn, path string) *http2.Framer {
	t.Helper()
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(c, c)
	framer.AllowIllegalReads = true
	err := errors.Join(framer.WriteSettings(), framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, EndHeaders: true, EndStream: true,
		BlockFragment: block(":method", "GET", ":scheme", "http", ":authority", "lab.test", ":path", path),
	}))
	if err != nil {
		t.Fatal(err)
	}
	return framer
}

// frames reads what comes after the settings, until there are as many or the end.
func frames(framer *http2.Framer, most int) (types []http2.FrameType, last http2.Frame, err error) {
	for len(types) < most {
		frame, err := framer.ReadFrame()
		if err != nil {
			return types, last, err
		}
		if _, is := frame.(*http2.SettingsFrame); is && len(types) == 0 && (frame.Header().Flags.Has(http2.FlagSettingsAck) || frame.Header().Length == 0) {
			continue // the handshake
		}
		types, last = append(types, frame.Header().Type), frame
	}
	return types, last, nil
}

func TestFloods(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for path, want := range map[string]struct{ first, then http2.FrameType }{
		"/rst-flood":          {http2.FrameRSTStream, http2.FrameRSTStream},
		"/ping-flood":         {http2.FramePing, http2.FramePing},
		"/settings-flood":     {http2.FrameSettings, http2.FrameSettings},
		"/window-flood":       {http2.FrameWindowUpdate, http2.FrameWindowUpdate},
		"/priority-flood":     {http2.FramePriority, http2.FramePriority},
		"/unknown-flood":      {0xbe, 0xbe},
		"/interim-flood":      {http2.FrameHeaders, http2.FrameHeaders},
		"/continuation-flood": {http2.FrameHeaders, http2.FrameContinuation},
		"/empty-data":         {http2.FrameHeaders, http2.FrameData},
		"/overflow":           {http2.FrameHeaders, http2.FrameData},
	} {
		for _, c := range []net.Conn{dial(t, l, "h2c-hostile"), dialTLS(t, l, "h2-hostile", "h2")} {
			types, _, err := frames(request(t, c, path), 200)
			_ = c.Close()
			if err != nil {
				t.Errorf("%s: %v after %d frames", path, err, len(types))
				continue
			}
			for i, got := range types {
				if i == 0 && got != want.first || i > 0 && got != want.then {
					t.Errorf("%s: frame %d is %v", path, i, got)
				}
			}
		}
		if l.RequestsTo(path) != 2 || l.SentTo(path) == 0 {
			t.Errorf("%s: counted %d requests, %d bytes", path, l.RequestsTo(path), l.SentTo(path))
		}
	}
}

func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for path, good := range map[string]func(last http2.Frame, types []http2.FrameType) bool{
		"/ok": func(last http2.Frame, types []http2.FrameType) bool {
			return types[0] == http2.FrameHeaders && string(last.(*http2.DataFrame).Data()) == "ok\n" && last.(*http2.DataFrame).StreamEnded()
		},
		"/goaway": func(last http2.Frame, _ []http2.FrameType) bool {
			f := last.(*http2.GoAwayFrame)
			return f.LastStreamID == 0 && f.ErrCode == http2.ErrCodeEnhanceYourCalm && len(f.DebugData()) == 16_000
		},
		"/rst": func(last http2.Frame, _ []http2.FrameType) bool {
			return last.(*http2.RSTStreamFrame).ErrCode == http2.ErrCodeInternal
		},
		"/rst-body": func(last http2.Frame, types []http2.FrameType) bool {
			return len(types) == 3 && last.Header().Type == http2.FrameRSTStream
		},
		"/cut": func(last http2.Frame, types []http2.FrameType) bool {
			return len(types) == 2 && string(last.(*http2.DataFrame).Data()) == "half"
		},
		"/push": func(last http2.Frame, _ []http2.FrameType) bool { return last.(*http2.PushPromiseFrame).PromiseID == 2 },
		"/window-overflow": func(last http2.Frame, types []http2.FrameType) bool {
			return len(types) == 2 && last.(*http2.WindowUpdateFrame).Increment == 1<<31-1
		},
		"/no-status":  func(last http2.Frame, _ []http2.FrameType) bool { return last.Header().Type == http2.FrameHeaders },
		"/upper-case": func(last http2.Frame, _ []http2.FrameType) bool { return last.Header().Type == http2.FrameHeaders },
		"/connection": func(last http2.Frame, _ []http2.FrameType) bool { return last.Header().Type == http2.FrameHeaders },
		"/data-first": func(_ http2.Frame, types []http2.FrameType) bool {
			return len(types) == 1 && types[0] == http2.FrameData
		},
		"/other-stream": func(last http2.Frame, _ []http2.FrameType) bool { return last.Header().StreamID == 101 },
		"/hpack-bomb": func(last http2.Frame, _ []http2.FrameType) bool {
			return last.Header().Length < 16<<10 && last.Header().Length > 12_000
		},
		"/unfinished": func(last http2.Frame, _ []http2.FrameType) bool {
			return last.Header().Length > 4000 && !last.(*http2.HeadersFrame).HeadersEnded()
		},
		"/nothing": func(last http2.Frame, _ []http2.FrameType) bool { return last.Header().Type == http2.FrameHeaders },
	} {
		c := dial(t, l, "h2c-hostile")
		framer := request(t, c, path)
		wanted := map[string]int{"/ok": 2, "/rst-body": 3, "/cut": 2, "/window-overflow": 2}[path]
		types, last, err := frames(framer, max(wanted, 1))
		if err != nil || !good(last, types) {
			t.Errorf("%s: %v, %v, %v", path, types, last, err)
		}
		if path == "/cut" {
			if more, _, err := frames(framer, 1); err == nil || len(more) > 0 {
				t.Errorf("%s: goes on with %v", path, more)
			}
		}
	}
}

// The service that is asked for is the path.
func TestHostileAnswersToHealthChecks(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	c := dial(t, l, "h2c-hostile")
	framer := request(t, c, healthPath)
	message := append([]byte{0, 0, 0, 0, 4, 0x0a, 2}, "ok"...)
	if err := framer.WriteData(1, true, message); err != nil {
		t.Fatal(err)
	}
	if types, last, err := frames(framer, 2); err != nil || string(last.(*http2.DataFrame).Data()) != "ok\n" || l.RequestsTo("/ok") != 1 {
		t.Errorf("%v, %v", types, err)
	}
}

func TestBytesInsteadOfFrames(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for path, want := range map[string]string{"/garbage": "HTTP/1.1 400 ", "/big-frame": "\xff\xff\xff\x00\x00\x00\x00\x00\x01xxx", "/silent": ""} {
		c := dial(t, l, "h2c-hostile")
		request(t, c, path)
		const settings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00" + "\x00\x00\x00\x04\x01\x00\x00\x00\x00" // and the acknowledgement
		got := make([]byte, len(settings)+len(want))
		if _, err := io.ReadFull(c, got); err != nil || string(got) != settings+want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
		if path == "/silent" {
			_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			if n, err := c.Read(got); n > 0 || err == io.EOF {
				t.Errorf("%s: then %d bytes, %v", path, n, err)
			}
		}
	}
}

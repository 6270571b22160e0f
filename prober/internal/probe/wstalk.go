package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/uptime"
)

const maxWSFrames = 100 // control frames, and empty ones, before the answer

// wsTalk is what follows the handshake: a message and the first one back, or a ping and
// its pong.
type wsTalk struct {
	*wire
	seen   *sighting
	limit  int
	ping   string // whose pong is waited for; empty: a message is
	within bool   // a message of several frames
	text   bool   // it is
	extra  int    // frames that bring nothing
}

// talk sends what the target is to answer, takes the answer in and closes the websocket.
func (v *wsVisitor) talk(w *wire, key string, s *sighting, hop *uptime.Hop, mark *time.Time) trouble {
	t := wsTalk{wire: w, seen: s, limit: v.limit}
	w.budget, w.spent = int64(v.limit)+framing, errCut
	code, payload := byte(wsText), v.spec.Send
	if payload == "" {
		t.ping = key // which nobody else knows
		code, payload = wsPing, key
	}
	err := writeWSFrame(w.conn, code, []byte(payload))
	if err == nil || isReset(err) {
		_, err = w.reader.Peek(1)
	}
	lap(&hop.Phases.Wait, mark)
	if err != nil {
		return answerTrouble(err, "waiting for "+t.wanted())
	}
	defer lap(&hop.Phases.Transfer, mark)
	for done := false; !done; {
		var bad trouble
		if done, bad = t.frame(); !bad.none() {
			return bad
		}
	}
	_ = writeWSFrame(w.conn, wsClose, binary.BigEndian.AppendUint16(nil, 1000)) // whether it arrives is nobody's concern
	return trouble{}
}

func (t *wsTalk) wanted() string {
	if t.ping != "" {
		return "the pong"
	}
	return "a message"
}

// frame takes in one frame, and says whether the answer is complete with it.
func (t *wsTalk) frame() (done bool, bad trouble) {
	f, err := readWSFrame(t.reader)
	if err != nil {
		return t.broken(err)
	}
	if f.size == 0 || f.control() {
		if t.extra++; t.extra > maxWSFrames {
			return false, failed(uptime.FailureProtocol, fmt.Sprintf("more than %d frames came, and not %s", maxWSFrames, t.wanted()))
		}
	}
	if f.control() {
		return t.control(f)
	}
	switch {
	case f.code == wsMore && !t.within:
		return t.broken(badFrame("it goes on with a message that nobody began"))
	case f.code != wsMore && t.within:
		return t.broken(badFrame("a message begins within another"))
	case f.code != wsMore:
		t.text = f.code == wsText
	}
	t.within = !f.final
	if t.ping != "" {
		return t.skip(f)
	}
	return t.take(f)
}

// skip passes over a message that is not waited for.
func (t *wsTalk) skip(f wsFrame) (done bool, bad trouble) {
	if _, err := io.CopyN(io.Discard, t.reader, int64(f.size)); err != nil {
		return t.broken(err)
	}
	return false, trouble{}
}

// take keeps a piece of the message.
func (t *wsTalk) take(f wsFrame) (done bool, bad trouble) {
	s, scratch := t.seen, t.spare()
	for left := f.size; left > 0; {
		n := min(left, uint64(len(scratch)), uint64(t.limit-len(s.Received)))
		if n == 0 {
			s.ReceivedCut = true
			return true, trouble{}
		}
		got, err := io.ReadFull(t.reader, scratch[:n])
		s.Received = append(s.Received, scratch[:got]...)
		if err != nil {
			return t.broken(err)
		}
		left -= n
	}
	if f.final && t.text && !utf8.Valid(s.Received) {
		return false, failed(uptime.FailureProtocol, "a text message that is not UTF-8")
	}
	return f.final, trouble{}
}

// control does what a control frame asks for.
func (t *wsTalk) control(f wsFrame) (done bool, bad trouble) {
	payload := make([]byte, f.size)
	if _, err := io.ReadFull(t.reader, payload); err != nil {
		return t.broken(err)
	}
	switch f.code {
	case wsPing:
		if err := writeWSFrame(t.conn, wsPong, payload); err != nil && !isReset(err) {
			return t.broken(err)
		}
	case wsPong:
		return t.ping != "" && string(payload) == t.ping, trouble{}
	case wsClose:
		return false, failed(uptime.FailureReset, "the server closed the websocket before "+t.wanted()+t.reason(payload))
	}
	return false, trouble{}
}

// reason is the code and text of a close frame (RFC 6455 §7.1.5).
func (t *wsTalk) reason(payload []byte) string {
	if len(payload) < 2 {
		return ", without a reason"
	}
	return strings.TrimSpace(fmt.Sprint(": ", binary.BigEndian.Uint16(payload), " ", t.seen.text(string(payload[2:]), maxShownWord)))
}

// broken reads why there is no more. What is beyond the cap of a message is nobody's
// failure: assertions know that it was cut.
func (t *wsTalk) broken(err error) (done bool, bad trouble) {
	if errors.Is(err, errCut) {
		if len(t.seen.Received) > 0 {
			t.seen.ReceivedCut = true
			return true, trouble{}
		}
		return false, failed(uptime.FailureTooLarge, "too much came before "+t.wanted())
	}
	return false, answerTrouble(err, "waiting for "+t.wanted())
}

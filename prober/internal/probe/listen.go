package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/probefleet/probefleet/internal/assertion"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	maxReceived = assertion.MostBody // bytes that are read for assertions
	eagerLooks  = 256 << 10          // bytes of a text, all looks summed, up to which it is looked at whenever it grows
	patientOnes = 2 << 20            // … when it does not grow for a while
	leastQuiet  = 250 * time.Millisecond
)

// listener takes in what a server says until the assertions on it are decided.
//
// What a first part decides for good ends the visit at once. What it only seems to pass (it
// does not contain something yet) wants a pause of the server first, whose length is none of
// the target's time; or the end of the connection, of the timeout or of what is read.
// A text is looked at when it has doubled, so that one that comes byte by byte costs no more
// than a few whole ones; small ones are looked at whenever they grow.
type listener struct {
	*tcpVisitor
	conn  net.Conn
	s     *sighting
	hop   *uptime.Hop
	mark  *time.Time // end of what has been measured
	text  []byte
	seen  int // bytes of it at the last look
	spent int // bytes looked at in all,
	idly  int // … and of those when nothing came
	state assertion.Progress
}

func (l *listener) listen(ctx context.Context) trouble {
	l.text = l.s.body[:0]
	bad := l.read(ctx)
	l.s.Received, l.s.body = l.text, l.text[:0]
	return bad
}

func (l *listener) read(ctx context.Context) trouble {
	paused := l.waits(ctx)
	for {
		l.text = grow(l.text, maxReceived+1-len(l.text))
		n, err := l.conn.Read(l.text[len(l.text):min(cap(l.text), maxReceived+1)])
		if n > 0 {
			l.took(n)
			if l.s.ReceivedCut || l.state == assertion.Settled {
				return trouble{}
			}
			paused = l.waits(ctx)
		}
		switch {
		case err == nil:
		case paused && isTimeout(err) && ctx.Err() == nil && time.Now().Before(l.s.deadline):
			l.lookPatiently()
			if l.state != assertion.Open {
				l.s.quiet = time.Since(*l.mark)
				return trouble{}
			}
			paused = false
			l.until(ctx, l.s.deadline)
		default:
			return l.ended(err)
		}
	}
}

// took notes what came, and looks at it if that is due.
func (l *listener) took(n int) {
	if len(l.text) == 0 {
		lap(&l.hop.Phases.Wait, l.mark)
	} else {
		lap(&l.hop.Phases.Transfer, l.mark)
	}
	l.text = l.text[:len(l.text)+n]
	switch {
	case len(l.text) > maxReceived:
		l.text, l.s.ReceivedCut = l.text[:maxReceived], true
	case !l.asserts.JudgesReceived():
		l.state = assertion.Settled
	case len(l.text) >= 2*l.seen || l.spent+len(l.text) <= eagerLooks:
		l.look()
	}
}

func (l *listener) look() {
	l.seen = len(l.text)
	l.spent += l.seen
	l.state = l.asserts.Received(l.text)
}

// lookPatiently looks at what came since the last look.
func (l *listener) lookPatiently() {
	switch {
	case l.seen == len(l.text):
	case l.idly+len(l.text) <= patientOnes:
		l.idly += len(l.text)
		l.look()
	default:
		l.state = assertion.Open // it is judged at the end
	}
}

// waits sets how long the next read may take, and says whether that is for a pause only.
func (l *listener) waits(ctx context.Context) bool {
	if len(l.text) == 0 || l.state == assertion.Open && l.seen == len(l.text) {
		l.until(ctx, l.s.deadline)
		return false
	}
	quiet := leastQuiet + 2*time.Duration(l.hop.Phases.Connect)*time.Microsecond // servers far away pause longer
	l.until(ctx, time.Now().Add(quiet))
	return true
}

// until sets the deadline of reads, not beyond the visit's. The end of ctx, which sets one
// too, stays in force.
func (l *listener) until(ctx context.Context, at time.Time) {
	if at.After(l.s.deadline) {
		at = l.s.deadline
	}
	if _ = l.conn.SetReadDeadline(at); ctx.Err() != nil {
		_ = l.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// ended reads the end of the talk. What came by then is judged, unless nothing came and
// something was wanted.
func (l *listener) ended(err error) trouble {
	timeout, closed := isTimeout(err), errors.Is(err, io.EOF)
	switch {
	case len(l.text) == 0 && l.asserts.WantsSilence() && (timeout || closed):
		if timeout {
			l.s.quiet = time.Since(*l.mark)
		}
		return trouble{}
	case len(l.text) == 0:
		lap(&l.hop.Phases.Wait, l.mark)
		return answerTrouble(err, "waiting for an answer")
	case timeout && l.state == assertion.Holding:
		l.s.quiet = time.Since(*l.mark)
		return trouble{}
	}
	lap(&l.hop.Phases.Transfer, l.mark)
	if timeout || closed {
		return trouble{}
	}
	if l.lookPatiently(); isReset(err) && l.state != assertion.Open {
		return trouble{}
	}
	return answerTrouble(err, "receiving")
}

package probe

import (
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/uptime"
)

const maxMessage = 300 // bytes

// trouble is why a visit did not get through: a failure of the target, or a
// reason of ours. The zero value means there was none. What a failure's message quotes of
// the target is as long as it was, and may be secret, until judge sees to it.
type trouble struct {
	failure uptime.Failure
	reason  uptime.Reason
	message string
}

func (t trouble) none() bool { return t.failure == uptime.FailureNone && t.reason == uptime.ReasonNone }

func failed(failure uptime.Failure, message string) trouble {
	return trouble{failure: failure, message: oneLine(message)}
}

func unknown(reason uptime.Reason, message string) trouble {
	return trouble{reason: reason, message: Message(message)}
}

// oneLine makes text from anywhere fit for one line of a page or a log: valid UTF-8 without
// control characters.
func oneLine(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsPrint(r) && r != ' ' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?")))
}

// Message is a text as a row has it: one line, capped.
func Message(text string) string {
	clean := oneLine(text)
	if len(clean) <= maxMessage {
		return clean
	}
	cut := maxMessage - len("…")
	for !utf8.RuneStart(clean[cut]) {
		cut--
	}
	return clean[:cut] + "…"
}

// micros is a duration in whole microseconds, at least 1 for what took any time
// at all and capped where the store's column ends.
func micros(d time.Duration) uint32 {
	us := (d + time.Microsecond - 1) / time.Microsecond
	return uint32(min(max(us, 0), math.MaxUint32))
}

// lap adds the time since mark to a phase and moves the mark.
func lap(phase *uint32, mark *time.Time) {
	now := time.Now()
	*phase = uint32(min(uint64(*phase)+uint64(micros(now.Sub(*mark))), math.MaxUint32))
	*mark = now
}

// maxShownWord is how many bytes of a word that a server sent are in a message.
const maxShownWord = 80

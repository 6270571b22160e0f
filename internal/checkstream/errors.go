package checkstream

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Refusals of the publish script. A refused call changed nothing, except that a
// FULL one is noted in {pf}:refused.
var (
	ErrStale      = errors.New("this second is published already")
	ErrGap        = errors.New("an earlier second is not published yet")
	ErrSuperseded = errors.New("a newer schedule was adopted")
	ErrFuture     = errors.New("this second is too far ahead of the clock of redis")
	// ErrLost comes with ErrGap: Redis has no clock, so its data was lost. Ask Clock.
	ErrLost = errors.New("redis holds no publisher clock")
)

// FullError says that the stream had no room: nothing of the chunk was added.
type FullError struct {
	FirstRefused int64 // target id; this one and the later ones of the second are not published
}

func (e *FullError) Error() string {
	return fmt.Sprintf("the stream is full: refused from target %d on", e.FirstRefused)
}

// refusal translates a script's error reply into one of the errors above.
func refusal(operation string, err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	code, rest, _ := strings.Cut(text, " ")
	switch code {
	case "STALE":
		return fmt.Errorf("%s: %w", operation, ErrStale)
	case "GAP":
		return fmt.Errorf("%s: %w", operation, ErrGap)
	case "SUPERSEDED":
		return fmt.Errorf("%s: %w", operation, ErrSuperseded)
	case "FUTURE":
		return fmt.Errorf("%s: %w", operation, ErrFuture)
	case "LOST":
		return fmt.Errorf("%s: %w: %w", operation, ErrGap, ErrLost)
	case "FULL":
		first, parseErr := strconv.ParseInt(rest, 10, 64)
		if parseErr == nil {
			return fmt.Errorf("%s: %w", operation, &FullError{FirstRefused: first})
		}
	}
	return fmt.Errorf("%s: %w", operation, err)
}

// answered says whether Redis gave an answer, be it a refusal, rather than none:
// only then is the fate of the request known.
func answered(err error) bool {
	if err == nil || errors.Is(err, redis.Nil) {
		return true
	}
	var reply redis.Error
	return errors.As(err, &reply) && !strings.HasPrefix(err.Error(), "LOADING")
}

// noGroup recognises that the group or the stream is not there (any more), also
// when the embedded server wraps the words of a script's error.
func noGroup(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return strings.Contains(text, "NOGROUP") || strings.Contains(text, "UNBLOCKED")
}

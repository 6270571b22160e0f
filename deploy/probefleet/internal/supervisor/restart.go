package supervisor

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/probefleet/probefleet/internal/service"
)

// Delays between restarts.
const (
	healthyAfter = 5 * time.Second
	apart        = 250 * time.Millisecond // two starts, whatever ended the first
	firstDelay   = 500 * time.Millisecond
	longestDelay = time.Minute
)

// death is how one life of a program ended.
type death struct {
	lived    time.Duration
	healthy  time.Duration // of that, since it answered first
	state    *os.ProcessState
	err      error         // it could not even be started: state is nil
	silent   time.Duration // > 0: it did not answer for so long and was killed
	answered bool
}

func (d death) code() int {
	if d.state == nil {
		return service.ExitFailure
	}
	return d.state.ExitCode() // -1 after a signal
}

// starting says whether it ended before it was any good. A death by signal says
// nothing about that: whoever sent it had a reason of his own.
func (d death) starting() bool {
	if d.silent > 0 {
		return !d.answered
	}
	return d.code() >= 0 && d.healthy < healthyAfter
}

func (d death) String() string {
	switch {
	case d.state == nil:
		return d.err.Error()
	case d.silent > 0:
		return "did not answer for " + d.silent.Round(time.Second).String() + " and was killed"
	}
	return d.state.String()
}

// record is what the next life is told.
func (d death) record(at time.Time) service.LastExit {
	if d.state == nil {
		return service.NewLastExit(service.ResultExitCode, "exited", strconv.Itoa(service.ExitFailure), at, 0)
	}
	status, ok := d.state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		result := service.ResultExitCode
		if d.code() == 0 {
			result = service.ResultSuccess
		}
		return service.NewLastExit(result, "exited", strconv.Itoa(d.code()), at, d.lived)
	}
	result, how := service.ResultSignal, "killed"
	if d.silent > 0 {
		result = service.ResultWatchdog
	}
	if status.CoreDump() {
		how = "dumped"
	}
	return service.NewLastExit(result, how, strings.TrimPrefix(unix.SignalName(status.Signal()), "SIG"), at, d.lived)
}

// backoff decides how long to wait before the next start.
type backoff struct{ delay time.Duration }

// next is the wait after a death: doubling up to a minute, half of it random so
// that programs that fail together do not come back together, while it ends during
// its start; else none but what keeps two starts apart.
func (b *backoff) next(d death) time.Duration {
	if !d.starting() {
		b.delay = 0
		return max(0, apart-d.lived)
	}
	b.delay = min(max(2*b.delay, firstDelay), longestDelay)
	return b.delay/2 + rand.N(b.delay/2)
}

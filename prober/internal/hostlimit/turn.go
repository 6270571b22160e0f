package hostlimit

import (
	"context"
	"time"
)

// Turn is a check's place at its host, or in the queue for one. The zero Turn is a place
// at a host without limits.
type Turn struct {
	hosts *Hosts
	host  *host
	wait  *wait
}

// Waits says whether there is no place yet.
func (t Turn) Waits() bool { return t.wait != nil }

// Await waits for the place. The error is that of ctx, or a *Refused: patience came to an
// end, or the host asked to be left alone. Then there is nothing to leave.
func (t Turn) Await(ctx context.Context, patience time.Duration) error {
	if t.wait == nil {
		return nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-t.wait.answer:
		return t.answered(err)
	case <-ctx.Done():
		if t.hosts.withdraw(t.host, t.wait) {
			return ctx.Err()
		}
	case <-timer.C:
		if t.hosts.withdraw(t.host, t.wait) {
			return t.hosts.metrics.refuse(tooLate())
		}
	}
	return t.answered(<-t.wait.answer) // it came in that very instant
}

func (t Turn) answered(err error) error {
	if err == nil {
		t.hosts.metrics.waited.Observe(time.Since(t.wait.since).Seconds())
	}
	return err
}

// Leave gives the place to the next.
func (t Turn) Leave() {
	if t.host != nil {
		t.hosts.leave(t.host)
	}
}

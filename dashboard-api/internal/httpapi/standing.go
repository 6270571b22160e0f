package httpapi

import (
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/uptime"
)

// settling is how long a slot may be without a row while nothing is wrong, and a while more.
const settling = 5*time.Minute + ledger.DefaultSettle

// Standing is what is known to be missing in figures. It is safe for concurrent use; the zero
// Standing knows of nothing.
type Standing struct{ known atomic.Pointer[standing] }

type standing struct {
	settled time.Time
	aside   availability.Spans
}

// Tell replaces what is known: every slot due before settled has its row (zero: that is not
// known), and of the hours and days aside there are no figures.
func (s *Standing) Tell(settled time.Time, aside availability.Spans) {
	s.known.Store(&standing{settled, aside})
}

// Settled says whether every slot due before an instant has its row, as far as that is known.
func (s *Standing) Settled(at time.Time) bool {
	known := s.told()
	return known.settled.IsZero() || !known.settled.Before(at)
}

// Behind is until when every slot due has its row, if that is longer ago than it is while nothing
// is wrong; zero: it is not, or not known.
func (s *Standing) Behind(now time.Time) time.Time {
	settled := s.told().settled
	if settled.IsZero() || !settled.Add(uptime.Expiry(uptime.MaxInterval)+settling).Before(now) {
		return time.Time{}
	}
	return settled
}

func (s *Standing) told() standing {
	if s != nil {
		if known := s.known.Load(); known != nil {
			return *known
		}
	}
	return standing{}
}

// Lacks are what figures of a range are known not to hold. (Huma passes over embedded types
// that are not exported.)
type Lacks struct {
	KeptSince    nullable[instant] `json:"kept_since,omitzero" doc:"only where the range begins before it: from then on figures are kept. Older ones were dropped, or are about to be: what is missing there was not silence"`
	SettledUntil nullable[instant] `json:"settled_until,omitzero" doc:"only where the range goes on beyond it by more than is usual: slots due since then may be without a row that a prober still has on its disk, or that nobody has accounted for yet. They are in no figure, nor in its bounds"`
	NotComputed  []lack            `json:"not_computed,omitempty" doc:"only where the range has any: hours and days of which figures could not be made. What is missing there was not silence"`
}

type lack struct {
	From instant `json:"from"`
	To   instant `json:"to"`
}

// lacks tells of a range: what is still to come of it lacks nothing.
func (a *api) lacks(of availability.Span) (l Lacks) {
	if now := a.Now(); of.To.After(now) {
		of.To = now
	}
	if since := a.Results.FiguresSince(); of.From.Before(since) {
		l.KeptSince = some(instant(since))
	}
	if settled := a.Standing.Behind(of.To); !settled.IsZero() {
		l.SettledUntil = some(instant(later(settled, of.From)))
	}
	for _, s := range a.Standing.told().aside {
		if s = of.Within(s); !s.Empty() {
			l.NotComputed = append(l.NotComputed, lack{instant(s.From), instant(s.To)})
		}
	}
	return l
}

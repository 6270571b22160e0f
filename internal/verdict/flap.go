package verdict

import (
	"math"
	"time"
)

// bump adds an opened incident to the score, and says whether flapping begins with it.
func (s *step) bump(slot time.Time) (begins bool) {
	rule := s.rules.Policy.Flapping
	if rule.Off {
		s.Flap = Flap{}
		return false
	}
	halfLife := rule.halfLife(s.rules.Interval)
	begin, end := rule.bounds()
	score := 1.0
	if s.Flap.Score > 0 {
		score += s.Flap.Score * math.Exp2(-float64(s.At.Sub(s.Flap.At))/float64(halfLife))
	}
	score = min(score, scoreCap)
	begins = !s.Flap.Active && score >= begin
	s.Flap = Flap{Score: score, At: s.At, Active: s.Flap.Active || begins, Slot: slot}
	if s.Flap.Active {
		left := time.Duration(float64(halfLife) * math.Log2(score/end))
		s.Flap.EndsAt = s.At.Add(left).Truncate(time.Millisecond)
	}
	return begins
}

// flapEnd is when flapping is over: the score has sunk, or it has been down for so long
// that this is an outage.
func (s *FoldState) flapEndOf(rules Rules) time.Time {
	end := s.Flap.EndsAt
	if s.Incident != nil {
		if steady := s.Incident.OpenedAt.Add(halfLifeSlots * rules.Interval); steady.Before(end) {
			return steady
		}
	}
	return end
}

func (s *step) flapEnd() time.Time { return s.flapEndOf(s.rules) }

// calm ends flapping. If it is down then, people hear of it now.
func (s *step) calm() {
	slot := s.Flap.Slot
	if s.Incident == nil {
		s.Flap = Flap{}
		s.decide(FlappingEnded, slot, "", NotifyNote, "It flaps no more", s.why())
		return
	}
	i := *s.Incident
	s.Flap = Flap{Score: 1, At: i.OpenedAt}
	notify := NotifyNobody
	if !i.Told {
		i.Told, notify = true, NotifyPage
		s.Incident = &i
	}
	d := s.decide(FlappingEnded, i.Slot, i.Severity, notify, "It flaps no more, and is still "+string(i.Severity)+", since "+clock(i.Began), s.why())
	d.Began = i.Began
}

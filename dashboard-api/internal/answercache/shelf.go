package answercache

import (
	"container/list"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
)

const (
	// manyTargets is from when on an answer is taken for one about all: finding it for each
	// of its targets would cost more than asking again.
	manyTargets = 100
	// overhead is about what an entry takes besides its texts.
	overhead = 400
)

// shelf holds answers, and finds those that a write changes.
type shelf struct {
	byKey    map[string]*list.Element
	byTarget map[int64]map[*entry]struct{}
	general  map[*entry]struct{} // about all targets
	order    *list.List          // of *entry, the most recently used in front
	bytes    int
}

type entry struct {
	question Question
	answer   Answer
	size     int
}

func newShelf() *shelf {
	return &shelf{byKey: map[string]*list.Element{}, byTarget: map[int64]map[*entry]struct{}{}, general: map[*entry]struct{}{}, order: list.New()}
}

// general says that an answer is about all targets, or taken for one.
func (q Question) general() bool { return len(q.Targets) == 0 || len(q.Targets) > manyTargets }

func (s *shelf) get(key string, now time.Time) (Answer, bool) {
	element, found := s.byKey[key]
	if !found {
		return Answer{}, false
	}
	e := element.Value.(*entry)
	if !now.Before(e.answer.Until) || now.Before(e.answer.At) { // a clock may be put back
		s.drop(e)
		return Answer{}, false
	}
	s.order.MoveToFront(element)
	return e.answer, true
}

// put keeps an answer, and drops others until all together are at most so large. An
// answer of more than an eighth of that is not kept: it would push all others out.
func (s *shelf) put(q Question, answer Answer, most int) {
	if old, found := s.byKey[q.Key]; found {
		s.drop(old.Value.(*entry))
	}
	e := &entry{question: q, answer: answer, size: len(answer.Body) + len(q.Key) + overhead}
	if q.general() {
		e.question.Targets = nil
	}
	e.size += 100 * len(e.question.Targets)
	if e.size > most/8 {
		return
	}
	s.byKey[q.Key] = s.order.PushFront(e)
	s.bytes += e.size
	if e.question.general() {
		s.general[e] = struct{}{}
	}
	for _, id := range e.question.Targets {
		if s.byTarget[id] == nil {
			s.byTarget[id] = map[*entry]struct{}{}
		}
		s.byTarget[id][e] = struct{}{}
	}
	for s.bytes > most {
		s.drop(s.order.Back().Value.(*entry))
	}
}

func (s *shelf) drop(e *entry) {
	s.order.Remove(s.byKey[e.question.Key])
	delete(s.byKey, e.question.Key)
	delete(s.general, e)
	for _, id := range e.question.Targets {
		if delete(s.byTarget[id], e); len(s.byTarget[id]) == 0 {
			delete(s.byTarget, id)
		}
	}
	s.bytes -= e.size
}

// dropOf drops what is made of slots of a target, or of all, in a span.
func (s *shelf) dropOf(target int64, span availability.Span) {
	if target == AllTargets {
		for _, element := range s.byKey {
			if e := element.Value.(*entry); e.question.Span.Touches(span) {
				s.drop(e)
			}
		}
		return
	}
	for _, of := range []map[*entry]struct{}{s.byTarget[target], s.general} {
		for e := range of {
			if e.question.Span.Touches(span) {
				s.drop(e)
			}
		}
	}
}

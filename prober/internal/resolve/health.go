package resolve

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	controlEvery = time.Second // at most one round of control questions to a server
	maxWitnesses = 16
	maxControls  = 3           // questions of a round: the witnesses' own zones may be broken
	rounding     = time.Second // a server that counts in seconds may hold an answer for so much longer
)

// ServerState is how one server is, for health pages.
type ServerState struct {
	Server      string    `json:"server"`
	OK          bool      `json:"ok"`    // false after a control question failed, until one is answered
	Since       time.Time `json:"since"` // of OK
	LastError   string    `json:"last_error,omitempty"`
	LastErrorAt time.Time `json:"last_error_at,omitzero"`
}

// server is one server and the judgement of its health.
type server struct {
	name      string
	transport transport

	mu        sync.Mutex
	state     ServerState
	sent      time.Duration // when the last round of control questions was sent
	proven    time.Duration // what was sent then was resolved, and not out of the server's cache
	denied    time.Duration // the last round without an answer ended then
	running   chan struct{} // closed at the end of the round that is under way; nil: none is
	witnesses []witness
}

// witness is a question that the server resolved. Once its answer has run out, resolving
// it again takes more than the server's cache.
type witness struct {
	question dns.Question
	runsOut  time.Duration
}

func newServer(name string, t transport) *server {
	return &server{name: name, transport: t, sent: -controlEvery, proven: -1, denied: -1, state: ServerState{Server: name, OK: true, Since: time.Now()}}
}

func (s *server) current() ServerState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *server) ok() bool { return s.current().OK }

func (s *server) failed(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.LastError, s.state.LastErrorAt = what, time.Now()
}

// remember takes in that a question sent at sent was answered for a while. That proves
// that the server works if the answer before had run out. Kept are the names that run out
// first.
func (s *server) remember(question dns.Question, sent, runsOut time.Duration) (proof bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := 0
	for i, w := range s.witnesses {
		if w.question == question {
			s.witnesses[i].runsOut = runsOut
			return w.runsOut+rounding <= sent
		}
		if w.runsOut > s.witnesses[last].runsOut {
			last = i
		}
	}
	if len(s.witnesses) < maxWitnesses {
		s.witnesses = append(s.witnesses, witness{question, runsOut})
	} else if runsOut < s.witnesses[last].runsOut {
		s.witnesses[last] = witness{question, runsOut}
	}
	return false
}

func (s *server) forget(question dns.Question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.witnesses = slices.DeleteFunc(s.witnesses, func(w witness) bool { return w.question == question })
}

// controls gives the questions of a round: names in other domains than the suspect's,
// and of each other, whose answers have run out.
func (s *server) controls(suspect string, now time.Duration) []dns.Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	var chosen []dns.Question
	for _, w := range s.witnesses {
		name := strings.TrimSuffix(w.question.Name, ".")
		alike := func(q dns.Question) bool { return sameDomain(strings.TrimSuffix(q.Name, "."), name) }
		if now >= w.runsOut+rounding && !sameDomain(name, suspect) && !slices.ContainsFunc(chosen, alike) {
			chosen = append(chosen, w.question)
		}
		if len(chosen) == maxControls {
			return chosen
		}
	}
	if len(chosen) == 0 {
		chosen = append(chosen, dns.Question{Name: ".", Qtype: dns.TypeNS, Qclass: dns.ClassINET})
	}
	return chosen
}

// provenSince says whether the server resolved something that was sent at or after since.
func (s *server) provenSince(since time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proven >= since
}

// suspect sees to it that control questions are sent, unless it is known since then
// whether the server works. The channel is closed when something becomes known; nil means
// that nothing more will.
func (r *Resolver) suspect(s *server, name string, since time.Duration) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proven >= since || s.denied >= since {
		return nil
	}
	if s.running != nil {
		return s.running
	}
	ended := make(chan struct{})
	if !r.start(controlEvery+2*r.patience, func(ctx context.Context) { r.control(ctx, s, name, ended) }) {
		return nil
	}
	s.running = ended
	return ended
}

// vouched waits until it is known whether the server works, from what was sent at or
// after since.
func (r *Resolver) vouched(ctx context.Context, s *server, name string, since time.Duration) bool {
	for {
		ended := r.suspect(s, name, since)
		if ended == nil {
			return s.provenSince(since)
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return false
		}
	}
}

// control sends one round of control questions. One answer is enough.
func (r *Resolver) control(ctx context.Context, s *server, suspect string, ended chan struct{}) {
	s.mu.Lock()
	rest := s.sent + controlEvery - r.now()
	s.mu.Unlock()
	pause(ctx, rest)
	sent := r.now()
	works, what := r.anyAnswer(ctx, s, s.controls(suspect, sent))
	r.known(s, sent, works, what)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent, s.running = sent, nil
	close(ended)
}

// known takes in whether the server works, from what was sent at sent.
func (r *Resolver) known(s *server, sent time.Duration, works bool, what string) {
	s.mu.Lock()
	changed := s.state.OK != works
	if changed {
		s.state.OK, s.state.Since = works, time.Now()
	}
	if works {
		s.proven = max(s.proven, sent)
	} else {
		s.denied = r.now()
		s.state.LastError, s.state.LastErrorAt = what, time.Now()
	}
	s.mu.Unlock()
	switch {
	case changed && works:
		r.log.Info("the name server resolves again", "server", s.name)
	case changed:
		r.log.Warn("the name server does not resolve", "server", s.name, "error", what)
	}
}

// anyAnswer asks all questions at once, until one is answered; else it says what became of another.
func (r *Resolver) anyAnswer(ctx context.Context, s *server, questions []dns.Question) (answer bool, what string) {
	var asking sync.WaitGroup
	defer asking.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan reading, len(questions))
	for _, q := range questions {
		asking.Go(func() { results <- r.testify(ctx, s, q) })
	}
	for range questions {
		got := <-results
		if got.outcome.settles() {
			return true, ""
		}
		what = got.detail
	}
	return false, what
}

// testify asks one control question.
func (r *Resolver) testify(ctx context.Context, s *server, q dns.Question) reading {
	sent := r.now()
	got := r.try(ctx, s, q)
	switch {
	case q.Qtype == dns.TypeNS && got.outcome != answered:
		if got.outcome.settles() {
			got.outcome, got.detail = referral, "it does not know the root's name servers"
		}
	case q.Qtype == dns.TypeNS:
	case got.outcome.settles():
		s.remember(q, sent, r.now()+got.ttl)
	case ctx.Err() == nil || got.outcome == servfail:
		s.forget(q) // its own zone may be what is broken
	}
	return got
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

package resolve

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/miekg/dns"
)

const noSuchName = "no such host name"

// flight is one question under way, for everybody who wants its answer.
type flight struct {
	question question
	doubted  string // a server that is asked last
	began    time.Duration
	done     chan struct{} // closed when part is known
	part     part

	failures []failure // guarded by Resolver.mu
}

// failure is a server that did not say anything about the name.
type failure struct {
	server *server
	sent   time.Duration
	reading
	whole bool // it had all the time that a server gets
}

// landed never receives for no flight.
func (f *flight) landed() <-chan struct{} {
	if f == nil {
		return nil
	}
	return f.done
}

// fly gets the answer, keeps it, and hands it out.
func (r *Resolver) fly(ctx context.Context, f *flight) {
	p := r.resolve(ctx, f)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cache.put(f.question.name, f.question.place, p)
	delete(r.flights, f.question)
	f.part = p
	close(f.done)
}

// resolve gets what the servers say about the flight's name, or says whose fault it is
// that they say nothing.
func (r *Resolver) resolve(ctx context.Context, f *flight) part {
	s, got := r.tour(ctx, f, f.question.wire())
	if s == nil {
		return r.judge(ctx, f)
	}
	return r.partOf(f, s.name, got)
}

// tour asks one server after the other, until one says something about the name; nil when
// none did. A server that was silent may be asked twice: datagrams get lost.
func (r *Resolver) tour(ctx context.Context, f *flight, wire dns.Question) (*server, reading) {
	all := r.servers.Load()
	order := all.inOrder()
	if i := slices.IndexFunc(order, func(s *server) bool { return s.name == f.doubted }); i >= 0 {
		order = append(slices.Concat(order[:i], order[i+1:]), order[i])
	}
	silent, moved := 0, false
	spoken := make([]bool, len(order))
	for i := 0; i < 2*len(order) && silent < min(tries, max(2, len(order))); i++ {
		s := order[i%len(order)]
		if spoken[i%len(order)] {
			continue
		}
		if !r.takeSlot(ctx) {
			break
		}
		sent := r.now()
		got := r.try(ctx, s, wire)
		<-r.slots
		if got.outcome.settles() {
			if moved {
				all.prefer(s)
			}
			r.learn(s, wire, sent, got)
			return s, got
		}
		if got.outcome == silence || got.outcome == malformed {
			silent++
		} else {
			spoken[i%len(order)] = true
		}
		moved = moved || got.outcome != servfail
		r.note(f, failure{server: s, sent: sent, reading: got, whole: r.now()-sent >= r.patience})
		r.suspect(s, f.question.name, sent)
	}
	return nil, reading{}
}

// takeSlot waits for room for one question.
func (r *Resolver) takeSlot(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case r.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// try asks one server once.
func (r *Resolver) try(whole context.Context, s *server, q dns.Question) (got reading) {
	defer func() {
		if thrown := recover(); thrown != nil { // over what a stranger's zone sent
			r.log.Error("reading an answer panicked", "server", s.name, "panic", fmt.Sprint(thrown), "stack", string(debug.Stack()))
			got = reading{outcome: malformed, detail: errMalformed.Error()}
		}
	}()
	ctx, cancel := context.WithTimeout(whole, r.patience)
	defer cancel()
	began := r.now()
	m, err := s.transport.exchange(ctx, newQuery(q, true))
	if err == nil && KnowsNoEDNS(m) {
		m, err = s.transport.exchange(ctx, newQuery(q, false))
	}
	if err == nil {
		got = read(q, m)
		got.message = m
	} else {
		got.outcome, got.detail = failing(err)
	}
	if !errors.Is(whole.Err(), context.Canceled) { // nobody wants to know any more
		r.metrics.asked(s.name, got.outcome, r.now()-began)
	}
	return got
}

func (r *Resolver) note(f *flight, one failure) {
	if one.outcome != servfail {
		one.server.failed(one.detail)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f.failures = append(f.failures, one)
}

// learn draws from an answer what it says about the server. Only addresses are remembered
// as proof that it works.
func (r *Resolver) learn(s *server, q dns.Question, sent time.Duration, got reading) {
	if got.outcome == answered && slices.Contains(questionTypes[:], q.Qtype) && s.remember(q, sent, r.now()+got.ttl) {
		r.known(s, sent, true, "")
	} else if !s.ok() {
		r.suspect(s, "", sent)
	}
}

// partOf keeps what a server said about the name.
func (r *Resolver) partOf(f *flight, server string, got reading) part {
	name := f.question.name
	now := r.now()
	p := part{learned: now, expires: now + hold(got.outcome, got.ttl), server: server}
	switch got.outcome {
	case answered:
		p.addrs, p.final = rank(got.addrs, r.reachable), name
		if final := normal(got.final); final != name {
			p.final = ""
			if misnamed(final) == "" {
				p.final = final
			}
		}
	case noName:
		p.err = &NotFound{Host: name, Server: server, What: noSuchName}
	case noData:
		p.err = &NotFound{Host: name, Server: server, What: noAddress(V4 + Family(f.question.place))}
	default:
		p.err = &Broken{Host: name, Server: server, What: got.detail}
	}
	return p
}

// judge says whose fault it is that no server said anything about the name.
func (r *Resolver) judge(ctx context.Context, f *flight) part {
	r.mu.Lock()
	failures := f.failures
	r.mu.Unlock()
	if errors.Is(ctx.Err(), context.Canceled) {
		return r.unknown(&Trouble{Host: f.question.name, What: ErrClosed.Error(), cause: ErrClosed})
	}
	if len(failures) == 0 {
		return r.unknown(&Trouble{Host: f.question.name, What: "too many look-ups are under way", Silent: true})
	}
	looked := map[*server]bool{}
	for _, one := range slices.Backward(failures) {
		if !looked[one.server] && one.blames() && r.vouched(ctx, one.server, f.question.name, one.sent) {
			return r.unknown(one.broken(f.question.name))
		}
		looked[one.server] = true
	}
	last := failures[len(failures)-1]
	return r.unknown(&Trouble{Host: f.question.name, Server: last.server.name, What: last.detail, Silent: last.outcome == silence})
}

// blamed gives what the failures so far say of the name, nil when nothing for certain.
func (r *Resolver) blamed(f *flight) *Broken {
	r.mu.Lock()
	failures := f.failures
	r.mu.Unlock()
	for _, one := range failures {
		if one.blames() && one.server.provenSince(one.sent) {
			return one.broken(f.question.name)
		}
	}
	return nil
}

// blames says whether the failure is the name's if the server works.
func (one *failure) blames() bool {
	return one.outcome == servfail || one.outcome == silence && one.whole
}

func (one *failure) broken(name string) *Broken {
	what := "its name servers do not answer in time"
	if one.outcome == servfail {
		what = "its name servers do not answer (" + one.detail + ")"
	}
	return &Broken{Host: name, Server: one.server.name, What: what}
}

// unknown keeps an error for as long as errors are kept.
func (r *Resolver) unknown(err error) part {
	now := r.now()
	return part{learned: now, expires: now + heldFailure, err: err}
}

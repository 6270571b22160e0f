package resolve

import (
	"context"
	"errors"
	"time"

	"github.com/miekg/dns"
)

// Exchange asks one question of any type and gives the answer as it came: past the cache,
// the hosts file and all rules about names. The servers are asked in order, as for a
// look-up, and the same judgement is made: an answer is one that says something about the
// name, NXDOMAIN included, and SERVFAIL when the server is known to resolve other names.
// Else the error is the target's *Broken or our *Trouble. Answers are at most 4096 bytes;
// a longer one ends in a *Trouble, for the bound is ours.
func (r *Resolver) Exchange(ctx context.Context, asked dns.Question) (*dns.Msg, error) {
	name := normal(asked.Name)
	f := &flight{done: make(chan struct{}), question: question{name: name}, began: r.now()}
	limit := time.Duration(tries+1) * r.patience
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline))
	}
	if r.system {
		r.followSystem()
	}
	var answer *dns.Msg
	started := r.start(limit, func(whole context.Context) {
		defer close(f.done)
		whole, cancel := context.WithCancel(whole)
		defer cancel()
		defer context.AfterFunc(ctx, func() {
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) { // that one whole has too
				cancel()
			}
		})()
		answer, f.part.err = r.exchange(whole, f, asked)
	})
	if !started {
		return nil, &Trouble{Host: name, What: ErrClosed.Error(), cause: ErrClosed}
	}
	<-f.done // which is soon after the end of ctx
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, &Trouble{Host: name, What: "given up", cause: ctx.Err()}
	}
	return answer, f.part.err
}

func (r *Resolver) exchange(ctx context.Context, f *flight, asked dns.Question) (*dns.Msg, error) {
	s, got := r.tour(ctx, f, asked)
	switch {
	case s == nil:
		return r.silent(ctx, f)
	case got.message == nil:
		return nil, &Trouble{Host: f.question.name, Server: s.name, What: got.detail}
	}
	return got.message, nil
}

// silent says what it means that no server said anything about the name.
func (r *Resolver) silent(ctx context.Context, f *flight) (*dns.Msg, error) {
	err := r.judge(ctx, f).err
	if early := r.blamed(f); early != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = early
	}
	broken, theirs := errors.AsType[*Broken](err)
	if !theirs {
		return nil, err
	}
	for _, one := range f.failures {
		if one.outcome == servfail && one.server.name == broken.Server {
			return one.message, nil
		}
	}
	return nil, err
}

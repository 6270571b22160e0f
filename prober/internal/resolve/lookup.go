package resolve

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// source is where an answer may come from.
type source int

const (
	kept      source = iota // the cache, as far as it goes
	fresh                   // a server
	elsewhere               // a server, better another than the last
)

// ask gets what the cache does not have, or everything, together with everybody else who
// wants it.
func (r *Resolver) ask(ctx context.Context, name string, family Family, how source) (Answer, error) {
	var have [2]part
	var pending [2]*flight
	now := r.now()
	r.mu.Lock()
	var last [2]string
	switch e := r.cache.get(name); {
	case e == nil:
	case how == kept:
		have = e.parts
	case how == elsewhere:
		last = [2]string{e.parts[0].server, e.parts[1].server}
	}
	for at := range have {
		if !family.includes(at) {
			have[at] = part{}
		} else if !have[at].fresh(now) {
			have[at] = part{}
			pending[at] = r.join(question{name, at}, last[at])
		}
	}
	r.mu.Unlock()
	return r.await(ctx, name, family, have, pending)
}

// join gives the flight of a question, which it starts if there is none, at another server than
// the one named.
func (r *Resolver) join(q question, doubted string) *flight {
	f := r.flights[q]
	if f == nil {
		f = &flight{done: make(chan struct{}), question: q, doubted: doubted, began: r.now()}
		if r.startLocked((tries+1)*r.patience, func(ctx context.Context) { r.fly(ctx, f) }) {
			r.flights[q] = f
		} else {
			f.part.err = &Trouble{Host: q.name, What: ErrClosed.Error(), cause: ErrClosed}
			close(f.done)
		}
	}
	return f
}

// await puts the answer together as its parts come in. When one family has addresses,
// the other is not waited for much longer.
func (r *Resolver) await(ctx context.Context, name string, family Family, have [2]part, pending [2]*flight) (Answer, error) {
	var enough <-chan time.Time
	waited := false
	for pending[0] != nil || pending[1] != nil {
		if enough == nil && (len(have[0].addrs) > 0 || len(have[1].addrs) > 0) {
			rest := r.graceLeft(ctx, &have, &pending)
			if rest <= 0 {
				break
			}
			timer := time.NewTimer(rest)
			defer timer.Stop()
			enough = timer.C
		}
		waited = true
		select {
		case <-pending[0].landed():
			have[0], pending[0] = pending[0].part, nil
			continue
		case <-pending[1].landed():
			have[1], pending[1] = pending[1].part, nil
			continue
		case <-enough:
		case <-ctx.Done():
			return Answer{}, r.givenUp(ctx, name, family, have, pending)
		}
		break
	}
	answer, err := combine(name, family, &have, r.now())
	answer.Cached = !waited
	return answer, err
}

// graceLeft is how much longer the family that is missing is waited for.
func (r *Resolver) graceLeft(ctx context.Context, have *[2]part, pending *[2]*flight) time.Duration {
	from := max(have[0].learned, have[1].learned)
	for _, f := range pending {
		if f != nil {
			from = max(from, f.began)
		}
	}
	rest := from + grace - r.now()
	if deadline, ok := ctx.Deadline(); ok {
		rest = min(rest, time.Until(deadline)/4)
	}
	return rest
}

// givenUp is the error of a caller whose time is over while questions are out.
func (r *Resolver) givenUp(ctx context.Context, name string, family Family, have [2]part, pending [2]*flight) error {
	for at, f := range pending {
		if f == nil {
			continue
		}
		if broken := r.blamed(f); broken != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			have[at].err = broken
			continue
		}
		have[at].err = &Trouble{Host: name, What: "no answer in time", Silent: true, cause: ctx.Err()}
	}
	if len(have[0].addrs) > 0 || len(have[1].addrs) > 0 { // too late to use them
		return &Trouble{Host: name, What: "no answer in time", Silent: true, cause: ctx.Err()}
	}
	_, err := combine(name, family, &have, r.now())
	return err
}

// combine makes one answer of what is known of the families. Addresses outweigh any error,
// and of errors: that there is no such name goes for all families (RFC 8020 §2); then what
// keeps us from knowing; then what is wrong with the name.
func combine(name string, family Family, have *[2]part, now time.Duration) (Answer, error) {
	v4, v6 := have[0].addrs, have[1].addrs
	if !family.includes(0) {
		v4 = nil
	}
	if !family.includes(1) {
		v6 = nil
	}
	if len(v4) == 0 && len(v6) == 0 {
		return Answer{}, worst(name, family, have)
	}
	source := &have[0]
	if len(v4) == 0 {
		source = &have[1]
	}
	answer := Answer{Addrs: merge(v4, v6), Name: source.final, Server: source.server, TTL: source.expires - now}
	if len(v4) > 0 && len(v6) > 0 {
		answer.TTL = min(answer.TTL, have[1].expires-now)
	}
	answer.TTL = max(answer.TTL, 0)
	return answer, nil
}

func worst(name string, family Family, have *[2]part) error {
	var gravest error
	heaviest := 0
	for at := range have {
		if !family.includes(at) || have[at].err == nil {
			continue
		}
		if w := weight(have[at].err); w > heaviest {
			gravest, heaviest = have[at].err, w
		}
	}
	if heaviest == 1 {
		return &NotFound{Host: name, Server: serverOf(have), What: noAddress(family)}
	}
	return gravest
}

func weight(err error) int {
	switch err := err.(type) { //nolint:errorlint // these are made here and never wrapped
	case *NotFound:
		if err.What == noSuchName {
			return 4
		}
		return 1
	case *Broken:
		return 2
	}
	return 3
}

func serverOf(have *[2]part) string {
	if have[0].server != "" {
		return have[0].server
	}
	return have[1].server
}

// LookupNetIP is Lookup as net.Resolver has it. Its errors are *net.DNSError that wrap
// those of Lookup: IsNotFound when it is the target's failure, a broken zone included.
func (r *Resolver) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	family, ok := map[string]Family{"ip": Both, "ip4": V4, "ip6": V6}[network]
	if !ok {
		return nil, &net.DNSError{Err: "no such network: " + network, Name: host}
	}
	answer, err := r.Lookup(ctx, host, family)
	if err == nil {
		return answer.Addrs, nil
	}
	told := &net.DNSError{UnwrapErr: err, Err: err.Error(), Name: host, IsNotFound: true}
	if trouble, ours := errors.AsType[*Trouble](err); ours {
		told.IsNotFound, told.IsTimeout, told.IsTemporary = false, trouble.Silent, true
		told.Server = trouble.Server
	}
	return nil, told
}

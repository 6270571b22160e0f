package probe

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"sync"

	"github.com/probefleet/probefleet/internal/assertion"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
)

// visitor makes the visits of one target. It is safe for concurrent use.
type visitor interface {
	// visit looks at the target once and leaves all it sees in s, its hops included.
	// It ends at s.deadline, which ctx does not know (s.within), and gives up early when
	// ctx ends (the trouble then means nothing). What it sees is judged by the caller: trouble is only what kept it from
	// seeing the whole.
	visit(ctx context.Context, s *sighting) trouble
	// command is a line for a shell that does much the same, without secrets.
	command() string
}

// blueprint is what a visitor is made of.
type blueprint struct {
	url     string
	spec    uptime.Spec
	asserts *assertion.Set
	follow  bool // redirects, unless the spec says otherwise
	secrets *keyring
}

// compiler makes a visitor. An error says, to people, why this prober cannot.
type compiler func(blueprint) (visitor, error)

// plan is a target made ready: everything that can be worked out before a visit.
type plan struct {
	kind    uptime.Kind
	url     string
	text    uptime.SpecText
	visitor visitor
	expect  *uptime.Expect // nil: there are no status codes, or an assertion judges them
	asserts *assertion.Set
	secrets []string
	bad     trouble // why no visit is possible
	printed printed // what a visit saw last that was up
}

// weight is about how many bytes it keeps.
func (p *plan) weight() int {
	sum := plainPlan + len(p.url) + 3*len(p.text) // as it came, as it was read, and as it is sent
	for _, secret := range p.secrets {
		sum += len(secret)
	}
	return sum
}

// keep is how many bytes of a body a visit keeps.
func (p *plan) keep() int {
	if p.asserts.NeedsBody() {
		return p.asserts.BodyLimit()
	}
	return uptime.MaxEvidenceBody
}

// Bounds of the memory of plans, in bytes. One takes about a kilobyte; what it sends, and knows
// of secrets, may be some hundred more.
const (
	plainPlan = 1 << 10
	maxPlans  = 128 << 20 // of all
)

// plans keeps the plan of each target. A check whose URL or spec differs from the plan's
// makes a new one; an older check that is still on its way makes it again. A check on demand
// is of no target and seldom made twice: its plan is not kept.
type plans struct {
	compilers map[uptime.Kind]compiler
	open      func(uptime.Sealed) (secret.Text, error)

	// What most targets have in common, once for all of them.
	silent   *assertion.Set // asserts nothing
	anything *uptime.Expect // is content with what is good where nothing is said
	demands  *demands

	mu    sync.RWMutex
	all   map[int64]*plan // by target
	bytes int             // of all of them
}

func newPlans(o Options, compilers map[uptime.Kind]compiler) *plans {
	return &plans{compilers: compilers, open: o.Open, silent: &assertion.Set{}, anything: &uptime.Expect{}, demands: newDemands(), all: map[int64]*plan{}}
}

// visited tells what is visited apart: a target by its id, and what a check on demand looks
// at, which has none, by its URL.
func visited(check *uptime.Check) int64 {
	if check.TargetID != 0 {
		return check.TargetID
	}
	hash := fnv.New64a()
	_, _ = io.WriteString(hash, check.URL)
	return -1 - int64(hash.Sum64()>>1)
}

func (l *plans) of(check *uptime.Check) *plan {
	id := check.TargetID
	if id == 0 {
		return l.compile(check)
	}
	l.mu.RLock()
	p := l.all[id]
	l.mu.RUnlock()
	if p != nil && p.text == check.Spec && p.url == check.URL && p.kind == check.Kind {
		return p
	}
	p = l.compile(check)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(id)
	l.bytes += p.weight()
	if l.bytes > maxPlans {
		for other := range l.all { // any: whichever is needed again is made again
			if l.drop(other); l.bytes < maxPlans*9/10 {
				break
			}
		}
	}
	l.all[id] = p
	return p
}

// drop forgets a plan, if there is one.
func (l *plans) drop(id int64) {
	if p := l.all[id]; p != nil {
		l.bytes -= p.weight()
		delete(l.all, id)
	}
}

func (l *plans) compile(check *uptime.Check) *plan {
	p := &plan{kind: check.Kind, url: check.URL, text: check.Spec}
	if err := l.fill(p); err != nil {
		p.bad = unknown(uptime.ReasonInternal, "this prober cannot run the check: "+err.Error())
	}
	return p
}

func (l *plans) fill(p *plan) error {
	compile, known := l.compilers[p.kind]
	if !known {
		return fmt.Errorf("it has no checks of kind %q", p.kind)
	}
	spec, err := p.text.Spec()
	if err != nil {
		return err
	}
	if err := visitable(spec); err != nil {
		return err
	}
	if p.asserts = l.silent; len(spec.Assertions) > 0 {
		if p.asserts, err = l.demands.compile(spec.Assertions); err != nil {
			return err
		}
	}
	b := blueprint{url: p.url, spec: spec, asserts: p.asserts, follow: !p.asserts.WantsOnlyRedirects()}
	if !p.asserts.JudgesStatus() && p.kind == uptime.KindHTTP {
		if p.expect = l.anything; !spec.Expect.IsZero() { // not its address, which would keep the whole spec
			p.expect = &uptime.Expect{Status: spec.Expect.Status}
		}
		b.follow = b.follow && !wantsOnlyRedirects(spec.Expect)
	}
	b.secrets = &keyring{unseal: l.open}
	b.secrets.noteQuery(p.url)
	p.visitor, err = compile(b)
	p.secrets = b.secrets.opened
	return err
}

// visitable refuses what a newer release may ask for by values this one has no names for: to visit in another
// way would be to call up what may be down.
func visitable(spec uptime.Spec) error {
	switch spec.Family {
	case uptime.FamilyAny, uptime.FamilyV4, uptime.FamilyV6:
	default:
		return fmt.Errorf("it knows no addresses of family %q", spec.Family)
	}
	if spec.HTTP == nil {
		return nil
	}
	switch spec.HTTP.Version {
	case uptime.HTTP1, uptime.HTTP2, uptime.HTTP3, uptime.HTTPBest:
		return nil
	}
	return fmt.Errorf("it knows no HTTP version %q", spec.HTTP.Version)
}

// wantsOnlyRedirects is true for a target that expects redirects and nothing else.
func wantsOnlyRedirects(expect uptime.Expect) bool {
	for _, r := range expect.Status {
		if r.From < 300 || r.To > 399 {
			return false
		}
	}
	return len(expect.Status) > 0
}

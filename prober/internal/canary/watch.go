package canary

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	idle  = 10 * time.Second // between the beginnings of two rounds
	quick = time.Second      // the same, while they are bad

	// Patience is how long a failure waits for a round at most.
	Patience = 2 * time.Second
)

// Options are what a watch needs.
type Options struct {
	Canaries []Canary // none: everything is believed
	Names    Names
	Announce func(context.Context, Round) error // tells the region's rounds to others; may be called again with the same
	Health   func(bad string)                   // told after each round; empty: good
	Log      *slog.Logger
	Metrics  prometheus.Registerer
}

// Round is a round that was decided.
type Round struct {
	Began, Decided time.Time
	Good           bool
	Said           string // of a bad one: which canaries did not answer, and why
}

// Watch makes the rounds and judges failures by them. It is safe for concurrent use.
type Watch struct {
	o       Options
	metrics *metrics
	started time.Time
	wake    chan struct{} // holds a token when a round may be due earlier
	tell    chan struct{} // holds a token when there is a newest round to tell
	visits  sync.WaitGroup

	mu     sync.Mutex
	sights []Sight   // of each canary, its newest
	began  time.Time // the newest round
	usual  pace
	brisk  pace
	wanted bool  // something failed and no round has begun since
	urgent bool  // the same of what was not down before
	newest Round // of those that were decided the one that began last

	lastGood, lastBad time.Time // when the newest good one and the newest bad one were decided
	badSaid           string    // of the newest bad one

	waiting []failure // in the order they came
	over    bool      // nobody makes rounds any more

	down standing
}

// failure is a check that waits to be believed.
type failure struct {
	target       int64
	began, ended time.Time
	then         func(doubt string)
}

// round is one that is under way.
type round struct {
	began            time.Time
	answered, failed int
	behind           map[netip.Addr]string // the name that each address answered for
	said             []string              // of those that failed
	decided          bool
}

// impostor says whether the address has answered for another name before: a resolver that
// lies gives the same for all.
func (r *round) impostor(c Canary, addr netip.Addr) error {
	if !c.isName() {
		return nil
	}
	if other, known := r.behind[addr]; known && other != c.host {
		return fmt.Errorf("its name and %s lead to the same address", other)
	}
	r.behind[addr] = c.host
	return nil
}

// New makes a watch. Run must be running for anything to be believed.
func New(o Options) *Watch {
	w := &Watch{o: o, wake: make(chan struct{}, 1), tell: make(chan struct{}, 1), started: time.Now(), usual: usual(), brisk: brisk()}
	for _, c := range o.Canaries {
		w.sights = append(w.sights, Sight{Name: c.String()})
	}
	w.metrics = newMetrics(o.Metrics, w)
	return w
}

// On says whether there are canaries.
func (w *Watch) On() bool { return len(w.o.Canaries) > 0 }

// Run makes rounds until ctx ends. Then nobody waits any longer: what did is not believed.
func (w *Watch) Run(ctx context.Context) error {
	if !w.On() {
		return nil
	}
	var telling sync.WaitGroup
	telling.Go(func() { w.announce(ctx) })
	for ctx.Err() == nil {
		wait := w.turn(ctx)
		select {
		case <-time.After(wait):
		case <-w.wake:
		case <-ctx.Done():
		}
	}
	w.mu.Lock()
	left := w.waiting
	w.waiting, w.over = nil, true
	w.mu.Unlock()
	w.answer(left, stopped)
	w.visits.Wait()
	telling.Wait()
	return nil
}

const stopped = "the prober stopped before a canary answered"

// turn does what is due, and says how long it is until something may be.
func (w *Watch) turn(ctx context.Context) time.Duration {
	w.mu.Lock()
	now := time.Now() // within: who failed before the round of now is served by it
	given := 0
	for given < len(w.waiting) && now.Sub(w.waiting[given].ended) >= Patience {
		given++
	}
	late := slices.Clone(w.waiting[:given])
	w.waiting = slices.Delete(w.waiting, 0, given)
	if ctx.Err() == nil && !now.Before(w.due()) {
		w.begin(ctx, now)
	}
	next := w.due().Sub(now)
	if len(w.waiting) > 0 {
		next = min(next, Patience-now.Sub(w.waiting[0].ended))
	}
	w.mu.Unlock()
	w.answer(late, "no round of this prober's canaries was over within two seconds")
	return next
}

// due is when the next round begins.
func (w *Watch) due() time.Time {
	if w.began.IsZero() {
		return time.Time{}
	}
	n := len(w.waiting)
	switch {
	case w.failing():
		return w.began.Add(quick)
	case w.urgent:
		return earlier(w.usual.next(), w.brisk.next())
	case w.wanted || n > 0 && (w.began.Before(w.waiting[n-1].ended) || w.began.Equal(w.newest.Began)):
		return w.usual.next() // the newest round is none for whoever failed last, or is decided
	}
	return w.began.Add(idle)
}

// failing says whether the newest decided round was bad.
func (w *Watch) failing() bool { return !w.newest.Began.IsZero() && !w.newest.Good }

func (w *Watch) begin(ctx context.Context, now time.Time) {
	r := &round{began: now, behind: map[netip.Addr]string{}}
	w.began, w.wanted, w.urgent = now, false, false
	w.usual.took(now)
	w.brisk.took(now)
	for i := range w.o.Canaries {
		w.visits.Go(func() { w.visit(ctx, r, i) })
	}
}

// visit visits one canary for a round.
func (w *Watch) visit(ctx context.Context, r *round, i int) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	begun := time.Now()
	addr, err := w.o.Canaries[i].visit(ctx, w.o.Names)
	now := time.Now()
	w.mu.Lock()
	if errors.Is(ctx.Err(), context.Canceled) { // a stop says nothing of the network
		w.mu.Unlock()
		return
	}
	if err == nil {
		err = r.impostor(w.o.Canaries[i], addr)
	}
	seen := Sight{Name: w.o.Canaries[i].String(), At: now.UTC(), Answered: err == nil, TookMS: float64(now.Sub(begun).Microseconds()) / 1000}
	if err != nil {
		seen.Error = why(err)
	}
	w.metrics.visit(seen)
	if w.sights[i].At.Before(seen.At) {
		w.sights[i] = seen
	}
	judged, doubt := w.count(r, seen, now)
	w.mu.Unlock()
	w.answer(judged, doubt)
}

// answer tells those who waited what is to be doubted.
func (w *Watch) answer(judged []failure, doubt string) {
	for _, f := range judged {
		w.reply(f, doubt)
	}
}

func (w *Watch) reply(f failure, doubt string) {
	if doubt == "" {
		w.down.add(f.target)
	} else {
		w.metrics.doubted.Inc()
	}
	f.then(doubt)
}

// count takes an answer in, and gives the failures that are judged with it.
func (w *Watch) count(r *round, seen Sight, now time.Time) (judged []failure, doubt string) {
	if seen.Answered {
		r.answered++
	} else {
		r.failed++
		r.said = append(r.said, seen.Name+": "+seen.Error)
	}
	all := len(w.o.Canaries)
	good := 2*r.answered > all
	if r.decided || !good && 2*r.failed < all {
		return nil, ""
	}
	r.decided = true
	w.metrics.round(good)
	slices.Sort(r.said)
	said := strings.Join(r.said, "; ")
	if !good { // also of one that began earlier than another that was quicker: its bad time was theirs who wait
		w.lastBad, w.badSaid = now, said
		judged, doubt = w.waiting, w.doubt("")
		w.waiting = nil
	}
	if r.began.Before(w.newest.Began) {
		return judged, doubt
	}
	before := w.newest
	w.newest = Round{Began: r.began, Decided: now, Good: good}
	if good {
		w.lastGood = now
		judged = w.since(r.began)
	} else {
		w.newest.Said = said
	}
	if before.Began.IsZero() || before.Good != good {
		w.changed()
	}
	signal(w.wake)
	signal(w.tell)
	return judged, doubt
}

// since takes out who failed before a round began.
func (w *Watch) since(began time.Time) (judged []failure) {
	w.waiting = slices.DeleteFunc(w.waiting, func(f failure) bool {
		if f.ended.After(began) {
			return false
		}
		judged = append(judged, f)
		return true
	})
	return judged
}

// doubt says what the newest bad round showed.
func (w *Watch) doubt(when string) string {
	return fmt.Sprintf("most of this prober's canaries did not answer%s (%s)", when, w.badSaid)
}

func (w *Watch) changed() {
	if w.newest.Good {
		w.o.Log.Info("canaries answer")
		return
	}
	w.o.Log.Warn("canaries do not answer: what fails is not believed", "canaries", w.newest.Said)
}

// Failed is told that a look at a target failed which began at that time, and whether it says that it is
// down: a round begins unless one did since. Target 0 is one of which nothing is known.
func (w *Watch) Failed(target int64, began time.Time, down bool) {
	news := down && !w.down.has(target)
	w.mu.Lock()
	if w.began.Before(began) {
		w.wanted, w.urgent = true, w.urgent || news
	}
	wanted := w.wanted
	w.mu.Unlock()
	if wanted && w.On() {
		signal(w.wake)
	}
}

// Answered is told that a target is not down.
func (w *Watch) Answered(target int64) { w.down.remove(target) }

// Believe judges a check of a target that began at that time and failed just now. It calls then
// once, after two seconds at the latest, here or from another goroutine, with an empty text or
// with what is to be doubted. What is called must be quick. Target 0 is one of which nothing is known.
func (w *Watch) Believe(target int64, began time.Time, then func(doubt string)) {
	f := failure{target: target, began: began, then: then}
	if doubt, known := w.judge(f); known {
		w.reply(f, doubt)
	}
}

func (w *Watch) judge(f failure) (doubt string, known bool) {
	if !w.On() {
		return "", true
	}
	news := !w.down.has(f.target)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over:
		return stopped, true
	case !w.lastBad.IsZero() && !w.lastBad.Before(f.began):
		return w.doubt(" while the check was under way"), true
	}
	f.ended = time.Now()
	w.waiting = append(w.waiting, f)
	w.urgent = w.urgent || news
	signal(w.wake)
	return "", false
}

func signal(token chan struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

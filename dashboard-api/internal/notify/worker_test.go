package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// A provider is away for two hours: all that happened meanwhile is told after, once and in
// order, and those that are there hear of it at once.
func TestOutageOfAProvider(t *testing.T) {
	t.Parallel()
	away, there := newProvider(t), newProvider(t)
	r := newRig(t, pool(away, there))
	broken, well := r.channel("broken", "webhook", hook(away)), r.channel("well", "webhook", hook(there))
	r.rule("all", terms{Channels: []int64{broken.ID, well.ID}, SendResolved: true})
	away.says(http.StatusBadGateway, "canary-in-the-url is away, says Bearer canary-of-authorization")
	first := r.open(0)
	r.work()
	if got := events(t, there.requests(), first.ID); got != "opened" {
		t.Errorf("the other channel heard %q", got)
	}
	r.pass(20*time.Minute, 10*time.Second)
	second := r.open(1)
	r.resolve(first)
	r.pass(100*time.Minute, 10*time.Second)
	if got := events(t, there.requests(), first.ID) + ", " + events(t, there.requests(), second.ID); got != "opened resolved, opened" {
		t.Errorf("the other channel heard %q", got)
	}
	before := len(away.requests())
	if before < 10 || before > 60 {
		t.Errorf("%d attempts in two hours", before)
	}
	away.says(http.StatusOK, "")
	r.pass(20*time.Minute, 10*time.Second)
	back := away.requests()[before:]
	if a, b := events(t, back, first.ID), events(t, back, second.ID); a != "opened resolved" || b != "opened" {
		t.Errorf("after the outage: %q and %q", a, b)
	}
	if n := len(there.requests()); n != 3 {
		t.Errorf("the other channel heard %d", n)
	}
	log, err := r.store.Deliveries(t.Context(), broken.ID, 0, 1000)
	if err != nil || len(log) != before+3 || log[0].Outcome != incidentstore.OutcomeDelivered || log[len(log)-1].Outcome != incidentstore.OutcomeRetry || log[len(log)-1].Status != http.StatusBadGateway {
		t.Errorf("%d deliveries, %v", len(log), err)
	}
	for _, d := range log {
		noCanary(t, "delivery", d.Excerpt)
	}
	noCanary(t, "log", r.log.String())
	if !strings.Contains(log[len(log)-1].Excerpt, "[secret] is away") {
		t.Errorf("excerpt: %q", log[len(log)-1].Excerpt)
	}
}

// A provider that cannot be reached at all, and one that hangs, hold up nobody else.
func TestHangingProvider(t *testing.T) {
	t.Parallel()
	there := newProvider(t)
	r := newRig(t, pool(there))
	slow, well := r.channel("slow", "webhook", hook(there)), r.channel("well", "webhook", hook(there))
	r.rule("all", terms{Channels: []int64{slow.ID, well.ID}})
	release, started := make(chan struct{}), make(chan struct{}, 8)
	r.worker = r.newWorker("one", senderFunc(func(ctx context.Context, c incidentstore.Channel, m Message) Sent {
		if c.ID == slow.ID {
			started <- struct{}{}
			<-release
		}
		return r.deliver.Send(ctx, c, m)
	}))
	for target := range r.targets {
		r.open(target)
	}
	r.must(r.worker.runOnce(t.Context()))
	<-started
	for len(there.requests()) < len(r.targets) {
		r.must(r.worker.runOnce(t.Context())) // it spins until the other channel has heard all: no clock is needed
	}
	close(release)
	r.worker.sending.Wait()
	r.work()
	if n := len(there.requests()); n != 2*len(r.targets) {
		t.Errorf("%d requests", n)
	}
}

type senderFunc func(context.Context, incidentstore.Channel, Message) Sent

func (f senderFunc) Send(ctx context.Context, c incidentstore.Channel, m Message) Sent {
	return f(ctx, c, m)
}

// dying is an outbox whose process dies when it wants to note how a sending ended.
type dying struct{ Outbox }

func (dying) Settle(context.Context, string, incidentstore.Batch, incidentstore.Settlement) error {
	return errors.New("killed")
}

// Killed between claim and completion: sent again with the same key, and nothing is skipped.
//
// Promise: a crash neither loses nor repeats a notification
func TestCrash(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	r := newRig(t, pool(p))
	c := r.channel("c", "webhook", hook(p))
	r.rule("all", terms{Channels: []int64{c.ID}, SendResolved: true})
	i := r.open(0)
	r.resolve(i)
	second := r.worker
	r.worker = r.newWorker("killed", r.deliver)
	r.worker.o.Outbox = dying{r.store}
	r.work()
	r.worker = second
	r.pass(2*time.Minute, time.Second)
	all := p.requests()
	if got := events(t, all, i.ID); got != "opened opened resolved" {
		t.Fatalf("heard %q", got)
	}
	if a, b := all[0].header.Get("Idempotency-Key"), all[1].header.Get("Idempotency-Key"); a != b || a == "" || a == all[2].header.Get("Idempotency-Key") {
		t.Errorf("keys %q, %q, %q", a, b, all[2].header.Get("Idempotency-Key"))
	}
	if string(all[0].body) != string(all[1].body) {
		t.Errorf("another body: %s and %s", all[0].body, all[1].body)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	r := newRig(t, pool(p))
	c := r.channel("c", "webhook", hook(p))
	r.rule("all", terms{Channels: []int64{c.ID}})
	p.says(http.StatusTooManyRequests, "slow down", "Retry-After", "600")
	r.open(0)
	r.work()
	r.open(1) // of another incident: the provider is left alone all the same
	r.pass(10*time.Minute-time.Second, time.Second)
	if n := len(p.requests()); n != 1 {
		t.Errorf("%d requests in the time it asked for", n)
	}
	p.says(http.StatusOK, "")
	r.pass(2*time.Second, time.Second)
	if n := len(p.requests()); n != 3 {
		t.Errorf("%d requests after it", n)
	}
}

func TestGivingUp(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	r := newRig(t, pool(p))
	c := r.channel("c", "webhook", hook(p))
	r.rule("all", terms{Channels: []int64{c.ID}, SendResolved: true})
	p.says(http.StatusUnauthorized, "who are you")
	i := r.open(0)
	r.work()
	r.pass(25*time.Hour, 5*time.Minute)
	n := len(p.requests())
	r.pass(3*time.Hour, 5*time.Minute)
	if len(p.requests()) != n || n < 80 {
		t.Errorf("%d and then %d attempts", n, len(p.requests()))
	}
	_, timeline, err := r.store.Get(t.Context(), i.ID)
	if err != nil || len(timeline) != 2 || timeline[1].Text != "c (webhook): opened, not delivered: 401 Unauthorized: who are you" {
		t.Errorf("%+v %v", timeline, err)
	}
	p.says(http.StatusBadRequest, "no such field")
	r.open(1)
	r.work()
	r.pass(time.Hour, time.Minute)
	if got := len(p.requests()); got != n+1 {
		t.Errorf("refused for good, and asked %d times more", got-n)
	}
}

func TestRemindersAndDigestsAreSent(t *testing.T) {
	t.Parallel()
	p, digests := newProvider(t), newProvider(t)
	r := newRig(t, pool(p, digests))
	c, d := r.channel("c", "webhook", hook(p)), r.channel("d", "webhook", hook(digests))
	r.rule("reminders", terms{Channels: []int64{c.ID}, ReminderMinutes: 30})
	r.rule("digests", terms{Channels: []int64{d.ID}, DigestMinutes: 60, SendResolved: true})
	r.pass(time.Minute, time.Minute)
	first, second := r.open(0), r.open(1)
	r.pass(2*time.Hour, time.Minute)
	r.must(r.store.Acknowledge(t.Context(), first.ID, "user:1", "", r.clock()))
	r.resolve(second)
	r.pass(2*time.Hour, time.Minute)
	if a, b := events(t, p.requests(), first.ID), events(t, p.requests(), second.ID); a != "opened reminder reminder reminder reminder" || a != b {
		t.Errorf("reminded: %q and %q", a, b)
	}
	all := digests.requests()
	if len(all) != 2 || events(t, all[:1], first.ID) != "opened" || events(t, all[:1], second.ID) != "opened" || events(t, all[1:], second.ID) != "resolved" {
		t.Errorf("%d digests", len(all))
	}
}

// Run looks by itself and when it is woken, and waits for what is being sent.
func TestRunEndsAfterWhatIsSent(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	r := newRig(t, pool(p))
	c := r.channel("c", "webhook", hook(p))
	r.rule("all", terms{Channels: []int64{c.ID}})
	began, release := make(chan struct{}), make(chan struct{})
	r.worker = r.newWorker("one", senderFunc(func(ctx context.Context, c incidentstore.Channel, m Message) Sent {
		close(began)
		<-release
		return r.deliver.Send(ctx, c, m)
	}))
	i := r.open(0)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.worker.Run(ctx) }()
	r.worker.Wake()
	<-began
	cancel()
	close(release)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := events(t, p.requests(), i.ID); got != "opened" {
		t.Errorf("heard %q", got)
	}
	if n, _, err := r.store.Backlog(t.Context(), r.clock()); n != 0 || err != nil {
		t.Errorf("%d wait, %v", n, err)
	}
}

func TestPauses(t *testing.T) {
	t.Parallel()
	var all []string
	for attempts := range 14 {
		all = append(all, fmt.Sprint(pause(attempts, 0.5)))
	}
	if got := strings.Join(all, " "); got != "5s 5s 10s 20s 40s 1m20s 2m40s 5m20s 10m40s 15m0s 15m0s 15m0s 15m0s 15m0s" {
		t.Error(got)
	}
	if pause(1, 0) != 4*time.Second || pause(1, 1) != 6*time.Second {
		t.Error("no jitter")
	}
}

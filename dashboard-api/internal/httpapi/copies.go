package httpapi

import (
	"bytes"
	chain "container/list"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/probefleet/probefleet/dashboard-api/internal/answercache"
)

// Bounds of the copies that are kept of answers.
const (
	maxCopies    = 1000
	maxCopyBytes = 32 << 20
	maxCopySize  = 4 << 20 // one huge answer must not push all others out
)

// staleHeader says on an answer that it is a copy, and of when.
const staleHeader = "X-Probefleet-Stale"

// rolling is how close to now a range must end to be the same question a moment
// later: pages ask for "the last hour" by two instants.
const rolling = 2 * time.Minute

// lookEvery is how often a question under way looks whether the store still answers.
const lookEvery = 500 * time.Millisecond

var errNotAnswering = errors.New("it did not answer when last asked")

// pastOutput is the answer to a question about the past: what the store said just
// now or, while it does not answer, what it said when it was last asked the same.
type pastOutput[T any] struct {
	Status       int
	Age          string `header:"Age" doc:"seconds since it was made, if it was not made for this request"`
	Stale        string `header:"X-Probefleet-Stale" doc:"on a copy: since=INSTANT when it was made; ClickHouse does not answer now"`
	ETag         string `header:"ETag" doc:"of the content: with If-None-Match the answer is 304 while it is the same; a copy has none"`
	CacheControl string `header:"Cache-Control"`
	Vary         string `header:"Vary"`
	Body         stored[T]
}

// past asks the store and keeps a copy of its answer. While the store is down the
// copy is the answer, marked as such; without one the outage is. A store that is
// known not to answer is not asked, or no longer: nobody waits for what will not come.
func past[T any](ctx context.Context, a *api, question string, ask func(context.Context) (T, error)) (*pastOutput[T], error) {
	asked := a.Now()
	raw, err := fresh(ctx, a, question, ask)
	if err != nil {
		return lastCopy[T](a, question, asked, err)
	}
	return unlessKnown(ctx, &pastOutput[T]{ETag: answercache.Tag(raw), Body: stored[T]{raw: raw}}), nil
}

// fresh asks the store, and keeps a copy of its answer.
func fresh[T any](ctx context.Context, a *api, question string, ask func(context.Context) (T, error)) ([]byte, error) {
	asked := a.Now()
	if !a.Fleet.HistoryOK() {
		return nil, down(clickHouse, errNotAnswering)
	}
	body, err := whileAnswering(ctx, a.Fleet, ask)
	if err != nil {
		return nil, err
	}
	raw, err := encode(body)
	if err == nil {
		a.Copies.put(question, raw, asked)
	}
	return raw, err
}

// lastCopy is the copy of the last answer, if it was an outage that kept the store from
// giving a new one; else the error.
func lastCopy[T any](a *api, question string, now time.Time, err error) (*pastOutput[T], error) {
	if _, is := errors.AsType[*outage](err); !is {
		return nil, err
	}
	raw, at, found := a.Copies.get(question)
	if !found {
		return nil, err
	}
	a.metrics.copies.Inc()
	out := &pastOutput[T]{Status: http.StatusOK, Body: stored[T]{raw: markStale(raw, at)}}
	out.Age, out.Stale = staleness(at, now)
	return out, nil
}

// whileAnswering asks until the store is known not to answer any more: a frozen one
// would keep a long question waiting for all the time that it may take.
func whileAnswering[T any](ctx context.Context, fleet FleetSource, ask func(context.Context) (T, error)) (T, error) {
	asking, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	go func() {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-asking.Done():
				return
			}
			if !fleet.HistoryOK() {
				giveUp(errNotAnswering)
				return
			}
		}
	}()
	body, err := ask(asking)
	if err != nil && errors.Is(context.Cause(asking), errNotAnswering) {
		err = down(clickHouse, errNotAnswering)
	}
	return body, err
}

// encode writes an answer as answers are written.
func encode(body any) ([]byte, error) {
	var out bytes.Buffer
	if err := huma.DefaultJSONFormat.Marshal(&out, body); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// staleness gives the headers of what is of the instant at.
func staleness(at, now time.Time) (age, stale string) {
	return strconv.FormatInt(int64(max(now.Sub(at), 0)/time.Second), 10), "since=" + at.UTC().Format(time.RFC3339)
}

// markStale puts the member stale_since in front of the others of an object.
func markStale(object []byte, at time.Time) []byte {
	since, _ := instant(at).MarshalJSON() // cannot fail
	marked := make([]byte, 0, len(object)+len(since)+20)
	marked = append(append(append(marked, `{"stale_since":`...), since...), ',')
	return append(marked, object[1:]...)
}

// window names a range in a question. One that ends now, or later, is named by how
// far it reaches back.
func window(from, to, now time.Time) string {
	if to.After(now.Add(-rolling)) {
		return "last " + earlier(to, now).Sub(from).Round(time.Minute).String()
	}
	return fmt.Sprintf("%d-%d", from.UnixMilli(), to.UnixMilli())
}

// Copies are the last good answers by question, for when the store does not answer. The least
// recently used goes first.
type Copies struct {
	mu         sync.Mutex
	byQuestion map[string]*chain.Element
	order      *chain.List // of *copied, the most recently used in front
	bytes      int
}

type copied struct {
	question string
	body     []byte // never changed once it is here
	at       time.Time
}

// NewCopies makes an empty one.
func NewCopies() *Copies { return &Copies{byQuestion: map[string]*chain.Element{}, order: chain.New()} }

func (c *Copies) put(question string, body []byte, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, found := c.byQuestion[question]; found {
		c.drop(old)
	}
	if len(body) > maxCopySize {
		return
	}
	c.byQuestion[question] = c.order.PushFront(&copied{question, body, at})
	c.bytes += len(body)
	for c.bytes > maxCopyBytes || c.order.Len() > maxCopies {
		c.drop(c.order.Back())
	}
}

func (c *Copies) drop(e *chain.Element) {
	gone := c.order.Remove(e).(*copied)
	delete(c.byQuestion, gone.question)
	c.bytes -= len(gone.body)
}

// Forget drops the copies that are about a target: its id is a word of their question, or they name it.
func (c *Copies) Forget(target int64) {
	word, name := regexp.MustCompile(fmt.Sprintf(`\b%d\b`, target)), fmt.Appendf(nil, `"target_id":%d,`, target)
	c.mu.Lock()
	defer c.mu.Unlock()
	for question, e := range c.byQuestion {
		if word.MatchString(question) || bytes.Contains(e.Value.(*copied).body, name) {
			c.drop(e)
		}
	}
}

func (c *Copies) get(question string) (body []byte, at time.Time, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, found := c.byQuestion[question]
	if !found {
		return nil, time.Time{}, false
	}
	c.order.MoveToFront(e)
	kept := e.Value.(*copied)
	return kept.body, kept.at, true
}

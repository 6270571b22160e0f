package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/probefleet/probefleet/internal/accountstore"
)

// Answers keeps the answers of writes that carried an Idempotency-Key.
type Answers interface {
	SaveAnswer(ctx context.Context, actor, key, requestHash string, status int, body string) error
	Answer(ctx context.Context, actor, key string) (accountstore.Answer, error)
}

// Idempotent is the header of writes that may be repeated.
type Idempotent struct {
	Key string `header:"Idempotency-Key" maxLength:"200" doc:"repeating the request with the same key within 24 h repeats the answer, not the write"`
}

// answer is the output of a repeatable write.
type answer[T any] struct {
	Status   int
	ETag     string `header:"ETag"`
	Location string `header:"Location"`
	Replayed string `header:"Idempotency-Replayed" doc:"true when this is a kept answer"`
	Unkept   string `header:"Idempotency-Unavailable" doc:"true when kept answers could not be read: this one is not kept either, and a repeat writes again"`
	Body     stored[T]
}

// stored is a body just made, or one read back as it was.
type stored[T any] struct {
	value T
	raw   json.RawMessage
}

// MarshalJSON writes whichever it is.
func (s stored[T]) MarshalJSON() ([]byte, error) {
	if s.raw != nil {
		return s.raw, nil
	}
	return json.Marshal(s.value)
}

// Schema describes T.
func (stored[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// kept is an answer as the store holds it.
type kept struct {
	ETag     string          `json:"etag"`
	Location string          `json:"location"`
	Body     json.RawMessage `json:"body"`
}

// once runs a write, or repeats its answer if the same actor sent the same key
// with the same request before. Only successes are kept: a refused write stored
// nothing and may be tried again. Requests of one key wait for each other on this
// node; a node that dies between the write and keeping its answer leaves the
// target's unique name as the last guard.
func once[T any](ctx context.Context, a *api, key string, body []byte, write func() (*answer[T], error)) (*answer[T], error) {
	return onceOr(ctx, a, key, body, write, func(err error) (*answer[T], error) { return nil, err })
}

// onceIfKept is once for a write that needs no store: while kept answers cannot be read it is
// made all the same, and the answer says that a repeat makes it again.
func onceIfKept[T any](ctx context.Context, a *api, key string, body []byte, write func() (*answer[T], error)) (*answer[T], error) {
	return onceOr(ctx, a, key, body, write, func(unread error) (*answer[T], error) {
		a.Log.Warn("kept answers cannot be read: a repeat will write again", "request_id", requestID(ctx), "error", unread)
		out, err := write()
		if err == nil {
			out.Unkept = "true"
		}
		return out, err
	})
}

// onceOr is once, with what is done while kept answers cannot be read.
func onceOr[T any](ctx context.Context, a *api, key string, body []byte, write func() (*answer[T], error), blind func(error) (*answer[T], error)) (*answer[T], error) {
	if key == "" {
		return write()
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, mistakes([]Mistake{{Parameter: "Idempotency-Key", Code: codeInvalidParameter, Message: "a key holds printable ASCII characters only"}})
	}
	r := requestOf(ctx)
	actor, hash := identityOf(ctx).Actor, a.Box.Fingerprint(r.Method+" "+r.URL.Path+"\n"+string(body)) // the body may hold secrets that can be guessed
	done, err := a.inFlight.enter(ctx, actor+" "+key)
	if err != nil {
		return nil, err
	}
	defer done()
	before, err := a.Answers.Answer(ctx, actor, key)
	switch {
	case err == nil && before.RequestHash != hash:
		return nil, problem(http.StatusUnprocessableEntity, "idempotency_key_reused", "this Idempotency-Key was used for another request")
	case err == nil:
		return answerAgain[T](before)
	case !errors.Is(err, accountstore.ErrNotFound):
		return blind(err)
	}
	out, err := write()
	if err != nil {
		return nil, err
	}
	a.keep(ctx, actor, key, hash, out.Status, kept{ETag: out.ETag, Location: out.Location}, out.Body)
	return out, nil
}

func (a *api) keep(ctx context.Context, actor, key, hash string, status int, k kept, body any) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // the write is done: keep its answer even if the caller left
	defer cancel()
	encoded, err := json.Marshal(body)
	if err == nil {
		k.Body = encoded
		encoded, err = json.Marshal(k)
	}
	if err == nil {
		err = a.Answers.SaveAnswer(ctx, actor, key, hash, status, string(encoded))
	}
	if err != nil {
		a.Log.Error("answer not kept: a repeat may write again", "request_id", requestID(ctx), "error", err)
	}
}

func answerAgain[T any](before accountstore.Answer) (*answer[T], error) {
	var k kept
	if err := json.Unmarshal([]byte(before.Body), &k); err != nil {
		return nil, err
	}
	return &answer[T]{Status: before.Status, ETag: k.ETag, Location: k.Location, Replayed: "true", Body: stored[T]{raw: k.Body}}, nil
}

// flights lets requests of one key pass one at a time.
type flights struct {
	mu  sync.Mutex
	now map[string]chan struct{} // closed when the flight ends
}

func newFlights() *flights { return &flights{now: map[string]chan struct{}{}} }

func (f *flights) enter(ctx context.Context, key string) (done func(), err error) {
	for {
		f.mu.Lock()
		other, flying := f.now[key]
		if !flying {
			mine := make(chan struct{})
			f.now[key] = mine
			f.mu.Unlock()
			return func() { f.leave(key, mine) }, nil
		}
		f.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (f *flights) leave(key string, mine chan struct{}) {
	f.mu.Lock()
	delete(f.now, key)
	f.mu.Unlock()
	close(mine)
}

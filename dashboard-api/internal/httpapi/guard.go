package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/accountstore"
)

// rank orders the roles; an unknown role ranks below all and may do nothing.
func rank(role accountstore.Role) int {
	switch role {
	case accountstore.RoleOwner:
		return 3
	case accountstore.RoleEditor:
		return 2
	case accountstore.RoleViewer:
		return 1
	}
	return 0
}

// allows says whether a role satisfies the policy. Anything but a known policy allows nobody.
func (p Policy) allows(role accountstore.Role) bool {
	switch p {
	case Public:
		return true
	case Viewer:
		return rank(role) >= 1
	case Editor:
		return rank(role) >= 2
	case Owner:
		return rank(role) >= 3
	}
	return false
}

// guard puts a route behind its policy: who is asking is settled before the
// request is read any further.
func (a *api) guard(policy Policy, pattern string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started, watched := time.Now(), &statusWriter{ResponseWriter: w}
		defer func() { a.metrics.served(pattern, watched.status, time.Since(started)) }()
		r = r.WithContext(context.WithValue(r.Context(), keyRequest, r))
		if policy != Public {
			identity, refused := a.admit(r, policy, pattern)
			if refused != nil {
				refused.write(watched, r)
				return
			}
			r = r.WithContext(context.WithValue(r.Context(), keyIdentity, identity))
		}
		next.ServeHTTP(watched, a.entered(pattern, watched, r))
		if watched.status == 0 { // the server would say so itself, past us
			watched.WriteHeader(http.StatusOK)
		}
	})
}

// admit says who sends a request, or why it is refused.
func (a *api) admit(r *http.Request, policy Policy, pattern string) (session.Identity, *Problem) {
	identity, err := a.Sessions.Identify(r)
	if err != nil {
		return identity, a.refusal(r, err)
	}
	if !policy.allows(identity.Role) {
		return identity, problem(http.StatusForbidden, codeForbidden, "this needs the role "+policy.String()+", yours is "+string(identity.Role))
	}
	if scope := scopeOf(policy, pattern); !may(identity, scope) {
		return identity, problem(http.StatusForbidden, codeForbidden, "this needs the scope "+scope+", this key has "+strings.Join(identity.Key.Scopes, " "))
	}
	return identity, nil
}

// again is an error unless who was admitted would be now.
func (a *api) again(ctx context.Context, policy Policy, pattern string) error {
	if _, refused := a.admit(requestOf(ctx), policy, pattern); refused != nil {
		return refused
	}
	return nil
}

// refusal is the answer to a request of nobody we know.
func (a *api) refusal(r *http.Request, err error) *Problem {
	if !errors.Is(err, session.ErrAnonymous) {
		return a.logged(r.Context(), problemOf(err))
	}
	p := problem(http.StatusUnauthorized, codeUnauthorized, "sign in, or send an API key: Authorization: Bearer KEY").header("WWW-Authenticate", `Bearer realm="probefleet"`)
	if needed, err := a.Sessions.SetupNeeded(r.Context()); err == nil {
		p.SetupNeeded = &needed
	}
	return p
}

func identityOf(ctx context.Context) session.Identity {
	identity, _ := ctx.Value(keyIdentity).(session.Identity)
	return identity
}

// requestOf gives handlers that deal in cookies the request they came with.
func requestOf(ctx context.Context) *http.Request {
	r, _ := ctx.Value(keyRequest).(*http.Request)
	return r
}

// toProblem turns a handler's error into its answer, and logs what is our fault.
func (a *api) toProblem(ctx context.Context, err error) error {
	return a.logged(ctx, problemOf(err))
}

func (a *api) logged(ctx context.Context, p *Problem) *Problem {
	if p.Status >= http.StatusInternalServerError {
		a.Log.Error("request failed", "request_id", requestID(ctx), "status", p.Status, "code", p.Code, "error", p.cause)
	}
	return p
}

// statusWriter remembers the status for the metrics. Unwrap lets the websocket
// library and deadlines through to the connection.
type statusWriter struct {
	http.ResponseWriter
	status int
	before func(status int) // called once, before the answer goes out; nil: nothing is to be done
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.answering(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.answering(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

func (w *statusWriter) answering(status int) {
	w.status = status
	if w.before != nil {
		w.before(status)
	}
}

// Unwrap gives the writer below.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func userActor(id int64) string { return "user:" + strconv.FormatInt(id, 10) }

package httpapi

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
)

// Audit is the audit log.
type Audit interface {
	Audit(ctx context.Context, entry accountstore.AuditEntry) error
	AuditAll(ctx context.Context, entries []accountstore.AuditEntry) error
	AuditLog(ctx context.Context, q accountstore.AuditQuery) ([]accountstore.AuditEntry, error)
}

// unaudited says whether a route that writes, or looks as if it did, leaves no entry: who
// asks has changed nothing, who asks to sign in has done nothing yet, and pings are rows of
// their heartbeat, sent with no account.
func unaudited(pattern string) bool {
	switch pattern {
	case "POST /api/v1/session/passkey:begin", "POST /api/v1/session/provider", "POST /api/v1/heartbeats/{token}", "POST /api/v1/heartbeats/{token}/{signal}":
		return true
	}
	return asksOnly(pattern)
}

// trail knows whether a request has left an entry.
type trail struct {
	operation string
	left      atomic.Bool
}

// entered has every write that was answered as done leave an entry before the answer
// goes out: the one its handler wrote, which says more, or else one of its operation.
func (a *api) entered(pattern string, w *statusWriter, r *http.Request) *http.Request {
	t := &trail{operation: operationOf(r.Context())}
	r = r.WithContext(context.WithValue(r.Context(), keyTrail, t))
	if strings.HasPrefix(pattern, "GET ") || unaudited(pattern) {
		return r
	}
	w.before = func(status int) {
		repeated := w.Header().Get("Idempotency-Replayed") != "" // a kept answer: nothing was written
		if status < http.StatusBadRequest && !repeated && !t.left.Load() {
			a.audit(r.Context(), t.operation, shorten(strings.TrimPrefix(r.URL.Path, "/api/v1/"), 200), "")
		}
	}
	return r
}

// audit records a write. The write has happened, so a failure here is logged, not answered.
func (a *api) audit(ctx context.Context, action, object, detail string) {
	a.note(ctx, a.entry(ctx, action, object, detail))
}

func (a *api) note(ctx context.Context, entry accountstore.AuditEntry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := a.Audit.Audit(ctx, entry); err != nil {
		a.Log.Error("audit log not written", "request_id", entry.RequestID, "actor", entry.Actor, "action", entry.Action, "object", entry.Object, "error", err)
	}
}

// auditAll records what one write did to many things: an entry for each.
func (a *api) auditAll(ctx context.Context, entries []accountstore.AuditEntry) {
	if len(entries) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := a.Audit.AuditAll(ctx, entries); err != nil {
		a.Log.Error("audit log not written", "request_id", requestID(ctx), "actor", entries[0].Actor, "action", entries[0].Action, "objects", len(entries), "error", err)
	}
}

// unwritten says that a request which looks like a write wrote nothing: no entry is left.
func unwritten(ctx context.Context) {
	if t, is := ctx.Value(keyTrail).(*trail); is {
		t.left.Store(true)
	}
}

// entry is what the audit log says of a write of this request.
func (a *api) entry(ctx context.Context, action, object, detail string) accountstore.AuditEntry {
	entry := accountstore.AuditEntry{Actor: identityOf(ctx).Actor, Action: action, Object: object, Detail: detail, RequestID: requestID(ctx)}
	if t, is := ctx.Value(keyTrail).(*trail); is {
		t.left.Store(true)
		entry.Operation = t.operation
	}
	if r := requestOf(ctx); r != nil {
		entry.Address = a.Sessions.Address(r)
	}
	return entry
}

// AuditInput asks for a part of the audit log.
type AuditInput struct {
	Page
	Actor  string    `query:"actor" maxLength:"60" doc:"user:1 or key:1"`
	Action string    `query:"action" maxLength:"60" doc:"an action, or the id of an operation"`
	Object string    `query:"object" maxLength:"200" doc:"what it was done to, such as target:1"`
	From   time.Time `query:"from" doc:"first instant, RFC 3339"`
	To     time.Time `query:"to" doc:"first instant that is not included"`
}

type auditBody struct {
	ID        int64   `json:"id"`
	At        instant `json:"at"`
	Actor     string  `json:"actor" example:"user:1"`
	Action    string  `json:"action" example:"target.updated"`
	Object    string  `json:"object" example:"target:1"`
	Detail    string  `json:"detail"`
	Operation string  `json:"operation" doc:"id of the operation"`
	Address   string  `json:"address"`
	RequestID string  `json:"request_id"`
}

func (a *api) auditLog(ctx context.Context, in *AuditInput) (*listOutput[auditBody], error) {
	before, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.Audit.AuditLog(ctx, accountstore.AuditQuery{Actor: in.Actor, Action: in.Action, Object: in.Object, From: in.From, To: in.To, BeforeID: before, Limit: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, func(e accountstore.AuditEntry) auditBody {
		return auditBody{ID: e.ID, At: instant(e.At), Actor: e.Actor, Action: e.Action, Object: e.Object, Detail: e.Detail, Operation: e.Operation, Address: e.Address, RequestID: e.RequestID}
	}, func(e accountstore.AuditEntry) int64 { return e.ID }), nil
}

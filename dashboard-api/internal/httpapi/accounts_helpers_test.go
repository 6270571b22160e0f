package httpapi

import (
	"fmt"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/accountstore"
)

// member makes an account beside Ann's.
func (b *bench) member(email string, role accountstore.Role) accountstore.User {
	b.Helper()
	store, token := b.options.Accounts.(*accountstore.Store), session.NewToken()
	hash, err := hasher().Hash(b.Context(), "correct horse")
	if err == nil {
		_, err = store.Invite(b.Context(), accountstore.User{}, session.HashToken(token), email, role, b.actorOf(ownerKey), time.Now().Add(time.Hour))
	}
	if err != nil {
		b.Fatal(err)
	}
	user, err := store.AcceptInvitation(b.Context(), session.HashToken(token), email, "x", hash)
	if err != nil {
		b.Fatal(err)
	}
	return user
}

// actorOf is how the audit log names a key.
func (b *bench) actorOf(key string) string {
	b.Helper()
	found, err := b.options.Accounts.(*accountstore.Store).KeyByHash(b.Context(), session.HashToken(key), time.Now())
	if err != nil {
		b.Fatal(err)
	}
	return keyActor(found.ID)
}

// withPassword is a body with the password said again, which a key says for nothing.
func withPassword(body string) string {
	return strings.Replace(strings.Replace(body, "{", `{"current_password":"correct horse",`, 1), ",}", "}", 1)
}

func (b *bench) exec(statement string, args ...any) {
	b.Helper()
	if err := b.db.Write().Exec(statement, args...).Error; err != nil {
		b.Fatal(err)
	}
}

// actions lists the audit log, the oldest first.
func (b *bench) actions() string {
	b.Helper()
	all, err := b.options.Audit.AuditLog(b.Context(), accountstore.AuditQuery{Limit: 100})
	if err != nil {
		b.Fatal(err)
	}
	var text string
	for _, e := range all {
		text = fmt.Sprintf("%s %s %s (%s)\n", e.Actor, e.Action, e.Object, e.Detail) + text
	}
	return text
}

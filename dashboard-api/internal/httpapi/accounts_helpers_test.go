package httpapi

import (
	"fmt"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/accountstore"
)

// member makes an account beside Ann's.
func (b *bench) member(email string, role accountstore.Role) accountstore.User {
	b.Helper()
	store, token := b.options.Accounts.(*accountstore.Store), session.NewToken()
	hash, err := session.NewHasher().Hash(b.Context(), "correct horse")
	if err == nil {
		_, err = store.Invite(b.Context(), session.HashToken(token), email, role, "user:1", time.Now().Add(time.Hour))
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

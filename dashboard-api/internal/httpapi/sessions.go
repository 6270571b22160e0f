package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/accountstore"
)

// Accounts keeps who may sign in.
type Accounts interface {
	Sessions(ctx context.Context, userID int64, now time.Time) ([]accountstore.Session, error)
	EndSession(ctx context.Context, userID, id int64) (accountstore.Session, error)
	EndOtherSessions(ctx context.Context, userID, except int64) error
	SetProfile(ctx context.Context, user accountstore.User, ifVersion int64, name, email string) (accountstore.User, error)
	Members
}

// Members keeps who there is, and who may come.
type Members interface {
	Members(ctx context.Context, afterID int64, limit int) ([]accountstore.Member, error)
	Disable(ctx context.Context, id, ifVersion int64, disabled bool) (accountstore.User, error)
	SetRole(ctx context.Context, id, ifVersion int64, role accountstore.Role) (accountstore.User, error)
	RemoveUser(ctx context.Context, id, ifVersion int64) (accountstore.User, error)
	Invite(ctx context.Context, maker accountstore.User, tokenHash, email string, role accountstore.Role, by string, expires time.Time) (accountstore.Invitation, error)
	Invitations(ctx context.Context, beforeID int64, limit int) ([]accountstore.Invitation, error)
	RevokeInvitation(ctx context.Context, id int64) (accountstore.Invitation, error)
}

// SessionPath names a session in a path.
type SessionPath struct {
	ID int64 `path:"id" minimum:"1"`
}

// PasswordInput changes the password.
type PasswordInput struct {
	Current  *string `json:"current_password" maxLength:"256"`
	Password *string `json:"password" minLength:"8" maxLength:"256" doc:"the new one; every other session ends, with my API keys and open invitations"`
}

// endedBody is what ended with a password, beside every other session.
type endedBody struct {
	Keys        int `json:"keys_ended" doc:"API keys of mine, with those that they made: programs that use them are refused"`
	Invitations int `json:"invitations_withdrawn" doc:"made by me or a key of mine, and used by nobody"`
}

type endedOutput struct {
	Cookie []string `header:"Set-Cookie"`
	Body   endedBody
}

// ProfileInput is what people may change about themselves.
type ProfileInput struct {
	Name    *string `json:"name,omitempty" maxLength:"120"`
	Email   *string `json:"email,omitempty" format:"email" maxLength:"254" doc:"to sign in with: needs current_password"`
	Current *string `json:"current_password,omitempty" maxLength:"256"`
}

type profileOutput struct {
	ETag string `header:"ETag" doc:"the version of the user"`
	Body sessionBody
}

type openSession struct {
	ID         int64   `json:"id"`
	Current    bool    `json:"current" doc:"the one that asks"`
	Address    string  `json:"address" doc:"where it began; empty: not known"`
	UserAgent  string  `json:"user_agent"`
	CreatedAt  instant `json:"created_at"`
	LastUsedAt instant `json:"last_used_at" doc:"to the minute"`
	ExpiresAt  instant `json:"expires_at" doc:"whatever happens; without a request it ends sooner"`
}

// person is who is signed in. API keys have no account to look after.
func person(ctx context.Context) (session.Identity, error) {
	identity := identityOf(ctx)
	if identity.User == nil {
		return identity, problem(http.StatusConflict, "no_session", "an API key has no account of its own: sign in")
	}
	return identity, nil
}

func (a *api) listSessions(ctx context.Context, _ *struct{}) (*listOutput[openSession], error) {
	me, err := person(ctx)
	if err != nil {
		return nil, err
	}
	found, err := a.Accounts.Sessions(ctx, me.User.ID, time.Now())
	if err != nil {
		return nil, err
	}
	out := &listOutput[openSession]{Body: list[openSession]{Items: []openSession{}}}
	for _, s := range found {
		out.Body.Items = append(out.Body.Items, openSession{
			ID: s.ID, Current: s.ID == me.SessionID, Address: s.Client.Address, UserAgent: s.Client.UserAgent,
			CreatedAt: instant(s.CreatedAt), LastUsedAt: instant(s.LastSeenAt), ExpiresAt: instant(s.ExpiresAt),
		})
	}
	return out, nil
}

func (a *api) endSession(ctx context.Context, in *SessionPath) (*noContent, error) {
	me, err := person(ctx)
	if err != nil {
		return nil, err
	}
	ended, err := a.Accounts.EndSession(ctx, me.User.ID, in.ID)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "session.ended", "session:"+strconv.FormatInt(in.ID, 10), strings.TrimSpace(ended.Client.Address+" "+ended.Client.UserAgent))
	return nil, nil
}

func (a *api) endOtherSessions(ctx context.Context, _ *struct{}) (*noContent, error) {
	me, err := person(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.Accounts.EndOtherSessions(ctx, me.User.ID, me.SessionID); err != nil {
		return nil, err
	}
	a.audit(ctx, "session.others-ended", me.Actor, "")
	return nil, nil
}

func (a *api) changePassword(ctx context.Context, in *struct{ Body document[PasswordInput] }) (*endedOutput, error) {
	me, err := person(ctx)
	if err != nil {
		return nil, err
	}
	var fields PasswordInput
	p := read(in.Body, func(f PasswordInput, _ nulls) []Mistake {
		fields = f
		return append(judgeCurrent(me, f.Current), judgePassword(f.Password)...)
	})
	if p != nil {
		return nil, p
	}
	ended, known, err := a.Sessions.ChangePassword(requestOf(ctx), me, deref(fields.Current), *fields.Password)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "password.changed", me.Actor, fmt.Sprintf("keys ended: %d, invitations withdrawn: %d", ended.Keys, ended.Invitations))
	return &endedOutput{Cookie: cookieTexts(known), Body: endedBody(ended)}, nil
}

func (a *api) patchProfile(ctx context.Context, in *struct {
	IfMatch string `header:"If-Match" doc:"the version of the user that you read, in quotation marks; absent: the last write wins"`
	Body    document[ProfileInput]
}) (*profileOutput, error) {
	me, err := person(ctx)
	if err != nil {
		return nil, err
	}
	wanted, err := ifMatch(in.IfMatch)
	if err != nil {
		return nil, accountstore.ErrVersion
	}
	var fields ProfileInput
	name, email := me.User.Name, me.User.Email
	p := read(in.Body, func(f ProfileInput, null nulls) (found []Mistake) {
		fields = f
		if f.Name != nil || null["name"] {
			found = append(found, judgeName(f.Name)...)
			name = strings.TrimSpace(deref(f.Name))
		}
		if f.Email != nil || null["email"] {
			found = append(found, judgeEmail(f.Email)...)
			email = strings.ToLower(strings.TrimSpace(deref(f.Email)))
		}
		if email != me.User.Email {
			found = append(found, judgeCurrent(me, f.Current)...)
		}
		return found
	})
	if p != nil {
		return nil, p
	}
	as := *me.User
	if email != me.User.Email {
		// At a first single sign-on the address says whose account this is.
		if _, there := a.Sessions.ProviderLabel(); there && me.User.Role != accountstore.RoleOwner {
			return nil, problem(http.StatusConflict, "address_held", "people are known by their addresses where there is single sign-on: an owner can remove this account and invite the other address")
		}
		if as, err = a.Sessions.Confirm(requestOf(ctx), me, deref(fields.Current)); err != nil {
			return nil, err
		}
	}
	user, err := a.Accounts.SetProfile(ctx, as, wanted, name, email)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "profile.changed", me.Actor, "")
	return &profileOutput{version(user.Version), signedIn(user).Body}, nil
}

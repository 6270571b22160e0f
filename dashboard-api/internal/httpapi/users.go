package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/accountstore"
)

// How long invitations last, in seconds.
const (
	invitationDefault = 7 * 24 * 3600
	invitationMin     = 3600
	invitationMax     = 30 * 24 * 3600
)

// UserPath names a user in a path.
type UserPath struct {
	ID int64 `path:"id" minimum:"1"`
}

// InvitationPath names an invitation in a path.
type InvitationPath struct {
	ID int64 `path:"id" minimum:"1"`
}

// MemberInput changes what a user may, or whether anything: one of both.
type MemberInput struct {
	Role     *string `json:"role,omitempty" enum:"owner,editor,viewer" doc:"the user's sessions end"`
	Disabled *bool   `json:"disabled,omitempty" doc:"true: the user's sessions end, the user's API keys are refused, and there is no way in until it is false again"`
}

// InvitationInput invites somebody.
type InvitationInput struct {
	Email    *string `json:"email,omitempty" format:"email" maxLength:"254" doc:"the only address it is for; default any"`
	Role     *string `json:"role" enum:"owner,editor,viewer"`
	ExpiresS *int64  `json:"expires_s,omitempty" minimum:"3600" maximum:"2592000" doc:"default 604800, seven days; never longer than the key that makes it"`
	Current  *string `json:"current_password,omitempty" maxLength:"256" doc:"needed of who is signed in and has a password"`
}

// AcceptInput accepts an invitation.
type AcceptInput struct {
	Token    *string `json:"token" doc:"from the link"`
	Email    *string `json:"email,omitempty" format:"email" maxLength:"254" doc:"needed where the invitation names none"`
	Name     *string `json:"name" maxLength:"120"`
	Password *string `json:"password" minLength:"8" maxLength:"256"`
}

// Member is a user in answers. (Huma passes over embedded types that are not exported.)
type Member struct {
	ID        int64   `json:"id"`
	Email     string  `json:"email"`
	Name      string  `json:"name"`
	Role      string  `json:"role" enum:"owner,editor,viewer"`
	CreatedAt instant `json:"created_at"`

	DisabledAt nullable[instant] `json:"disabled_at" doc:"since when there is no way in; null: not so"`
	Version    int64             `json:"version" doc:"rises with every change of these; the ETag"`
}

type invitationBody struct {
	ID         int64             `json:"id"`
	Email      nullable[string]  `json:"email" doc:"null: for any address"`
	Role       string            `json:"role" enum:"owner,editor,viewer"`
	State      string            `json:"state" enum:"open,accepted,revoked,expired"`
	CreatedBy  string            `json:"created_by" example:"user:1"`
	CreatedAt  instant           `json:"created_at"`
	ExpiresAt  instant           `json:"expires_at"`
	AcceptedAt nullable[instant] `json:"accepted_at"`
	Token      string            `json:"token,omitempty" doc:"shown once"`
	Link       string            `json:"link,omitempty" doc:"for whom it is for; shown once"`
}

// listedMember is a user with what those ask for who look after users.
type listedMember struct {
	Member
	LastSeenAt   nullable[instant] `json:"last_seen_at" doc:"to the minute; null: in no session that is left"`
	SecondFactor bool              `json:"second_factor" doc:"whether signing in needs a code, too"`
}

type (
	memberOutput struct {
		ETag string `header:"ETag" doc:"the version"`
		Body Member
	}
	invitationOutput struct {
		Status int
		Body   invitationBody
	}
)

func memberOf(user accountstore.User) Member {
	return Member{ID: user.ID, Email: user.Email, Name: user.Name, Role: string(user.Role), CreatedAt: instant(user.CreatedAt), DisabledAt: maybeInstant(user.DisabledAt), Version: user.Version}
}

func invitationOf(i accountstore.Invitation, now time.Time) invitationBody {
	body := invitationBody{
		ID: i.ID, Role: string(i.Role), State: "open", CreatedBy: i.CreatedBy, CreatedAt: instant(i.CreatedAt),
		ExpiresAt: instant(i.ExpiresAt), AcceptedAt: maybeInstant(i.AcceptedAt),
	}
	if i.Email != "" {
		body.Email = some(i.Email)
	}
	switch {
	case !i.AcceptedAt.IsZero():
		body.State = "accepted"
	case !i.RevokedAt.IsZero():
		body.State = "revoked"
	case !i.ExpiresAt.After(now):
		body.State = "expired"
	}
	return body
}

func judgeRole(text *string) []Mistake {
	if found := judgeGiven("/role", text); found != nil {
		return found
	}
	if rank(accountstore.Role(*text)) == 0 {
		return []Mistake{{Pointer: "/role", Code: "unknown_role", Message: "a role is owner, editor or viewer"}}
	}
	return nil
}

func (a *api) listUsers(ctx context.Context, in *Page) (*listOutput[listedMember], error) {
	after, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.Accounts.Members(ctx, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, func(m accountstore.Member) listedMember {
		return listedMember{memberOf(m.User), maybeInstant(m.LastSeenAt), m.SecondFactor}
	}, func(m accountstore.Member) int64 { return m.ID }), nil
}

func (a *api) patchUser(ctx context.Context, in *struct {
	UserPath
	IfMatch string `header:"If-Match" doc:"the version that you read, in quotation marks; absent: the last write wins"`
	Body    document[MemberInput]
}) (*memberOutput, error) {
	wanted, err := ifMatch(in.IfMatch)
	if err != nil {
		return nil, accountstore.ErrVersion
	}
	var fields MemberInput
	p := read(in.Body, func(f MemberInput, null nulls) []Mistake {
		fields = f
		switch {
		case null["disabled"]:
			return []Mistake{needed("/disabled")}
		case f.Disabled == nil:
			return judgeRole(f.Role)
		case f.Role != nil || null["role"]:
			return []Mistake{{Pointer: "/role", Code: codeInvalidType, Message: "change the role, or disable or enable the account: one at a time"}}
		}
		return nil
	})
	if p != nil {
		return nil, p
	}
	if fields.Disabled != nil {
		return a.disableUser(ctx, in.ID, wanted, *fields.Disabled)
	}
	role := accountstore.Role(*fields.Role)
	user, err := a.Accounts.SetRole(ctx, in.ID, wanted, role)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "user.role-changed", userActor(user.ID), string(role))
	return &memberOutput{version(user.Version), memberOf(user)}, nil
}

func (a *api) disableUser(ctx context.Context, id, ifVersion int64, disabled bool) (*memberOutput, error) {
	user, err := a.Accounts.Disable(ctx, id, ifVersion, disabled)
	if err != nil {
		return nil, err
	}
	action := "user.enabled"
	if disabled {
		action = "user.disabled"
	}
	a.audit(ctx, action, userActor(user.ID), user.Email)
	return &memberOutput{version(user.Version), memberOf(user)}, nil
}

func (a *api) removeUser(ctx context.Context, in *struct {
	UserPath
	IfMatch string `header:"If-Match" doc:"the version that you read, in quotation marks; absent: whatever it is now"`
}) (*noContent, error) {
	wanted, err := ifMatch(in.IfMatch)
	if err != nil {
		return nil, accountstore.ErrVersion
	}
	user, err := a.Accounts.RemoveUser(ctx, in.ID, wanted)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "user.removed", userActor(user.ID), user.Email)
	return nil, nil
}

func (a *api) invite(ctx context.Context, in *struct{ Body document[InvitationInput] }) (*invitationOutput, error) {
	var fields InvitationInput
	maker := identityOf(ctx)
	p := read(in.Body, func(f InvitationInput, _ nulls) (found []Mistake) {
		fields, found = f, append(judgeRole(f.Role), judgeMaker(maker, f.Current)...)
		if _, there := a.Sessions.ProviderLabel(); f.Email != nil {
			found = append(found, judgeEmail(f.Email)...)
		} else if there {
			found = append(found, Mistake{Pointer: "/email", Code: codeRequired, Message: "where there is single sign-on an invitation names the address: it says whose the account is"})
		}
		if f.ExpiresS != nil && (*f.ExpiresS < invitationMin || *f.ExpiresS > invitationMax) {
			found = append(found, Mistake{Pointer: "/expires_s", Code: codeInvalidRange, Message: "an invitation lasts between an hour and 30 days"})
		}
		return found
	})
	if p != nil {
		return nil, p
	}
	lasts := int64(invitationDefault)
	if fields.ExpiresS != nil {
		lasts = *fields.ExpiresS
	}
	by, err := a.confirmMaker(ctx, maker, deref(fields.Current))
	if err != nil {
		return nil, err
	}
	token, now := session.NewToken(), time.Now()
	until := now.Add(time.Duration(lasts) * time.Second)
	if maker.Key != nil && !maker.Key.ExpiresAt.IsZero() && maker.Key.ExpiresAt.Before(until) {
		until = maker.Key.ExpiresAt // then it would not be valid any more
	}
	made, err := a.Accounts.Invite(ctx, by, session.HashToken(token), deref(fields.Email), accountstore.Role(*fields.Role), maker.Actor, until)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "invitation.created", "invitation:"+strconv.FormatInt(made.ID, 10), strings.TrimSpace(made.Email+" as "+string(made.Role)))
	out := &invitationOutput{Status: http.StatusCreated, Body: invitationOf(made, now)}
	out.Body.Token, out.Body.Link = token, a.PublicURL+"/invitation#token="+token // what is behind # is sent to no server, and is in no log
	return out, nil
}

func (a *api) listInvitations(ctx context.Context, in *Page) (*listOutput[invitationBody], error) {
	before, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.Accounts.Invitations(ctx, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return pageOf(found, in.Limit, func(i accountstore.Invitation) invitationBody { return invitationOf(i, now) }, func(i accountstore.Invitation) int64 { return i.ID }), nil
}

func (a *api) revokeInvitation(ctx context.Context, in *InvitationPath) (*noContent, error) {
	revoked, err := a.Accounts.RevokeInvitation(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "invitation.revoked", "invitation:"+strconv.FormatInt(in.ID, 10), strings.TrimSpace(revoked.Email+" as "+string(revoked.Role)))
	return nil, nil
}

func (a *api) acceptInvitation(ctx context.Context, in *struct{ Body document[AcceptInput] }) (*sessionOutput, error) {
	var fields AcceptInput
	p := read(in.Body, func(f AcceptInput, _ nulls) (found []Mistake) {
		fields, found = f, append(judgeGiven("/token", f.Token), judgeName(f.Name)...)
		if f.Email != nil {
			found = append(found, judgeEmail(f.Email)...)
		}
		return append(found, judgePassword(f.Password)...)
	})
	if p != nil {
		return nil, p
	}
	user, cookie, err := a.Sessions.Accept(requestOf(ctx), *fields.Token, deref(fields.Email), strings.TrimSpace(*fields.Name), *fields.Password)
	a.auditMade(ctx, user, "invitation.accepted", user.Email+" as "+string(user.Role))
	if err != nil {
		return nil, err
	}
	return created(a.signedInBy(ctx, user, cookie)), nil
}

package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/mail"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/accountstore"
)

// Bounds of passwords: long enough to resist guessing, short enough to hash.
const (
	minPassword = 8
	maxPassword = 256
	maxEmail    = 254
)

// SetupInput makes the first owner.
type SetupInput struct {
	Token    *string `json:"token" doc:"from the set-up link printed at start"`
	Email    *string `json:"email" format:"email" maxLength:"254"`
	Name     *string `json:"name" maxLength:"120"`
	Password *string `json:"password" minLength:"8" maxLength:"256"`
}

// LoginInput signs in.
type LoginInput struct {
	Email    *string `json:"email" format:"email"`
	Password *string `json:"password"`
}

type userBody struct {
	ID    int64  `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
	Role  string `json:"role" enum:"owner,editor,viewer"`

	Version int64 `json:"version" doc:"rises with every change of name, address or role; If-Match of /session/profile"`

	Passwordless bool `json:"passwordless,omitempty" doc:"there is no password to say again: signing in just before takes its place"`
}

type sessionBody struct {
	User        nullable[userBody] `json:"user" doc:"null for an API key"`
	Role        string             `json:"role" enum:"owner,editor,viewer,"`
	SetupNeeded bool               `json:"setup_needed"`
	Second      *SecondStep        `json:"second_factor,omitempty" doc:"with status 202: nobody is signed in yet, a code is to follow at /api/v1/session:verify"`
}

type sessionOutput struct {
	Status int
	Cookie []string `header:"Set-Cookie"`
	Body   sessionBody
}

func signedIn(user accountstore.User) *sessionOutput {
	return &sessionOutput{Status: http.StatusOK, Body: sessionBody{User: some(userOf(user)), Role: string(user.Role)}}
}

// signedInBy is the answer to a browser that has just signed in.
func (a *api) signedInBy(ctx context.Context, user accountstore.User, cookie *http.Cookie) *sessionOutput {
	out := signedIn(user)
	out.Cookie = a.cookies(ctx, user, cookie)
	return out
}

// cookies are what a browser keeps of a sign-in: the session, and that it is known.
func (a *api) cookies(ctx context.Context, user accountstore.User, session *http.Cookie) []string {
	return cookieTexts(session, a.Sessions.KnowBrowser(requestOf(ctx), user))
}

// cookieTexts are the cookies as headers say them, of those that there are.
func cookieTexts(cookies ...*http.Cookie) (all []string) {
	for _, cookie := range cookies {
		if cookie != nil {
			all = append(all, cookie.String())
		}
	}
	return all
}

func created(out *sessionOutput) *sessionOutput {
	out.Status = http.StatusCreated
	return out
}

func userOf(user accountstore.User) userBody {
	return userBody{ID: user.ID, Email: user.Email, Name: user.Name, Role: string(user.Role), Version: user.Version, Passwordless: user.Passwordless}
}

func (a *api) setUp(ctx context.Context, in *struct{ Body document[SetupInput] }) (*sessionOutput, error) {
	var fields SetupInput
	if p := read(in.Body, func(f SetupInput, _ nulls) []Mistake { fields = f; return judgeSetup(f) }); p != nil {
		return nil, p
	}
	user, cookie, err := a.Sessions.SetUp(requestOf(ctx), *fields.Token, strings.TrimSpace(*fields.Email), strings.TrimSpace(*fields.Name), *fields.Password)
	a.auditMade(ctx, user, "setup", "first owner")
	if err != nil {
		return nil, err
	}
	return created(a.signedInBy(ctx, user, cookie)), nil
}

// auditMade notes an account that its person has made, whatever became of the sign-in afterwards.
func (a *api) auditMade(ctx context.Context, user accountstore.User, action, detail string) {
	if user.ID != 0 {
		a.audit(context.WithValue(ctx, keyIdentity, session.Identity{Actor: userActor(user.ID)}), action, userActor(user.ID), detail)
	}
}

func judgeSetup(in SetupInput) []Mistake {
	return slices.Concat(judgeGiven("/token", in.Token), judgeEmail(in.Email), judgeName(in.Name), judgePassword(in.Password))
}

func judgeGiven(pointer string, text *string) []Mistake {
	if text == nil || strings.TrimSpace(*text) == "" {
		return []Mistake{needed(pointer)}
	}
	return nil
}

func judgeEmail(text *string) []Mistake {
	found := judgeGiven("/email", text)
	if found == nil && !goodEmail(strings.TrimSpace(*text)) {
		found = []Mistake{{Pointer: "/email", Code: codeInvalidEmail, Message: "this is not an e-mail address"}}
	}
	return found
}

func judgeName(text *string) []Mistake {
	_, found := givenName(text, false, "")
	return found
}

func judgePassword(text *string) []Mistake {
	found := judgeGiven("/password", text)
	if found != nil {
		return found
	}
	switch n := utf8.RuneCountInString(*text); {
	case n < minPassword:
		return []Mistake{{Pointer: "/password", Code: codeTooShort, Message: "a password has at least 8 characters"}}
	case n > maxPassword:
		return []Mistake{{Pointer: "/password", Code: codeTooLong, Message: "a password has at most 256 characters"}}
	}
	return nil
}

func needed(pointer string) Mistake {
	return Mistake{Pointer: pointer, Code: codeRequired, Message: "this is needed"}
}

func goodEmail(text string) bool {
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Address == text && len(text) <= maxEmail
}

func (a *api) logIn(ctx context.Context, in *struct{ Body document[LoginInput] }) (*sessionOutput, error) {
	var fields LoginInput
	p := read(in.Body, func(f LoginInput, _ nulls) (found []Mistake) {
		fields = f
		if f.Email == nil || *f.Email == "" {
			found = append(found, needed("/email"))
		}
		if f.Password == nil || *f.Password == "" {
			found = append(found, needed("/password"))
		}
		return found
	})
	if p != nil {
		return nil, p
	}
	if len(*fields.Password) > 4*maxPassword || !goodEmail(strings.TrimSpace(*fields.Email)) {
		return nil, session.ErrBadCredentials // nobody can have these
	}
	user, cookie, err := a.Sessions.LogIn(requestOf(ctx), *fields.Email, *fields.Password)
	if needed, is := errors.AsType[*session.SecondFactorError](err); is {
		return secondStep(needed), nil
	}
	if err != nil {
		return nil, err
	}
	return a.entering(ctx, user, cookie, ""), nil
}

// entering is the answer to who has just signed in, and says so in the audit log.
func (a *api) entering(ctx context.Context, user accountstore.User, cookie *http.Cookie, how string) *sessionOutput {
	a.audit(context.WithValue(ctx, keyIdentity, session.Identity{Actor: userActor(user.ID)}), "session.created", userActor(user.ID), how)
	return a.signedInBy(ctx, user, cookie)
}

// currentSession is public so that a page can ask who it is talking for; the
// answer to nobody is 401 all the same, saying whether a set-up is needed.
func (a *api) currentSession(ctx context.Context, _ *struct{}) (*sessionOutput, error) {
	identity, err := a.Sessions.Identify(requestOf(ctx))
	if err != nil {
		return nil, a.refusal(requestOf(ctx), err)
	}
	if identity.User != nil {
		return signedIn(*identity.User), nil
	}
	needed, err := a.Sessions.SetupNeeded(ctx)
	if err != nil {
		return nil, err
	}
	return &sessionOutput{Status: http.StatusOK, Body: sessionBody{Role: string(identity.Role), SetupNeeded: needed}}, nil
}

type loggedOut struct {
	Cookie string `header:"Set-Cookie"`
}

func (a *api) logOut(ctx context.Context, _ *struct{}) (*loggedOut, error) {
	r := requestOf(ctx)
	if identityOf(ctx).User == nil {
		return nil, problem(http.StatusConflict, "no_session", "an API key has no session to end")
	}
	if err := a.Sessions.LogOut(r); err != nil {
		return nil, err
	}
	a.audit(ctx, "session.deleted", identityOf(ctx).Actor, "")
	return &loggedOut{Cookie: a.Sessions.EndCookie(r).String()}, nil
}

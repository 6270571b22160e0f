package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/accountstore"
)

// PasskeyStore keeps the passkeys of people.
type PasskeyStore interface {
	Passkeys(ctx context.Context, userID int64) ([]accountstore.Passkey, error)
	RenamePasskey(ctx context.Context, userID, id int64, name string) (accountstore.Passkey, error)
}

// PasskeyPath names a passkey in a path.
type PasskeyPath struct {
	ID int64 `path:"id" minimum:"1"`
}

// NothingInput is a document with nothing in it.
type NothingInput struct{}

// NewPasskeyInput finishes a registration.
type NewPasskeyInput struct {
	Challenge  *string         `json:"challenge" doc:"from the first step"`
	Name       *string         `json:"name" maxLength:"120" example:"My phone"`
	Credential json.RawMessage `json:"credential" doc:"what navigator.credentials.create has made, as its toJSON writes it"`
}

// PasskeyNameInput renames a passkey.
type PasskeyNameInput struct {
	Name *string `json:"name" maxLength:"120"`
}

// SignedInput signs in.
type SignedInput struct {
	Credential json.RawMessage `json:"credential" doc:"what navigator.credentials.get has given, as its toJSON writes it"`
}

// CeremonyBody is what a browser asks an authenticator.
type CeremonyBody struct {
	Options   any               `json:"options" doc:"publicKey in it is for PublicKeyCredential.parseCreationOptionsFromJSON, or parseRequestOptionsFromJSON"`
	Challenge string            `json:"challenge,omitempty" doc:"goes back when a registration is finished"`
	ExpiresAt nullable[instant] `json:"expires_at"`
}

type passkeyBody struct {
	ID        int64             `json:"id"`
	Name      string            `json:"name"`
	CreatedAt instant           `json:"created_at"`
	UsedAt    nullable[instant] `json:"last_used_at"`
	BlockedAt nullable[instant] `json:"blocked_at" doc:"since when it signs nobody in any more: its count went back, so there may be a copy of it. Remove it"`
}

type (
	passkeyOutput  struct{ Body passkeyBody }
	ceremonyOutput struct {
		Cookie string `header:"Set-Cookie"`
		Body   CeremonyBody
	}
)

func passkeyOf(p accountstore.Passkey) passkeyBody {
	return passkeyBody{ID: p.ID, Name: p.Name, CreatedAt: instant(p.CreatedAt), UsedAt: maybeInstant(p.UsedAt), BlockedAt: maybeInstant(p.BlockedAt)}
}

func passkeyObject(id int64) string { return "passkey:" + strconv.FormatInt(id, 10) }

func (a *api) listPasskeys(ctx context.Context, _ *struct{}) (*listOutput[passkeyBody], error) {
	me, err := person(ctx)
	if err != nil {
		return nil, err
	}
	found, err := a.Passkeys.Passkeys(ctx, me.User.ID)
	if err != nil {
		return nil, err
	}
	return pageOf(found, len(found), passkeyOf, func(p accountstore.Passkey) int64 { return p.ID }), nil
}

func (a *api) beginPasskey(ctx context.Context, in *struct{ Body document[ConfirmInput] }) (*ceremonyOutput, error) {
	me, password, err := confirmed(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	begun, err := a.Sessions.BeginPasskey(requestOf(ctx), me, password)
	if err != nil {
		return nil, err
	}
	return &ceremonyOutput{Body: CeremonyBody{begun.Options, begun.Challenge, some(instant(begun.ExpiresAt))}}, nil
}

func (a *api) addPasskey(ctx context.Context, in *struct{ Body document[NewPasskeyInput] }) (*passkeyOutput, error) {
	me, err := person(ctx)
	if err != nil {
		return nil, err
	}
	var fields NewPasskeyInput
	p := read(in.Body, func(f NewPasskeyInput, _ nulls) []Mistake {
		fields = f
		return append(append(judgeGiven("/challenge", f.Challenge), judgeName(f.Name)...), judgeCredential(f.Credential)...)
	})
	if p != nil {
		return nil, p
	}
	made, err := a.Sessions.AddPasskey(requestOf(ctx), me, *fields.Challenge, strings.TrimSpace(*fields.Name), fields.Credential)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "passkey.added", passkeyObject(made.ID), made.Name)
	return &passkeyOutput{passkeyOf(made)}, nil
}

func judgeCredential(raw json.RawMessage) []Mistake {
	if len(raw) == 0 {
		return []Mistake{needed("/credential")}
	}
	return nil
}

func (a *api) renamePasskey(ctx context.Context, in *struct {
	PasskeyPath
	Body document[PasskeyNameInput]
}) (*passkeyOutput, error) {
	me, err := person(ctx)
	if err != nil {
		return nil, err
	}
	var name string
	p := read(in.Body, func(f PasskeyNameInput, _ nulls) []Mistake {
		name = strings.TrimSpace(deref(f.Name))
		return judgeName(f.Name)
	})
	if p != nil {
		return nil, p
	}
	renamed, err := a.Passkeys.RenamePasskey(ctx, me.User.ID, in.ID, name)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "passkey.renamed", passkeyObject(in.ID), name)
	return &passkeyOutput{passkeyOf(renamed)}, nil
}

func (a *api) removePasskey(ctx context.Context, in *struct {
	PasskeyPath
	Body document[ConfirmInput]
}) (*noContent, error) {
	me, password, err := confirmed(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	removed, err := a.Sessions.RemovePasskey(requestOf(ctx), me, in.ID, password)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "passkey.removed", passkeyObject(in.ID), removed.Name)
	return nil, nil
}

// askPasskey is open to everybody, and writes a row each time: so it is slowed by address, or by browser where it is known.
func (a *api) askPasskey(ctx context.Context, in *struct{ Body document[NothingInput] }) (*ceremonyOutput, error) {
	if p := read(in.Body, func(NothingInput, nulls) []Mistake { return nil }); p != nil {
		return nil, p
	}
	r := requestOf(ctx)
	if wait := a.begins.Allow(a.Sessions.Place(r)); wait > 0 {
		return nil, &session.ThrottledError{Wait: wait}
	}
	options, cookie, err := a.Sessions.AskPasskey(r)
	if err != nil {
		return nil, err
	}
	return &ceremonyOutput{cookie.String(), CeremonyBody{Options: options, ExpiresAt: some(instant(cookie.Expires))}}, nil
}

func (a *api) logInWithPasskey(ctx context.Context, in *struct{ Body document[SignedInput] }) (*sessionOutput, error) {
	var fields SignedInput
	p := read(in.Body, func(f SignedInput, _ nulls) []Mistake {
		fields = f
		return judgeCredential(f.Credential)
	})
	if p != nil {
		return nil, p
	}
	user, cookie, err := a.Sessions.LogInWithPasskey(requestOf(ctx), fields.Credential)
	if blocked, is := errors.AsType[*session.BlockedPasskeyError](err); is && blocked.Now {
		a.audit(ctx, "passkey.blocked", passkeyObject(blocked.Passkey.ID), "its count went back, there may be a copy; of "+userActor(blocked.Passkey.UserID))
	}
	if err != nil {
		return nil, err
	}
	return a.entering(ctx, user, cookie, "with a passkey"), nil
}

type waysBody struct {
	Passkeys bool `json:"passkeys" doc:"whether browsers can have passkeys for this address: it needs https and a name"`

	Provider nullable[providerBody] `json:"provider" doc:"of single sign-on; null: there is none"`
}

type providerBody struct {
	Label string `json:"label" example:"Example Ltd"`
}

type waysOutput struct{ Body waysBody }

// ways is the same for everybody: nothing of who has an account is in it.
func (a *api) ways(context.Context, *struct{}) (*waysOutput, error) {
	out := &waysOutput{waysBody{Passkeys: a.Sessions.HasPasskeys()}}
	if label, there := a.Sessions.ProviderLabel(); there {
		out.Body.Provider = some(providerBody{label})
	}
	return out, nil
}

// passkeyProblem is the answer to who holds a blocked passkey.
func passkeyProblem(blocked *session.BlockedPasskeyError) *Problem {
	return withCause(problem(http.StatusUnauthorized, "passkey_blocked", "this passkey was used in a way that only a copy of it could be: it is blocked. Sign in another way and remove it"), blocked)
}

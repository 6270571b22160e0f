package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/accountstore"
)

const longestKey = 10 * 366 * 24 * 3600 // seconds

// Keys keeps API keys.
type Keys interface {
	CreateKey(ctx context.Context, maker accountstore.User, key accountstore.APIKey, keyHash string) (accountstore.APIKey, error)
	Keys(ctx context.Context, userID, afterID int64, limit int) ([]accountstore.APIKey, error)
	RevokeKey(ctx context.Context, userID, id int64) (accountstore.APIKey, error)
}

// KeyPath names an API key in a path.
type KeyPath struct {
	ID int64 `path:"id" minimum:"1"`
}

// KeyInput makes an API key.
type KeyInput struct {
	Name     *string  `json:"name" maxLength:"120"`
	Role     *string  `json:"role,omitempty" enum:"owner,editor,viewer" doc:"all that this role may. Else say scopes."`
	Scopes   []string `json:"scopes,omitempty" example:"[\"read\",\"results:write\"]" doc:"any of read, targets:write, incidents:write, results:write, admin (everything). Else say role."`
	ExpiresS *int64   `json:"expires_s,omitempty" minimum:"60" maximum:"316224000" doc:"default: never"`
	Current  *string  `json:"current_password,omitempty" maxLength:"256" doc:"needed of who is signed in and has a password"`
}

type keyBody struct {
	ID         int64             `json:"id"`
	Name       string            `json:"name"`
	Prefix     string            `json:"prefix" doc:"its first characters"`
	Role       string            `json:"role" enum:"owner,editor,viewer" doc:"the most it may; it never does more than who made it may now"`
	Scopes     []string          `json:"scopes" nullable:"false" doc:"what of that; none: all"`
	UserID     nullable[int64]   `json:"user_id" doc:"whose it is; null: the installation's"`
	CreatedAt  instant           `json:"created_at"`
	LastUsedAt nullable[instant] `json:"last_used_at" doc:"to the minute; null: never"`
	ExpiresAt  nullable[instant] `json:"expires_at" doc:"null: never"`
	Key        string            `json:"key,omitempty" doc:"shown once"`
}

type keyOutput struct {
	Status int
	Body   keyBody
}

func keyOf(k accountstore.APIKey) keyBody {
	body := keyBody{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Role: string(k.Role), Scopes: orEmpty(k.Scopes), CreatedAt: instant(k.CreatedAt),
		LastUsedAt: maybeInstant(k.LastUsedAt), ExpiresAt: maybeInstant(k.ExpiresAt),
	}
	if k.UserID != 0 {
		body.UserID = some(k.UserID)
	}
	return body
}

// ownKeys is whose keys somebody may look after: everybody's (0) as an owner, else the own ones.
func ownKeys(identity session.Identity) (userID int64, err error) {
	switch {
	case identity.Role == accountstore.RoleOwner:
		return 0, nil
	case identity.User != nil:
		return identity.User.ID, nil
	}
	return 0, problem(http.StatusConflict, "no_session", "only an owner's key looks after keys: sign in")
}

func (a *api) createKey(ctx context.Context, in *struct{ Body document[KeyInput] }) (*keyOutput, error) {
	maker := identityOf(ctx)
	if _, err := ownKeys(maker); err != nil {
		return nil, err
	}
	if maker.Key != nil && maker.Key.ParentID != 0 {
		return nil, problem(http.StatusConflict, "made_by_a_key", "a key that a key made makes none")
	}
	var key accountstore.APIKey
	var password string
	p := read(in.Body, func(f KeyInput, _ nulls) (found []Mistake) {
		key, found = judgeKey(f, maker.Role)
		password = deref(f.Current)
		return append(found, judgeMaker(maker, f.Current)...)
	})
	if p != nil {
		return nil, p
	}
	by, err := a.confirmMaker(ctx, maker, password)
	if err != nil {
		return nil, err
	}
	if maker.Key != nil {
		key.UserID, key.ParentID = maker.Key.UserID, maker.Key.ID
	} else {
		key.UserID = maker.User.ID
	}
	text := session.NewKey()
	key.Prefix = session.Prefix(text)
	made, err := a.Keys.CreateKey(ctx, by, key, session.HashToken(text))
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "key.created", keyActor(made.ID), strings.TrimSpace(made.Name+" as "+string(made.Role)+" "+strings.Join(made.Scopes, " ")))
	out := &keyOutput{Status: http.StatusCreated, Body: keyOf(made)}
	out.Body.Key = text
	return out, nil
}

// judgeKey gives the key that an input asks for, or every mistake in it.
func judgeKey(f KeyInput, most accountstore.Role) (key accountstore.APIKey, found []Mistake) {
	key.Name, found = givenName(f.Name, false, "")
	switch {
	case f.Role != nil && f.Scopes != nil:
		found = append(found, Mistake{Pointer: "/scopes", Code: "role_or_scopes", Message: "say either a role or scopes"})
	case f.Scopes != nil && len(f.Scopes) == 0:
		found = append(found, needed("/scopes"))
	case f.Scopes != nil:
		key.Role = accountstore.RoleViewer
		for i, scope := range f.Scopes {
			switch {
			case !slices.Contains(scopeNames(), scope):
				found = append(found, Mistake{Pointer: "/scopes/" + strconv.Itoa(i), Code: "unknown_scope", Message: "a scope is one of " + strings.Join(scopeNames(), ", ")})
			case rank(roleOf(scope)) > rank(most):
				found = append(found, beyond("/scopes/"+strconv.Itoa(i)))
			case rank(roleOf(scope)) > rank(key.Role):
				key.Role = roleOf(scope)
			}
		}
		key.Scopes = slices.Compact(slices.Sorted(slices.Values(f.Scopes)))
	default:
		key.Role = accountstore.Role(deref(f.Role))
		if wrong := judgeRole(f.Role); wrong != nil {
			found = append(found, wrong...)
		} else if rank(key.Role) > rank(most) {
			found = append(found, beyond("/role"))
		}
	}
	if f.ExpiresS != nil {
		if *f.ExpiresS < 60 || *f.ExpiresS > longestKey {
			found = append(found, Mistake{Pointer: "/expires_s", Code: codeInvalidRange, Message: "a key lasts between a minute and ten years"})
		} else {
			key.ExpiresAt = time.Now().Add(time.Duration(*f.ExpiresS) * time.Second)
		}
	}
	return key, found
}

func beyond(pointer string) Mistake {
	return Mistake{Pointer: pointer, Code: "beyond_your_role", Message: "a key does no more than who makes it may"}
}

func (a *api) listKeys(ctx context.Context, in *Page) (*listOutput[keyBody], error) {
	userID, err := ownKeys(identityOf(ctx))
	if err != nil {
		return nil, err
	}
	after, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.Keys.Keys(ctx, userID, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, keyOf, func(k accountstore.APIKey) int64 { return k.ID }), nil
}

func (a *api) revokeKey(ctx context.Context, in *KeyPath) (*noContent, error) {
	userID, err := ownKeys(identityOf(ctx))
	if err != nil {
		return nil, err
	}
	revoked, err := a.Keys.RevokeKey(ctx, userID, in.ID)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "key.revoked", keyActor(in.ID), revoked.Name)
	return nil, nil
}

func keyActor(id int64) string { return "key:" + strconv.FormatInt(id, 10) }

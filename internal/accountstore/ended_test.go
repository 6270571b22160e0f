package accountstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
)

// With a key end the invitations that it has made, and those of the keys that it made; and one that
// was being made meanwhile lets nobody in.
func TestInvitationsEndWithTheirMaker(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store, ctx, until := accountstore.New(db), t.Context(), time.Now().Add(time.Hour)
		ada := owner(t, store)
		bob := member(t, store, "bob@example.com", accountstore.RoleOwner)
		key := func(hash string, key accountstore.APIKey) string {
			t.Helper()
			key.Name, key.Role = hash, accountstore.RoleOwner
			made, err := store.CreateKey(ctx, accountstore.User{}, key, hash)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint("key:", made.ID)
		}
		invite := func(token, email, by string) {
			t.Helper()
			if _, err := store.Invite(ctx, accountstore.User{}, token, email, accountstore.RoleOwner, by, until); err != nil {
				t.Fatal(err)
			}
		}
		parent := key("parent", accountstore.APIKey{UserID: ada.ID})
		var parentID int64
		if _, err := fmt.Sscanf(parent, "key:%d", &parentID); err != nil {
			t.Fatal(err)
		}
		child := key("child", accountstore.APIKey{UserID: ada.ID, ParentID: parentID})
		other := key("other", accountstore.APIKey{UserID: ada.ID})
		makers := map[string]string{"parent": parent, "child": child, "other": other, "person": fmt.Sprint("user:", ada.ID)}
		for token, by := range makers {
			invite(token, "", by)
		}
		if _, err := store.RevokeKey(ctx, 0, parentID); err != nil {
			t.Fatal(err)
		}
		for token := range makers {
			_, err := store.InvitationValid(ctx, token, time.Now())
			if ended := token == "parent" || token == "child"; ended != errors.Is(err, accountstore.ErrBadInvitation) || !ended && err != nil {
				t.Errorf("by %s, once a key was ended: %v", token, err)
			}
		}
		late := map[string]string{
			"an ended key": parent, "a key of an ended key": child, "nobody": "", "somebody unknown": "user:4711", "a subject that is none": "user:x",
			"an editor":          fmt.Sprint("user:", member(t, store, "ed@example.com", accountstore.RoleEditor).ID),
			"an expired key":     key("expired", accountstore.APIKey{ExpiresAt: time.Now().Add(-time.Second)}),
			"somebody disabled":  fmt.Sprint("user:", bob.ID),
			"a key of the same":  key("bobs", accountstore.APIKey{UserID: bob.ID}),
			"an unknown kind":    "robot:1",
			"a key of an editor": "",
		}
		ed, _, err := store.UserByEmail(ctx, "ed@example.com")
		if err != nil {
			t.Fatal(err)
		}
		late["a key of an editor"] = key("eds", accountstore.APIKey{UserID: ed.ID})
		if _, err := store.Disable(ctx, bob.ID, 0, true); err != nil {
			t.Fatal(err)
		}
		invite("good", "new@example.com", other) // the oldest of all for this address
		for name, by := range late {
			invite("late "+name, "", by)
			if _, err := store.AcceptInvitation(ctx, "late "+name, "eve@example.com", "x", "hash"); !errors.Is(err, accountstore.ErrBadInvitation) {
				t.Errorf("by %s: %v", name, err)
			}
			invite("for eve by "+name, "eve@example.com", by)
			invite("for new by "+name, "new@example.com", by)
		}
		who := accountstore.Identity{Issuer: "https://id.example", Subject: "eve"}
		if _, _, err := store.Join(ctx, who, "eve@example.com", "Eve", ""); !errors.Is(err, accountstore.ErrUnknownPerson) {
			t.Errorf("joined by an invitation of who may invite nobody: %v", err)
		}
		if user, invited, err := store.Join(ctx, who, "new@example.com", "New", ""); err != nil || !invited || user.Role != accountstore.RoleOwner {
			t.Errorf("%+v, invited: %v, %v", user, invited, err)
		}
	})
}

// What a person makes does not outlive what ends the person's ways in, also when the password was
// said before that and the rest is stored after it.
func TestNothingIsMadeByWhoWasEndedMeanwhile(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store, ctx := accountstore.New(db), t.Context()
		owner(t, store)
		for ends, end := range map[string]func(accountstore.User) error{
			"a new password": func(bob accountstore.User) error {
				_, err := store.SetPassword(ctx, bob, "new", 0)
				return err
			},
			"another role": func(bob accountstore.User) error {
				_, err := store.SetRole(ctx, bob.ID, 0, accountstore.RoleEditor)
				return err
			},
			"being disabled": func(bob accountstore.User) error {
				_, err := store.Disable(ctx, bob.ID, 0, true)
				return err
			},
			"being removed": func(bob accountstore.User) error {
				_, err := store.RemoveUser(ctx, bob.ID, 0)
				return err
			},
		} {
			address := strings.ReplaceAll(ends, " ", "-") + "@example.com"
			bob := member(t, store, address, accountstore.RoleOwner)
			var passkeys []int64
			for i := range 2 {
				passkey, err := store.AddPasskey(ctx, bob, accountstore.Passkey{CredentialID: fmt.Sprint(ends, i)})
				if err != nil {
					t.Fatal(err)
				}
				passkeys = append(passkeys, passkey.ID)
			}
			makes := map[string]func(user accountstore.User, what string) error{
				"key": func(user accountstore.User, what string) error {
					_, err := store.CreateKey(ctx, user, accountstore.APIKey{Name: what, Role: accountstore.RoleOwner, UserID: bob.ID}, what)
					return err
				},
				"invitation": func(user accountstore.User, what string) error {
					_, err := store.Invite(ctx, user, what, "", accountstore.RoleOwner, fmt.Sprint("user:", bob.ID), time.Now().Add(time.Hour))
					return err
				},
				"address": func(user accountstore.User, what string) error {
					_, err := store.SetProfile(ctx, user, 0, what, address)
					return err
				},
				"removal of a passkey": func(user accountstore.User, _ string) error {
					id := passkeys[0]
					passkeys = passkeys[1:]
					_, err := store.RemovePasskey(ctx, user, id, "")
					return err
				},
				"removal of the second factor": func(user accountstore.User, _ string) error { return store.RemoveFactor(ctx, user) },
			}
			for what, makeIt := range makes {
				if err := makeIt(bob, what+" before "+ends); err != nil {
					t.Errorf("%s before %s: %v", what, ends, err)
				}
			}
			if err := end(bob); err != nil {
				t.Fatal(ends, err)
			}
			for what, makeIt := range makes {
				gone := ends == "being removed" && what == "address" && errors.Is(makeIt(bob, what), accountstore.ErrNotFound)
				if err := makeIt(bob, what+" after "+ends); !errors.Is(err, accountstore.ErrConflict) && !gone {
					t.Errorf("%s after %s: %v", what, ends, err)
				}
			}
			if _, err := store.KeyByHash(ctx, "key after "+ends, time.Now()); !errors.Is(err, accountstore.ErrNotFound) {
				t.Errorf("after %s a key lets in: %v", ends, err)
			}
		}
	})
}

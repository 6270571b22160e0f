package accountstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
)

func TestPasskeys(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		user := owner(t, store)
		for _, offered := range []string{"first", "second"} {
			if got, err := store.Handle(t.Context(), user.ID, offered); err != nil || got != "first" {
				t.Errorf("handle %q, %v", got, err)
			}
		}
		if _, err := store.Handle(t.Context(), 4711, "x"); !errors.Is(err, accountstore.ErrNotFound) {
			t.Errorf("a handle of nobody: %v", err)
		}
		made, err := store.AddPasskey(t.Context(), user, accountstore.Passkey{CredentialID: "a", Name: "Phone", Credential: "{}", SignCount: 4_000_000_000})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.AddPasskey(t.Context(), user, accountstore.Passkey{CredentialID: "a"}); !errors.Is(err, accountstore.ErrPasskeyKnown) {
			t.Errorf("twice: %v", err)
		}
		late := user
		late.Epoch--
		if _, err := store.AddPasskey(t.Context(), late, accountstore.Passkey{CredentialID: "b"}); !errors.Is(err, accountstore.ErrConflict) {
			t.Errorf("of before: %v", err)
		}
		found, owner, handle, err := store.PasskeyUser(t.Context(), "a")
		if err != nil || found != made || owner != user || handle != "first" {
			t.Errorf("%+v of %+v, %q, %v", found, owner, handle, err)
		}
		for i, c := range []struct {
			count uint32
			want  bool
		}{{3_999_999_999, false}, {4_000_000_000, false}, {0, false}, {4_000_000_001, true}, {4_000_000_001, false}} {
			if used, err := store.UsePasskey(t.Context(), made.ID, c.count, "{}"); err != nil || used != c.want {
				t.Errorf("use %d: %v, %v", i, used, err)
			}
		}
		for _, want := range []bool{true, false} {
			if blocked, err := store.BlockPasskey(t.Context(), made.ID); err != nil || blocked != want {
				t.Errorf("block: %v, %v", blocked, err)
			}
		}
		if used, err := store.UsePasskey(t.Context(), made.ID, 4_100_000_000, "{}"); err != nil || used {
			t.Errorf("a blocked one is used: %v, %v", used, err)
		}
		silent, err := store.AddPasskey(t.Context(), user, accountstore.Passkey{CredentialID: "silent"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if used, err := store.UsePasskey(t.Context(), silent.ID, 0, "{}"); err != nil || !used {
				t.Errorf("one that does not count: %v, %v", used, err)
			}
		}
		if _, err := store.RemoveUser(t.Context(), user.ID, 0); !errors.Is(err, accountstore.ErrLastOwner) {
			t.Error(err)
		}
		if err := db.Write().Exec("DELETE FROM users").Error; err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := store.PasskeyUser(t.Context(), "a"); !errors.Is(err, accountstore.ErrNotFound) {
			t.Errorf("of a removed user: %v", err)
		}
	})
}

// Of two ways in that are removed at once, one stays; and no more are added than may be.
func TestPasskeysAtOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		user := owner(t, store)
		if err := db.Write().Exec("UPDATE users SET password_hash = ''").Error; err != nil {
			t.Fatal(err)
		}
		outcomes := make(chan error, 2*accountstore.MaxPasskeys)
		atOnce := func(want error, refused int, do func(i int) error) {
			t.Helper()
			for i := range cap(outcomes) {
				go func() { outcomes <- do(i) }()
			}
			for range cap(outcomes) {
				if err := <-outcomes; errors.Is(err, want) {
					refused--
				} else if err != nil && !errors.Is(err, accountstore.ErrNotFound) {
					t.Error(err)
				}
			}
			if refused != 0 {
				t.Errorf("%v: %d more or fewer than should", want, refused)
			}
		}
		atOnce(accountstore.ErrTooManyPasskeys, accountstore.MaxPasskeys, func(i int) error {
			_, err := store.AddPasskey(t.Context(), user, accountstore.Passkey{CredentialID: fmt.Sprint(i)})
			return err
		})
		all, err := store.Passkeys(t.Context(), user.ID)
		if err != nil || len(all) != accountstore.MaxPasskeys {
			t.Fatalf("%d, %v", len(all), err)
		}
		removed := make(chan int64, len(all))
		for _, p := range all {
			removed <- p.ID
		}
		close(removed)
		atOnce(accountstore.ErrLastWay, 1, func(int) error {
			id, more := <-removed
			if !more {
				return nil
			}
			_, err := store.RemovePasskey(t.Context(), user, id, "")
			return err
		})
		if all, err := store.Passkeys(t.Context(), user.ID); err != nil || len(all) != 1 || all[0].CreatedAt.After(time.Now().Add(time.Minute)) {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// Of any number of first sign-ins at once one makes the account, and uses one invitation up.
func TestJoin(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		ada := owner(t, store)
		who := accountstore.Identity{Issuer: "https://id.example", Subject: "1"}
		join := func(who accountstore.Identity, strangers accountstore.Role) (accountstore.User, bool, error) {
			return store.Join(t.Context(), who, " Eve@Example.com", "Eve", strangers)
		}
		if _, _, err := join(who, ""); !errors.Is(err, accountstore.ErrUnknownPerson) {
			t.Errorf("not invited: %v", err)
		}
		for i, role := range []accountstore.Role{accountstore.RoleViewer, accountstore.RoleEditor} {
			if _, err := store.Invite(t.Context(), accountstore.User{}, fmt.Sprint(i), "eve@example.com", role, "user:1", time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		outcomes := make(chan error, 8)
		for range cap(outcomes) {
			go func() {
				user, invited, err := join(who, accountstore.RoleViewer)
				if err == nil && (!invited || user.Role != accountstore.RoleEditor || !user.Passwordless || user.Email != "eve@example.com") {
					err = fmt.Errorf("%+v, invited: %v", user, invited)
				}
				outcomes <- err
			}()
		}
		var won int
		for range cap(outcomes) {
			if err := <-outcomes; err == nil {
				won++
			} else if !errors.Is(err, accountstore.ErrConflict) {
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d joined", won)
		}
		if _, err := store.InvitationValid(t.Context(), "0", time.Now()); !errors.Is(err, accountstore.ErrBadInvitation) {
			t.Errorf("the other invitation for who has come: %v", err)
		}
		if user, err := store.IdentityUser(t.Context(), who); err != nil || user.Email != "eve@example.com" {
			t.Errorf("%+v, %v", user, err)
		}
		if err := store.BindIdentity(t.Context(), ada.ID, who); !errors.Is(err, accountstore.ErrOtherIdentity) {
			t.Errorf("another user's: %v", err)
		}
		who.Subject = "2"
		if err := store.BindIdentity(t.Context(), ada.ID, who); err != nil {
			t.Error(err)
		}
		who.Subject = "3"
		if err := store.BindIdentity(t.Context(), ada.ID, who); !errors.Is(err, accountstore.ErrOtherIdentity) {
			t.Errorf("a second one: %v", err)
		}
	})
}

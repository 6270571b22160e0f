package accountstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

func owner(t testing.TB, store *accountstore.Store) accountstore.User {
	t.Helper()
	if err := store.EnsureSetupToken(t.Context(), "token"); err != nil {
		t.Fatal(err)
	}
	user, err := store.CreateFirstOwner(t.Context(), "token", " Ada@Example.com ", "Ada", "argon2id")
	if err != nil {
		t.Fatal(err)
	}
	return user
}

func TestExactlyOneFirstOwner(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		if err := store.EnsureSetupToken(t.Context(), "token"); err != nil {
			t.Fatal(err)
		}
		outcomes := make(chan error, 100)
		for i := range cap(outcomes) {
			go func() {
				if i%10 == 9 { // another node printing a link must not open a second door
					if err := store.EnsureSetupToken(t.Context(), "token"); err != nil && !errors.Is(err, accountstore.ErrSetupDone) {
						t.Error(err)
					}
				}
				_, err := store.CreateFirstOwner(t.Context(), "token", fmt.Sprintf("user%d@example.com", i), "x", "hash")
				outcomes <- err
			}()
		}
		var won int
		for range cap(outcomes) {
			if err := <-outcomes; err == nil {
				won++
			} else if !errors.Is(err, accountstore.ErrSetupDone) {
				t.Error(err)
			}
		}
		var users int64
		if err := db.Read().Table("users").Count(&users).Error; err != nil {
			t.Fatal(err)
		}
		if won != 1 || users != 1 {
			t.Errorf("%d of %d set-ups won, %d users", won, cap(outcomes), users)
		}
	})
}

func TestSetupToken(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		try := func(token string) error {
			_, err := store.CreateFirstOwner(t.Context(), token, "ada@example.com", "Ada", "argon2id")
			return err
		}
		if err := try("none yet"); !errors.Is(err, accountstore.ErrBadToken) {
			t.Errorf("no token made: %v", err)
		}
		for _, token := range []string{"old", "new"} {
			if err := store.EnsureSetupToken(t.Context(), token); err != nil {
				t.Fatal(err)
			}
		}
		if err := try("old"); !errors.Is(err, accountstore.ErrBadToken) {
			t.Errorf("replaced token: %v", err)
		}
		if has, err := store.HasOwner(t.Context()); err != nil || has {
			t.Errorf("owner before the set-up: %v, %v", has, err)
		}
		if err := try("new"); err != nil {
			t.Error(err)
		}
		if has, err := store.HasOwner(t.Context()); err != nil || !has {
			t.Errorf("owner after the set-up: %v, %v", has, err)
		}
		for _, token := range []string{"new", "wrong"} {
			if err := try(token); !errors.Is(err, accountstore.ErrSetupDone) {
				t.Errorf("second set-up: %v", err)
			}
		}
		if err := store.EnsureSetupToken(t.Context(), "another"); !errors.Is(err, accountstore.ErrSetupDone) {
			t.Errorf("token after the set-up: %v", err)
		}
	})
}

func TestUserByEmail(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		created := owner(t, store)
		user, hash, err := store.UserByEmail(t.Context(), "ADA@example.com ")
		if err != nil || user != created || hash != "argon2id" || user.Email != "ada@example.com" || user.Role != accountstore.RoleOwner {
			t.Errorf("%+v, %q, %v", user, hash, err)
		}
		if _, _, err := store.UserByEmail(t.Context(), "eve@example.com"); !errors.Is(err, accountstore.ErrNotFound) {
			t.Error(err)
		}
	})
}

func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		user := owner(t, store)
		start := time.Now()
		if err := store.CreateSession(t.Context(), "s", user, accountstore.Client{}, start.Add(365*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		alive := func(at time.Duration) bool {
			t.Helper()
			got, session, err := store.SessionUser(t.Context(), "s", start.Add(at))
			if err != nil {
				if !errors.Is(err, accountstore.ErrNotFound) {
					t.Fatal(err)
				}
				return false
			}
			if got != user || session.UserID != user.ID {
				t.Errorf("%+v of %+v", session, got)
			}
			return true
		}
		touch := func(at time.Duration) {
			t.Helper()
			if err := store.TouchSession(t.Context(), "s", start.Add(at)); err != nil {
				t.Fatal(err)
			}
		}
		const idle, longest, margin = 12 * time.Hour, 30 * 24 * time.Hour, 10 * time.Second // as people are told
		if !alive(0) || !alive(idle-margin) || alive(idle+margin) {
			t.Error("want alive for the idle time and no longer")
		}
		touch(30 * time.Second) // within the touch interval: not written
		if alive(idle + margin) {
			t.Error("a touch was written within the minute")
		}
		touch(idle + time.Hour)
		if alive(idle + time.Hour) {
			t.Error("a touch revived an expired session")
		}
		last := longest - time.Minute
		for at := time.Hour; at < last; at += 11 * time.Hour {
			touch(at)
		}
		touch(last)
		if !alive(last) || alive(longest+margin) {
			t.Error("want alive until the absolute limit and no longer")
		}
		if err := store.DeleteExpired(t.Context(), start.Add(last)); err != nil || !alive(last) {
			t.Errorf("housekeeping removed a live session: %v", err)
		}
		if err := store.DeleteExpired(t.Context(), start.Add(longest+margin)); err != nil || alive(last) {
			t.Errorf("housekeeping left an expired session: %v", err)
		}
	})
}

func TestSessionEnds(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		user := owner(t, store)
		for _, token := range []string{"a", "b"} {
			if err := store.CreateSession(t.Context(), token, user, accountstore.Client{}, time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.DeleteSession(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := store.SessionUser(t.Context(), "a", time.Now()); !errors.Is(err, accountstore.ErrNotFound) {
			t.Errorf("signed out: %v", err)
		}
		// On SQLite this holds only while foreign keys are switched on.
		if err := db.Write().Exec("DELETE FROM users WHERE id = ?", user.ID).Error; err != nil {
			t.Fatal(err)
		}
		var left int64
		if err := db.Read().Table("sessions").Count(&left).Error; err != nil || left != 0 {
			t.Errorf("sessions of a deleted user: %d, %v", left, err)
		}
		if err := store.CreateSession(t.Context(), "c", user, accountstore.Client{}, time.Now().Add(time.Hour)); err == nil {
			t.Error("a session for nobody was stored")
		}
	})
}

func TestKeys(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		for range 2 {
			if err := store.EnsureKey(t.Context(), "bootstrap", "pf_abc", "hash", accountstore.RoleOwner); err != nil {
				t.Fatal(err)
			}
		}
		now := time.Now()
		if said, err := store.AuditLog(t.Context(), accountstore.AuditQuery{Limit: 10}); err != nil || len(said) != 1 || said[0].Actor != "system" || said[0].Action != "key.created" || said[0].Object != "key:1" || said[0].Detail != "bootstrap as owner" {
			t.Errorf("audit log: %+v, %v", said, err)
		}
		key, err := store.KeyByHash(t.Context(), "hash", now)
		if err != nil || key.Name != "bootstrap" || key.Prefix != "pf_abc" || key.Role != accountstore.RoleOwner || !key.LastUsedAt.IsZero() {
			t.Fatalf("%+v, %v", key, err)
		}
		for _, at := range []time.Duration{time.Hour, time.Hour + time.Second} {
			if err := store.TouchKey(t.Context(), key.ID, now.Add(at)); err != nil {
				t.Fatal(err)
			}
		}
		if key, err = store.KeyByHash(t.Context(), "hash", now); err != nil || !key.LastUsedAt.Equal(now.Add(time.Hour).Truncate(time.Millisecond)) {
			t.Errorf("last used %v, %v", key.LastUsedAt, err)
		}
		if _, err := store.KeyByHash(t.Context(), "other", now); !errors.Is(err, accountstore.ErrNotFound) {
			t.Errorf("unknown key: %v", err)
		}
		for _, column := range []string{"expires_at_ms", "revoked_at_ms"} {
			if err := db.Write().Exec("UPDATE api_keys SET expires_at_ms = NULL, revoked_at_ms = NULL").Error; err != nil {
				t.Fatal(err)
			}
			if err := db.Write().Exec("UPDATE api_keys SET "+column+" = ?", now.UnixMilli()).Error; err != nil {
				t.Fatal(err)
			}
			if err := store.EnsureKey(t.Context(), "bootstrap", "pf_abc", "hash", accountstore.RoleOwner); err != nil {
				t.Fatal(err)
			}
			if _, err := store.KeyByHash(t.Context(), "hash", now); !errors.Is(err, accountstore.ErrNotFound) {
				t.Errorf("%s is past: %v", column, err)
			}
		}
	})
}

func TestAnswersAreKeptForADay(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		save := func(actor, hash string, status int) {
			t.Helper()
			if err := store.SaveAnswer(t.Context(), actor, "key", hash, status, `{"id":1}`); err != nil {
				t.Fatal(err)
			}
		}
		want := func(actor string, want accountstore.Answer) {
			t.Helper()
			if got, err := store.Answer(t.Context(), actor, "key"); err != nil || got != want {
				t.Errorf("%s: %+v, %v", actor, got, err)
			}
		}
		save("ada", "h1", 201)
		save("ada", "h2", 500) // the first answer stays
		save("bob", "h3", 204) // keys are per actor
		want("ada", accountstore.Answer{RequestHash: "h1", Status: 201, Body: `{"id":1}`})
		want("bob", accountstore.Answer{RequestHash: "h3", Status: 204, Body: `{"id":1}`})
		if err := db.Write().Exec("UPDATE idempotency_keys SET created_at_ms = ?", time.Now().Add(-25*time.Hour).UnixMilli()).Error; err != nil {
			t.Fatal(err)
		}
		if _, err := store.Answer(t.Context(), "ada", "key"); !errors.Is(err, accountstore.ErrNotFound) {
			t.Errorf("a day later: %v", err)
		}
		save("ada", "h4", 202)
		want("ada", accountstore.Answer{RequestHash: "h4", Status: 202, Body: `{"id":1}`})
		if err := store.Audit(t.Context(), accountstore.AuditEntry{Actor: "ada", Action: "target.create", Object: "target:1"}); err != nil {
			t.Error(err)
		}
	})
}

// Who was let in by what was true a moment ago is not let in: a sign-in that was under way
// while the password changed starts no session.
func TestNothingBeginsInAnEndedEpoch(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		user := owner(t, store)
		begin := func(token string, user accountstore.User) bool {
			t.Helper()
			if err := store.CreateSession(t.Context(), token, user, accountstore.Client{}, time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			_, _, err := store.SessionUser(t.Context(), token, time.Now())
			return err == nil
		}
		if !begin("mine", user) || !begin("other", user) {
			t.Fatal("a session does not count")
		}
		_, mine, _ := store.SessionUser(t.Context(), "mine", time.Now())
		if _, err := store.SetPassword(t.Context(), user, "new", mine.ID); err != nil {
			t.Fatal(err)
		}
		if begin("late", user) {
			t.Error("a sign-in with the old password counts")
		}
		if _, err := store.SetPassword(t.Context(), user, "newer", mine.ID); !errors.Is(err, accountstore.ErrConflict) {
			t.Errorf("changed from what it was: %v", err)
		}
		if all, err := store.Sessions(t.Context(), user.ID, time.Now()); err != nil || len(all) != 1 || all[0].ID != mine.ID {
			t.Errorf("%+v, %v", all, err)
		}
		if all, err := store.Sessions(t.Context(), user.ID, time.Now().Add(accountstore.SessionIdle+time.Minute)); err != nil || len(all) != 0 {
			t.Errorf("idle ones are listed: %+v, %v", all, err)
		}
	})
}

// Two owners who demote or remove each other at the same moment: one of them stays.
func TestAnOwnerIsLeft(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		owner(t, store)
		const owners = 8
		for i := range owners - 1 {
			token := fmt.Sprint("token", i)
			if _, err := store.Invite(t.Context(), accountstore.User{}, token, "", accountstore.RoleOwner, "user:1", time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			if _, err := store.AcceptInvitation(t.Context(), token, token+"@example.com", "x", "hash"); err != nil {
				t.Fatal(err)
			}
		}
		outcomes := make(chan error, owners)
		for id := range int64(owners) {
			go func() {
				var err error
				if id%2 == 0 {
					_, err = store.SetRole(t.Context(), id+1, 0, accountstore.RoleViewer)
				} else {
					_, err = store.RemoveUser(t.Context(), id+1, 0)
				}
				outcomes <- err
			}()
		}
		var refused int
		for range owners {
			if err := <-outcomes; errors.Is(err, accountstore.ErrLastOwner) {
				refused++
			} else if err != nil {
				t.Error(err)
			}
		}
		if has, err := store.HasOwner(t.Context()); err != nil || !has || refused != 1 {
			t.Errorf("an owner is left: %v, %v; %d refused", has, err, refused)
		}
	})
}

package accountstore_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
)

// inviter names an owner's key of the installation, as who makes invitations.
func inviter(t testing.TB, store *accountstore.Store) string {
	t.Helper()
	if err := store.EnsureKey(t.Context(), "inviter", "pf_", "inviter", accountstore.RoleOwner); err != nil {
		t.Fatal(err)
	}
	key, err := store.KeyByHash(t.Context(), "inviter", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint("key:", key.ID)
}

// member makes a user with a role, as an invitation does.
func member(t testing.TB, store *accountstore.Store, email string, role accountstore.Role) accountstore.User {
	t.Helper()
	if _, err := store.Invite(t.Context(), accountstore.User{}, email, email, role, inviter(t, store), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	user, err := store.AcceptInvitation(t.Context(), email, "", "x", "hash")
	if err != nil {
		t.Fatal(err)
	}
	return user
}

// atOnce runs a call so many times at once, and counts the outcomes that are true.
func atOnce(times int, call func(i int) bool) (won int) {
	outcomes := make(chan bool, times)
	for i := range times {
		go func() { outcomes <- call(i) }()
	}
	for range times {
		if <-outcomes {
			won++
		}
	}
	return won
}

func TestMembers(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store, ctx := accountstore.New(db), t.Context()
		for i, email := range []string{"a@example.com", "b@example.com", "c@example.com"} {
			token := fmt.Sprint("token", i)
			if _, err := store.Invite(ctx, accountstore.User{}, token, "", accountstore.RoleViewer, inviter(t, store), time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			if _, err := store.AcceptInvitation(ctx, token, email, "x", "hash"); err != nil {
				t.Fatal(err)
			}
		}
		look := func() []accountstore.Member {
			t.Helper()
			found, err := store.Members(ctx, 1, 2)
			if err != nil || len(found) != 2 || found[0].Email != "b@example.com" || found[1].Email != "c@example.com" {
				t.Fatalf("%+v, %v", found, err)
			}
			return found
		}
		for _, one := range look() {
			if one.SecondFactor || !one.LastSeenAt.IsZero() {
				t.Errorf("nothing was done yet: %+v", one)
			}
		}
		bob := look()[0].User
		for _, token := range []string{"s1", "s2"} {
			if err := store.CreateSession(ctx, token, bob, accountstore.Client{}, time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.Enrol(ctx, bob.ID, "sealed"); err != nil {
			t.Fatal(err)
		}
		if look()[0].SecondFactor {
			t.Error("a factor that was not confirmed counts")
		}
		_, mine, err := store.SessionUser(ctx, "s2", time.Now())
		if err == nil {
			err = store.ConfirmFactor(ctx, bob, mine.ID, "sealed", 5, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		found := look()
		if since := time.Since(found[0].LastSeenAt); !found[0].SecondFactor || since < 0 || since > time.Minute {
			t.Errorf("%+v", found[0])
		}
		if found[1].SecondFactor || !found[1].LastSeenAt.IsZero() {
			t.Errorf("of somebody else: %+v", found[1])
		}
	})
}

func TestWhatCountsOnceCountsOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		ctx := t.Context()
		if _, err := store.Invite(ctx, accountstore.User{}, "token", "", accountstore.RoleViewer, inviter(t, store), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		won := atOnce(20, func(i int) bool {
			_, err := store.AcceptInvitation(ctx, "token", fmt.Sprintf("u%d@example.com", i), "x", "hash")
			if err != nil && !errors.Is(err, accountstore.ErrBadInvitation) {
				t.Error(err)
			}
			return err == nil
		})
		users, err := store.Members(ctx, 0, 100)
		if won != 1 || err != nil || len(users) != 1 {
			t.Fatalf("%d accepted, %d users, %v", won, len(users), err)
		}
		user := users[0].User
		if err := store.Enrol(ctx, user.ID, "sealed"); err != nil {
			t.Fatal(err)
		}
		if fresh, err := store.UseStep(ctx, user.ID, 7); fresh || err != nil {
			t.Errorf("a factor that was not confirmed counts: %v, %v", fresh, err)
		}
		if err := store.ConfirmFactor(ctx, user, 0, "other", 5, []string{"r"}); !errors.Is(err, accountstore.ErrConflict) {
			t.Errorf("another secret: %v", err)
		}
		if err := store.ConfirmFactor(ctx, user, 0, "sealed", 5, []string{"r", "s"}); err != nil {
			t.Fatal(err)
		}
		if err := store.Enrol(ctx, user.ID, "mine"); !errors.Is(err, accountstore.ErrFactorOn) {
			t.Errorf("replaced a factor that counts: %v", err)
		}
		if err := store.SaveChallenge(ctx, "c", accountstore.Challenge{Kind: "k", User: user, Expires: time.Now().Add(time.Minute)}); err != nil {
			t.Fatal(err)
		}
		for name, call := range map[string]func() (bool, error){
			"step":          func() (bool, error) { return store.UseStep(ctx, user.ID, 6) },
			"recovery code": func() (bool, error) { return store.UseRecoveryCode(ctx, user.ID, "r") },
			"challenge":     func() (bool, error) { return store.EndChallenge(ctx, "c") },
		} {
			won := atOnce(10, func(int) bool {
				used, err := call()
				if err != nil {
					t.Error(err)
				}
				return used
			})
			if won != 1 {
				t.Errorf("one %s was used %d times", name, won)
			}
		}
		if left, err := store.RecoveryCodesLeft(ctx, user.ID); left != 1 || err != nil {
			t.Errorf("%d recovery codes are left, %v", left, err)
		}
	})
}

func TestChallengesEnd(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		user, now := owner(t, store), time.Now()
		if err := store.SaveChallenge(t.Context(), "c", accountstore.Challenge{Kind: "k", User: user, Payload: "p", Expires: now.Add(time.Minute)}); err != nil {
			t.Fatal(err)
		}
		if c, err := store.Challenge(t.Context(), "c", "k", now); err != nil || c.User != user || c.Payload != "p" {
			t.Errorf("%+v, %v", c, err)
		}
		none := func(name, kind string, at time.Time) {
			t.Helper()
			if _, err := store.Challenge(t.Context(), "c", kind, at); !errors.Is(err, accountstore.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		none("of another kind", "other", now)
		none("expired", "k", now.Add(2*time.Minute))
		if _, err := store.SetPassword(t.Context(), user, "new", 0); err != nil {
			t.Fatal(err)
		}
		none("of before the new password", "k", now)
		if err := store.DeleteExpired(t.Context(), now.Add(2*time.Minute)); err != nil {
			t.Fatal(err)
		}
		if mine, err := store.EndChallenge(t.Context(), "c"); mine || err != nil {
			t.Errorf("housekeeping left it: %v, %v", mine, err)
		}
	})
}

func TestKeysOfUsers(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := accountstore.New(db)
		owner(t, store)
		bob := member(t, store, "bob@example.com", accountstore.RoleEditor)
		parent, err := store.CreateKey(t.Context(), accountstore.User{}, accountstore.APIKey{Name: "p", Role: accountstore.RoleOwner, UserID: bob.ID}, "parent")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.CreateKey(t.Context(), accountstore.User{}, accountstore.APIKey{Name: "c", Role: accountstore.RoleOwner, Scopes: []string{"admin", "read"}, ParentID: parent.ID, ExpiresAt: time.Now().Add(time.Hour)}, "child"); err != nil {
			t.Fatal(err)
		}
		role := func(hash string) accountstore.Role {
			t.Helper()
			key, err := store.KeyByHash(t.Context(), hash, time.Now())
			if err != nil && !errors.Is(err, accountstore.ErrNotFound) {
				t.Fatal(err)
			}
			return key.Role
		}
		if got := role("parent"); got != accountstore.RoleEditor {
			t.Errorf("an owner's key of an editor is %q", got)
		}
		if key, err := store.KeyByHash(t.Context(), "child", time.Now()); err != nil || !slices.Equal(key.Scopes, []string{"admin", "read"}) || key.ParentID != parent.ID {
			t.Errorf("%+v, %v", key, err)
		}
		if all, err := store.Keys(t.Context(), bob.ID, 0, 10); err != nil || len(all) != 1 || all[0].ID != parent.ID {
			t.Errorf("%+v, %v", all, err)
		}
		if _, err := store.SetRole(t.Context(), bob.ID, 0, accountstore.RoleViewer); err != nil || role("parent") != accountstore.RoleViewer {
			t.Errorf("a key of a viewer is %q, %v", role("parent"), err)
		}
		if _, err := store.RevokeKey(t.Context(), bob.ID+1, parent.ID); !errors.Is(err, accountstore.ErrNotFound) {
			t.Errorf("somebody else's key: %v", err)
		}
		if _, err := store.RevokeKey(t.Context(), 0, parent.ID); err != nil || role("parent") != "" || role("child") != "" {
			t.Errorf("revoked: %v; the key is %q, the one it made %q", err, role("parent"), role("child"))
		}
		if _, err := store.CreateKey(t.Context(), accountstore.User{}, accountstore.APIKey{Name: "b", Role: accountstore.RoleViewer, UserID: bob.ID}, "bobs"); err != nil || role("bobs") == "" {
			t.Fatal(err)
		}
		if _, err := store.RemoveUser(t.Context(), bob.ID, 0); err != nil || role("bobs") != "" {
			t.Errorf("removed: %v; the key is %q", err, role("bobs"))
		}
	})
}

func TestAuditLog(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store, now := accountstore.New(db), time.Now()
		for i, actor := range []string{"user:1", "key:1", "user:1"} {
			if err := store.Audit(t.Context(), accountstore.AuditEntry{Actor: actor, Action: fmt.Sprint("a", i), Object: fmt.Sprint("o", i%2), Operation: "op", Address: "192.0.2.1", RequestID: "r"}); err != nil {
				t.Fatal(err)
			}
		}
		for name, c := range map[string]struct {
			query accountstore.AuditQuery
			want  []string
		}{
			"all":         {accountstore.AuditQuery{}, []string{"a2", "a1", "a0"}},
			"an actor's":  {accountstore.AuditQuery{Actor: "user:1"}, []string{"a2", "a0"}},
			"an action":   {accountstore.AuditQuery{Action: "a1", Actor: "key:1"}, []string{"a1"}},
			"operation":   {accountstore.AuditQuery{Action: "op", BeforeID: 3}, []string{"a1", "a0"}},
			"an object's": {accountstore.AuditQuery{Object: "o0", Action: "op"}, []string{"a2", "a0"}},
			"nobody's":    {accountstore.AuditQuery{Action: "op", Actor: "key:2"}, nil},
			"since":       {accountstore.AuditQuery{From: now.Add(time.Hour)}, nil},
			"until":       {accountstore.AuditQuery{To: now.Add(-time.Hour)}, nil},
		} {
			c.query.Limit = 10
			var got []string
			entries, err := store.AuditLog(t.Context(), c.query)
			for _, e := range entries {
				got = append(got, e.Action)
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
	})
}

// Of owners who disable each other at once one stays; who is disabled has no session, whenever
// it was begun, and brings nobody in.
func TestDisable(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store, ctx := accountstore.New(db), t.Context()
		ids := make([]int64, 4)
		for i := range ids {
			ids[i] = member(t, store, fmt.Sprintf("o%d@example.com", i), accountstore.RoleOwner).ID
		}
		won := atOnce(len(ids), func(i int) bool {
			_, err := store.Disable(ctx, ids[i], 0, true)
			if err != nil && !errors.Is(err, accountstore.ErrLastOwner) {
				t.Error(err)
			}
			return err == nil
		})
		all, err := store.Members(ctx, 0, 10)
		if err != nil || won != len(ids)-1 {
			t.Fatalf("%d of %d owners are disabled, %v", won, len(ids), err)
		}
		who := all[slices.IndexFunc(all, func(m accountstore.Member) bool { return !m.DisabledAt.IsZero() })].User
		until := time.Now().Add(time.Hour)
		if err := store.CreateSession(ctx, "late", who, accountstore.Client{}, until); err != nil {
			t.Fatal(err)
		}
		if _, _, err := store.SessionUser(ctx, "late", time.Now()); !errors.Is(err, accountstore.ErrNotFound) {
			t.Errorf("a session of somebody disabled: %v", err)
		}
		back, err := store.Disable(ctx, who.ID, 0, false)
		if err != nil || !back.DisabledAt.IsZero() || back.Epoch != who.Epoch+1 {
			t.Errorf("%+v, %v", back, err)
		}
		if _, err := store.Invite(ctx, accountstore.User{}, "for-bob", "bob@example.com", accountstore.RoleOwner, fmt.Sprint("user:", who.ID), until); err != nil {
			t.Fatal(err)
		}
		if _, err := store.SetRole(ctx, who.ID, 0, accountstore.RoleEditor); err != nil {
			t.Fatal(err)
		}
		if _, err := store.InvitationValid(ctx, "for-bob", time.Now()); !errors.Is(err, accountstore.ErrBadInvitation) {
			t.Errorf("an invitation by who is no owner any more: %v", err)
		}
	})
}

// Who has read an older version of a user writes over nothing that was changed since; of several who
// have read the same one writes.
func TestUsersHaveVersions(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store, ctx := accountstore.New(db), t.Context()
		owner(t, store)
		bob := member(t, store, "bob@example.com", accountstore.RoleEditor)
		if bob.Version != 1 {
			t.Errorf("a new user is %+v", bob)
		}
		read := func() accountstore.User {
			t.Helper()
			all, err := store.Members(ctx, bob.ID-1, 1)
			if err != nil || len(all) != 1 {
				t.Fatal(all, err)
			}
			return all[0].User
		}
		changes := map[string]func(version int64) (accountstore.User, error){
			"role": func(v int64) (accountstore.User, error) {
				return store.SetRole(ctx, bob.ID, v, accountstore.RoleViewer)
			},
			"disabled": func(v int64) (accountstore.User, error) { return store.Disable(ctx, bob.ID, v, true) },
			"enabled":  func(v int64) (accountstore.User, error) { return store.Disable(ctx, bob.ID, v, false) },
			"profile": func(v int64) (accountstore.User, error) {
				return store.SetProfile(ctx, read(), v, "Robert", "Rob@Example.com")
			},
		}
		for i, name := range []string{"role", "disabled", "enabled", "profile"} {
			version, change := int64(i+1), changes[name]
			if _, err := change(version + 1); !errors.Is(err, accountstore.ErrVersion) {
				t.Errorf("%s, of a version that there is not: %v", name, err)
			}
			changed, err := change(version)
			if err != nil || changed.Version != version+1 {
				t.Errorf("%s: %+v, %v", name, changed, err)
			}
			if same, err := change(0); err != nil || same.Version != version+1 {
				t.Errorf("%s, again: %+v, %v", name, same, err)
			}
			if _, err := change(version); !errors.Is(err, accountstore.ErrVersion) {
				t.Errorf("%s, of the version before: %v", name, err)
			}
		}
		all, err := store.Members(ctx, bob.ID-1, 1)
		if err != nil || len(all) != 1 || all[0].Version != 5 || all[0].Name != "Robert" || all[0].Email != "rob@example.com" || all[0].Role != accountstore.RoleViewer {
			t.Errorf("%+v, %v", all, err)
		}
		bob = read()
		won := atOnce(8, func(i int) (won bool) {
			var err error
			if i%2 == 0 {
				_, err = store.SetProfile(ctx, bob, 5, fmt.Sprint("Bob ", i), "bob@example.com")
			} else {
				_, err = store.SetRole(ctx, bob.ID, 5, accountstore.RoleEditor)
			}
			if err != nil && !errors.Is(err, accountstore.ErrVersion) {
				t.Error(err)
			}
			return err == nil
		})
		if won != 1 {
			t.Errorf("%d have written over the same version", won)
		}
		if _, err := store.RemoveUser(ctx, bob.ID, 5); !errors.Is(err, accountstore.ErrVersion) {
			t.Errorf("removed, of the version before: %v", err)
		}
		if _, err := store.RemoveUser(ctx, bob.ID, 6); err != nil {
			t.Errorf("not removed: %v", err)
		}
		if _, err := store.SetProfile(ctx, accountstore.User{ID: bob.ID + 100}, 0, "x", "x@example.com"); !errors.Is(err, accountstore.ErrNotFound) {
			t.Errorf("nobody: %v", err)
		}
	})
}

package session

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
)

// outage is a store that does not answer what tries are judged by, while it is down.
type outage struct {
	*accountstore.Store
	down bool
}

func (o *outage) err() error {
	if o.down {
		return database.ErrUnavailable
	}
	return nil
}

func (o *outage) UserByEmail(ctx context.Context, email string) (accountstore.User, string, error) {
	if o.down {
		return accountstore.User{}, "", o.err()
	}
	return o.Store.UserByEmail(ctx, email)
}

func (o *outage) SecondFactor(ctx context.Context, userID int64) (accountstore.Factor, error) {
	if o.down {
		return accountstore.Factor{}, o.err()
	}
	return o.Store.SecondFactor(ctx, userID)
}

func (o *outage) InvitationValid(ctx context.Context, tokenHash string, now time.Time) (accountstore.Invitation, error) {
	if o.down {
		return accountstore.Invitation{}, o.err()
	}
	return o.Store.InvitationValid(ctx, tokenHash, now)
}

func (o *outage) CreateFirstOwner(ctx context.Context, token, email, name, hash string) (accountstore.User, error) {
	if o.down {
		return accountstore.User{}, o.err()
	}
	return o.Store.CreateFirstOwner(ctx, token, email, name, hash)
}

// fill takes every slot that strangers have.
func (h *Hasher) fill() (empty func()) {
	for range cap(h.slots) {
		h.slots <- struct{}{}
	}
	return func() {
		for range cap(h.slots) {
			<-h.slots
		}
	}
}

// What was never judged, because the database did not answer or too many passwords were being
// checked, is no wrong answer: nobody waits for it afterwards. What was judged wrong is one.
func TestTriesThatWereNeverJudged(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, s *Sessions) (try func(right bool) error){
		"signing in": func(t *testing.T, s *Sessions) func(bool) error {
			owner(t, s)
			return func(right bool) error {
				return s.try("192.0.2.1", "ann@example.com", map[bool]string{true: "correct horse", false: "wrong"}[right])
			}
		},
		"the password again": func(t *testing.T, s *Sessions) func(bool) error {
			_, cookie := owner(t, s)
			identity, err := s.Identify(request(cookie))
			if err != nil {
				t.Fatal(err)
			}
			return func(right bool) error {
				_, err := s.Confirm(request(cookie), identity, map[bool]string{true: "correct horse", false: "wrong"}[right])
				return err
			}
		},
		"a code": func(t *testing.T, s *Sessions) func(bool) error {
			_, cookie := owner(t, s)
			secret, _ := activated(t, s, cookie)
			challenge := second(t, s)
			return func(right bool) error {
				_, err := s.Verify(request(), challenge, map[bool]string{true: s.codeOf(t, secret, 0), false: "000000"}[right])
				return err
			}
		},
		"a first code": func(t *testing.T, s *Sessions) func(bool) error {
			_, cookie := owner(t, s)
			identity, err := s.Identify(request(cookie))
			if err != nil {
				t.Fatal(err)
			}
			secret, _, err := s.Enrol(request(cookie), identity, "correct horse")
			if err != nil {
				t.Fatal(err)
			}
			return func(right bool) error {
				_, _, err := s.Activate(request(cookie), identity, map[bool]string{true: s.codeOf(t, secret, 0), false: "000000"}[right])
				return err
			}
		},
		"an invitation": func(t *testing.T, s *Sessions) func(bool) error {
			ann, _ := owner(t, s)
			token := NewToken()
			if _, err := s.store.(*outage).Invite(t.Context(), accountstore.User{}, HashToken(token), "bob@example.com", accountstore.RoleViewer, "user:1", time.Now().Add(time.Hour)); err != nil || ann.ID != 1 {
				t.Fatal(ann.ID, err)
			}
			return func(right bool) error {
				_, _, err := s.Accept(request(), map[bool]string{true: token, false: "x"}[right], "", "Bob", "correct horse")
				return err
			}
		},
		"the set-up": func(t *testing.T, s *Sessions) func(bool) error {
			token, err := s.Prepare(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return func(right bool) error {
				_, _, err := s.SetUp(request(), map[bool]string{true: token, false: "x"}[right], "ann@example.com", "Ann", "correct horse")
				return err
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sealed(t)
			store := &outage{Store: s.store.(*accountstore.Store)}
			s.store = store
			try := prepare(t, s)
			store.down = true
			for range 2 * crowd {
				if err := try(false); !errors.Is(err, database.ErrUnavailable) {
					t.Fatalf("during an outage: %v", err)
				}
			}
			store.down = false
			if err := try(false); err == nil || slowed(err) {
				t.Fatalf("after it: %v", err)
			}
			if err := try(true); err != nil {
				t.Fatalf("after it, what is right: %v", err)
			}
		})
		t.Run(name+", wrong", func(t *testing.T) {
			t.Parallel()
			s := sealed(t)
			now := time.Now()
			s.throttle = NewThrottle(func() time.Time { return now })
			s.store = &outage{Store: s.store.(*accountstore.Store)}
			try, judged := prepare(t, s), 0
			for range 2 * crowd {
				if !slowed(try(false)) {
					judged++
				}
			}
			if judged > crowd {
				t.Errorf("%d of %d wrong answers were judged at once", judged, 2*crowd)
			}
		})
	}
}

// A crowd of strangers takes all the slots that it may: who is known, or signed in, has another.
func TestStrangersLeaveASlot(t *testing.T) {
	t.Parallel()
	s := sealed(t)
	ann, cookie := owner(t, s)
	identity, err := s.Identify(request(cookie))
	if err != nil {
		t.Fatal(err)
	}
	known := s.KnowBrowser(request(), ann)
	s.hasher.patience = time.Millisecond
	empty := s.hasher.fill()
	for range 2 * crowd { // one is as good as none: none of it counts
		if err := s.try("192.0.2.1", ann.Email, "correct horse"); !errors.Is(err, ErrBusy) {
			t.Fatalf("a stranger: %v", err)
		}
	}
	if err := s.try("192.0.2.1", ann.Email, "correct horse", known); err != nil {
		t.Errorf("a browser that is known: %v", err)
	}
	if _, err := s.Confirm(request(cookie), identity, "correct horse"); err != nil {
		t.Errorf("the password again: %v", err)
	}
	if err := s.try("192.0.2.1", "bob@example.com", "correct horse", known); !errors.Is(err, ErrBusy) {
		t.Errorf("a browser that is known to another account: %v", err)
	}
	empty()
	if err := s.try("192.0.2.1", ann.Email, "correct horse"); err != nil {
		t.Errorf("a stranger, afterwards: %v", err)
	}
}

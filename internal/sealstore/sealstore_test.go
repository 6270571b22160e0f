package sealstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/heartbeatstore"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/sealstore"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/subscriberstore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

const (
	before = "the SECRET_KEY that was, of 32 bytes"
	after  = "the SECRET_KEY that is, of 32 bytes"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// house is a database in which every kind of secret is.
type house struct {
	*testing.T
	db                       *database.DB
	target, heartbeat, owner int64
	page                     pagestore.Page
}

func box(t *testing.T, keys ...string) *seal.Box {
	t.Helper()
	b, err := seal.New(keys[0], keys[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func furnish(t *testing.T, db *database.DB, b *seal.Box) *house {
	t.Helper()
	h := &house{T: t, db: db}
	hidden := func(text string) uptime.Sealed { return b.Seal(secret.New(text)) }
	targets := targetstore.New(db)
	made, err := targets.Create(t.Context(), uptime.Target{Name: "shop", URL: "https://shop.example", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true,
		Spec: uptime.Spec{HTTP: &uptime.HTTPSpec{Username: "ann", Password: hidden("password"), Headers: []uptime.Header{{Name: "X-Key", Secret: hidden("key")}}}}})
	h.must(err)
	h.target = made.ID
	_, err = targets.Create(t.Context(), uptime.Target{Name: "plain", URL: "https://plain.example", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true})
	h.must(err)
	made, err = targets.Create(t.Context(), uptime.Target{Name: "backup", Kind: uptime.KindHeartbeat, Interval: time.Minute, Timeout: time.Second, Active: true})
	h.must(err)
	h.heartbeat = made.ID
	h.must(heartbeatstore.New(db).Ensure(t.Context(), h.heartbeat, heartbeatstore.Token{Hash: "hash", Sealed: hidden("token")}))
	_, err = incidentstore.New(db, nil).CreateChannel(t.Context(), incidentstore.Channel{Name: "chat", Kind: "webhook", Config: hidden("config"), Enabled: true}, noon)
	h.must(err)
	accounts := accountstore.New(db)
	h.must(accounts.EnsureSetupToken(t.Context(), "hash"))
	owner, err := accounts.CreateFirstOwner(t.Context(), "hash", "ann@example.com", "Ann", "hash")
	h.must(err)
	h.owner = owner.ID
	h.must(accounts.Enrol(t.Context(), owner.ID, hidden("second factor")))

	subscribers := subscriberstore.New(db, b)
	h.page, err = pagestore.New(db, subscribers).Create(t.Context(), pagestore.Page{Slug: "main", Published: true, Terms: pagestore.Terms{Title: "Acme", ByEmail: true}}, noon)
	h.must(err)
	h.must(subscribers.Ask(t.Context(), h.wish("ann"), noon))
	h.must(subscribers.Confirm(t.Context(), subscriberstore.Email, h.token(b), noon))
	h.must(subscribers.Ask(t.Context(), h.wish("ann"), noon)) // a change that is to be confirmed
	h.must(subscribers.Ask(t.Context(), h.wish("ben"), noon))
	return h
}

func (h *house) wish(who string) subscriberstore.Wish {
	return subscriberstore.Wish{PageID: h.page.ID, Kind: subscriberstore.Email, Terms: subscriberstore.Terms{Address: secret.New(who + "@example.com"), Language: "en"}}
}

// token is that of the first request to confirm that waits.
func (h *house) token(b *seal.Box) string {
	h.Helper()
	requests := subscriberstore.New(h.db, b).Requests(subscriberstore.Email)
	ids, err := requests.Waiting(h.Context(), noon)
	if err != nil || len(ids) == 0 {
		h.Fatalf("%v %v", ids, err)
	}
	claimed, found, err := requests.Claim(h.Context(), "one", ids[0], 1, noon, noon.Add(time.Second))
	if err != nil || !found {
		h.Fatalf("%v %v", found, err)
	}
	return claimed.Errand.(*subscriberstore.Errand).Token.Reveal()
}

// places gives the columns of all tables that hold a text.
func (h *house) places(text string) (found []string) {
	h.Helper()
	tables, err := h.db.Read().Migrator().GetTables()
	h.must(err)
	for _, table := range tables {
		columns, err := h.db.Read().Migrator().ColumnTypes(table)
		h.must(err)
		for _, c := range columns {
			var n int
			question := fmt.Sprintf(`SELECT COUNT(*) FROM %q WHERE CAST(%q AS TEXT) LIKE ?`, table, c.Name())
			h.must(h.db.Read().Raw(question, "%"+text+"%").Row().Scan(&n))
			if n > 0 {
				found = append(found, table+"."+c.Name())
			}
		}
	}
	return found
}

// name is what the texts that a box seals begin with.
func name(b *seal.Box) string {
	sealed := string(b.Seal(secret.New("")))
	return sealed[:strings.LastIndex(sealed, ".")+1]
}

func TestNothingIsLeftWithTheOldKey(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		old, both, last := box(t, before), box(t, after, before), box(t, after)
		h := furnish(t, db, old)
		held := h.places(name(old))
		if len(held) != 7 {
			t.Fatalf("secrets are in %v: the house has not one of each kind", held)
		}
		targets := targetstore.New(db)
		was, err := targets.Get(t.Context(), h.target)
		h.must(err)

		counts, err := sealstore.Reseal(t.Context(), db, both, true)
		h.must(err)
		if again := h.places(name(old)); len(again) != len(held) || counts[0].All != 2 || counts[0].Fresh != 2 {
			t.Errorf("a dry run: %+v, %v", counts, again)
		}
		counts, err = sealstore.Reseal(t.Context(), db, last, false)
		h.must(err)
		if again := h.places(name(old)); len(again) != len(held) || counts[0].Broken != 1 || counts[0].Fresh != 0 {
			t.Errorf("without the old key: %+v, %v", counts, again)
		}
		counts, err = sealstore.Reseal(t.Context(), db, both, false)
		h.must(err)
		for _, c := range counts {
			if c.Fresh == 0 || c.Fresh != c.All || c.Broken > 0 {
				t.Errorf("%+v", c)
			}
		}
		if left := h.places(name(old)); len(left) > 0 {
			t.Errorf("the old key is still needed for %v", left)
		}

		is, err := targets.Get(t.Context(), h.target)
		h.must(err)
		if is.SpecVersion == was.SpecVersion {
			t.Error("no publisher learns that the target is another")
		}
		if !is.VisitedSince.IsZero() {
			t.Errorf("what was seen of the target is no evidence since %v", is.VisitedSince)
		}
		if opened, err := last.Open(is.Spec.HTTP.Password); err != nil || opened.Reveal() != "password" {
			t.Errorf("%v", err)
		}
		counts, err = sealstore.Reseal(t.Context(), db, both, false)
		h.must(err)
		for _, c := range counts {
			if c.Fresh > 0 || c.All == 0 {
				t.Errorf("once more: %+v", c)
			}
		}
	})
}

// Who subscribes again while the key is changed, or after it, is the same subscriber, with
// what was asked for before.
func TestASubscriberIsOneUnderEitherKey(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		old, both := box(t, before), box(t, after, before)
		h := furnish(t, db, old)
		there := func() (n int) {
			h.must(db.Read().Raw("SELECT COUNT(*) FROM status_page_subscribers").Row().Scan(&n))
			return n
		}
		for _, b := range []*seal.Box{both, box(t, before, after)} { // nodes that are restarted in turn
			h.must(subscriberstore.New(db, b).Ask(t.Context(), h.wish("ann"), noon))
		}
		if _, err := sealstore.Reseal(t.Context(), db, both, false); err != nil {
			t.Fatal(err)
		}
		s := subscriberstore.New(db, box(t, after))
		h.must(s.Ask(t.Context(), h.wish("ben"), noon))
		if there() != 2 {
			t.Errorf("%d subscribers are two people", there())
		}
		var asked int
		h.must(db.Read().Raw("SELECT COUNT(*) FROM status_page_outbox").Row().Scan(&asked))
		if asked != 5 { // Ann three times, which is the most in a day; Ben twice
			t.Errorf("asked %d times", asked)
		}
		if who, err := s.List(t.Context(), h.page.ID, 0, 10); err != nil || len(who) != 2 || who[0].Terms.Address.Reveal() != "ann@example.com" || who[0].ConfirmedAt.IsZero() {
			t.Errorf("%+v, %v", who, err)
		}
	})
}

// Whoever seals with the old key meanwhile is told of: nobody takes that key away then.
func TestWhatIsLeftIsCounted(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, testbackend.SQLite(t))
	h := furnish(t, db, box(t, before))
	for _, column := range []string{"channels SET config = OLD.config", "targets SET spec = OLD.spec"} {
		table, _, _ := strings.Cut(column, " ")
		h.must(db.Write().Exec(fmt.Sprintf("CREATE TRIGGER %s_again AFTER UPDATE ON %s BEGIN UPDATE %s WHERE id = NEW.id; END", table, table, column)).Error)
	}
	counts, err := sealstore.Reseal(t.Context(), db, box(t, after, before), false)
	h.must(err)
	for _, c := range counts {
		want := map[string]int{"targets": 2, "notification channels": 1}[c.What]
		if c.Left != want {
			t.Errorf("%+v, want %d left", c, want)
		}
	}
}

// What does not open stays as it is, and keeps nothing else from being sealed anew.
func TestWhatDoesNotOpenStays(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, testbackend.SQLite(t))
	h, third := furnish(t, db, box(t, before)), box(t, "a SECRET_KEY of another installation")
	_, err := targetstore.New(db).Update(t.Context(), h.target, 0, func(t *uptime.Target) error {
		t.Spec.HTTP.Password = third.Seal(secret.New("x"))
		return nil
	})
	h.must(err)
	counts, err := sealstore.Reseal(t.Context(), db, box(t, after, before), false)
	if err != nil || counts[0].Broken != 1 || counts[0].Fresh != 0 || counts[1].Fresh != 1 {
		t.Errorf("%+v, %v", counts, err)
	}
	is, err := targetstore.New(db).Get(t.Context(), h.target)
	h.must(err)
	if opened, err := third.Open(is.Spec.HTTP.Password); err != nil || opened.Reveal() != "x" {
		t.Errorf("it was changed: %v", err)
	}
}

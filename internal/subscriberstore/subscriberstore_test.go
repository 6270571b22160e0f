package subscriberstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/subscriberstore"
	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// claim leases what is next for the only subscriber that waits.
func claim(t *testing.T, o *subscriberstore.Outbox, holder string, now time.Time) (incidentstore.Batch, *subscriberstore.Errand) {
	t.Helper()
	ids, err := o.Waiting(t.Context(), now)
	if err != nil || len(ids) != 1 {
		t.Fatalf("%v %v", ids, err)
	}
	b, found, err := o.Claim(t.Context(), holder, ids[0], 4, now, now.Add(time.Minute))
	if err != nil || !found {
		t.Fatalf("%v %v", found, err)
	}
	return b, b.Errand.(*subscriberstore.Errand)
}

func settle(t *testing.T, o *subscriberstore.Outbox, b incidentstore.Batch, now time.Time, outcome incidentstore.Outcome) {
	t.Helper()
	if err := o.Settle(t.Context(), "one", b, incidentstore.Settlement{At: now, Outcome: outcome, Again: now.Add(10 * time.Second)}); err != nil {
		t.Fatal(err)
	}
}

func TestThreeRequestsADayWhoeverAsksAtOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		box, err := seal.New("the SECRET_KEY of the test of subscribers")
		if err != nil {
			t.Fatal(err)
		}
		s := subscriberstore.New(db, box)
		var pages []int64
		for i := range 4 {
			page, err := pagestore.New(db, s).Create(t.Context(), pagestore.Page{Slug: fmt.Sprint("p", i), Published: true, Terms: pagestore.Terms{Title: "Acme", ByEmail: true}}, noon)
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, page.ID)
		}
		var group errgroup.Group
		for i := range 24 {
			group.Go(func() error {
				return s.Ask(t.Context(), subscriberstore.Wish{PageID: pages[i%4], Kind: subscriberstore.Email, Terms: subscriberstore.Terms{Address: secret.New("ann@example.com")}}, noon)
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		var asked int
		if err := db.Read().Raw("SELECT COUNT(*) FROM status_page_outbox WHERE letter_id IS NULL").Row().Scan(&asked); err != nil || asked != 3 {
			t.Errorf("%d requests, %v", asked, err)
		}
	})
}

func TestFromWishToLetter(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		box, err := seal.New("the SECRET_KEY of the test of subscribers")
		if err != nil {
			t.Fatal(err)
		}
		s := subscriberstore.New(db, box)
		pages, o := pagestore.New(db, s), s.Outbox(subscriberstore.Email)
		page, err := pages.Create(t.Context(), pagestore.Page{Slug: "main", Published: true, Terms: pagestore.Terms{Title: "Acme", ByEmail: true, Groups: []pagestore.Group{{Components: []pagestore.Component{{Name: "Shop"}, {Name: "API"}}}}}}, noon)
		if err != nil {
			t.Fatal(err)
		}
		wish := subscriberstore.Wish{PageID: page.ID, Kind: subscriberstore.Email, Terms: subscriberstore.Terms{Address: secret.New("Ann@example.com"), Language: "de"}, Components: []int64{2}}
		if err := s.Ask(t.Context(), wish, noon); err != nil {
			t.Fatal(err)
		}
		if ids, err := o.Waiting(t.Context(), noon); err != nil || len(ids) != 0 {
			t.Errorf("a request in the queue of letters: %v %v", ids, err)
		}
		requests := s.Requests(subscriberstore.Email)
		b, errand := claim(t, requests, "one", noon)
		if errand.Letter != nil || errand.Page.Terms.Title != "Acme" || errand.Subscriber.Terms.Address.Reveal() != "Ann@example.com" {
			t.Errorf("%+v", errand)
		}
		if ids, err := requests.Waiting(t.Context(), noon); err != nil || len(ids) != 0 {
			t.Errorf("leased, and waiting: %v %v", ids, err)
		}
		settle(t, requests, b, noon, incidentstore.OutcomeDelivered)
		if err := s.Confirm(t.Context(), subscriberstore.Email, "made up", noon); !errors.Is(err, subscriberstore.ErrNoWish) {
			t.Errorf("%v", err)
		}
		if err := s.Confirm(t.Context(), subscriberstore.Webhook, errand.Token.Reveal(), noon); !errors.Is(err, subscriberstore.ErrNoWish) {
			t.Errorf("confirmed as another kind: %v", err)
		}
		if err := s.Confirm(t.Context(), subscriberstore.Email, errand.Token.Reveal(), noon); err != nil {
			t.Fatal(err)
		}
		if err := s.Confirm(t.Context(), subscriberstore.Email, errand.Token.Reveal(), noon); !errors.Is(err, subscriberstore.ErrNoWish) {
			t.Errorf("twice: %v", err)
		}
		write := func(at time.Time, about ...int64) pagestore.Post {
			t.Helper()
			p, err := pages.CreatePost(t.Context(), pagestore.Post{PageID: page.ID, BegunAt: at, Body: pagestore.Body{Title: "Slow", Components: about, Updates: []pagestore.Update{{At: at, State: pagestore.Investigating, Text: "first"}}}})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		write(noon, 1)
		post := write(noon, 1, 2)
		for i := range 2 {
			if _, err := pages.UpdatePost(t.Context(), page.ID, post.ID, 0, func(p *pagestore.Post) error {
				p.Body.Updates = append(p.Body.Updates, pagestore.Update{At: noon.Add(time.Second), State: pagestore.Monitoring, Text: fmt.Sprint("update ", i)})
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		// In order, also when the first is tried again.
		now := noon.Add(time.Minute)
		b, _ = claim(t, o, "one", now)
		key := b.Key
		settle(t, o, b, now, incidentstore.OutcomeRetry)
		if ids, err := o.Waiting(t.Context(), now); err != nil || len(ids) != 0 {
			t.Errorf("the second before the first: %v %v", ids, err)
		}
		now = now.Add(time.Minute)
		for _, want := range []string{"first", "update 0", "update 1"} {
			b, errand = claim(t, o, "one", now)
			if errand.Letter == nil || errand.Letter.Text != want || want == "first" && (b.Key != key || b.Notifications[0].Attempts != 2) {
				t.Errorf("%+v %+v, want %s", b, errand.Letter, want)
			}
			settle(t, o, b, now, incidentstore.OutcomeDelivered)
		}
		// A lease that ran out is somebody else's; who comes late and failed has no say.
		write(now)
		b, _ = claim(t, o, "one", now)
		now = now.Add(2 * time.Minute)
		again, _ := claim(t, o, "two", now)
		if again.Key != b.Key {
			t.Errorf("%s and %s", again.Key, b.Key)
		}
		settle(t, o, b, now, incidentstore.OutcomeFailed)
		if n, _, err := o.Backlog(t.Context(), now); err != nil || n != 1 {
			t.Errorf("%d %v", n, err)
		}
		settle(t, o, b, now, incidentstore.OutcomeDelivered)
		if n, _, err := o.Backlog(t.Context(), now); err != nil || n != 0 {
			t.Errorf("%d %v", n, err)
		}
		// What waits of a post that is removed, or for who is, is told nobody.
		gone := write(now)
		if err := pages.DeletePost(t.Context(), page.ID, gone.ID, 0); err != nil {
			t.Fatal(err)
		}
		if n, _, err := o.Backlog(t.Context(), now); err != nil || n != 0 {
			t.Errorf("%d %v", n, err)
		}
		write(now)
		who, err := s.List(t.Context(), page.ID, 0, 10)
		if err != nil || len(who) != 1 || fmt.Sprint(who[0].Components) != "[2]" {
			t.Fatalf("%+v %v", who, err)
		}
		if err := s.Remove(t.Context(), page.ID+1, who[0].ID); !errors.Is(err, subscriberstore.ErrNotFound) {
			t.Errorf("of another page: %v", err)
		}
		if err := s.Remove(t.Context(), page.ID, who[0].ID); err != nil {
			t.Fatal(err)
		}
		if ids, err := o.Waiting(t.Context(), now); err != nil || len(ids) != 0 {
			t.Errorf("%v %v", ids, err)
		}
		for range 5 { // whoever asks, on whatever page
			if err := s.Ask(t.Context(), wish, now); err != nil {
				t.Fatal(err)
			}
		}
		var asked int
		if err := db.Read().Raw("SELECT COUNT(*) FROM status_page_outbox WHERE letter_id IS NULL").Row().Scan(&asked); err != nil || asked != 3 {
			t.Errorf("%d requests in a day, %v", asked, err)
		}
		if err := s.Prune(t.Context(), now.Add(49*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if err := o.Forget(t.Context(), now.Add(49*time.Hour)); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := db.Read().Raw("SELECT (SELECT COUNT(*) FROM status_page_subscribers) + (SELECT COUNT(*) FROM status_page_letters)").Row().Scan(&left); err != nil || left != 0 {
			t.Errorf("%d left, %v", left, err)
		}
	})
}

// A webhook that asks to be left alone takes nobody's place in the queue meanwhile, whatever else
// is written; many of them neither. A rest that a clock was ahead for is none.
func TestWebhooksThatAskToWait(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		box, err := seal.New("the SECRET_KEY of the test of subscribers")
		if err != nil {
			t.Fatal(err)
		}
		s := subscriberstore.New(db, box)
		pages, o := pagestore.New(db, s), s.Outbox(subscriberstore.Webhook)
		page, err := pages.Create(t.Context(), pagestore.Page{Slug: "main", Published: true, Terms: pagestore.Terms{Title: "Acme", ByWebhook: true}}, noon)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Ask(t.Context(), subscriberstore.Wish{PageID: page.ID, Kind: subscriberstore.Webhook, Terms: subscriberstore.Terms{Address: secret.New("https://hook.example/"), Key: secret.New("k")}}, noon); err != nil {
			t.Fatal(err)
		}
		b, errand := claim(t, s.Requests(subscriberstore.Webhook), "one", noon)
		settle(t, s.Requests(subscriberstore.Webhook), b, noon, incidentstore.OutcomeDelivered)
		if err := s.Confirm(t.Context(), subscriberstore.Webhook, errand.Token.Reveal(), noon); err != nil {
			t.Fatal(err)
		}
		const restless = 600
		if err := db.Write().Exec(`INSERT INTO status_page_subscribers (page_id, kind, address_key, terms, wish, wish_until_ms, all_components, created_at_ms, confirmed_at_ms)
SELECT page_id, kind, 'other ' || i, terms, '', 0, TRUE, 0, 1 FROM status_page_subscribers, (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n) many`, restless).Error; err != nil {
			t.Fatal(err)
		}
		post := func(at time.Time) {
			t.Helper()
			if _, err := pages.CreatePost(t.Context(), pagestore.Post{PageID: page.ID, BegunAt: at, Body: pagestore.Body{Title: "Slow", Updates: []pagestore.Update{{At: at, State: pagestore.Investigating, Text: "x"}}}}); err != nil {
				t.Fatal(err)
			}
		}
		// All but the last, and newest, of them have asked to wait.
		var last int64
		if err := db.Read().Raw("SELECT MAX(id) FROM status_page_subscribers").Row().Scan(&last); err != nil {
			t.Fatal(err)
		}
		post(noon)
		now, hour := noon.Add(time.Second), noon.Add(time.Hour)
		for id := last - restless; id < last; id++ {
			b, found, err := o.Claim(t.Context(), "one", id, 4, now, now.Add(time.Minute))
			if err != nil || !found {
				t.Fatalf("%d: %v %v", id, found, err)
			}
			if err := o.Settle(t.Context(), "one", b, incidentstore.Settlement{At: now, Outcome: incidentstore.OutcomeRetry, Again: hour, Rest: hour}); err != nil {
				t.Fatal(err)
			}
		}
		post(now.Add(time.Second))
		now = now.Add(2 * time.Second)
		if ids, err := o.Waiting(t.Context(), now); err != nil || len(ids) != 1 || ids[0] != last {
			t.Errorf("%d wait, %v", len(ids), err)
		}
		if _, found, err := o.Claim(t.Context(), "one", last-1, 4, now, now.Add(time.Minute)); found || err != nil {
			t.Errorf("claimed of one that rests: %v %v", found, err)
		}
		if ids, err := o.Waiting(t.Context(), hour.Add(time.Second)); err != nil || len(ids) != 500 {
			t.Errorf("%d wait after it, %v", len(ids), err)
		}
		if ids, err := o.Waiting(t.Context(), noon.Add(-24*time.Hour)); err != nil || len(ids) != 0 {
			t.Errorf("%d wait before it was written, %v", len(ids), err)
		}
		if err := db.Write().Exec("UPDATE status_page_subscribers SET rests_until_ms = ?", now.Add(24*time.Hour).UnixMilli()).Error; err != nil {
			t.Fatal(err)
		}
		if ids, err := o.Waiting(t.Context(), now); err != nil || len(ids) != 500 {
			t.Errorf("%d wait with rests of a clock that was ahead, %v", len(ids), err)
		}
	})
}

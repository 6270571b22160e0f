package subscriberstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	astray      = 10 * time.Minute // a lease that ends later was made by a clock that was ahead
	longestRest = 2 * time.Hour    // likewise of what a webhook asked for
	mostWaiting = 500              // subscribers that are looked at in one go
)

// Tell enqueues the last update of a post for all who want to hear of it. It takes part in
// the transaction of the update.
func (s *Store) Tell(tx *gorm.DB, page pagestore.Page, p pagestore.Post) error {
	number := len(p.Body.Updates)
	if !page.Published || number == 0 || !page.Terms.ByEmail && !page.Terms.ByWebhook {
		return nil
	}
	last := p.Body.Updates[number-1]
	letter := Letter{
		PostID: p.ID, Number: number, Kind: p.Body.Kind, Title: p.Body.Title, Impact: p.Body.Impact, State: last.State, Text: last.Text, BegunAt: p.BegunAt, At: last.At, ResolvedAt: p.ResolvedAt,
	}
	for _, c := range page.Components() {
		for _, id := range p.Body.Components {
			if c.ID == id {
				letter.Components = append(letter.Components, c.Name)
			}
		}
	}
	body, err := json.Marshal(letter)
	if err != nil {
		return err
	}
	var id int64
	err = tx.Raw("INSERT INTO status_page_letters (page_id, post_id, number, body) VALUES (?, ?, ?, ?) ON CONFLICT (post_id, number) DO NOTHING RETURNING id", page.ID, p.ID, number, string(body)).Row().Scan(&id)
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, gorm.ErrRecordNotFound) {
		return nil // it was enqueued before
	}
	if err != nil {
		return err
	}
	chosen := p.Body.Components
	if len(chosen) == 0 {
		chosen = []int64{0} // no component has this id
	}
	return tx.Exec(`INSERT INTO status_page_outbox (subscriber_id, letter_id, sealed, kind, created_at_ms, next_attempt_at_ms, attempts, holder, outcome, status, excerpt)
SELECT s.id, ?, '', s.kind, ?, ?, 0, '', '', 0, '' FROM status_page_subscribers s WHERE s.page_id = ? AND s.confirmed_at_ms IS NOT NULL AND (s.kind = 'email' AND ? OR s.kind = 'webhook' AND ?)
 AND (s.all_components OR ? OR EXISTS (SELECT 1 FROM status_page_choices c WHERE c.subscriber_id = s.id AND c.component_id IN ?))`,
		id, last.At.UnixMilli(), last.At.UnixMilli(), page.ID, page.Terms.ByEmail, page.Terms.ByWebhook, len(p.Body.Components) == 0, chosen).Error
}

// Outbox is what waits for subscribers of one kind: letters, or requests to confirm. What it
// calls channels are subscribers.
type Outbox struct {
	*Store
	kind  string
	which string // condition on o: which of both
}

// Outbox gives the letters of a kind.
func (s *Store) Outbox(kind string) *Outbox { return &Outbox{s, kind, "o.letter_id IS NOT NULL"} }

// Requests gives the requests to confirm of a kind: anybody may cause them, and so no letter
// waits for one.
func (s *Store) Requests(kind string) *Outbox { return &Outbox{s, kind, "o.letter_id IS NULL"} }

// free is what nobody works on, whose time has come, before which nothing of its post waits,
// and of a subscriber who has not asked to be left alone: so those take nobody's place.
const free = `o.settled_at_ms IS NULL AND o.next_attempt_at_ms <= @now AND (o.lease_until_ms IS NULL OR o.lease_until_ms <= @now OR o.lease_until_ms > @astray)
 AND NOT EXISTS (SELECT 1 FROM status_page_outbox e JOIN status_page_letters x ON x.id = e.letter_id JOIN status_page_letters y ON y.id = o.letter_id
 WHERE e.subscriber_id = o.subscriber_id AND e.settled_at_ms IS NULL AND x.post_id = y.post_id AND x.number < y.number)
 AND NOT EXISTS (SELECT 1 FROM status_page_subscribers r WHERE r.id = o.subscriber_id AND r.rests_until_ms > @now AND r.rests_until_ms <= @rested)`

func named(now time.Time) map[string]any {
	return map[string]any{"now": now.UnixMilli(), "astray": now.Add(astray).UnixMilli(), "rested": now.Add(longestRest).UnixMilli()}
}

// Waiting gives subscribers for whom something is due and nobody works on it: the ones first
// that have waited longest.
func (o *Outbox) Waiting(ctx context.Context, now time.Time) (ids []int64, err error) {
	args := named(now)
	args["kind"], args["most"] = o.kind, mostWaiting
	err = database.Each(o.db.Read().WithContext(ctx), func(rows *sql.Rows) error {
		var id, since int64
		err := rows.Scan(&id, &since)
		ids = append(ids, id)
		return err
	}, "SELECT o.subscriber_id, MIN(o.next_attempt_at_ms) FROM status_page_outbox o WHERE o.kind = @kind AND "+o.which+" AND "+free+" GROUP BY o.subscriber_id ORDER BY 2, 1 LIMIT @most", args)
	return ids, database.Failed(ctx, "find subscribers to tell", err)
}

// Claim leases what is next for a subscriber, one thing at a time, to holder until then.
func (o *Outbox) Claim(ctx context.Context, holder string, id int64, _ int, now, until time.Time) (b incidentstore.Batch, found bool, err error) {
	err = o.db.Tx(ctx, func(tx *gorm.DB) error {
		b, found = incidentstore.Batch{}, false
		if err := tx.Exec("UPDATE status_page_subscribers SET kind = kind WHERE id = ?", id).Error; err != nil { // keeps others out
			return err
		}
		var sending int
		if err := tx.Raw("SELECT COUNT(*) FROM status_page_outbox o WHERE subscriber_id = ? AND "+o.which+" AND settled_at_ms IS NULL AND lease_until_ms > ? AND lease_until_ms <= ?",
			id, now.UnixMilli(), now.Add(astray).UnixMilli()).Row().Scan(&sending); err != nil || sending > 0 {
			return err
		}
		args := named(now)
		args["subscriber"] = id
		var next struct{ entry, created, letter int64 }
		var attempts int
		var sealed, body string
		errand := &Errand{}
		row := tx.Raw("SELECT "+subscriberColumns+`, o.id, o.created_at_ms, o.attempts, o.sealed, COALESCE(o.letter_id, 0), COALESCE(l.body, '') FROM status_page_outbox o
JOIN status_page_subscribers s ON s.id = o.subscriber_id LEFT JOIN status_page_letters l ON l.id = o.letter_id
WHERE o.subscriber_id = @subscriber AND `+o.which+" AND "+free+" ORDER BY o.id LIMIT 1", args).Row()
		errand.Subscriber, err = o.scan(row, &next.entry, &next.created, &attempts, &sealed, &next.letter, &body)
		if errors.Is(err, sql.ErrNoRows) || errors.Is(err, gorm.ErrRecordNotFound) {
			return nil
		}
		if err == nil {
			err = o.complete(tx, errand, sealed, body)
		}
		if err != nil {
			return err
		}
		b = incidentstore.Batch{
			Channel: incidentstore.Channel{ID: id, Kind: o.kind}, Key: fmt.Sprintf("page-request-%d", next.entry), Errand: errand,
			Notifications: []incidentstore.Notification{{ID: next.entry, Attempts: attempts + 1, CreatedAt: at(next.created), DueAt: at(next.created)}},
		}
		if next.letter != 0 {
			b.Key = fmt.Sprintf("page-letter-%d-%d", next.letter, id)
		}
		found = true
		return tx.Exec("UPDATE status_page_outbox SET holder = ?, lease_until_ms = ?, attempts = attempts + 1 WHERE id = ?", holder, until.UnixMilli(), next.entry).Error
	})
	if err != nil {
		return incidentstore.Batch{}, false, database.Failed(ctx, "claim what a subscriber is told", err)
	}
	return b, found, nil
}

// complete puts into an errand what is said, and the page it is of.
func (o *Outbox) complete(tx *gorm.DB, e *Errand, sealed, body string) (err error) {
	var terms string
	var host sql.NullString
	if err := tx.Raw("SELECT slug, host, terms FROM status_pages WHERE id = ?", e.Subscriber.PageID).Row().Scan(&e.Page.Slug, &host, &terms); err != nil {
		return err
	}
	e.Page.ID, e.Page.Host = e.Subscriber.PageID, host.String
	if err := json.Unmarshal([]byte(terms), &e.Page.Terms); err != nil {
		return err
	}
	if body != "" {
		e.Letter = &Letter{}
		return json.Unmarshal([]byte(body), e.Letter)
	}
	if e.Token, err = o.box.Open(uptime.Sealed(sealed)); err != nil {
		return err
	}
	var wish string // a request is sent as the wish says
	if err := tx.Raw("SELECT wish FROM status_page_subscribers WHERE id = ?", e.Subscriber.ID).Row().Scan(&wish); err != nil || wish == "" {
		return err
	}
	e.Subscriber.Terms, e.Subscriber.Components, err = o.open(wish)
	return err
}

// Settle notes how an attempt ended. What was delivered is settled even when another holder
// has taken it over since; anything else is for that one to say.
func (o *Outbox) Settle(ctx context.Context, holder string, b incidentstore.Batch, end incidentstore.Settlement) error {
	id, ended := b.Notifications[0].ID, end.At.Add(end.Took).UnixMilli()
	db := o.db.Write().WithContext(ctx)
	var err error
	if !end.Rest.IsZero() {
		err = db.Exec("UPDATE status_page_subscribers SET rests_until_ms = ? WHERE id = ?", end.Rest.UnixMilli(), b.Channel.ID).Error
	}
	if err != nil {
		return database.Failed(ctx, "have a subscriber rest", err)
	}
	if end.Outcome == incidentstore.OutcomeRetry {
		err = db.Exec("UPDATE status_page_outbox SET next_attempt_at_ms = ?, lease_until_ms = NULL, status = ?, excerpt = ? WHERE id = ? AND settled_at_ms IS NULL AND holder = ?", end.Again.UnixMilli(), end.Status, end.Excerpt, id, holder).Error
	} else {
		err = db.Exec("UPDATE status_page_outbox SET settled_at_ms = ?, lease_until_ms = NULL, sealed = '', outcome = ?, status = ?, excerpt = ? WHERE id = ? AND settled_at_ms IS NULL AND (? OR holder = ?)",
			ended, string(end.Outcome), end.Status, end.Excerpt, id, end.Outcome == incidentstore.OutcomeDelivered, holder).Error
	}
	return database.Failed(ctx, "settle what a subscriber was told", err)
}

// Rule is that of a reminder, of which there are none here.
func (o *Outbox) Rule(context.Context, int64) (incidentstore.Rule, error) {
	return incidentstore.Rule{}, incidentstore.ErrRuleNotFound
}

// Backlog is how much is due and not settled, and since when the first is.
func (o *Outbox) Backlog(ctx context.Context, now time.Time) (n int64, since time.Time, err error) {
	var first sql.NullInt64
	err = o.db.Read().WithContext(ctx).Raw("SELECT COUNT(*), MIN(created_at_ms) FROM status_page_outbox o WHERE "+o.which+" AND kind = ? AND settled_at_ms IS NULL AND created_at_ms <= ?", o.kind, now.UnixMilli()).Row().Scan(&n, &first)
	if first.Valid {
		since = at(first.Int64)
	}
	return n, since, database.Failed(ctx, "count what subscribers are told", err)
}

// Forget removes what was settled before then.
func (o *Outbox) Forget(ctx context.Context, then time.Time) error {
	err := o.db.Tx(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec("DELETE FROM status_page_outbox WHERE settled_at_ms < ?", then.UnixMilli()).Error; err != nil {
			return err
		}
		return tx.Exec("DELETE FROM status_page_letters WHERE NOT EXISTS (SELECT 1 FROM status_page_outbox o WHERE o.letter_id = status_page_letters.id)").Error
	})
	return database.Failed(ctx, "forget what subscribers were told", err)
}

package subscriberstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/connect"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
)

// sealedTerms are terms as they are sealed.
type sealedTerms struct {
	Address    string  `json:"address"`
	Key        string  `json:"key,omitempty"`
	Language   string  `json:"language"`
	Components []int64 `json:"components,omitempty"` // of a wish
}

func (s *Store) seal(t Terms, components []int64) string {
	text, _ := json.Marshal(sealedTerms{t.Address.Reveal(), t.Key.Reveal(), t.Language, components}) // plain: cannot fail
	return string(s.box.Seal(secret.New(string(text))))
}

func (s *Store) open(sealed string) (Terms, []int64, error) {
	text, err := s.box.Open(uptime.Sealed(sealed))
	if err != nil {
		return Terms{}, nil, fmt.Errorf("open subscriber: %w", err)
	}
	var t sealedTerms
	if json.Unmarshal([]byte(text.Reveal()), &t) != nil { // the error could quote it
		return Terms{}, nil, errors.New("open subscriber: it is damaged")
	}
	return Terms{secret.New(t.Address), secret.New(t.Key), t.Language}, t.Components, nil
}

// addressKeys are the same for the same address, and tell nobody what it is: first the one
// that is stored, then those with which it was while SECRET_KEY was another.
func (s *Store) addressKeys(kind string, address secret.Text) []string {
	text := address.Reveal()
	if kind == Email {
		text = strings.ToLower(text)
	}
	return s.box.Fingerprints("subscriber by " + kind + "\n" + text)
}

// renameKey gives a subscriber another key, unless that of another one of the page is the same.
const renameKey = `UPDATE status_page_subscribers SET address_key = ? WHERE NOT EXISTS
(SELECT 1 FROM status_page_subscribers o WHERE o.page_id = status_page_subscribers.page_id AND o.kind = status_page_subscribers.kind AND o.address_key = ?)`

// Rekey has all subscribers known by SECRET_KEY as it is, and gives how many were by another.
func (s *Store) Rekey(ctx context.Context) (renamed int, err error) {
	type known struct{ id, by string }
	var formerly []known
	err = database.Each(s.db.Read().WithContext(ctx), func(rows *sql.Rows) error {
		var id, by string
		who, err := s.scan(rows, &id, &by)
		if key := s.addressKeys(who.Kind, who.Terms.Address)[0]; err == nil && key != by {
			formerly = append(formerly, known{id, key})
		}
		return err
	}, "SELECT "+subscriberColumns+", s.id, s.address_key FROM status_page_subscribers s")
	for _, k := range formerly {
		if err == nil {
			done := s.db.Write().WithContext(ctx).Exec(renameKey+" AND id = ?", k.by, k.by, k.id)
			renamed, err = renamed+int(done.RowsAffected), done.Error
		}
	}
	return renamed, database.Failed(ctx, "rename subscribers", err)
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Ask notes a wish and enqueues the request to confirm it. What was confirmed before goes on
// until then; a wish of before is forgotten. Whether the address is known, has confirmed or
// was asked too often makes no difference to the caller; ErrCrowded is about the installation.
func (s *Store) Ask(ctx context.Context, w Wish, now time.Time) error {
	keys, token := s.addressKeys(w.Kind, w.Terms.Address), rand.Text()+rand.Text()
	sealedToken := string(s.box.Seal(secret.New(token)))
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		// Of those who ask for one address at once each is to count the ones before. Writers of SQLite wait for each other anyway.
		if s.db.Engine() == connect.Postgres {
			if err := tx.Exec("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", keys[0]).Error; err != nil {
				return err
			}
		}
		var asked, requests, there int
		if err := tx.Raw("SELECT COUNT(*) FROM status_page_outbox WHERE letter_id IS NULL AND kind = ? AND created_at_ms > ?", w.Kind, now.Add(-askedWithin).UnixMilli()).Row().Scan(&asked); err != nil {
			return err
		}
		if asked >= mostAsked {
			return ErrCrowded
		}
		// Who is known from before SECRET_KEY was changed is the same subscriber.
		for _, former := range keys[1:] {
			if err := tx.Exec(renameKey+" AND kind = ? AND address_key = ?", keys[0], keys[0], w.Kind, former).Error; err != nil {
				return err
			}
		}
		if err := tx.Raw(`SELECT COUNT(*) FROM status_page_outbox o JOIN status_page_subscribers s ON s.id = o.subscriber_id
WHERE s.address_key = ? AND o.letter_id IS NULL AND o.created_at_ms > ?`, keys[0], now.Add(-requestsWithin).UnixMilli()).Row().Scan(&requests); err != nil {
			return err
		}
		if err := tx.Raw("SELECT COUNT(*) FROM status_page_subscribers WHERE page_id = ?", w.PageID).Row().Scan(&there); err != nil {
			return err
		}
		if requests >= mostRequests || there >= mostSubscribers {
			return nil
		}
		var id int64
		if err := tx.Raw(`INSERT INTO status_page_subscribers (page_id, kind, address_key, terms, wish, wish_hash, wish_until_ms, all_components, created_at_ms) VALUES (?, ?, ?, '', ?, ?, ?, ?, ?)
ON CONFLICT (page_id, kind, address_key) DO UPDATE SET wish = excluded.wish, wish_hash = excluded.wish_hash, wish_until_ms = excluded.wish_until_ms RETURNING id`,
			w.PageID, w.Kind, keys[0], s.seal(w.Terms, w.Components), hash(token), now.Add(WishFor).UnixMilli(), true, now.UnixMilli()).Row().Scan(&id); err != nil {
			return err
		}
		if err := tx.Exec("UPDATE status_page_outbox SET settled_at_ms = ?, sealed = '', outcome = 'cancelled' WHERE subscriber_id = ? AND letter_id IS NULL AND settled_at_ms IS NULL", now.UnixMilli(), id).Error; err != nil {
			return err
		}
		return tx.Exec(`INSERT INTO status_page_outbox (subscriber_id, sealed, kind, created_at_ms, next_attempt_at_ms, attempts, holder, outcome, status, excerpt)
VALUES (?, ?, ?, ?, ?, 0, '', '', 0, '')`, id, sealedToken, w.Kind, now.UnixMilli(), now.UnixMilli()).Error
	})
	return database.Failed(ctx, "ask for a subscription", err)
}

// Confirm makes a wish of a kind count: a webhook's is not confirmed by who reads what is posted
// to it. The error is ErrNoWish if no token is like this one any more.
func (s *Store) Confirm(ctx context.Context, kind, token string, now time.Time) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		var id int64
		var wish string
		// Writing first: of two at once the second finds nothing.
		err := tx.Raw("UPDATE status_page_subscribers SET wish_hash = NULL, confirmed_at_ms = COALESCE(confirmed_at_ms, ?) WHERE wish_hash = ? AND kind = ? AND wish_until_ms > ? RETURNING id, wish",
			now.UnixMilli(), hash(token), kind, now.UnixMilli()).Row().Scan(&id, &wish)
		if errors.Is(err, sql.ErrNoRows) || errors.Is(err, gorm.ErrRecordNotFound) {
			return ErrNoWish
		}
		if err != nil {
			return err
		}
		terms, components, err := s.open(wish)
		if err != nil {
			return err
		}
		if err := tx.Exec("UPDATE status_page_subscribers SET terms = ?, wish = '', all_components = ? WHERE id = ?", s.seal(terms, nil), len(components) == 0, id).Error; err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM status_page_choices WHERE subscriber_id = ?", id).Error; err != nil {
			return err
		}
		for _, component := range components {
			if err := tx.Exec("INSERT INTO status_page_choices (subscriber_id, component_id) VALUES (?, ?) ON CONFLICT DO NOTHING", id, component).Error; err != nil {
				return err
			}
		}
		return nil
	})
	return database.Failed(ctx, "confirm subscription", err)
}

// Remove ends a subscription, of a page; 0: of any. What waits for the subscriber goes with
// it. The error is ErrNotFound if there is none.
func (s *Store) Remove(ctx context.Context, pageID, id int64) error {
	done := s.db.Write().WithContext(ctx).Exec("DELETE FROM status_page_subscribers WHERE id = ? AND (page_id = ? OR ? = 0)", id, pageID, pageID)
	err := done.Error
	if err == nil && done.RowsAffected == 0 {
		err = ErrNotFound
	}
	return database.Failed(ctx, "remove subscriber", err)
}

// Prune forgets wishes that can no longer be confirmed, and those of whom there is nothing else.
func (s *Store) Prune(ctx context.Context, now time.Time) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec("DELETE FROM status_page_subscribers WHERE confirmed_at_ms IS NULL AND wish_until_ms < ?", now.UnixMilli()).Error; err != nil {
			return err
		}
		return tx.Exec("UPDATE status_page_subscribers SET wish = '', wish_hash = NULL WHERE wish_hash IS NOT NULL AND wish_until_ms < ?", now.UnixMilli()).Error
	})
	return database.Failed(ctx, "forget wishes", err)
}

const subscriberColumns = "s.id, s.page_id, s.kind, s.terms, s.wish, s.created_at_ms, s.confirmed_at_ms"

func (s *Store) scan(row interface{ Scan(...any) error }, more ...any) (Subscriber, error) {
	var who Subscriber
	var terms, wish string
	var created int64
	var confirmed sql.NullInt64
	if err := row.Scan(append([]any{&who.ID, &who.PageID, &who.Kind, &terms, &wish, &created, &confirmed}, more...)...); err != nil {
		return who, err
	}
	who.CreatedAt = at(created)
	if confirmed.Valid {
		who.ConfirmedAt = at(confirmed.Int64)
	}
	if terms == "" {
		terms = wish
	}
	var err error
	who.Terms, who.Components, err = s.open(terms)
	return who, err
}

// List gives at most limit subscribers of a page after an id, by id.
func (s *Store) List(ctx context.Context, pageID, afterID int64, limit int) (all []Subscriber, err error) {
	db := s.db.Read().WithContext(ctx)
	err = database.Each(db, func(rows *sql.Rows) error {
		who, err := s.scan(rows)
		all = append(all, who)
		return err
	}, "SELECT "+subscriberColumns+" FROM status_page_subscribers s WHERE s.page_id = ? AND s.id > ? ORDER BY s.id LIMIT ?", pageID, afterID, limit)
	for i := range all {
		if err == nil && !all[i].ConfirmedAt.IsZero() {
			err = database.Each(db, func(rows *sql.Rows) error {
				var component int64
				err := rows.Scan(&component)
				all[i].Components = append(all[i].Components, component)
				return err
			}, "SELECT component_id FROM status_page_choices WHERE subscriber_id = ? ORDER BY component_id", all[i].ID)
		}
	}
	return all, database.Failed(ctx, "list subscribers", err)
}

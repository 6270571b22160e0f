package incidentstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Rule says which incidents are told to whom, and when.
type Rule struct {
	ID        int64
	Name      string
	Enabled   bool
	Terms     Terms
	Version   int64 // rises with every change
	CreatedAt time.Time
	UpdatedAt time.Time

	// Unread says what of the terms this release cannot read; "": it reads all. Such a rule speaks without
	// the conditions that cannot be read, and is not changed: they would be lost.
	Unread string
}

// Terms are what a rule says. What is empty is no condition.
type Terms struct {
	Tags       []string   `json:"tags,omitempty"`    // the target has one of them
	Targets    []int64    `json:"targets,omitempty"` // or is one of these
	Severities []Severity `json:"severities,omitempty"`
	Fleet      *bool      `json:"fleet,omitempty"` // what is wrong with the fleet itself; nil: if there are no tags and targets

	Zone      string     `json:"zone,omitempty"`     // IANA, of the windows; "": UTC
	Schedule  []Window   `json:"schedule,omitempty"` // when it speaks; none: always
	Quiet     []Window   `json:"quiet,omitempty"`    // when it holds back
	QuietLets []Severity `json:"quiet_lets,omitempty"`

	DigestMinutes    int     `json:"digest_minutes,omitempty"` // 0: each at once
	Channels         []int64 `json:"channels"`
	Escalations      []Step  `json:"escalations,omitempty"`
	ReminderMinutes  int     `json:"reminder_minutes,omitempty"` // 0: none
	SendAcknowledged bool    `json:"send_acknowledged,omitempty"`
	SendResolved     bool    `json:"send_resolved,omitempty"`
}

// Window is a stretch of each of some days, by the clock of the rule's zone: from From up
// to To, which is on the next day if it is not later than From.
type Window struct {
	Days []time.Weekday `json:"days,omitempty"` // on which it begins; none: every day
	From int            `json:"from"`           // minutes since midnight
	To   int            `json:"to"`
}

// Step tells more people when nobody has acknowledged.
type Step struct {
	AfterMinutes int     `json:"after_minutes"`
	Channels     []int64 `json:"channels"`
}

// channels are all that the terms name.
func (t Terms) channels() []int64 {
	all := slices.Clone(t.Channels)
	for _, step := range t.Escalations {
		all = append(all, step.Channels...)
	}
	return all
}

// mayTell says whether the rule names a channel, as far as that can be read.
func (r Rule) mayTell(channel int64) bool {
	all := r.Terms.channels()
	return slices.Contains(all, channel) || r.Unread != "" && len(all) == 0
}

const ruleColumns = "id, name, enabled, terms, version, created_at_ms, updated_at_ms"

func scanRule(row interface{ Scan(...any) error }) (Rule, error) {
	var r Rule
	var terms string
	var created, updated int64
	if err := row.Scan(&r.ID, &r.Name, &r.Enabled, &terms, &r.Version, &created, &updated); err != nil {
		return Rule{}, err
	}
	r.read(terms)
	r.CreatedAt, r.UpdatedAt = at(created), at(updated)
	return r, nil
}

// read takes in the terms. Part of a condition could leave out somebody whom the whole of it does not:
// one that is not understood is none.
func (r *Rule) read(terms string) {
	err := database.ReadJSON(terms, &r.Terms)
	if err == nil {
		return
	}
	r.Unread, r.Terms = err.Error(), Terms{}
	var members map[string]json.RawMessage
	_ = json.Unmarshal([]byte(terms), &members)
	for name, value := range members {
		member := text(map[string]json.RawMessage{name: value})
		whole := database.ReadJSON(member, &Terms{}) == nil
		if whole || name == "channels" || name == "escalations" { // of whom to tell, those that can be read
			_ = json.Unmarshal([]byte(member), &r.Terms)
		}
	}
}

func readRules(db *gorm.DB, where string, args ...any) (all []Rule, err error) {
	err = database.Each(db, func(rows *sql.Rows) error {
		r, err := scanRule(rows)
		all = append(all, r)
		return err
	}, "SELECT "+ruleColumns+" FROM notification_rules "+where, args...)
	return all, err
}

func readChannels(db *gorm.DB, where string, args ...any) (all []Channel, err error) {
	err = database.Each(db, func(rows *sql.Rows) error {
		c, err := scanChannel(rows)
		all = append(all, c)
		return err
	}, "SELECT "+channelColumns+" FROM channels "+where, args...)
	return all, err
}

// CreateRule stores a rule. It assigns the id, the version and the times. The error is
// ErrChannelNotFound if it names a channel that is not there.
func (s *Store) CreateRule(ctx context.Context, r Rule, now time.Time) (Rule, error) {
	var created Rule
	err := s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		if err := known(tx, r.Terms); err != nil {
			return err
		}
		created, err = scanRule(tx.Raw(`INSERT INTO notification_rules (name, enabled, terms, version, created_at_ms, updated_at_ms)
VALUES (?, ?, ?, 1, ?, ?) RETURNING `+ruleColumns, r.Name, r.Enabled, text(r.Terms), now.UnixMilli(), now.UnixMilli()).Row())
		return nameTaken(ctx, err)
	})
	return created, database.Failed(ctx, "create notification rule", err)
}

// UpdateRule reads a rule, lets change edit it and stores it, all in one transaction. An
// ifVersion other than 0 must be its version, else ErrConflict. What was enqueued stays. The error
// is ErrUnreadable if not all of it can be read.
func (s *Store) UpdateRule(ctx context.Context, id, ifVersion int64, now time.Time, change func(*Rule) error) (Rule, error) {
	var r Rule
	err := s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		if r, err = holdRule(tx, id, ifVersion); err != nil {
			return err
		}
		if r.Unread != "" {
			return ErrUnreadable
		}
		before := r
		if err := change(&r); err != nil {
			return err
		}
		if reflect.DeepEqual(r, before) {
			return nil
		}
		if err := known(tx, r.Terms); err != nil {
			return err
		}
		r.ID, r.Version, r.CreatedAt, r.UpdatedAt = before.ID, before.Version+1, before.CreatedAt, at(now.UnixMilli())
		return nameTaken(ctx, tx.Exec("UPDATE notification_rules SET name = ?, enabled = ?, terms = ?, version = ?, updated_at_ms = ? WHERE id = ?",
			r.Name, r.Enabled, text(r.Terms), r.Version, now.UnixMilli(), id).Error)
	})
	return r, database.Failed(ctx, "update notification rule", err)
}

// DeleteRule removes a rule. What it enqueued is still told, but for what waits for nobody
// to acknowledge.
func (s *Store) DeleteRule(ctx context.Context, id, ifVersion int64, now time.Time) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		if _, err := holdRule(tx, id, ifVersion); err != nil {
			return err
		}
		err := tx.Exec("UPDATE outbox SET state = ?, settled_at_ms = ? WHERE rule_id = ? AND state = ? AND unless = ?",
			string(Cancelled), now.UnixMilli(), id, string(Pending), string(Acknowledged)).Error
		if err != nil {
			return err
		}
		return tx.Exec("DELETE FROM notification_rules WHERE id = ?", id).Error
	})
	return database.Failed(ctx, "delete notification rule", err)
}

// Rule gives one rule.
func (s *Store) Rule(ctx context.Context, id int64) (Rule, error) {
	r, err := scanRule(s.db.Read().WithContext(ctx).Raw("SELECT "+ruleColumns+" FROM notification_rules WHERE id = ?", id).Row())
	return r, database.Failed(ctx, "get notification rule", missing(err, ErrRuleNotFound))
}

// Rules gives at most limit rules after an id, by id.
func (s *Store) Rules(ctx context.Context, afterID int64, limit int) ([]Rule, error) {
	all, err := readRules(s.db.Read().WithContext(ctx), "WHERE id > ? ORDER BY id LIMIT ?", afterID, limit)
	return all, database.Failed(ctx, "list notification rules", err)
}

func holdRule(tx *gorm.DB, id, ifVersion int64) (Rule, error) {
	r, err := scanRule(tx.Raw("UPDATE notification_rules SET version = version WHERE id = ? RETURNING "+ruleColumns, id).Row())
	if err != nil {
		return Rule{}, missing(err, ErrRuleNotFound)
	}
	if ifVersion != 0 && r.Version != ifVersion {
		return Rule{}, ErrConflict
	}
	return r, nil
}

// known says whether all channels that terms name are there, and keeps them there.
func known(tx *gorm.DB, t Terms) error {
	wanted := slices.Compact(slices.Sorted(slices.Values(t.channels())))
	for _, id := range wanted {
		if _, err := holdChannel(tx, id, 0); err != nil {
			return err
		}
	}
	return nil
}

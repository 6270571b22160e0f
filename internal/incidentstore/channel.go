package incidentstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Channel is a way to tell somebody.
type Channel struct {
	ID        int64
	Name      string
	Kind      string
	Config    uptime.Sealed // of that kind; a JSON object, sealed as a whole
	Enabled   bool
	Version   int64 // rises with every change
	CreatedAt time.Time
	UpdatedAt time.Time
}

const channelColumns = "id, name, kind, config, enabled, version, created_at_ms, updated_at_ms"

func scanChannel(row interface{ Scan(...any) error }) (Channel, error) {
	var c Channel
	var created, updated int64
	err := row.Scan(&c.ID, &c.Name, &c.Kind, &c.Config, &c.Enabled, &c.Version, &created, &updated)
	c.CreatedAt, c.UpdatedAt = at(created), at(updated)
	return c, err
}

// CreateChannel stores a channel. It assigns the id, the version and the times.
func (s *Store) CreateChannel(ctx context.Context, c Channel, now time.Time) (Channel, error) {
	created, err := scanChannel(s.db.Write().WithContext(ctx).Raw(`INSERT INTO channels (name, kind, config, enabled, version, created_at_ms, updated_at_ms)
VALUES (?, ?, ?, ?, 1, ?, ?) RETURNING `+channelColumns, c.Name, c.Kind, string(c.Config), c.Enabled, now.UnixMilli(), now.UnixMilli()).Row())
	return created, database.Failed(ctx, "create channel", nameTaken(ctx, err))
}

// UpdateChannel reads a channel, lets change edit it and stores it, all in one transaction.
// An ifVersion other than 0 must be its version, else ErrConflict. What waits for a channel
// that is disabled is cancelled: it would be told out of its time.
func (s *Store) UpdateChannel(ctx context.Context, id, ifVersion int64, now time.Time, change func(*Channel) error) (Channel, error) {
	var c Channel
	err := s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		if c, err = holdChannel(tx, id, ifVersion); err != nil {
			return err
		}
		before := c
		if err := change(&c); err != nil {
			return err
		}
		if c == before {
			return nil
		}
		c.ID, c.Version, c.CreatedAt, c.UpdatedAt = before.ID, before.Version+1, before.CreatedAt, at(now.UnixMilli())
		err = tx.Exec("UPDATE channels SET name = ?, kind = ?, config = ?, enabled = ?, version = ?, updated_at_ms = ? WHERE id = ?",
			c.Name, c.Kind, string(c.Config), c.Enabled, c.Version, now.UnixMilli(), id).Error
		if err != nil {
			return nameTaken(ctx, err)
		}
		if before.Enabled && !c.Enabled {
			return tx.Exec("UPDATE outbox SET state = ?, settled_at_ms = ? WHERE channel_id = ? AND state = ?", string(Cancelled), now.UnixMilli(), id, string(Pending)).Error
		}
		return nil
	})
	return c, database.Failed(ctx, "update channel", err)
}

// DeleteChannel removes a channel with its deliveries and what waits for it. The error is
// ErrInUse while a rule names it, or one of which that cannot be read.
func (s *Store) DeleteChannel(ctx context.Context, id, ifVersion int64) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		if _, err := holdChannel(tx, id, ifVersion); err != nil {
			return err
		}
		rules, err := readRules(tx, "")
		if err != nil {
			return err
		}
		if slices.ContainsFunc(rules, func(r Rule) bool { return r.mayTell(id) }) {
			return ErrInUse
		}
		return tx.Exec("DELETE FROM channels WHERE id = ?", id).Error
	})
	return database.Failed(ctx, "delete channel", err)
}

// Channel gives one channel.
func (s *Store) Channel(ctx context.Context, id int64) (Channel, error) {
	c, err := scanChannel(s.db.Read().WithContext(ctx).Raw("SELECT "+channelColumns+" FROM channels WHERE id = ?", id).Row())
	return c, database.Failed(ctx, "get channel", missing(err, ErrChannelNotFound))
}

// Channels gives at most limit channels after an id, by id.
func (s *Store) Channels(ctx context.Context, afterID int64, limit int) ([]Channel, error) {
	all, err := readChannels(s.db.Read().WithContext(ctx), "WHERE id > ? ORDER BY id LIMIT ?", afterID, limit)
	return all, database.Failed(ctx, "list channels", err)
}

func holdChannel(tx *gorm.DB, id, ifVersion int64) (Channel, error) {
	c, err := scanChannel(tx.Raw("UPDATE channels SET version = version WHERE id = ? RETURNING "+channelColumns, id).Row())
	if err != nil {
		return Channel{}, missing(err, ErrChannelNotFound)
	}
	if ifVersion != 0 && c.Version != ifVersion {
		return Channel{}, ErrConflict
	}
	return c, nil
}

// nameTaken knows that the name is the only thing a write can clash on.
func nameTaken(ctx context.Context, err error) error {
	err = database.Translate(ctx, err)
	if errors.Is(err, database.ErrDuplicate) {
		return ErrNameTaken
	}
	return err
}

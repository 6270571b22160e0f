// Package sealstore knows where the relational database holds sealed secrets, and has them
// sealed anew when the installation's SECRET_KEY is changed.
//
// Guarantees:
//
//   - What is written meanwhile stays as it was written: a secret is replaced only where it
//     is still the one that was read. What is left with another key then is counted.
//   - What does not open is left as it is, and counted.
//   - Ended at any point and begun again it goes on: what is sealed with the first key stays.
//   - Targets are changed as by anybody who saves them, with a version of their own: what a
//     publisher hands out from then on is sealed with the first key.
package sealstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/subscriberstore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Count is what became of the secrets of one kind.
type Count struct {
	What   string
	All    int
	Fresh  int // sealed anew; of a dry run: that would be
	Broken int // places with one that no key opens
	Left   int // not the first key's all the same, as they were written meanwhile
}

// column is one that holds sealed secrets, in a row that key tells from others.
type column struct{ what, table, key, name string }

// columns are all but those of targets. What comes and goes within hours is not here: checks
// on demand, and what a person began.
func columns() []column {
	return []column{
		{"notification channels", "channels", "id", "config"},
		{"heartbeats", "heartbeats", "target_id", "token_sealed"},
		{"second factors", "second_factors", "user_id", "secret"},
		{"subscribers", "status_page_subscribers", "id", "terms"},
		{"subscribers to be", "status_page_subscribers", "id", "wish"},
		{"requests to confirm", "status_page_outbox", "id", "sealed"},
	}
}

const atOnce = 200 // rows of a transaction

// Reseal has every secret sealed with the box's first key, and looks again whether it is. A dry
// run only counts.
func Reseal(ctx context.Context, db *database.DB, box *seal.Box, dry bool) ([]Count, error) {
	counts, err := pass(ctx, db, box, dry)
	if err != nil || dry {
		return counts, err
	}
	after, err := pass(ctx, db, box, true)
	for i := range after {
		counts[i].Left = after[i].Fresh
	}
	return counts, err
}

// pass goes through all places once.
func pass(ctx context.Context, db *database.DB, box *seal.Box, dry bool) ([]Count, error) {
	targets, err := resealTargets(ctx, targetstore.New(db).Resealing(), box, dry)
	counts := []Count{targets}
	for _, c := range columns() {
		if err != nil {
			return counts, err
		}
		var count Count
		count, err = c.reseal(ctx, db, box, dry)
		counts = append(counts, count)
	}
	if err == nil && !dry && !slices.ContainsFunc(counts, func(c Count) bool { return c.Broken > 0 }) {
		_, err = subscriberstore.New(db, box).Rekey(ctx)
	}
	return counts, err
}

func resealTargets(ctx context.Context, store *targetstore.Store, box *seal.Box, dry bool) (Count, error) {
	count := Count{What: "targets"}
	var stale []targetstore.Asked
	err := store.Each(ctx, func(t uptime.Target) error {
		_, all, fresh, err := box.Reseal(string(t.Spec.Text()))
		count.note(all, fresh, err)
		if fresh > 0 {
			stale = append(stale, targetstore.Asked{ID: t.ID})
		}
		return nil
	})
	if err != nil || dry {
		return count, err
	}
	for some := range slices.Chunk(stale, atOnce) {
		_, err := store.UpdateMany(ctx, some, false, func(t *uptime.Target) error {
			text, _, _, err := box.Reseal(string(t.Spec.Text()))
			if err != nil {
				return err
			}
			t.Spec = uptime.SpecText(text).Read()
			return nil
		})
		if err != nil {
			return count, err
		}
	}
	return count, nil
}

func (c column) reseal(ctx context.Context, db *database.DB, box *seal.Box, dry bool) (Count, error) {
	count := Count{What: c.what}
	type change struct {
		key         int64
		from, after string
	}
	var stale []change
	err := database.Each(db.Read().WithContext(ctx), func(rows *sql.Rows) error {
		var one change
		if err := rows.Scan(&one.key, &one.from); err != nil {
			return err
		}
		var all, fresh int
		var err error
		one.after, all, fresh, err = box.Reseal(one.from)
		count.note(all, fresh, err)
		if fresh > 0 {
			stale = append(stale, one)
		}
		return nil
	}, fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s <> ''", c.key, c.name, c.table, c.name))
	if err != nil || dry {
		return count, database.Failed(ctx, "read the secrets of "+c.what, err)
	}
	for some := range slices.Chunk(stale, atOnce) {
		err := db.Tx(ctx, func(tx *gorm.DB) error {
			for _, one := range some {
				if err := tx.Exec(fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s = ? AND %s = ?", c.table, c.name, c.key, c.name), one.after, one.key, one.from).Error; err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return count, database.Failed(ctx, "seal the secrets of "+c.what, err)
		}
	}
	return count, nil
}

func (c *Count) note(all, fresh int, err error) {
	c.All += all
	c.Fresh += fresh
	if err != nil {
		c.Broken++
	}
}

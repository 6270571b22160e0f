package targetstore

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Rehearsal writes as a Store does, into copies of its tables: what is written sees what was written
// before it, and nobody else ever sees any of it.
type Rehearsal struct {
	store *Store
	tx    *gorm.DB
	seq   int64
}

// Rehearse has fn write into copies of the tables and throws them away, so that fn learns exactly what
// the same writes would come to, had nobody else written meanwhile. Nobody waits for it, and ids and
// versions that fn is given mean nothing afterwards.
func (s *Store) Rehearse(ctx context.Context, fn func(*Rehearsal) error) error {
	seq, err := schedulestore.New(s.db).Seq(ctx)
	if err == nil {
		err = s.db.Aside(ctx, []string{"targets"}, []string{"target_tags", "schedule_versions"}, func(tx *gorm.DB) error {
			return fn(&Rehearsal{store: s, tx: tx, seq: seq + 1})
		})
	}
	if err != nil {
		return fmt.Errorf("rehearse: %w", err)
	}
	return nil
}

// Create is that of Store.
func (r *Rehearsal) Create(ctx context.Context, t uptime.Target) (uptime.Target, error) {
	return r.write(func(tx *gorm.DB) (row, error) { return r.store.create(ctx, tx, r.seq, t) })
}

// Update is that of Store.
func (r *Rehearsal) Update(ctx context.Context, id, ifVersion int64, change func(*uptime.Target) error) (uptime.Target, error) {
	return r.write(func(tx *gorm.DB) (row, error) { return r.store.update(ctx, tx, r.seq, id, ifVersion, change) })
}

// write keeps what is refused from spoiling the transaction.
func (r *Rehearsal) write(fn func(*gorm.DB) (row, error)) (uptime.Target, error) {
	var written row
	err := r.tx.Transaction(func(tx *gorm.DB) (err error) {
		written, err = fn(tx)
		return err
	})
	r.seq++
	if err != nil && !errors.Is(err, errUnchanged) {
		return uptime.Target{}, fmt.Errorf("rehearse: %w", err)
	}
	return written.target()
}

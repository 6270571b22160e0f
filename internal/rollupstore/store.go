package rollupstore

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Store reads and writes the state of the rollups. It is safe for concurrent use.
type Store struct{ db *database.DB }

// New makes a store.
func New(db *database.DB) *Store { return &Store{db: db} }

// State is how far the rollups are.
type State struct {
	// Succeeded is when the last run began that finished; zero: none did. All that had
	// arrived two minutes before it is in the rollups.
	Succeeded time.Time
	Run       *Run // under way, or left by a publisher that ended; nil: none
}

// Run is one pass of the job over what was marked.
type Run struct {
	Version time.Time
	Started time.Time
	Marked  time.Time // it works on what was marked since then; zero: on all
	Before  time.Time // it has done the days from here on; zero: none yet
}

type stateRow struct {
	ID           int64 `gorm:"column:id;primaryKey;autoIncrement:false"`
	VersionMS    int64 `gorm:"column:version_ms"`
	SucceededMS  int64 `gorm:"column:succeeded_ms"`
	RunVersionMS int64 `gorm:"column:run_version_ms"`
	RunStartedMS int64 `gorm:"column:run_started_ms"`
	RunMarkedMS  int64 `gorm:"column:run_marked_ms"`
	RunBeforeMS  int64 `gorm:"column:run_before_ms"`
}

func (stateRow) TableName() string { return "rollup_state" }

func (r stateRow) run() *Run {
	if r.RunVersionMS == 0 {
		return nil
	}
	return &Run{Version: instant(r.RunVersionMS), Started: instant(r.RunStartedMS), Marked: instant(r.RunMarkedMS), Before: instant(r.RunBeforeMS)}
}

// State reads how far the rollups are.
func (s *Store) State(ctx context.Context) (State, error) {
	rows, err := gorm.G[stateRow](s.db.Read()).Where("id = 1").Find(ctx)
	if err != nil {
		return State{}, fmt.Errorf("read the state of the rollups: %w", database.Translate(ctx, err))
	}
	if len(rows) == 0 {
		return State{}, nil
	}
	return State{Succeeded: instant(rows[0].SucceededMS), Run: rows[0].run()}, nil
}

// Start notes a run that begins now and works on what was marked since an instant
// (zero: on all), or gives the one that is under way.
func (s *Store) Start(ctx context.Context, now, marked time.Time) (run Run, err error) {
	err = s.update(ctx, func(row *stateRow) {
		if row.RunVersionMS == 0 {
			row.VersionMS = nextVersion(row.VersionMS, now)
			row.RunVersionMS, row.RunStartedMS, row.RunMarkedMS, row.RunBeforeMS = row.VersionMS, millis(now), millis(marked), 0
		}
		run = *row.run()
	})
	return run, err
}

// Progress notes that a run has done the days from an instant on.
func (s *Store) Progress(ctx context.Context, run Run, before time.Time) error {
	return s.update(ctx, func(row *stateRow) {
		if row.RunVersionMS == millis(run.Version) {
			row.RunBeforeMS = millis(before)
		}
	})
}

// Finish notes that a run has done everything.
func (s *Store) Finish(ctx context.Context, run Run) error {
	return s.update(ctx, func(row *stateRow) {
		if row.RunVersionMS == millis(run.Version) {
			row.SucceededMS = row.RunStartedMS
			row.RunVersionMS, row.RunStartedMS, row.RunMarkedMS, row.RunBeforeMS = 0, 0, 0, 0
		}
	})
}

// update changes the one row, which is made when it is not there. It is locked
// meanwhile: on SQLite write transactions queue, on Postgres the row is.
func (s *Store) update(ctx context.Context, change func(*stateRow)) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error { return updateState(ctx, tx, change) })
	if err != nil {
		return fmt.Errorf("note the state of the rollups: %w", err)
	}
	return nil
}

func updateState(ctx context.Context, tx *gorm.DB, change func(*stateRow)) error {
	if err := tx.Exec(`INSERT INTO rollup_state (id, version_ms, succeeded_ms, run_version_ms, run_started_ms, run_marked_ms, run_before_ms) VALUES (1, 0, 0, 0, 0, 0, 0)
ON CONFLICT (id) DO UPDATE SET version_ms = rollup_state.version_ms`).Error; err != nil {
		return err
	}
	row, err := gorm.G[stateRow](tx).Where("id = 1").Take(ctx)
	if err != nil {
		return err
	}
	change(&row)
	return tx.Model(&stateRow{}).Where("id = 1").Updates(map[string]any{
		"version_ms": row.VersionMS, "succeeded_ms": row.SucceededMS, "run_version_ms": row.RunVersionMS,
		"run_started_ms": row.RunStartedMS, "run_marked_ms": row.RunMarkedMS, "run_before_ms": row.RunBeforeMS,
	}).Error
}

// nextVersion is now, in whole seconds, unless that is not higher than all before: a
// clock that was put back must not make new rows lose against old ones.
func nextVersion(highest int64, now time.Time) int64 {
	return max(now.Unix()*1000, highest+1000)
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

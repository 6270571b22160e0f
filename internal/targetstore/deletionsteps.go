package targetstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
)

// Steps that clear no table of results.
const (
	StepAnswers = "answers" // has every API drop the answers it keeps
	StepChecks  = "checks"  // removes checks on demand of the target
)

// Step is how far one place is cleared of a deleted target. Zero instants have not
// happened yet.
type Step struct {
	Name       string
	Looked     time.Time // last; what was there was removed
	CleanSince time.Time // the first of the looks up to the last that found nothing; zero: the last found something
	Done       time.Time // nothing was there when nothing of it could be on the way any more
	Tries      int64     // that failed
	LastError  string    // of the last that did, until one works
}

// Owed is a step that is due.
type Owed struct {
	Deletion
	Step   Step // nothing but its name: it has not begun
	Source Step // that of the place which this one's rows are made from, if there is one
}

const (
	stepColumns = `%[1]s.looked_at_ms, %[1]s.clean_since_ms, %[1]s.done_at_ms, COALESCE(%[1]s.tries, 0), COALESCE(%[1]s.last_error, '')`
	stepJoin    = `JOIN deletion_steps %[1]s ON %[1]s.target_id = d.target_id AND %[1]s.step = ? `
)

// Owed gives a page of the unfinished deletions of which a step is due at an instant, in
// ascending id. A step that has not begun is due. The source is a step, too, or "".
func (s *Store) Owed(ctx context.Context, step, source string, due time.Time, afterID int64, limit int) ([]Owed, error) {
	return s.owed(ctx, step, source, `d.finished_at_ms IS NULL AND (s.next_ms IS NULL OR s.next_ms <= ?) AND d.target_id > ? ORDER BY d.target_id LIMIT ?`,
		due.UnixMilli(), afterID, limit)
}

// Watched gives the finished deletions, requested since an instant, of which a step is due
// at another, longest due first. One that has not begun is due: the deletion was finished by a
// publisher that did not know the step.
func (s *Store) Watched(ctx context.Context, step string, due, requestedSince time.Time, limit int) ([]Owed, error) {
	return s.owed(ctx, step, "", `d.finished_at_ms IS NOT NULL AND (s.next_ms IS NULL OR s.next_ms <= ?) AND d.requested_at_ms >= ? ORDER BY COALESCE(s.next_ms, 0), d.target_id LIMIT ?`,
		due.UnixMilli(), requestedSince.UnixMilli(), limit)
}

// The condition's values are arguments; only this file writes conditions.
func (s *Store) owed(ctx context.Context, step, source, condition string, args ...any) ([]Owed, error) {
	query := `SELECT ` + deletionColumns + `, ` + fmt.Sprintf(stepColumns, "s") + `, ` + fmt.Sprintf(stepColumns, "u") +
		deletionTables + `LEFT ` + fmt.Sprintf(stepJoin, "s") + `LEFT ` + fmt.Sprintf(stepJoin, "u") + `WHERE ` + condition
	var all []Owed
	err := s.each(ctx, query, append([]any{step, source}, args...), func(rows *sql.Rows) error {
		o := Owed{Step: Step{Name: step}, Source: Step{Name: source}}
		var at, sourceAt stepTimes
		err := o.scan(rows, append(at.scan(&o.Step), sourceAt.scan(&o.Source)...)...)
		at.into(&o.Step)
		sourceAt.into(&o.Source)
		all = append(all, o)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what is owed of deletions: %w", err)
	}
	return all, nil
}

// stepTimes are those of a step as they are stored.
type stepTimes struct{ looked, clean, done sql.NullInt64 }

func (t *stepTimes) scan(s *Step) []any {
	return []any{&t.looked, &t.clean, &t.done, &s.Tries, &s.LastError}
}

func (t *stepTimes) into(s *Step) {
	s.Looked, s.CleanSince, s.Done = instant(t.looked), instant(t.clean), instant(t.done)
}

// addSteps reads the steps of deletions.
func (s *Store) addSteps(ctx context.Context, all []Deletion) error {
	at := make(map[int64]*Deletion, len(all))
	ids := make([]int64, len(all))
	for i := range all {
		ids[i], at[all[i].TargetID] = all[i].TargetID, &all[i]
	}
	for chunk := range slices.Chunk(ids, idsPerStatement) {
		err := s.each(ctx, `SELECT s.target_id, s.step, `+fmt.Sprintf(stepColumns, "s")+` FROM deletion_steps s WHERE s.target_id IN ? ORDER BY s.step`, []any{chunk}, func(rows *sql.Rows) error {
			var id int64
			var step Step
			var times stepTimes
			err := rows.Scan(append([]any{&id, &step.Name}, times.scan(&step)...)...)
			times.into(&step)
			if d := at[id]; d != nil {
				d.Steps = append(d.Steps, step)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("read steps of deletions: %w", err)
		}
	}
	return nil
}

// Look is what one look at a place found of a deleted target.
type Look struct {
	TargetID int64
	Clean    bool      // there was nothing; else it was removed
	Done     bool      // and nothing could be on the way any more
	Next     time.Time // when to look again
}

const (
	noteLook = `INSERT INTO deletion_steps (target_id, step, looked_at_ms, clean_since_ms, done_at_ms, next_ms, tries, last_error) VALUES `
	oneLook  = `(?, ?, ?, ?, ?, ?, 0, '')`
	lookedAt = ` ON CONFLICT (target_id, step) DO UPDATE SET looked_at_ms = excluded.looked_at_ms, next_ms = excluded.next_ms, last_error = '',
 clean_since_ms = CASE WHEN excluded.clean_since_ms IS NULL THEN NULL ELSE COALESCE(deletion_steps.clean_since_ms, excluded.clean_since_ms) END,
 done_at_ms = COALESCE(deletion_steps.done_at_ms, excluded.done_at_ms)`

	noteFailure = `INSERT INTO deletion_steps (target_id, step, next_ms, tries, last_error) VALUES `
	oneFailure  = `(?, ?, 0, 1, ?)`
	failedAgain = ` ON CONFLICT (target_id, step) DO UPDATE SET tries = deletion_steps.tries + 1, last_error = excluded.last_error`

	stepsPerStatement = 100
)

// MarkLooked notes looks that were made at an instant. A step stays done once it is;
// otherwise the note made last stays, whichever publisher made it.
func (s *Store) MarkLooked(ctx context.Context, step string, at time.Time, looks []Look) error {
	return s.noteSteps(ctx, noteLook, oneLook, lookedAt, len(looks), func(i int) []any {
		l := looks[i]
		moment := sql.NullInt64{Int64: at.UnixMilli(), Valid: true}
		clean, done := moment, moment
		clean.Valid, done.Valid = l.Clean, l.Done
		return []any{l.TargetID, step, moment, clean, done, l.Next.UnixMilli()}
	})
}

// MarkFailed counts a try of a step that failed. It stays due.
func (s *Store) MarkFailed(ctx context.Context, step string, ids []int64, problem string) error {
	return s.noteSteps(ctx, noteFailure, oneFailure, failedAgain, len(ids), func(i int) []any { return []any{ids[i], step, problem} })
}

func (s *Store) noteSteps(ctx context.Context, insert, one, conflict string, n int, values func(i int) []any) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		for first := 0; first < n; first += stepsPerStatement {
			count := min(stepsPerStatement, n-first)
			var args []any
			for i := range count {
				args = append(args, values(first+i)...)
			}
			statement := insert + strings.TrimSuffix(strings.Repeat(one+", ", count), ", ") + conflict
			if err := tx.Exec(statement, args...).Error; err != nil {
				return err
			}
		}
		return nil
	})
	return noted(err)
}

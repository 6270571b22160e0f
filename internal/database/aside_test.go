package database_test

import (
	"errors"
	"testing"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
)

const oneTarget = "INSERT INTO targets (name, url, kind, interval_s, timeout_ms, regions, active, spec_version, created_at_ms, updated_at_ms) VALUES (?, '', '', 1, 1, '[]', true, 1, 0, 0)"

// What is written aside is judged like what is written, sees what was there and what was written
// before, and is seen by nobody else. Nobody waits for it: others write what it has written, too.
func TestAside(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		ctx := t.Context()
		names := func(tx *gorm.DB) (names []string) {
			t.Helper()
			if err := tx.WithContext(ctx).Raw("SELECT name FROM targets ORDER BY name").Scan(&names).Error; err != nil {
				t.Fatal(err)
			}
			return names
		}
		write := func(tx *gorm.DB, name string) error { return tx.WithContext(ctx).Exec(oneTarget, name).Error }
		if err := write(db.Write(), "there"); err != nil {
			t.Fatal(err)
		}
		err := db.Aside(ctx, []string{"targets"}, []string{"target_tags"}, func(tx *gorm.DB) error {
			if err := write(tx, "aside"); err != nil {
				return err
			}
			if got := names(tx); len(got) != 2 {
				t.Errorf("aside there are %v", got)
			}
			if err := tx.Exec("INSERT INTO target_tags (target_id, tag, from_ms) SELECT id, 'x', 0 FROM targets").Error; err != nil {
				t.Errorf("tags of what was written: %v", err)
			}
			if err := tx.Transaction(func(tx *gorm.DB) error { return write(tx, "there") }); !errors.Is(database.Translate(ctx, err), database.ErrDuplicate) {
				t.Errorf("a name twice: %v", err)
			}
			return write(db.Write(), "aside")
		})
		if err != nil {
			t.Fatal(err)
		}
		refused := errors.New("refused")
		if err := db.Aside(ctx, []string{"targets"}, nil, func(tx *gorm.DB) error { return errors.Join(write(tx, "again"), refused) }); !errors.Is(err, refused) {
			t.Errorf("an error of fn: %v", err)
		}
		if got := names(db.Read()); len(got) != 2 {
			t.Errorf("afterwards there are %v", got)
		}
		var tags int64
		if err := db.Read().Raw("SELECT COUNT(*) FROM target_tags").Row().Scan(&tags); err != nil || tags != 0 {
			t.Errorf("%d tags, %v", tags, err)
		}
		if err := db.Aside(ctx, []string{"no_such_table"}, nil, func(*gorm.DB) error { return nil }); err == nil {
			t.Error("a copy of a table that is not there")
		}
	})
}

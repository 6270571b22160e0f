package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database/connect"
)

var errAside = errors.New("taken back")

// Aside runs fn in a transaction that is taken back, in which full and empty are copies of the
// tables of these names, with what is in them and without: what fn writes there nobody else ever
// sees, and nobody waits for it. Other tables are those of everybody; fn only reads them. A table
// that is full has the key id.
func (d *DB) Aside(ctx context.Context, full, empty []string, fn func(tx *gorm.DB) error) error {
	copied := copyPostgres
	if d.engine == connect.SQLite {
		copied = copySQLite
	}
	err := d.aside.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		for _, table := range full {
			if err := copied(tx, table, true); err != nil {
				return fmt.Errorf("copy %s: %w", table, err)
			}
		}
		for _, table := range empty {
			if err := copied(tx, table, false); err != nil {
				return fmt.Errorf("copy %s: %w", table, err)
			}
		}
		if err := fn(tx); err != nil {
			return err
		}
		return errAside
	})
	if errors.Is(err, errAside) {
		return nil
	}
	return Translate(ctx, err)
}

// copySQLite makes a temporary table by the statements that the table was made by. Names without
// a schema mean it from then on.
func copySQLite(tx *gorm.DB, table string, full bool) error {
	var made []string
	err := Each(tx, func(rows *sql.Rows) error {
		var statement string
		if err := rows.Scan(&statement); err != nil {
			return err
		}
		made = append(made, statement)
		return nil
	}, "SELECT sql FROM main.sqlite_master WHERE tbl_name = ? AND type IN ('table', 'index') AND sql IS NOT NULL ORDER BY type = 'index'", table)
	if err != nil {
		return err
	}
	if len(made) == 0 {
		return ErrNoRow
	}
	for i, statement := range made {
		if i == 0 {
			statement = strings.Replace(statement, "CREATE TABLE ", "CREATE TEMPORARY TABLE ", 1)
		} else {
			statement = strings.Replace(statement, " INDEX ", " INDEX temp.", 1)
		}
		if err := tx.Exec(statement).Error; err != nil {
			return err
		}
	}
	if !full {
		return nil
	}
	return tx.Exec("INSERT INTO temp." + table + " SELECT * FROM main." + table).Error
}

// copyPostgres makes a temporary table like the table, which has its name once it is filled. Its
// ids go on after those that are there.
func copyPostgres(tx *gorm.DB, table string, full bool) error {
	const making = "copy_being_made"
	if err := tx.Exec("CREATE TEMPORARY TABLE " + making + " (LIKE " + table + " INCLUDING ALL) ON COMMIT DROP").Error; err != nil {
		return err
	}
	if full {
		if err := tx.Exec("INSERT INTO " + making + " SELECT * FROM " + table).Error; err != nil {
			return err
		}
		var next int64
		if err := tx.Raw("SELECT COALESCE(MAX(id), 0) + 1 FROM " + making).Row().Scan(&next); err != nil {
			return err
		}
		if err := tx.Exec(fmt.Sprintf("ALTER TABLE %s ALTER COLUMN id RESTART WITH %d", making, next)).Error; err != nil {
			return err
		}
	}
	return tx.Exec("ALTER TABLE " + making + " RENAME TO " + table).Error
}

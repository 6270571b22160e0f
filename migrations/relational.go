package migrations

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"path"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/probefleet/probefleet/internal/database/connect"
)

// UpRelational brings the database of a DATABASE_URL up to date, telling report
// (which may be nil) about each file applied. Postgres migrations hold a session
// lock; a SQLite file and its folder are created when absent.
func UpRelational(ctx context.Context, databaseURL string, report func(string)) error {
	source, err := connect.Parse(databaseURL)
	if err != nil {
		return err
	}
	if err := source.Create(); err != nil {
		return err
	}
	db, err := source.OpenWriter()
	if err != nil {
		return err
	}
	defer db.Close()

	var options []goose.ProviderOption
	if source.Engine == connect.Postgres {
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300), lock.WithUnlockTimeout(1, 30))
		if err != nil {
			return fmt.Errorf("prepare the migration lock: %w", err)
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	return relational(source.Engine).up(ctx, db, report, options...)
}

// CheckRelational refuses a database whose schema is older than this program
// needs, with an *OutdatedError that names the command to run.
func CheckRelational(ctx context.Context, engine connect.Engine, db *sql.DB) error {
	return relational(engine).check(ctx, db)
}

// RelationalDigest is a hash of the relational migrations: databases that were migrated by programs
// with the same digest have the same schema.
func RelationalDigest() string {
	digest := sha256.New()
	for _, engine := range []connect.Engine{connect.SQLite, connect.Postgres} {
		folder := relational(engine).folder
		entries, _ := files.ReadDir(folder) // embedded and sorted: cannot fail
		for _, entry := range entries {
			content, _ := files.ReadFile(path.Join(folder, entry.Name()))
			fmt.Fprintf(digest, "%s %d\n%s", entry.Name(), len(content), content)
		}
	}
	return hex.EncodeToString(digest.Sum(nil)[:16])
}

// NeverMigrated is the refusal of a database that is not there at all.
func NeverMigrated(engine connect.Engine) error {
	s := relational(engine)
	return &OutdatedError{Store: s.name, Have: 0, Need: s.newest()}
}

package database_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/migrations"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

func TestOpenRefusesAnOldSchema(t *testing.T) {
	t.Parallel()
	urls := map[string]string{"sqlite": testbackend.SQLite(t), "postgres": testbackend.Postgres(t)}
	for name, url := range urls {
		_, err := database.Open(t.Context(), url)
		outdated, ok := errors.AsType[*migrations.OutdatedError](err)
		if !ok || outdated.Have != 0 || outdated.Need < 5 || outdated.Error() != fmt.Sprintf("database schema is at version 0, this program needs %d: run `probefleet migrate up`", outdated.Need) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(urls["sqlite"][len("sqlite:"):]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("opening left a file behind: %v", err)
	}
}

func TestOpenSaysWhatIsUnreachable(t *testing.T) {
	t.Parallel()
	_, err := database.Open(t.Context(), "postgres://someone:secret@127.0.0.1:1/none?sslmode=disable")
	if !errors.Is(err, database.ErrUnavailable) {
		t.Errorf("refused connection: %v", err)
	}
	for _, url := range []string{"", "mysql://x", "sqlite:", "sqlite::memory:", "postgres://%zz"} {
		if _, err := database.Open(t.Context(), url); err == nil {
			t.Errorf("%q was opened", url)
		}
	}
}

// A folder with signs that mean something in a URL is still a folder.
func TestSQLitePathIsTakenLiterally(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?c=1#d%20é", "probefleet.db")
	databasetest.Open(t, "sqlite://"+path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file holds password hashes and has mode %v", info.Mode())
	}
}

// Without the lock taken at BEGIN, a transaction that reads and then writes
// fails when another process wrote in between; two pools stand for two processes.
func TestWritersOfTwoProcessesQueue(t *testing.T) {
	t.Parallel()
	url := testbackend.SQLite(t)
	first, second := databasetest.Open(t, url), databasetest.Open(t, url)
	const each = 60
	var group errgroup.Group
	for _, db := range []*database.DB{first, second, first, second} {
		group.Go(func() error {
			for range each {
				err := db.Tx(t.Context(), func(tx *gorm.DB) error {
					var seq int64
					if err := tx.Raw("SELECT seq FROM schedule_counter").Row().Scan(&seq); err != nil {
						return err
					}
					return tx.Exec("UPDATE schedule_counter SET seq = ?", seq+1).Error
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	var seq int64
	if err := first.Read().Raw("SELECT seq FROM schedule_counter").Row().Scan(&seq); err != nil || seq != 4*each {
		t.Errorf("%d of %d increments, %v", seq, 4*each, err)
	}
}

func TestReadersCannotWriteAndNeverWait(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, testbackend.SQLite(t))
	if err := db.Read().Exec("UPDATE schedule_counter SET seq = 5").Error; err == nil {
		t.Error("the read pool wrote")
	}
	err := db.Tx(t.Context(), func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE schedule_counter SET seq = 7").Error; err != nil {
			return err
		}
		var seq int64 // if it waited for the write, it would fail after the busy timeout
		if err := db.Read().WithContext(t.Context()).Raw("SELECT seq FROM schedule_counter").Row().Scan(&seq); err != nil || seq != 0 {
			t.Errorf("read beside an open write: %d, %v", seq, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestErrorsAreTranslated(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		errMine := errors.New("mine")
		if err := db.Tx(t.Context(), func(*gorm.DB) error { return errMine }); err != errMine {
			t.Errorf("own error: %v", err)
		}
		err := db.Tx(t.Context(), func(tx *gorm.DB) error {
			return tx.Exec("INSERT INTO schedule_counter (id, seq) VALUES (1, 1)").Error
		})
		if !errors.Is(err, database.ErrDuplicate) || errors.Is(err, database.ErrUnavailable) {
			t.Errorf("duplicate: %v", err)
		}
		err = db.Tx(t.Context(), func(tx *gorm.DB) error { return tx.Exec("SELECT nonsense FROM nowhere").Error })
		if err == nil || errors.Is(err, database.ErrUnavailable) || errors.Is(err, database.ErrDuplicate) || errors.Is(err, database.ErrNoRow) {
			t.Errorf("a mistake of ours: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		held := make(chan struct{})
		release := make(chan struct{})
		holder := make(chan error, 1)
		go func() {
			holder <- db.Tx(t.Context(), func(tx *gorm.DB) error {
				err := tx.Exec("UPDATE schedule_counter SET seq = 1").Error
				close(held)
				<-release
				return err
			})
		}()
		<-held
		err = db.Tx(ctx, func(tx *gorm.DB) error { return tx.Exec("UPDATE schedule_counter SET seq = 2").Error })
		if !errors.Is(err, database.ErrUnavailable) {
			t.Errorf("waited beyond the deadline: %v", err)
		}
		close(release)
		if err := <-holder; err != nil {
			t.Error(err)
		}
	})
}

// A server that restarts in the middle of a transaction is an outage, and the
// pool gets over it by itself.
func TestLostConnection(t *testing.T) {
	t.Parallel()
	url := testbackend.Postgres(t)
	db, other := databasetest.Open(t, url), databasetest.Open(t, url)
	err := db.Tx(t.Context(), func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE schedule_counter SET seq = 1").Error; err != nil {
			return err
		}
		kill := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
		if err := other.Write().Exec(kill).Error; err != nil {
			t.Error(err)
		}
		return tx.Exec("UPDATE schedule_counter SET seq = 2").Error
	})
	if !errors.Is(err, database.ErrUnavailable) {
		t.Errorf("connection lost: %v", err)
	}
	var seq int64
	err = db.Tx(t.Context(), func(tx *gorm.DB) error {
		return tx.Raw("SELECT seq FROM schedule_counter").Row().Scan(&seq)
	})
	if err != nil || seq != 0 {
		t.Errorf("afterwards: %d, %v", seq, err)
	}
}

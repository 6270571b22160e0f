package targetstore

import (
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/connect"
	"github.com/probefleet/probefleet/internal/database/databasetest"
)

// The sum of a host reads an index, whatever else there is.
func TestHostRateReadsAnIndex(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		explain := "EXPLAIN "
		if db.Engine() == connect.SQLite {
			explain = "EXPLAIN QUERY PLAN "
		}
		for _, c := range []struct {
			statement string
			values    []any
			index     string
		}{
			{sumOfHost, []any{"example.com", 1}, "targets_host"},
			{withoutHost, []any{idsPerStatement}, "targets_no_host"},
		} {
			var plan strings.Builder
			err := db.Tx(t.Context(), func(tx *gorm.DB) error {
				if db.Engine() == connect.Postgres { // which prefers to read small tables as a whole
					if err := tx.Exec("SET LOCAL enable_seqscan = off").Error; err != nil {
						return err
					}
				}
				rows, err := tx.Raw(explain+c.statement, c.values...).Rows()
				if err != nil {
					return err
				}
				defer rows.Close()
				columns, err := rows.Columns()
				if err != nil {
					return err
				}
				for rows.Next() {
					cells := make([]any, len(columns))
					for i := range cells {
						cells[i] = new(any)
					}
					if err := rows.Scan(cells...); err != nil {
						return err
					}
					fmt.Fprintln(&plan, *cells[len(cells)-1].(*any))
				}
				return rows.Err()
			})
			if err != nil || !strings.Contains(plan.String(), c.index) {
				t.Errorf("%v\n%s does not use %s", err, plan.String(), c.index)
			}
		}
	})
}

//go:build bench

package historybench

import (
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// bytes are what a row takes on disk: its data, its index, its marks and all else of its part.
type bytes struct {
	Raw    float64            `json:"raw"`
	Hourly float64            `json:"hourly"`
	Daily  float64            `json:"daily"`
	Rows   [3]uint64          `json:"rows"` // that were weighed
	Raws   map[string]float64 `json:"raw_columns"`
}

// settle does what an hour of rest does: partitions to which nothing is added become one
// part, and so do the hours of the open week; merges that are under way end.
func (b *bench) settle(t *testing.T) bool {
	for table, open := range b.open() {
		for _, partition := range b.strings(t, `SELECT partition_id FROM system.parts WHERE active AND database = currentDatabase() AND table = {table:String} GROUP BY partition_id HAVING count() > 1 ORDER BY partition_id`, clickhouse.Named("table", table)) {
			if partition < open || table == "rollup_1h" {
				b.exec(t, "OPTIMIZE TABLE "+table+" PARTITION ID '"+partition+"' FINAL")
			}
		}
	}
	b.awaitMerges(t)
	return true
}

// open is the partition of each table that grows all day. Days are written once, soon after they end: an hour
// later those of the year are one part.
func (b *bench) open() map[string]string {
	monday := b.End.AddDate(0, 0, -(int(b.End.Weekday())+6)%7)
	return map[string]string{"results": b.End.Format("20060102"), "rollup_1h": monday.Format("20060102"), "rollup_1d": "none"}
}

func (b *bench) awaitMerges(t *testing.T) {
	look := time.NewTicker(500 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); {
		var merging uint64
		if b.one(t, `SELECT count() FROM system.merges`, &merging); merging == 0 {
			return
		}
		select {
		case <-b.ctx.Done():
			t.Fatal(b.ctx.Err())
		case <-look.C:
		}
	}
	t.Log("  merges go on")
}

// weigh counts the bytes of what is closed. Days are weighed in a copy that is one part.
func (b *bench) weigh(t *testing.T, from time.Time) (found bytes) {
	closed := func(table string) string { return `partition_id < '` + b.open()[table] + `'` }
	raw, hourly := closed("results"), closed("rollup_1h")
	if from.Truncate(day).Equal(b.End.Truncate(day)) { // a small history has no day that is over
		b.exec(t, `OPTIMIZE TABLE results FINAL`)
		raw = `true`
	}
	found.Raw, found.Rows[0] = b.weight(t, `results`, raw)
	found.Raws = b.columns(t, raw)
	found.Hourly, found.Rows[1] = b.weight(t, `rollup_1h`, hourly)
	b.exec(t, `DROP TABLE IF EXISTS weighed SYNC`)
	b.exec(t, `CREATE TABLE weighed AS rollup_1d`)
	b.exec(t, `ALTER TABLE weighed MODIFY SETTING min_bytes_for_wide_part = 0`) // as a part of a year is
	b.exec(t, `INSERT INTO weighed SELECT * FROM rollup_1d FINAL`)
	b.exec(t, `OPTIMIZE TABLE weighed FINAL`)
	found.Daily, found.Rows[2] = b.weight(t, `weighed`, `true`)
	b.exec(t, `DROP TABLE weighed SYNC`)
	t.Logf("  bytes a row: raw %.2f, hourly %.2f, daily %.2f, of %v rows; raw by column: %v", found.Raw, found.Hourly, found.Daily, found.Rows, found.Raws)
	return found
}

func (b *bench) weight(t *testing.T, table, where string) (perRow float64, rows uint64) {
	var bytes uint64
	b.one(t, `SELECT sum(bytes_on_disk), sum(rows) FROM system.parts WHERE active AND database = currentDatabase() AND table = '`+table+`' AND `+where, &bytes, &rows)
	return round(float64(bytes)/float64(max(1, rows)), 100), rows
}

// columns is what each column of results adds to a row.
func (b *bench) columns(t *testing.T, where string) map[string]float64 {
	all := map[string]float64{}
	rows, err := b.conn.Query(b.ctx, `SELECT column, sum(column_bytes_on_disk) / sum(rows) AS n FROM system.parts_columns WHERE active AND database = currentDatabase() AND table = 'results' AND `+where+` GROUP BY column`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var n float64
		if err := rows.Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		all[name] = round(n, 1000)
	}
	return all
}

func round(v float64, to float64) float64 { return float64(int64(v*to+.5)) / to }

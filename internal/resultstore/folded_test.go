package resultstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Whatever up to four regions made of a slot time: the hour and the cells call the target
// as a whole what the model calls it.
func TestWholeIsThatOfTheModel(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := pastHour()
	want := map[int64]availability.Counts{}
	var rows []uptime.Result
	for code := range int64(6 * 6 * 6 * 6) { // digit 0: the region is silent
		var counts availability.Counts
		for region, rest := 0, code; region < 4; region, rest = region+1, rest/6 {
			status := uptime.Status(rest % 6)
			if status == 0 {
				continue
			}
			r := missed(code+1, fmt.Sprint("r", region), at.Add(20*time.Minute))
			if r.Status = status; status.Measured() {
				r = up(r.TargetID, r.Region, r.ScheduledAt)
				r.Status = status
			}
			rows, counts = append(rows, r), counts.Add(countOf(status))
		}
		if counts.Planned() > 0 {
			want[code+1] = counts.Fold()
		}
	}
	insert(t, s, batchOf(rows...))
	recompute(t, s, Rollup{Bucket: at, Version: time.Now()})
	same := func(from string, id int64, got availability.Counts) {
		if got != want[id] {
			t.Errorf("%s: target %d is %+v, want %+v", from, id, got, want[id])
		}
	}
	hours := 0
	err := s.query(t.Context(), pageBound, `SELECT target_id, up, degraded, down, unknown, missed FROM rollup_1h FINAL WHERE region = ''`, nil, func(rows driver.Rows) error {
		var id uint64
		var n [5]uint32
		err := rows.Scan(&id, &n[0], &n[1], &n[2], &n[3], &n[4])
		hours++
		same("the hour", int64(id), countsOf(n))
		return err
	})
	if err != nil || hours != len(want) {
		t.Errorf("%d targets, want %d: %v", hours, len(want), err)
	}
	q := CellQuery{From: at, To: at.Add(hour), Whole: true}
	for id := range want {
		q.IDs = append(q.IDs, id)
	}
	cells := cellsOf(t, s, q)
	for id := range want {
		same("the cell", id, cells[cellSeries{id, ""}][availability.Span{From: at, To: at.Add(hour)}])
	}
	if strings.Count(hourSQL, "/*folded*/") != 1 || strings.Contains(fragments(hourSQL, "true"), "/*") {
		t.Error("the hour does not use the rule, or not all of its fragments are known")
	}
}

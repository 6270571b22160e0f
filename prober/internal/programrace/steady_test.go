//go:build bench

package programrace

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

// rowsOf gives the rows of steady targets whose slots are in [from, to), whole seconds, when
// all are stored. The last may take a visit and an insert; how many there never were is said.
func (f *fleet) rowsOf(targets []uptime.Check, from, to time.Time) (rows []uptime.Result, without int) {
	t := f.t
	t.Helper()
	store, err := resultstore.Open(t.Context(), f.click.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	want := len(targets) * int(to.Sub(from)/time.Second)
	for patience := time.Now().Add(15 * time.Second); ; <-time.After(500 * time.Millisecond) {
		rows = rows[:0]
		for _, target := range targets {
			page, err := store.ExportResults(t.Context(), resultstore.ExportQuery{TargetID: target.TargetID, From: from, To: to, Limit: resultstore.MaxExportPage})
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, page...)
		}
		if len(rows) >= want || time.Now().After(patience) {
			return rows, want - len(rows)
		}
	}
}

// seconds waits for so many whole seconds, and gives their bounds.
func seconds(t *testing.T, n int, meanwhile func()) (from, to time.Time) {
	t.Helper()
	from = time.Now().Truncate(time.Second).Add(time.Second).UTC()
	to = from.Add(time.Duration(n) * time.Second)
	racetrack.Within(t, to.Sub(from)+10*time.Second, "the seconds are over", func() bool {
		if time.Now().After(from) {
			meanwhile()
		}
		return time.Now().After(to)
	})
	return from, to
}

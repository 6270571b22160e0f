package resultstore

import (
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/probefleet/probefleet/internal/availability"
)

// However many corrections one target has, those of the others are told.
func TestCorrectionsOfOneTargetDoNotHideThoseOfOthers(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	from := time.Now().UTC().Truncate(day).Add(-60 * day)
	for target, n := range map[int]int{1: MaxCorrections + 1, 2: 1} {
		_, err := s.write(t.Context(), `INSERT INTO corrections (target_id, region, bucket, was_version, revised_at, up)
SELECT {target:UInt64}, 'eu', {from:DateTime('UTC')} + 3600 * number, number, toDateTime(if({target:UInt64} = 1, 2000, 1000), 'UTC') + number, 1 FROM numbers({n:UInt64})
SETTINGS max_partitions_per_insert_block = 0`, []any{clickhouse.Named("target", uint64(target)), clickhouse.Named("n", uint64(n)), seconds("from", from)})
		if err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Corrections(t.Context(), []int64{1, 2, 3}, from, from.Add(60*day))
	if err != nil || len(all[1]) != MaxCorrections || len(all[2]) != 1 || len(all) != 2 {
		t.Fatalf("%d and %d corrections, %v", len(all[1]), len(all[2]), err)
	}
	if newest := all[1][0].RevisedAt.Unix(); newest != 2000+MaxCorrections {
		t.Errorf("begins at %d", newest)
	}
	revised, err := s.Revised(t.Context(), []int64{1, 3}, from, from.Add(60*day))
	if err != nil || len(revised[1]) != MaxCorrections+1 || len(revised) != 1 {
		t.Fatalf("%d revised hours, %v", len(revised[1]), err)
	}
	if i := slices.IndexFunc(revised[1], func(c availability.Correction) bool { return c.Hour.Equal(from) }); i < 0 || revised[1][i].RevisedAt.Unix() != 2000 || revised[1][i].Region != "eu" {
		t.Errorf("of the oldest nothing is known: %d", i)
	}
}

// A run that ended half way computes hours again under the version it had. What it finds
// changed the second time is a correction of its own, whatever the next run finds.
func TestCorrectionsOfARunThatIsGoneOnWith(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at, run := pastHour(), time.Now().Truncate(time.Second)
	insert(t, s, batchOf(up(1, "eu", at)))
	recompute(t, s, Rollup{Bucket: at, Version: run.Add(-time.Minute)})
	for n, version := range []time.Time{run, run, run, run.Add(time.Minute)} {
		insert(t, s, batchOf(up(1, "eu", at.Add(time.Duration(n+1)*time.Minute))))
		recompute(t, s, Rollup{Bucket: at, Version: version, Closed: true})
	}
	all, err := s.Corrections(t.Context(), []int64{1}, at, at.Add(hour))
	if err != nil {
		t.Fatal(err)
	}
	var ups []uint64
	for _, c := range all[1] {
		if c.Region == "eu" {
			ups = append(ups, c.Old.Up, c.New.Up)
		}
	}
	if want := []uint64{4, 5, 3, 4, 2, 3, 1, 2}; !slices.Equal(ups, want) {
		t.Errorf("counts before and after, the newest first: %v, want %v", ups, want)
	}
}

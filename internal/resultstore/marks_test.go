package resultstore

import (
	"testing"
	"time"
)

func TestMarksTellWhatArrived(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	hour := pastHour()
	insert(t, s, batchOf(up(1, "eu", hour.Add(time.Minute)), up(1, "us", hour.Add(2*time.Minute)), up(2, "eu", hour.Add(-time.Minute))))
	marked := func() map[Mark]time.Time {
		t.Helper()
		marks, err := s.Marks(t.Context(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		found := map[Mark]time.Time{}
		for i, m := range marks {
			if i > 0 && m.At.After(marks[i-1].At) {
				t.Errorf("%+v", marks)
			}
			found[Mark{TargetID: m.TargetID, Hour: m.Hour}] = m.At
		}
		return found
	}
	one, two := Mark{TargetID: 1, Hour: hour}, Mark{TargetID: 2, Hour: hour.Add(-time.Hour)}
	all := marked()
	if len(all) != 2 || all[one].IsZero() || all[two].IsZero() {
		t.Errorf("%v", all)
	}
	insert(t, s, batchOf(missed(1, "eu", hour.Add(3*time.Minute))))
	if again := marked(); len(again) != 2 || !again[one].After(all[one]) || !again[two].Equal(all[two]) {
		t.Errorf("%v, then %v", all, again)
	}
	if err := s.conn.Exec(t.Context(), `INSERT INTO rollup_dirty (bucket, target_id, dirty_at) SELECT now(), 3, now64(3) - INTERVAL 2 MINUTE`); err != nil {
		t.Fatal(err)
	}
	if again := marked(); len(again) != 2 {
		t.Errorf("an older one is among them: %v", again)
	}
}

// A first attempt of a batch may have left its mark, and no rows: by the time it is sent
// again, under the token it has, the mark is old. It is made again with the rows.
func TestBatchThatIsSentAgainMarksItsHoursAgain(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := pastHour()
	b := batchOf(up(1, "eu", at))
	insert(t, s, b)
	for name, lost := range map[string]bool{"the rows had been stored": false, "only the mark had": true} {
		if lost {
			if err := s.conn.Exec(t.Context(), `ALTER TABLE results DROP PARTITION ID '`+at.Format("20060102")+`'`); err != nil {
				t.Fatal(err)
			}
		}
		now, err := s.ServerTime(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		insert(t, s, b)
		if n := count(t, s, `SELECT count() FROM results FINAL`); n != 1 {
			t.Errorf("%s: %d rows", name, n)
		}
		dirty, err := s.DirtyHours(t.Context(), now.Add(-time.Millisecond), at, at.Add(hour))
		if err != nil || len(dirty) != 1 {
			t.Errorf("%s: marked since are %v, %v", name, dirty, err)
		}
	}
}

package resultstore

import (
	"testing"
	"time"
)

// A part that holds nothing but slots of an hour's last second counts in that hour.
func TestLastSecondOfAnHourCounts(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	hour := pastHour()
	insert(t, s, batchOf(up(1, "eu", hour.Add(time.Hour-time.Millisecond))))
	if done := recompute(t, s, Rollup{Bucket: hour, Version: time.Now()}); done.Rows != 2 {
		t.Errorf("%d rows, want that of the region and that of the target", done.Rows)
	}
}

package schedule

import (
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// rings maps an interval in seconds to its ring.
type rings map[uint32]*ring

// ring is one interval's circle of seconds. Only seconds in which somebody is
// due have a bucket, so a lonely daily target costs one bucket, not 86,400.
type ring struct {
	buckets map[int32][]int64 // phase in whole seconds -> target ids, ascending
	count   int
}

func phaseSecond(id int64, interval uint32) int32 {
	return int32(uptime.Phase(id, time.Duration(interval)*time.Second) / time.Second)
}

func (r rings) add(id int64, interval uint32) {
	circle, found := r[interval]
	if !found {
		circle = &ring{buckets: map[int32][]int64{}}
		r[interval] = circle
	}
	at := phaseSecond(id, interval)
	ids := circle.buckets[at]
	if n := len(ids); n == 0 || ids[n-1] < id { // ids rise, so nearly always
		circle.buckets[at] = append(ids, id)
		circle.count++
		return
	}
	if i, there := slices.BinarySearch(ids, id); !there {
		circle.buckets[at] = slices.Insert(ids, i, id)
		circle.count++
	}
}

func (r rings) remove(id int64, interval uint32) {
	circle, found := r[interval]
	if !found {
		return
	}
	at := phaseSecond(id, interval)
	i, there := slices.BinarySearch(circle.buckets[at], id)
	if !there {
		return
	}
	circle.buckets[at] = slices.Delete(circle.buckets[at], i, i+1)
	circle.count--
	if len(circle.buckets[at]) == 0 {
		delete(circle.buckets, at)
	}
	if circle.count == 0 {
		delete(r, interval)
	}
}

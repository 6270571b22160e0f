package spool

import (
	"path/filepath"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
)

// Share is what waits of one region.
type Share struct {
	Rows        int
	First, Last time.Time // slots
}

// share is what a batch holds of a region.
type share struct {
	region      string
	rows        int
	first, last int64 // slots, unix ms
}

// tally is what each batch holds by region, where somebody asked for it.
type tally map[entry][]share

func sharesOf(b resultstore.Batch) []share {
	var shares []share
	at := map[string]int{}
	for _, row := range b.Rows {
		slot := row.ScheduledAt.UnixMilli()
		i, known := at[row.Region]
		if !known {
			i = len(shares)
			at[row.Region] = i
			shares = append(shares, share{region: row.Region, first: slot, last: slot})
		}
		s := &shares[i]
		s.rows++
		s.first, s.last = min(s.first, slot), max(s.last, slot)
	}
	return shares
}

// count reads what waits. What cannot be read is not counted: the replay judges it.
func (s *Spool) count() {
	s.tally = tally{}
	for _, e := range s.waiting.entries {
		content, err := s.fs.ReadFile(filepath.Join(s.dir, e.name()), headerSize+maxPayload+1)
		if err != nil {
			continue
		}
		if b, err := decode(content, maxPayload); err == nil {
			s.tally[e] = sharesOf(b)
		}
	}
}

// Regions gives what waits by region; nothing unless Options.ByRegion. It never waits for
// the disk.
func (s *Spool) Regions() map[string]Share {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]Share{}
	for _, shares := range s.tally {
		for _, one := range shares {
			sum, first, last := all[one.region], time.UnixMilli(one.first).UTC(), time.UnixMilli(one.last).UTC()
			if sum.Rows == 0 || first.Before(sum.First) {
				sum.First = first
			}
			if last.After(sum.Last) {
				sum.Last = last
			}
			sum.Rows += one.rows
			all[one.region] = sum
		}
	}
	return all
}

package live

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync/atomic"
	"time"
)

// Bounds of the feed: frames older than feedAge go, and the oldest go when the
// whole is larger than feedBytes.
const (
	feedAge   = 5 * time.Minute
	feedBytes = 64 << 20
)

// op is one change of one object, encoded once for all readers.
type op struct {
	id      string // target id or region name, for filtering
	body    []byte
	revoked *atomic.Bool // true once it must not be sent any more; nil: never
}

type frame struct {
	from, seq uint64
	at        time.Time
	ops       []op
	bytes     int
}

// feed is the list of the newest frames of one channel.
type feed struct {
	seq    uint64
	frames []frame
	bytes  int
	whole  map[uint64]func() []byte // messages with everything after a sequence up to now, made once
}

func (f *feed) append(at time.Time, ops []op) {
	next := frame{from: f.seq, seq: f.seq + uint64(len(ops)), at: at, ops: ops}
	for _, o := range ops {
		next.bytes += len(o.body)
	}
	f.seq, f.whole = next.seq, nil
	f.bytes += next.bytes
	f.frames = append(f.frames, next)
	drop := 0
	for drop < len(f.frames)-1 && (f.bytes > feedBytes || at.Sub(f.frames[drop].at) > feedAge) {
		f.bytes -= f.frames[drop].bytes
		f.frames[drop] = frame{}
		drop++
	}
	f.frames = f.frames[drop:]
}

// after gives the frames that follow seq; false when the feed cannot tell: the
// position was dropped, or never existed.
func (f *feed) after(seq uint64) ([]frame, bool) {
	if seq == f.seq {
		return nil, true
	}
	i, found := slices.BinarySearchFunc(f.frames, seq, func(fr frame, seq uint64) int { return cmp.Compare(fr.from, seq) })
	if !found {
		return nil, false
	}
	return f.frames[i:], true
}

func encodeOp(kind string, id any, item any) []byte {
	body, err := json.Marshal(struct {
		Op   string `json:"op"`
		ID   any    `json:"id"`
		Item any    `json:"item,omitempty"`
	}{kind, id, item})
	if err != nil {
		return []byte(`{}`) // the items are plain structs of our own: cannot happen
	}
	return body
}

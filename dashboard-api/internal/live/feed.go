package live

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of the feed: frames older than feedAge go, and the oldest go when the
// whole is larger than feedBytes. What an operation takes beside what it says is opBytes.
const (
	feedAge   = 5 * time.Minute
	feedBytes = 64 << 20
	opBytes   = 128
)

// op is one change of one object, encoded once for all readers.
type op struct {
	id      string       // target id or region name, for filtering
	body    []byte       // nil once there is a newer one of its target, which says all but these ticks
	ticks   []byte       // of one without a body: elements of JSON
	cut     int          // where the ticks in the body begin; 0: it has none, and is kept as it is
	revoked *atomic.Bool // true once it must not be sent any more; nil: never
}

// The ticks of a target are the last thing that is said of it.
const (
	beforeTicks = `"ticks":[`
	afterTicks  = `]}}`
)

// upsertOf is the operation with a target as it is now.
func upsertOf(id int64, item Target, revoked *atomic.Bool) op {
	body := encodeOp("upsert", id, item)
	return op{id: strconv.FormatInt(id, 10), body: body, cut: bytes.LastIndex(body, []byte(beforeTicks)) + len(beforeTicks), revoked: revoked}
}

// ownTicks are those that an operation brings.
func (o *op) ownTicks() []byte {
	if o.cut == 0 {
		return o.ticks
	}
	return o.body[o.cut : len(o.body)-len(afterTicks)]
}

// size is what it takes.
func (o *op) size() int { return opBytes + len(o.body) + len(o.ticks) }

type frame struct {
	from, seq uint64
	at        time.Time
	ops       []op
	bytes     int
}

// place is where an operation is kept.
type place struct {
	from uint64 // of its frame
	i    int
}

// feed is the list of the newest frames of one channel. Neither a frame nor a list of them is
// changed once it was read: readers go on with what they were given.
type feed struct {
	seq    uint64
	frames []*frame
	bytes  int
	newest map[string]place    // of operations with ticks: the only ones whose bodies are kept
	shared map[telling]*Shared // messages with everything up to now
}

// telling is what decides about a message up to now: whose it is, and after which sequence.
type telling struct {
	only string
	told uint64
}

// share gives the message that all get who were told the same.
func (f *feed) share(t telling, compose func() []byte) *Shared {
	if f.shared == nil {
		f.shared = map[telling]*Shared{}
	}
	if f.shared[t] == nil {
		f.shared[t] = &Shared{body: sync.OnceValue(compose)}
	}
	return f.shared[t]
}

func (f *feed) append(at time.Time, ops []op) {
	next := &frame{from: f.seq, seq: f.seq + uint64(len(ops)), at: at, ops: ops}
	for i := range ops {
		next.bytes += ops[i].size()
	}
	f.shorten(ops)
	for i := range ops {
		if ops[i].cut > 0 {
			if f.newest == nil {
				f.newest = map[string]place{}
			}
			f.newest[ops[i].id] = place{next.from, i}
		}
	}
	f.seq, f.shared = next.seq, nil
	f.bytes += next.bytes
	f.frames = append(f.frames, next)
	drop := 0
	for drop < len(f.frames)-1 && (f.bytes > feedBytes || at.Sub(f.frames[drop].at) > feedAge) {
		f.forget(f.frames[drop])
		drop++
	}
	if drop > 0 {
		f.frames = slices.Clone(f.frames[drop:])
	}
}

// shorten leaves of what was said of these objects before only the ticks: whoever has missed it
// is told how they are now, and that is in the operations that follow.
func (f *feed) shorten(ops []op) {
	changed := map[*frame]bool{} // copied for this
	for i := range ops {
		was, found := f.newest[ops[i].id]
		if !found {
			continue
		}
		delete(f.newest, ops[i].id)
		n, found := f.find(was.from)
		if !found {
			continue
		}
		if len(changed) == 0 {
			f.frames = slices.Clone(f.frames)
		}
		fr := f.frames[n]
		if !changed[fr] {
			fr = &frame{fr.from, fr.seq, fr.at, slices.Clone(fr.ops), fr.bytes}
			f.frames[n], changed[fr] = fr, true
		}
		old := &fr.ops[was.i]
		short := op{id: old.id, ticks: bytes.Clone(old.ownTicks()), revoked: old.revoked}
		saved := old.size() - short.size()
		*old = short
		fr.bytes -= saved
		f.bytes -= saved
	}
}

// forget lets go of a frame.
func (f *feed) forget(fr *frame) {
	f.bytes -= fr.bytes
	for i := range fr.ops {
		if fr.ops[i].cut > 0 {
			delete(f.newest, fr.ops[i].id)
		}
	}
}

func (f *feed) find(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(f.frames, seq, func(fr *frame, seq uint64) int { return cmp.Compare(fr.from, seq) })
}

// after gives the frames that follow seq; false when the feed cannot tell: the
// position was dropped, or never existed.
func (f *feed) after(seq uint64) ([]*frame, bool) {
	if seq == f.seq {
		return nil, true
	}
	i, found := f.find(seq)
	if !found {
		return nil, false
	}
	return f.frames[i:], true
}

// opsOf are the operations of frames up to now, or those of one id. A target is told once, with
// the ticks of all of them.
func opsOf(only string, frames []*frame) (ops [][]byte) {
	var before map[string][][]byte // ticks of targets that are told in a later frame
	for _, fr := range frames {
		for i := range fr.ops {
			o := &fr.ops[i]
			switch {
			case only != "" && only != o.id, o.revoked != nil && o.revoked.Load():
			case o.body == nil:
				if before == nil {
					before = map[string][][]byte{}
				}
				if len(o.ticks) > 0 {
					before[o.id] = append(before[o.id], o.ticks)
				}
			case o.cut > 0 && len(before[o.id]) > 0:
				ticks := before[o.id]
				if own := o.ownTicks(); len(own) > 0 {
					ticks = append(ticks, own)
				}
				ops = append(ops, slices.Concat(o.body[:o.cut], bytes.Join(ticks, []byte{','}), []byte(afterTicks)))
			default:
				ops = append(ops, o.body)
			}
		}
	}
	return ops
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

package spool

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
)

const (
	batchSuffix = ".batch"
	tempSuffix  = ".tmp"
	blockSize   = 4096
)

// Item is one batch waiting in the spool.
type Item struct {
	Seq         uint64
	Rows        int
	Bytes       int64     // whole blocks on disk
	First, Last time.Time // slots, to the millisecond
}

// entry is an Item in the form it is kept in memory: everything but the size and
// the time is in the file's name, so that a start reads no contents.
type entry struct {
	seq         uint64
	first, last int64 // slots, unix ms
	spooled     int64 // when, unix ms
	rows        int32
	blocks      int32
}

func newEntry(seq uint64, b resultstore.Batch, size int64, now time.Time) entry {
	e := entry{seq: seq, rows: int32(len(b.Rows)), blocks: blocks(size), spooled: now.UnixMilli(), first: math.MaxInt64}
	for _, row := range b.Rows {
		slot := max(0, row.ScheduledAt.UnixMilli()) // a minus would not parse
		e.first, e.last = min(e.first, slot), max(e.last, slot)
	}
	return e
}

func blocks(size int64) int32 { return int32((size + blockSize - 1) / blockSize) }

func (e entry) bytes() int64 { return int64(e.blocks) * blockSize }

func (e entry) item() Item {
	return Item{Seq: e.seq, Rows: int(e.rows), Bytes: e.bytes(), First: time.UnixMilli(e.first).UTC(), Last: time.UnixMilli(e.last).UTC()}
}

// is compares more than the number: files copied in from another spool share numbers.
func (e entry) is(it Item) bool {
	return e.seq == it.Seq && int(e.rows) == it.Rows && e.first == it.First.UnixMilli() && e.last == it.Last.UnixMilli()
}

func (e entry) name() string { return string(e.appendName(nil)) }

func (e entry) appendName(text []byte) []byte {
	text = appendSeq(text, e.seq)
	for _, n := range [...]int64{int64(e.rows), e.first, e.last} {
		text = strconv.AppendInt(append(text, '-'), n, 10)
	}
	return append(text, batchSuffix...)
}

func appendSeq(text []byte, seq uint64) []byte {
	return hex.AppendEncode(text, binary.BigEndian.AppendUint64(nil, seq))
}

func (e entry) tempName() string { return string(appendSeq(nil, e.seq)) + tempSuffix }

// parseName reads a name back; false for anything that name would not give. It
// allocates nothing: a start parses more than a hundred thousand.
func parseName(name string) (entry, bool) {
	seq, rest, _ := strings.Cut(strings.TrimSuffix(name, batchSuffix), "-")
	rows, rest, _ := strings.Cut(rest, "-")
	first, last, _ := strings.Cut(rest, "-")
	number, err1 := strconv.ParseUint(seq, 16, 63)
	count, err2 := strconv.ParseUint(rows, 10, 31)
	from, err3 := strconv.ParseInt(first, 10, 64)
	to, err4 := strconv.ParseInt(last, 10, 64)
	e := entry{seq: number, rows: int32(count), first: from, last: to}
	var again [80]byte
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || string(e.appendName(again[:0])) != name {
		return entry{}, false
	}
	return e, true
}

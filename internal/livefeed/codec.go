package livefeed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// MaxResults is how many results one entry holds.
const MaxResults = 200

// The format of an entry, about 45 bytes a result: a version byte, the number of
// results, then each result as variable-length integers; times are differences in µs
// to the slot, slots to the one before; words that repeat (region, prober, failure,
// reason, issuer) are sent once and then by number.
const (
	version = 2
	// without is the version of entries without issuers, which probers that are not upgraded
	// yet still write.
	without = 1

	maxPayload = 1 << 20
	maxString  = 4 << 10

	flagLate    = 1
	flagChecked = 2
	flagCert    = 4
	flagIngest  = 8
)

var errShort = errors.New("results end early")

type encoder struct {
	b     []byte
	words map[string]uint64
	slot  int64
}

// encode writes at most MaxResults results.
func encode(results []uptime.Result) []byte {
	e := encoder{b: make([]byte, 0, 16+64*len(results)), words: make(map[string]uint64)}
	e.b = append(e.b, version)
	e.uint(uint64(len(results)))
	for _, r := range results {
		e.result(r)
	}
	return e.b
}

func (e *encoder) uint(n uint64) { e.b = binary.AppendUvarint(e.b, n) }
func (e *encoder) int(n int64)   { e.b = binary.AppendVarint(e.b, n) }

func (e *encoder) text(s string) {
	if len(s) > maxString {
		s = s[:maxString]
	}
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

// word writes a number: of a word sent before, or the next one and the word itself.
func (e *encoder) word(s string) {
	n, known := e.words[s]
	if !known {
		n = uint64(len(e.words))
		e.words[s] = n
	}
	e.uint(n)
	if !known {
		e.text(s)
	}
}

func (e *encoder) result(r uptime.Result) {
	var flags byte
	if r.Late {
		flags |= flagLate
	}
	if !r.CheckedAt.IsZero() {
		flags |= flagChecked
	}
	if !r.CertNotAfter.IsZero() {
		flags |= flagCert
	}
	if !r.IngestedAt.IsZero() {
		flags |= flagIngest
	}
	slot := r.ScheduledAt.UnixMicro()
	e.b = append(e.b, flags, byte(r.Status), r.Attempt)
	e.int(r.TargetID)
	e.int(slot - e.slot)
	e.slot = slot
	if flags&flagChecked != 0 {
		e.int(r.CheckedAt.UnixMicro() - slot)
	}
	if flags&flagIngest != 0 {
		e.int(r.IngestedAt.UnixMicro() - slot)
	}
	if flags&flagCert != 0 {
		e.int(r.CertNotAfter.Unix())
	}
	e.word(r.Region)
	e.word(r.Prober)
	e.word(string(r.Failure))
	e.word(string(r.Reason))
	e.int(int64(r.HTTPStatus))
	for _, us := range [...]uint32{r.Phases.DNS, r.Phases.Connect, r.Phases.TLS, r.Phases.Wait, r.Phases.Transfer, r.TotalUS} {
		e.uint(uint64(us))
	}
	e.text(r.Message)
	address, _ := r.Address.MarshalBinary() // of an address, it has no error
	e.text(string(address))
	e.int(r.SpecVersion)
	e.word(r.Issuer)
}

type decoder struct {
	version byte
	b       []byte
	words   []string
	slot    int64
	err     error
}

// decode reads any input: what is not a list of results is an error.
func decode(b []byte) ([]uptime.Result, error) {
	if len(b) == 0 || len(b) > maxPayload {
		return nil, fmt.Errorf("results of %d bytes", len(b))
	}
	if b[0] != version && b[0] != without {
		return nil, fmt.Errorf("results of version %d: this program reads versions %d and %d", b[0], without, version)
	}
	d := decoder{version: b[0], b: b[1:]}
	count := d.uint()
	if d.err != nil || count > MaxResults {
		return nil, fmt.Errorf("results: count %d", count)
	}
	results := make([]uptime.Result, 0, count)
	for range count {
		r := d.result()
		if d.err != nil {
			return nil, d.err
		}
		results = append(results, r)
	}
	if len(d.b) > 0 {
		return nil, fmt.Errorf("results: %d bytes too many", len(d.b))
	}
	return results, nil
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.b = nil
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail(errShort)
		return 0
	}
	first := d.b[0]
	d.b = d.b[1:]
	return first
}

func (d *decoder) uint() uint64 {
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		d.fail(errShort)
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) int() int64 {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.fail(errShort)
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) uint32() uint32 {
	n := d.uint()
	if n > math.MaxUint32 {
		d.fail(fmt.Errorf("results: %d is no duration", n))
		return 0
	}
	return uint32(n)
}

func (d *decoder) text() string {
	n := d.uint()
	if n > uint64(len(d.b)) || n > maxString {
		d.fail(errShort)
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) word() string {
	n := d.uint()
	switch {
	case d.err != nil:
		return ""
	case n < uint64(len(d.words)):
		return d.words[n]
	case n > uint64(len(d.words)):
		d.fail(fmt.Errorf("results: word %d of %d", n, len(d.words)))
		return ""
	}
	s := d.text()
	d.words = append(d.words, s)
	return s
}

func (d *decoder) result() uptime.Result {
	flags := d.byte()
	r := uptime.Result{Late: flags&flagLate != 0, Status: uptime.Status(d.byte()), Attempt: d.byte()}
	if d.err == nil && (r.Status < uptime.StatusUp || r.Status > uptime.StatusMissed) {
		d.fail(fmt.Errorf("results: %v", r.Status))
	}
	r.TargetID = d.int()
	d.slot += d.int()
	r.ScheduledAt = time.UnixMicro(d.slot).UTC()
	if flags&flagChecked != 0 {
		r.CheckedAt = time.UnixMicro(d.slot + d.int()).UTC()
	}
	if flags&flagIngest != 0 {
		r.IngestedAt = time.UnixMicro(d.slot + d.int()).UTC()
	}
	if flags&flagCert != 0 {
		r.CertNotAfter = time.Unix(d.int(), 0).UTC()
	}
	r.Region = d.word()
	r.Prober = d.word()
	r.Failure = uptime.Failure(d.word())
	r.Reason = uptime.Reason(d.word())
	r.HTTPStatus = int(d.int())
	for _, us := range [...]*uint32{&r.Phases.DNS, &r.Phases.Connect, &r.Phases.TLS, &r.Phases.Wait, &r.Phases.Transfer, &r.TotalUS} {
		*us = d.uint32()
	}
	r.Message = d.text()
	var address netip.Addr
	if err := address.UnmarshalBinary([]byte(d.text())); err != nil {
		d.fail(fmt.Errorf("results: address: %w", err))
	}
	r.Address = address
	r.SpecVersion = d.int()
	if d.version != without {
		r.Issuer = d.word()
	}
	return r
}

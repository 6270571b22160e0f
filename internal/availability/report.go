package availability

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Report is what a month came to. It depends on nothing but the results, the terms
// and the zone: made again from raw results it is the same to the byte. For that the
// terms have the grain of a quarter hour, which is all that rollups know.
type Report struct {
	Month   Period
	Zone    string // IANA name
	Targets []TargetReport
}

// TargetReport is a report on one target.
type TargetReport struct {
	TargetID  int64
	Series    []Series // one per region, and region "" for the target as a whole
	Incidents []Incident
}

// Series are the figures of one region of a target; region "" is the target as a whole.
type Series struct {
	Region string
	Figures
}

// Correction is an hour whose counts changed after it had closed. It says how a
// report came to differ from an earlier one; it is not part of the report.
type Correction struct {
	Region    string // "" is the target as a whole
	Hour      time.Time
	RevisedAt time.Time
	Old, New  Counts
	// Sums of the latencies of up and degraded slots, in µs; 0 of the target as a whole.
	OldTotalUS, NewTotalUS uint64
}

// canonicalVersion names the layout of Canonical. Change it whenever that changes.
const canonicalVersion = "probefleet report 1"

// Canonical writes the report as the text whose hash names it: one line per fact,
// tabs between the fields, whole numbers and UTC instants only, and everything in
// order, whatever order the report is in.
//
//	probefleet report 1
//	month <name> <zone> <from> <to>
//	target <id>
//	series <region, quoted> <up> <degraded> <down> <unknown> <missed> <excluded> <downtime, seconds>
//	incident <from> <to> <down slots> <downtime, seconds>
//
// Each target is followed by its series and incidents. Downtime is cut to seconds.
func (r Report) Canonical() []byte {
	var out bytes.Buffer
	line := func(fields ...any) {
		for i, f := range fields {
			if i > 0 {
				out.WriteByte('\t')
			}
			fmt.Fprint(&out, f)
		}
		out.WriteByte('\n')
	}
	line(canonicalVersion)
	line("month", r.Month.Name, r.Zone, instant(r.Month.From), instant(r.Month.To))
	byID := slices.SortedFunc(slices.Values(r.Targets), func(a, b TargetReport) int { return cmp.Compare(a.TargetID, b.TargetID) })
	for _, target := range byID {
		line("target", target.TargetID)
		for _, s := range slices.SortedFunc(slices.Values(target.Series), func(a, b Series) int { return cmp.Compare(a.Region, b.Region) }) {
			line("series", strconv.Quote(s.Region), s.Up, s.Degraded, s.Down, s.Unknown, s.Missed, s.Excluded, seconds(s.Downtime))
		}
		for _, i := range slices.SortedFunc(slices.Values(target.Incidents), func(a, b Incident) int { return a.From.Compare(b.From) }) {
			line("incident", instant(i.From), instant(i.To), i.Slots, seconds(i.Downtime))
		}
	}
	return out.Bytes()
}

// Hash names the content: "sha256:" and the hash of Canonical in hexadecimal.
func (r Report) Hash() string {
	sum := sha256.Sum256(r.Canonical())
	return "sha256:" + hex.EncodeToString(sum[:])
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

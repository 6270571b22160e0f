package httpapi

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
)

// rawRow is a result in an export: what a list of results shows.
type rawRow resultBody

func rawColumns() []string {
	return []string{
		"target_id", "region", "scheduled_at", "checked_at", "status", "failure", "reason", "http_status", "dns_us", "connect_us", "tls_us", "wait_us", "transfer_us", "total_us",
		"attempt", "prober", "message", "address", "cert_not_after", "protocol", "tls_version", "hops", "wire_bytes", "body_bytes", "dns_cached", "saturated",
	}
}

func (r rawRow) place() resultstore.Cursor {
	return resultstore.Cursor{ScheduledAt: time.Time(r.ScheduledAt), Region: r.Region}
}

func (r rawRow) record() []string {
	return []string{
		strconv.FormatInt(r.TargetID, 10), r.Region, csvInstant(&r.ScheduledAt), csvInstant(r.CheckedAt.value), r.Status, r.Failure, r.Reason, strconv.Itoa(r.HTTPStatus),
		natural(r.DNSUS), natural(r.ConnectUS), natural(r.TLSUS), natural(r.WaitUS), natural(r.TransferUS), natural(r.TotalUS),
		natural(r.Attempt), harmless(r.Prober), harmless(r.Message), r.Address, csvInstant(r.CertNotAfter.value), r.Protocol, r.TLSVersion, natural(r.Hops), natural(r.WireBytes), natural(r.BodyBytes),
		strconv.FormatBool(r.DNSCached), strconv.FormatBool(r.Saturated),
	}
}

// bucketRow is an hour or a day in an export. Sums, bounds and percentiles are of the up
// and degraded results of a region, in µs.
type bucketRow struct {
	TargetID    int64             `json:"target_id"`
	Region      string            `json:"region"`
	Bucket      instant           `json:"bucket"`
	Up          uint64            `json:"up"`
	Degraded    uint64            `json:"degraded"`
	Down        uint64            `json:"down"`
	Unknown     uint64            `json:"unknown"`
	Missed      uint64            `json:"missed"`
	DNSSum      uint64            `json:"dns_us_sum"`
	ConnectSum  uint64            `json:"connect_us_sum"`
	TLSSum      uint64            `json:"tls_us_sum"`
	WaitSum     uint64            `json:"wait_us_sum"`
	TransferSum uint64            `json:"transfer_us_sum"`
	TotalSum    uint64            `json:"total_us_sum"`
	TotalMin    uint32            `json:"total_us_min"`
	TotalMax    uint32            `json:"total_us_max"`
	P50         nullable[int64]   `json:"p50_us"`
	P95         nullable[int64]   `json:"p95_us"`
	P99         nullable[int64]   `json:"p99_us"`
	RevisedAt   nullable[instant] `json:"revised_at"`
}

func bucketOf(target int64, b resultstore.Bucket) bucketRow {
	return bucketRow{
		TargetID: target, Region: b.Region, Bucket: instant(b.At), Up: b.Up, Degraded: b.Degraded, Down: b.Down, Unknown: b.Unknown, Missed: b.Missed,
		DNSSum: b.DNSSum, ConnectSum: b.ConnectSum, TLSSum: b.TLSSum, WaitSum: b.WaitSum, TransferSum: b.TransferSum, TotalSum: b.TotalSum, TotalMin: b.TotalMin, TotalMax: b.TotalMax,
		P50: wholeOrNull(b.P50), P95: wholeOrNull(b.P95), P99: wholeOrNull(b.P99), RevisedAt: maybeInstant(b.RevisedAt),
	}
}

func bucketColumns() []string {
	return []string{
		"target_id", "region", "bucket", "up", "degraded", "down", "unknown", "missed", "dns_us_sum", "connect_us_sum", "tls_us_sum", "wait_us_sum", "transfer_us_sum", "total_us_sum",
		"total_us_min", "total_us_max", "p50_us", "p95_us", "p99_us", "revised_at",
	}
}

func (b bucketRow) place() resultstore.Cursor {
	return resultstore.Cursor{ScheduledAt: time.Time(b.Bucket), Region: b.Region}
}

func (b bucketRow) record() []string {
	return []string{
		strconv.FormatInt(b.TargetID, 10), b.Region, csvInstant(&b.Bucket), natural(b.Up), natural(b.Degraded), natural(b.Down), natural(b.Unknown), natural(b.Missed),
		natural(b.DNSSum), natural(b.ConnectSum), natural(b.TLSSum), natural(b.WaitSum), natural(b.TransferSum), natural(b.TotalSum), natural(b.TotalMin), natural(b.TotalMax),
		csvWhole(b.P50), csvWhole(b.P95), csvWhole(b.P99), csvInstant(b.RevisedAt.value),
	}
}

func natural[T uint8 | uint32 | uint64](n T) string { return strconv.FormatUint(uint64(n), 10) }

func wholeOrNull(f float64) nullable[int64] {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nullable[int64]{}
	}
	return some(int64(math.Round(f)))
}

func csvWhole(n nullable[int64]) string {
	if n.value == nil {
		return ""
	}
	return strconv.FormatInt(*n.value, 10)
}

// csvInstant writes an instant as JSON has it; nothing for none.
func csvInstant(i *instant) string {
	if i == nil {
		return ""
	}
	text, _ := i.MarshalJSON() // cannot fail
	return strings.Trim(string(text), `"`)
}

package resultstore

import (
	"net/netip"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Column lists and the scanners that read them, kept side by side.
const (
	fullColumns = `target_id, region, scheduled_at, checked_at, status, failure, reason, http_status,
 dns_us, connect_us, tls_us, wait_us, transfer_us, total_us, message, resolved_ip, cert_not_after, attempt, prober, spec_version, revision, protocol, tls_version, hops, wire_bytes, body_bytes, marks`

	// tickColumns are what a verdict needs.
	tickColumns = `target_id, region, scheduled_at, checked_at, status, failure, reason, http_status, total_us, message, cert_not_after, prober, revision`

	// latestColumns read tickColumns from results_latest, whose version ends in the revision.
	latestColumns = `target_id, region, scheduled_at, checked_at, status, failure, reason, http_status, total_us, message, cert_not_after, prober, toUInt64(bitAnd(version, toUInt128(18446744073709551615))) AS revision`
)

// Marks of a row.
const (
	markCached    = 1
	markSaturated = 2
)

func marksOf(s uptime.Seen) (marks uint8) {
	if s.DNSCached {
		marks |= markCached
	}
	if s.Saturated {
		marks |= markSaturated
	}
	return marks
}

// scanFull reads fullColumns, and what was selected after them.
func scanFull(rows driver.Rows, more ...any) (uptime.Result, error) {
	var (
		r        uptime.Result
		w        wire
		spec     uint64
		p        = &r.Phases
		resolved netip.Addr
		marks    uint8
	)
	err := rows.Scan(append([]any{
		&w.target, &r.Region, &w.scheduled, &w.checked, &w.status, (*string)(&r.Failure), (*string)(&r.Reason), &w.httpStatus,
		&p.DNS, &p.Connect, &p.TLS, &p.Wait, &p.Transfer, &r.TotalUS, &r.Message, &resolved, &w.cert, &r.Attempt, &r.Prober, &spec, &w.revision,
		&r.Seen.Protocol, &r.Seen.TLSVersion, &r.Seen.Hops, &r.Seen.WireBytes, &r.Seen.BodyBytes, &marks,
	}, more...)...)
	w.into(&r)
	r.SpecVersion = int64(spec)
	r.Seen.DNSCached, r.Seen.Saturated = marks&markCached != 0, marks&markSaturated != 0
	if resolved.IsValid() && resolved != netip.IPv6Unspecified() {
		r.Address = resolved.Unmap()
	}
	return r, err
}

// tickScanner reads tickColumns into r, which is used again for the next row: what Scan is
// given a pointer to is an allocation.
func tickScanner(r *uptime.Result) func(driver.Rows) error {
	var w wire
	into := []any{
		&w.target, &r.Region, &w.scheduled, &w.checked, &w.status, (*string)(&r.Failure), (*string)(&r.Reason), &w.httpStatus,
		&r.TotalUS, &r.Message, &w.cert, &r.Prober, &w.revision,
	}
	return func(rows driver.Rows) error {
		err := rows.Scan(into...)
		w.into(r)
		return err
	}
}

// wire holds the columns whose stored form differs from the domain's.
type wire struct {
	target, revision         uint64
	scheduled, checked, cert time.Time
	status                   int8
	httpStatus               uint16
}

func (w *wire) into(r *uptime.Result) {
	r.TargetID, r.Status, r.HTTPStatus = int64(w.target), uptime.Status(w.status), int(w.httpStatus)
	r.ScheduledAt, r.CheckedAt, r.CertNotAfter = w.scheduled.UTC(), domainTime(w.checked), domainTime(w.cert)
	r.Late = r.Status.Measured() && uptime.LateRevision(w.revision)
	r.IngestedAt = time.UnixMicro(int64(w.revision & (1<<62 - 1))).UTC()
}

func domainTime(t time.Time) time.Time {
	if t.UnixMilli() == 0 {
		return time.Time{}
	}
	return t.UTC()
}

func unsigned(ids []int64) []uint64 {
	out := make([]uint64, len(ids))
	for i, id := range ids {
		out[i] = uint64(id)
	}
	return out
}

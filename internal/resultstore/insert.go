package resultstore

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/uptime"
)

const insertResults = `INSERT INTO results (target_id, region, scheduled_at, checked_at, status, failure, reason, http_status,
 dns_us, connect_us, tls_us, wait_us, transfer_us, total_us, message, resolved_ip, cert_not_after, attempt, prober, spec_version, revision,
 protocol, tls_version, hops, wire_bytes, body_bytes, marks, evidence)`

const insertBatches = `INSERT INTO batches (token, prober, region, rows, first_slot, last_slot, attempt, inserted_at)`

// Insert stores a batch and the note of it. One row that is not valid refuses the
// whole batch (see Validate). An error does not say that nothing was stored.
func (s *Store) Insert(ctx context.Context, b Batch) error {
	if b.Token == "" {
		return errors.New("insert results: a batch needs a token")
	}
	kept, err := s.surelyKept(ctx)
	if err != nil {
		return fmt.Errorf("insert results: %w", err)
	}
	rows, err := prepare(b.Rows, s.now(), kept)
	if err != nil {
		return fmt.Errorf("insert results: %w", err)
	}
	if len(rows) == 0 {
		return nil
	}
	if err := s.insert(ctx, b.Token, insertResults, resultColumnsOf(rows)); err != nil {
		return fmt.Errorf("insert results: %w", err)
	}
	if n, err := s.insertPrints(ctx, b.Token, rows); err != nil && s.lostPrints != nil { // results are worth more than they are
		s.lostPrints(n, err)
	}
	// After the rows: a note never speaks of rows that are not there. If this fails the
	// caller sends the batch again, and the token keeps the rows from being stored twice.
	first, last := slotRange(rows)
	note := []any{
		[]string{b.Token}, []string{b.Prober}, []string{b.Region}, []uint32{uint32(len(rows))},
		[]time.Time{first}, []time.Time{last}, []uint8{clampUint8(b.Attempt)}, []time.Time{s.now()},
	}
	if err := s.insert(ctx, b.Token, insertBatches, note); err != nil {
		return fmt.Errorf("insert batch note: %w", err)
	}
	s.learnRetention(ctx)
	return nil
}

// insert sends columns as one block. Prepare, append and send stay together: a
// prepared batch holds its connection until it is sent or closed.
func (s *Store) insert(ctx context.Context, token, sql string, columns []any) (err error) {
	ctx, cancel := context.WithTimeout(ctx, insertBound)
	defer cancel()
	if !s.verified.Load() {
		if err := s.Check(ctx); err != nil {
			return err
		}
	}
	sending, sent := untilSent(ctx)
	defer sent()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = errors.Join(ctx.Err(), err) // which of its ends it was
		}
	}()
	batch, err := s.conn.PrepareBatch(clickhouse.Context(sending, clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": token})), sql)
	if err != nil {
		return err
	}
	defer closeUnsent(batch)
	for i, values := range columns {
		err := batch.Column(i).Append(values)
		if _, altered := errors.AsType[*column.ColumnConverterError](err); altered { // the table's fault, not the rows'
			return fmt.Errorf("column %d: %w", i, err)
		}
		if err != nil {
			return &RowError{Problem: fmt.Sprintf("column %d: %v", i, err)}
		}
	}
	return batch.Send()
}

// untilSent is a context that ends with ctx only until sent is called. The driver closes
// a batch's connection when the batch's context ends, and may notice that after the batch
// was sent, when the connection already serves somebody else.
func untilSent(ctx context.Context) (sending context.Context, sent func()) {
	sending, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	return sending, func() { stop() }
}

// closeUnsent gives the connection back. Once sent there is nothing left to do and
// nothing left to learn: Send has answered.
func closeUnsent(batch driver.Batch) {
	if !batch.IsSent() {
		_ = batch.Close()
	}
}

func resultColumnsOf(rows []*uptime.Result) []any {
	n := len(rows)
	var (
		target, spec, revision                   = make([]uint64, n), make([]uint64, n), make([]uint64, n)
		region, failure, reason, message, prober = make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		scheduled, checked, cert                 = make([]time.Time, n), make([]time.Time, n), make([]time.Time, n)
		status, attempt, httpStatus              = make([]int8, n), make([]uint8, n), make([]uint16, n)
		dns, connect, tls                        = make([]uint32, n), make([]uint32, n), make([]uint32, n)
		wait, transfer, total                    = make([]uint32, n), make([]uint32, n), make([]uint32, n)
		address                                  = make([]netip.Addr, n)
		protocol, evidence                       = make([]string, n), make([]string, n)
		tlsVersion, hops, marks                  = make([]uint16, n), make([]uint8, n), make([]uint8, n)
		wireBytes, bodyBytes                     = make([]uint32, n), make([]uint32, n)
	)
	for i, r := range rows {
		target[i], spec[i], revision[i] = uint64(r.TargetID), uint64(r.SpecVersion), r.Revision()
		region[i], failure[i], reason[i], message[i], prober[i] = r.Region, string(r.Failure), string(r.Reason), r.Message, r.Prober
		scheduled[i], checked[i], cert[i] = r.ScheduledAt, storedTime(r.CheckedAt), storedCert(r.CertNotAfter)
		status[i], attempt[i], httpStatus[i] = int8(r.Status), r.Attempt, uint16(r.HTTPStatus)
		dns[i], connect[i], tls[i] = r.Phases.DNS, r.Phases.Connect, r.Phases.TLS
		wait[i], transfer[i], total[i] = r.Phases.Wait, r.Phases.Transfer, r.TotalUS
		address[i] = storedAddress(r.Address)
		protocol[i], tlsVersion[i], hops[i], marks[i] = r.Seen.Protocol, r.Seen.TLSVersion, r.Seen.Hops, marksOf(r.Seen)
		wireBytes[i], bodyBytes[i], evidence[i] = r.Seen.WireBytes, r.Seen.BodyBytes, storedEvidence(r.Evidence)
	}
	return []any{target, region, scheduled, checked, status, failure, reason, httpStatus,
		dns, connect, tls, wait, transfer, total, message, address, cert, attempt, prober, spec, revision,
		protocol, tlsVersion, hops, wireBytes, bodyBytes, marks, evidence}
}

func slotRange(rows []*uptime.Result) (first, last time.Time) {
	first, last = rows[0].ScheduledAt, rows[0].ScheduledAt
	for _, r := range rows[1:] {
		if r.ScheduledAt.Before(first) {
			first = r.ScheduledAt
		}
		if r.ScheduledAt.After(last) {
			last = r.ScheduledAt
		}
	}
	return first, last
}

func clampUint8(n int) uint8 { return uint8(min(max(n, 0), 255)) }

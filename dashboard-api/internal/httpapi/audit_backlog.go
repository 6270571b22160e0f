package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
)

// How entries wait that the database has not taken.
const (
	auditRetry    = time.Second // then twice as long each time
	auditPause    = time.Minute // at most
	auditPatience = time.Hour   // then an entry is in the program's log alone
	auditWaiting  = 10_000      // entries at once
	auditCall     = 5 * time.Second
)

// AuditBacklog is an audit log that holds what the database does not take at first, and writes
// it later, with the time at which it happened. The write that an entry tells of has been done:
// to refuse it then would help nobody. What waits is in memory, and in the program's log.
type AuditBacklog struct {
	store Audit
	tell  func(trouble string)
	log   *slog.Logger

	waits prometheus.Gauge
	gone  prometheus.Counter

	mu      sync.Mutex
	waiting []accountstore.AuditEntry
	lost    int
	failed  error // of the last try
	wake    chan struct{}
}

// NewAuditBacklog makes one before a store; Run does the work. Tell hears what is wrong, a
// sentence for people, or that nothing is: "".
func NewAuditBacklog(store Audit, tell func(trouble string), metrics prometheus.Registerer, log *slog.Logger) *AuditBacklog {
	b := &AuditBacklog{
		store: store, tell: tell, log: log, wake: make(chan struct{}, 1),
		waits: prometheus.NewGauge(prometheus.GaugeOpts{Name: "probefleet_api_audit_waiting_entries", Help: "Entries of the audit log that the database has not taken yet."}),
		gone:  prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_api_audit_lost_entries_total", Help: "Entries of the audit log that were given up: the program's log has them."}),
	}
	metrics.MustRegister(b.waits, b.gone)
	return b
}

// AuditLog gives what was written.
func (b *AuditBacklog) AuditLog(ctx context.Context, q accountstore.AuditQuery) ([]accountstore.AuditEntry, error) {
	return b.store.AuditLog(ctx, q)
}

// Audit records a write, now or later.
func (b *AuditBacklog) Audit(ctx context.Context, entry accountstore.AuditEntry) error {
	entry.At = time.Now()
	if err := b.store.Audit(ctx, entry); err != nil {
		b.hold(err, entry)
	}
	return nil
}

// AuditAll records what one request did to many things, now or later.
func (b *AuditBacklog) AuditAll(ctx context.Context, entries []accountstore.AuditEntry) error {
	entries, now := slices.Clone(entries), time.Now()
	for i := range entries {
		entries[i].At = now
	}
	if err := b.store.AuditAll(ctx, entries); err != nil {
		b.hold(err, entries...)
	}
	return nil
}

// hold keeps entries for later, as many as there is room for.
func (b *AuditBacklog) hold(err error, entries ...accountstore.AuditEntry) {
	b.mu.Lock()
	room := min(len(entries), max(0, auditWaiting-len(b.waiting)))
	b.waiting, b.failed = append(b.waiting, entries[:room]...), err
	b.mu.Unlock()
	for _, e := range entries[:room] {
		b.log.Warn("audit log not written yet: it is tried again", logged(e, err)...)
	}
	b.lose(err, entries[room:])
	b.told()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Run writes what waits until ctx ends; then there is one more try.
func (b *AuditBacklog) Run(ctx context.Context) error {
	wait := auditRetry
	var again <-chan time.Time // nil, so never, while nothing waits
	for {
		select {
		case <-b.wake:
			if again == nil {
				wait = auditRetry
				again = time.After(wait) // it has been refused just now
			}
		case <-again:
			again = nil
			if !b.write(ctx) {
				wait = min(2*wait, auditPause)
				again = time.After(wait)
			}
		case <-ctx.Done():
			b.write(context.WithoutCancel(ctx))
			b.mu.Lock()
			left, err := b.waiting, b.failed
			b.waiting = nil
			b.mu.Unlock()
			b.lose(err, left)
			return ctx.Err()
		}
	}
}

// write tries all that waits once, each by itself so that one which is refused holds up no other,
// and says whether nothing is left. While the database is away the first is enough.
func (b *AuditBacklog) write(ctx context.Context) bool {
	b.mu.Lock()
	all := b.waiting
	b.mu.Unlock()
	var left, old []accountstore.AuditEntry
	var failed error
	for _, e := range all {
		if failed == nil || !errors.Is(failed, database.ErrUnavailable) {
			call, cancel := context.WithTimeout(ctx, auditCall)
			err := b.store.Audit(call, e)
			cancel()
			if err == nil {
				continue
			}
			failed = err
		}
		if time.Since(e.At) > auditPatience {
			old = append(old, e)
		} else {
			left = append(left, e)
		}
	}
	b.mu.Lock()
	b.waiting = append(left, b.waiting[len(all):]...) // what came meanwhile stands behind
	if failed != nil {
		b.failed = failed
	}
	none := len(b.waiting) == 0
	b.mu.Unlock()
	b.lose(failed, old)
	b.told()
	return none
}

// lose gives entries up: the program's log has them, and nothing else.
func (b *AuditBacklog) lose(err error, entries []accountstore.AuditEntry) {
	for _, e := range entries {
		b.log.Error("audit log not written", logged(e, err)...)
	}
	b.gone.Add(float64(len(entries)))
	b.mu.Lock()
	b.lost += len(entries)
	b.mu.Unlock()
}

// logged is what the program's log says of an entry.
func logged(e accountstore.AuditEntry, err error) []any {
	return []any{"at", e.At.UTC().Format(time.RFC3339), "request_id", e.RequestID, "actor", e.Actor, "action", e.Action, "object", e.Object, "error", err}
}

// told says how it is. What was lost stays lost, until the program is started again.
func (b *AuditBacklog) told() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits.Set(float64(len(b.waiting)))
	trouble := ""
	if len(b.waiting) > 0 {
		trouble = fmt.Sprintf("%d entries wait to be written: %v", len(b.waiting), b.failed)
	}
	if b.lost > 0 {
		if trouble != "" {
			trouble += "; "
		}
		trouble += fmt.Sprintf("%d entries are in this program's log alone", b.lost)
	}
	b.tell(trouble)
}

package accountstore

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Actors that come by no account.
const (
	ActorTool   = "cli"    // the operator's tool
	ActorSystem = "system" // the installation itself, by its settings
)

// AuditEntry is a write, as the audit log keeps it. It must hold no secret.
type AuditEntry struct {
	ID        int64     // given by the log
	At        time.Time // zero, when it is written: now
	Actor     string    // user:1, key:1 or one of the above; empty: nobody
	Action    string
	Object    string // what it was done to
	Detail    string
	Operation string // id of the API's operation
	Address   string
	RequestID string
	Changes   string // JSON: what it changed of a target; "": not kept
}

type auditRow struct {
	ID        int64  `gorm:"column:id;primaryKey"`
	AtMS      int64  `gorm:"column:at_ms"`
	Actor     string `gorm:"column:actor"`
	Action    string `gorm:"column:action"`
	Object    string `gorm:"column:object"`
	Detail    string `gorm:"column:detail"`
	Operation string `gorm:"column:operation"`
	Address   string `gorm:"column:address"`
	RequestID string `gorm:"column:request_id"`
	Changes   string `gorm:"column:changes"`
}

func (auditRow) TableName() string { return "audit_log" }

// Audit records who did what to what.
func (s *Store) Audit(ctx context.Context, e AuditEntry) error {
	row := e.row(s.now())
	if err := gorm.G[auditRow](s.db.Write()).Create(ctx, &row); err != nil {
		return fmt.Errorf("write the audit log: %w", database.Translate(ctx, err))
	}
	return nil
}

// AuditAll records what one request did to many things, in one transaction.
func (s *Store) AuditAll(ctx context.Context, entries []AuditEntry) error {
	rows, now := make([]auditRow, len(entries)), s.now()
	for i, e := range entries {
		rows[i] = e.row(now)
	}
	err := s.db.Tx(ctx, func(tx *gorm.DB) error { return gorm.G[auditRow](tx).CreateInBatches(ctx, &rows, 500) })
	if err != nil {
		return fmt.Errorf("write the audit log: %w", database.Translate(ctx, err))
	}
	return nil
}

func (e AuditEntry) row(now time.Time) auditRow {
	if e.At.IsZero() {
		e.At = now
	}
	return auditRow{
		AtMS: e.At.UnixMilli(), Actor: e.Actor, Action: e.Action, Object: e.Object, Detail: e.Detail,
		Operation: e.Operation, Address: e.Address, RequestID: e.RequestID, Changes: e.Changes,
	}
}

// AuditQuery asks for a part of the audit log. Zero fields ask for all.
type AuditQuery struct {
	Actor    string
	Action   string // or operation
	Actions  []string
	Object   string
	Changed  bool      // without those that are known to have changed nothing
	From, To time.Time // half open
	BeforeID int64
	Limit    int
}

// AuditLog gives entries, the newest first.
func (s *Store) AuditLog(ctx context.Context, q AuditQuery) ([]AuditEntry, error) {
	query := gorm.G[auditRow](s.db.Read()).Order("id DESC").Limit(q.Limit)
	if q.Actor != "" {
		query = query.Where("actor = ?", q.Actor)
	}
	if q.Action != "" {
		query = query.Where("action = ? OR operation = ?", q.Action, q.Action)
	}
	if len(q.Actions) > 0 {
		query = query.Where("action IN ?", q.Actions)
	}
	if q.Changed {
		query = query.Where("changes <> '[]'")
	}
	if q.Object != "" {
		query = query.Where("object = ?", q.Object)
	}
	if !q.From.IsZero() {
		query = query.Where("at_ms >= ?", q.From.UnixMilli())
	}
	if !q.To.IsZero() {
		query = query.Where("at_ms < ?", q.To.UnixMilli())
	}
	if q.BeforeID > 0 {
		query = query.Where("id < ?", q.BeforeID)
	}
	rows, err := query.Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", database.Translate(ctx, err))
	}
	all := make([]AuditEntry, len(rows))
	for i, r := range rows {
		all[i] = AuditEntry{ID: r.ID, At: at(r.AtMS), Actor: r.Actor, Action: r.Action, Object: r.Object, Detail: r.Detail, Operation: r.Operation, Address: r.Address, RequestID: r.RequestID, Changes: r.Changes}
	}
	return all, nil
}

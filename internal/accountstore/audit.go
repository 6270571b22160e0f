package accountstore

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

type auditRow struct {
	ID     int64  `gorm:"column:id;primaryKey"`
	AtMS   int64  `gorm:"column:at_ms"`
	Actor  string `gorm:"column:actor"`
	Action string `gorm:"column:action"`
	Object string `gorm:"column:object"`
	Detail string `gorm:"column:detail"`
}

func (auditRow) TableName() string { return "audit_log" }

// Audit records who did what to what. The detail must hold no secret.
func (s *Store) Audit(ctx context.Context, actor, action, object, detail string) error {
	row := auditRow{AtMS: s.now().UnixMilli(), Actor: actor, Action: action, Object: object, Detail: detail}
	if err := gorm.G[auditRow](s.db.Write()).Create(ctx, &row); err != nil {
		return fmt.Errorf("write the audit log: %w", database.Translate(ctx, err))
	}
	return nil
}

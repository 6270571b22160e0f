package accountstore

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Answer is what a write with an idempotency key was answered.
type Answer struct {
	RequestHash string // of the request it answered: another one must not get it
	Status      int
	Body        string
}

type answerRow struct {
	Actor       string `gorm:"column:actor;primaryKey"`
	Key         string `gorm:"column:key;primaryKey"`
	RequestHash string `gorm:"column:request_hash"`
	Status      int    `gorm:"column:status"`
	Body        string `gorm:"column:body"`
	CreatedAtMS int64  `gorm:"column:created_at_ms"`
}

func (answerRow) TableName() string { return "idempotency_keys" }

// SaveAnswer keeps the answer to an actor's write for AnswersKept. The first
// answer stays: a later one for the same key is dropped.
func (s *Store) SaveAnswer(ctx context.Context, actor, key, requestHash string, status int, body string) error {
	now := s.now()
	err := s.db.Write().WithContext(ctx).Exec(`INSERT INTO idempotency_keys (actor, key, request_hash, status, body, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (actor, key) DO UPDATE SET request_hash = excluded.request_hash, status = excluded.status, body = excluded.body, created_at_ms = excluded.created_at_ms
WHERE idempotency_keys.created_at_ms <= ?`,
		actor, key, requestHash, status, body, now.UnixMilli(), now.Add(-AnswersKept).UnixMilli()).Error
	if err != nil {
		return fmt.Errorf("save answer: %w", database.Translate(ctx, err))
	}
	return nil
}

// Answer gives the answer kept for an actor's key, or ErrNotFound.
func (s *Store) Answer(ctx context.Context, actor, key string) (Answer, error) {
	row, err := gorm.G[answerRow](s.db.Read()).
		Where("actor = ? AND key = ? AND created_at_ms > ?", actor, key, s.now().Add(-AnswersKept).UnixMilli()).Take(ctx)
	if err != nil {
		return Answer{}, fmt.Errorf("get answer: %w", notFound(ctx, err))
	}
	return Answer{RequestHash: row.RequestHash, Status: row.Status, Body: row.Body}, nil
}

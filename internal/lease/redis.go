package lease

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/checkstream"
)

//go:embed take.lua
var takeSource string

//go:embed release.lua
var releaseSource string

func keyOf(name string) string { return "{pf}:lease:" + name }

// NewHolder gives a look-up of who holds a lease, "" when nobody does: for people,
// who must not take it.
func NewHolder(r *checkstream.Redis, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		holder, err := r.Commands().Get(ctx, keyOf(name)).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return "", fmt.Errorf("holder of lease %s: %w", name, err)
		}
		return holder, nil
	}
}

type redisStore struct {
	client      redis.UniversalClient
	key, holder string

	takeScript, releaseScript *redis.Script
}

func newRedisStore(r *checkstream.Redis, name, holder string) *redisStore {
	return &redisStore{
		// Never repeated behind our back: the time of a renewal counts from its sending.
		client: r.Once(), key: keyOf(name), holder: holder,
		takeScript: redis.NewScript(takeSource), releaseScript: redis.NewScript(releaseSource),
	}
}

func (s *redisStore) take(ctx context.Context) (bool, error) {
	mine, err := s.takeScript.Run(ctx, s.client, []string{s.key}, s.holder, ttl.Milliseconds()).Bool()
	if err != nil {
		return false, fmt.Errorf("take lease: %w", err)
	}
	return mine, nil
}

func (s *redisStore) release(ctx context.Context) error {
	if err := s.releaseScript.Run(ctx, s.client, []string{s.key}, s.holder).Err(); err != nil {
		return fmt.Errorf("release lease: %w", err)
	}
	return nil
}

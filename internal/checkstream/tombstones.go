package checkstream

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

const tombstonePage = 1000

// Tombstone tells probers that targets were deleted: their checks on the way are
// delivered with Tombstoned set, their dead letters are removed with this call and
// none is kept from now on. Repeating it is harmless.
func (r *Redis) Tombstone(ctx context.Context, targetIDs ...int64) error {
	for len(targetIDs) > 0 {
		part := targetIDs[:min(len(targetIDs), tombstonePage)]
		targetIDs = targetIDs[len(part):]
		args := make([]any, len(part))
		for i, id := range part {
			args[i] = id
		}
		if err := r.scripts.tombstone.Run(ctx, r.commands, []string{keyTombstones, keyDead, keyLetters}, args...).Err(); err != nil {
			return fmt.Errorf("tombstones of %d targets: %w", len(part), err)
		}
	}
	return nil
}

// Tombstones is how many there are.
func (r *Redis) Tombstones(ctx context.Context) (int64, error) {
	n, err := r.commands.HLen(ctx, keyTombstones).Result()
	if err != nil {
		return 0, fmt.Errorf("count tombstones: %w", err)
	}
	return n, nil
}

// Tombstoned gives those of the targets that have one.
func (r *Redis) Tombstoned(ctx context.Context, targetIDs []int64) (map[int64]bool, error) {
	deleted := make(map[int64]bool)
	for len(targetIDs) > 0 {
		part := targetIDs[:min(len(targetIDs), tombstonePage)]
		targetIDs = targetIDs[len(part):]
		fields := make([]string, len(part))
		for i, id := range part {
			fields[i] = strconv.FormatInt(id, 10)
		}
		found, err := r.commands.HMGet(ctx, keyTombstones, fields...).Result()
		if err != nil {
			return nil, fmt.Errorf("tombstones: %w", err)
		}
		for i, at := range found {
			if at != nil {
				deleted[part[i]] = true
			}
		}
	}
	return deleted, nil
}

// mark sets Tombstoned. When Redis fails right now, the entries are handed out as
// they are: a check too many of a deleted target harms nobody.
func (r *Redis) mark(ctx context.Context, entries []Entry) {
	ids := make([]int64, len(entries))
	for i, e := range entries {
		ids[i] = e.TargetID
	}
	deleted, err := r.Tombstoned(ctx, ids)
	if err != nil {
		return
	}
	for i := range entries {
		entries[i].Tombstoned = deleted[entries[i].TargetID]
	}
}

// PruneTombstones removes those that are older, a page at a time. An age that is longer than
// results are kept loses nothing: no spool, stream or letter can bring anything of their
// targets back.
func (r *Redis) PruneTombstones(ctx context.Context, age time.Duration) error {
	for cursor := "0"; ; {
		next, err := r.scripts.prune.Run(ctx, r.commands, []string{keyTombstones}, age.Milliseconds(), cursor, tombstonePage).Text()
		if err != nil {
			return fmt.Errorf("prune tombstones: %w", err)
		}
		if cursor = next; cursor == "0" {
			return nil
		}
	}
}

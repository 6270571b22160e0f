package checkstream

import (
	"context"
	"fmt"
)

// LetterTally counts the dead letters of each region for who asks again and again: what is as it
// was is not counted twice. It is for one goroutine.
type LetterTally struct {
	r       *Redis
	mark    string // of what was counted; empty: nothing yet
	regions map[string]int64
}

// NewLetterTally makes a tally of r.
func NewLetterTally(r *Redis) *LetterTally { return &LetterTally{r: r} }

// Regions gives how many letters each region has; one without any is not in it. The map is not
// written to any more.
func (t *LetterTally) Regions(ctx context.Context) (map[string]int64, error) {
	pipe := t.r.commands.Pipeline()
	length, totals := pipe.XLen(ctx, keyDead), pipe.HMGet(ctx, keyLetters, "bytes", "dropped", "replayed", "purged")
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("count dead letters: %w", err)
	}
	mark := fmt.Sprint(length.Val(), totals.Val()) // a letter that comes or goes changes one of them
	if mark == t.mark {
		return t.regions, nil
	}
	regions := map[string]int64{}
	for from := "-"; from != ""; {
		reply, err := t.r.scripts.tally.Run(ctx, t.r.commands, []string{keyDead}, from, letterPage).Slice()
		if err != nil {
			return nil, fmt.Errorf("count dead letters: %w", err)
		}
		if len(reply)%2 != 1 {
			return nil, fmt.Errorf("count dead letters: unexpected reply of %d parts", len(reply))
		}
		from, _ = reply[0].(string)
		for row := reply[1:]; len(row) > 0; row = row[2:] {
			region, _ := row[0].(string)
			n, _ := row[1].(int64)
			regions[region] += n
		}
	}
	t.mark, t.regions = mark, regions
	return regions, nil
}

package checkstream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// forgetNodeAfter is when what a silent node said last is removed.
const forgetNodeAfter = 24 * time.Hour

// Kept is what lies on a disk of one region: that many rows, of slots in [First, Last].
type Kept struct {
	Rows        int64
	First, Last time.Time
}

// NodeSpool is what an API node says of its disk, by region.
type NodeSpool struct {
	Node    string
	Age     time.Duration // when it was read, by the clock of Redis
	Regions map[string]Kept
}

// Live says whether the node was heard lately.
func (n NodeSpool) Live() bool { return n.Age < HeartbeatTTL }

type nodeJSON struct {
	AtMS    int64               `json:"at_ms,omitempty"` // the script puts it in front
	Regions map[string]keptJSON `json:"regions"`
}

type keptJSON struct {
	Rows    int64 `json:"rows"`
	FirstMS int64 `json:"first_ms"`
	LastMS  int64 `json:"last_ms"`
}

// KeepSpool tells what a node has on its disk. Repeat it every 2 s; with nothing there it
// takes the node off the list.
func (r *Redis) KeepSpool(ctx context.Context, node string, regions map[string]Kept) error {
	said := nodeJSON{Regions: map[string]keptJSON{}}
	for region, k := range regions {
		said.Regions[region] = keptJSON{k.Rows, k.First.UnixMilli(), k.Last.UnixMilli()}
	}
	if len(regions) == 0 {
		if err := r.commands.HDel(ctx, keySpools, node).Err(); err != nil {
			return fmt.Errorf("tell of the spool: %w", err)
		}
		return nil
	}
	text, err := json.Marshal(said)
	if err != nil {
		return fmt.Errorf("tell of the spool: %w", err)
	}
	if err := r.scripts.spool.Run(ctx, r.commands, []string{keySpools}, node, text).Err(); err != nil {
		return fmt.Errorf("tell of the spool: %w", err)
	}
	return nil
}

// NodeSpools gives what API nodes have on their disks, by name, those that are silent too.
func (f *Fleet) NodeSpools(ctx context.Context) ([]NodeSpool, error) {
	pipe := f.r.commands.TxPipeline()
	all, clock := pipe.HGetAll(ctx, keySpools), pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("spools of the nodes: %w", err)
	}
	var nodes []NodeSpool
	for name, text := range all.Val() {
		var said nodeJSON
		if err := json.Unmarshal([]byte(text), &said); err != nil {
			said = nodeJSON{} // nobody vouches for it
		}
		n := NodeSpool{Node: name, Age: clock.Val().Sub(time.UnixMilli(said.AtMS)).Abs(), Regions: map[string]Kept{}}
		for region, k := range said.Regions {
			n.Regions[region] = Kept{k.Rows, time.UnixMilli(k.FirstMS).UTC(), time.UnixMilli(k.LastMS).UTC()}
		}
		if n.Age > forgetNodeAfter {
			if err := f.r.commands.HDel(ctx, keySpools, name).Err(); err != nil {
				return nil, fmt.Errorf("forget the spool of %s: %w", name, err)
			}
			continue
		}
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b NodeSpool) int { return strings.Compare(a.Node, b.Node) })
	return nodes, nil
}

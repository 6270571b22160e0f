package checkstream

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNodesTellWhatLiesOnTheirDisks(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, fleet := t.Context(), NewFleet(r)
		slot := time.UnixMilli(1_800_000_000_123).UTC()
		there := map[string]Kept{"ext-office": {Rows: 3, First: slot, Last: slot.Add(time.Minute)}, "push": {Rows: 1, First: slot, Last: slot}}
		for range 2 { // every two seconds, in fact
			must(t, r.KeepSpool(ctx, "api-1", there))
		}
		must(t, r.KeepSpool(ctx, "api-2", map[string]Kept{"push": there["push"]}))
		nodes, err := fleet.NodeSpools(ctx)
		must(t, err)
		if len(nodes) != 2 || nodes[0].Node != "api-1" || !nodes[0].Live() || !cmp.Equal(nodes[0].Regions, there) || nodes[1].Node != "api-2" {
			t.Errorf("%+v", nodes)
		}
		must(t, r.KeepSpool(ctx, "api-1", nil))
		if nodes, err = fleet.NodeSpools(ctx); err != nil || len(nodes) != 1 || nodes[0].Node != "api-2" {
			t.Errorf("with nothing there any more: %+v, %v", nodes, err)
		}
	})
}
